// Package modules publishes modules of this repository. It reads them from a commit, the [Checkout], and writes them as the files
// of a module proxy. It refuses modules that cannot be installed.
package modules

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

// Root is the path of the module at the root of the repository.
const Root = "github.com/deed-project/deed"

// Published lists the folders of the modules that a release publishes, all at one version.
var Published = []string{".", "cmd", "compat/structured-merge-diff", "kube", "server"}

// standIns maps the folders of published modules that replace other modules to the paths that they declare. Each declares the
// path of the module that it replaces.
var standIns = map[string]string{"compat/structured-merge-diff": "sigs.k8s.io/structured-merge-diff/v6"}

// PathOf returns the path under which the module in folder is published.
func PathOf(folder string) string { return path.Join(Root, folder) }

// declared returns the path that the go.mod of folder declares.
func declared(folder string) string {
	if p, ok := standIns[folder]; ok {
		return p
	}
	return PathOf(folder)
}

// Paths returns the paths of the published modules.
func Paths() []string {
	var paths []string
	for _, folder := range Published {
		paths = append(paths, PathOf(folder))
	}
	return paths
}

// Checkout is a commit of the repository. Uncommitted changes are not part of it.
type Checkout struct {
	Dir    string    // the work tree's root
	Commit string    // full hash
	Time   time.Time // of the commit, in UTC
}

// Open returns the commit that is checked out in dir, which may be any folder of a work tree.
func Open(dir string) (*Checkout, error) {
	root, err := git(dir, "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, err
	}
	c := &Checkout{Dir: strings.TrimSuffix(string(root), "\n")}
	line, err := git(c.Dir, "log", "-1", "--format=%H %ct")
	if err != nil {
		return nil, err
	}
	commit, at, _ := strings.Cut(strings.TrimSpace(string(line)), " ")
	seconds, err := strconv.ParseInt(at, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("git log prints %q, which is no hash and time", line)
	}
	c.Commit, c.Time = commit, time.Unix(seconds, 0).UTC()
	return c, nil
}

// Uncommitted returns the lines of git status: the files that differ from the commit.
func (c *Checkout) Uncommitted() (string, error) {
	status, err := git(c.Dir, "status", "--porcelain")
	return string(status), err
}

// File returns the content of the committed file name, a path from the root with slashes.
func (c *Checkout) File(name string) ([]byte, error) {
	return git(c.Dir, "cat-file", "blob", c.Commit+":"+path.Clean(name))
}

// Version returns the version at which the modules require each other.
func (c *Checkout) Version() (string, error) {
	f, err := c.goMod("cmd")
	if err != nil {
		return "", err
	}
	for _, r := range f.Require {
		if r.Mod.Path == Root {
			return r.Mod.Version, nil
		}
	}
	return "", fmt.Errorf("cmd/go.mod does not require %s", Root)
}

func (c *Checkout) goMod(folder string) (*modfile.File, error) {
	name := path.Join(folder, "go.mod")
	text, err := c.File(name)
	if err != nil {
		return nil, err
	}
	return modfile.Parse(name, text, nil)
}

// Check returns all reasons why the published modules cannot be installed at version: an invalid version, a module with another
// path, and a replace or exclude directive, which go install refuses. A requirement of a module of this repository must be
// published and have the same version.
func (c *Checkout) Check(version string) error {
	var problems []error
	for _, folder := range Published {
		if err := module.Check(PathOf(folder), version); err != nil {
			return err
		}
		f, err := c.goMod(folder)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		problems = append(problems, check(f, folder, version)...)
	}
	return errors.Join(problems...)
}

func check(f *modfile.File, folder, version string) (problems []error) {
	refuse := func(line *modfile.Line, format string, args ...any) {
		problems = append(problems, fmt.Errorf("%s:%d: %s", path.Join(folder, "go.mod"), line.Start.Line, fmt.Sprintf(format, args...)))
	}
	if got := f.Module.Mod.Path; got != declared(folder) {
		refuse(f.Module.Syntax, "the module is %s, and its folder makes it %s", got, declared(folder))
	}
	for _, r := range f.Replace {
		refuse(r.Syntax, "go install refuses a module that replaces another: %s", r.Old.Path)
	}
	for _, x := range f.Exclude {
		refuse(x.Syntax, "go install refuses a module that excludes versions: %s", x.Mod)
	}
	for _, r := range f.Require {
		switch {
		case !ours(r.Mod.Path):
		case !published(r.Mod.Path):
			refuse(r.Syntax, "it requires %s, which is not published", r.Mod.Path)
		case r.Mod.Version != version:
			refuse(r.Syntax, "it requires %s, and the release is %s", r.Mod, version)
		}
	}
	return problems
}

// ours reports whether the module at p belongs to this repository.
func ours(p string) bool { return p == Root || strings.HasPrefix(p, Root+"/") }

func published(p string) bool { return slices.Contains(Paths(), p) }

// git runs git in dir and returns its output.
func git(dir string, args ...string) ([]byte, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(errs.String()))
	}
	return out, nil
}
