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

// expand returns names with the files and directories in place of the patterns that match them, such
// as 'deploy/*.yaml', and without those that are ignored. A name that is that of a file is no
// pattern. It reports patterns that match nothing.
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

// CheckIgnored refuses patterns that cannot be matched. A pattern without a slash is about names of
// files and directories at any depth; one with slashes is about as many names that follow one
// another. What is in a directory that is ignored is ignored.
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

// ignores reports whether the file or directory called name is not to be read.
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
