package manifest

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/secret"
)

// expand replaces patterns such as 'deploy/*.yaml' in names by the matching files and directories, and removes ignored ones. The name of an
// existing file is not a pattern. expand reports patterns without a match.
func (c *Loader) expand(names []string) []string {
	var out []string
	for _, name := range names {
		if !c.isPattern(name) {
			out = append(out, name)
			continue
		}
		found, err := filepath.Glob(name)
		switch {
		case err != nil:
			c.Problem(notice.InFile(name), "%s", secret.Open.Error(err))
		case len(found) == 0:
			c.Problem(notice.InFile(name), "no file matches this pattern")
		default:
			out = append(out, found...)
		}
	}
	return slices.DeleteFunc(out, c.ignores)
}

// isPattern reports whether name is a pattern of files.
func (c *Loader) isPattern(name string) bool {
	if _, archived := c.Archived[name]; archived || name == StdinName || isURL(name) || !strings.ContainsAny(name, "*?[") {
		return false
	}
	_, err := os.Lstat(name)
	return err != nil
}

// CheckIgnored returns an error for a malformed pattern. A pattern without a slash matches the names of files and directories at any depth.
// A pattern with slashes matches as many successive names. The content of an ignored directory is ignored.
//
//	values.yaml       deploy/values.yaml, values.yaml
//	testdata          a/testdata/b.yaml
//	charts/*/crds     deploy/charts/web/crds/widgets.yaml
func CheckIgnored(patterns []string) error {
	for _, pattern := range patterns {
		if _, err := path.Match(pattern, ""); err != nil || pattern == "" {
			return fmt.Errorf("--ignore: %q is no pattern of files", pattern)
		}
	}
	return nil
}

// ignores reports whether the file or directory called name is ignored.
func (c *Loader) ignores(name string) bool {
	if len(c.Ignore) == 0 || name == StdinName || isURL(name) {
		return false
	}
	words := strings.Split(filepath.ToSlash(filepath.Clean(name)), "/")
	for _, pattern := range c.Ignore {
		n := strings.Count(pattern, "/") + 1
		for from := 0; from+n <= len(words); from++ {
			if ok, err := path.Match(pattern, strings.Join(words[from:from+n], "/")); err == nil && ok {
				return true
			}
		}
	}
	return false
}
