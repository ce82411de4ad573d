package modules

import (
	"encoding/json"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
	"golang.org/x/mod/zip"
)

// WriteProxy writes the published modules at version into dir, in the layout that the go command reads from GOPROXY=[FileURL](dir).
// Other versions in dir stay. If dir has version already, its files are replaced.
func (c *Checkout) WriteProxy(version, dir string) (err error) {
	if err := c.Check(version); err != nil {
		return err
	}
	// Package zip cannot read a work tree that git worktree made. A clone without files is cheap.
	clone, err := os.MkdirTemp("", "deed-clone")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(clone)) }()
	if _, err := git(c.Dir, "clone", "--quiet", "--shared", "--no-checkout", c.Dir, clone); err != nil {
		return err
	}
	for _, folder := range Published {
		if err := c.writeModule(clone, folder, version, dir); err != nil {
			return err
		}
	}
	return nil
}

// writeModule writes the four files of a module: VERSION.info, VERSION.mod, VERSION.zip, and list, which names all versions.
func (c *Checkout) writeModule(clone, folder, version, dir string) error {
	escaped, err := module.EscapePath(PathOf(folder))
	if err != nil {
		return err
	}
	at := filepath.Join(dir, filepath.FromSlash(escaped), "@v")
	if err := os.MkdirAll(at, 0o755); err != nil {
		return err
	}
	info, err := json.Marshal(struct {
		Version string
		Time    time.Time
	}{version, c.Time})
	if err != nil {
		return err
	}
	goMod, err := c.File(path.Join(folder, "go.mod"))
	if err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(filepath.Join(at, version+".info"), info, 0o644),
		os.WriteFile(filepath.Join(at, version+".mod"), goMod, 0o644),
		c.writeZip(clone, folder, version, filepath.Join(at, version+".zip")),
		addToList(filepath.Join(at, "list"), version),
	)
}

func (c *Checkout) writeZip(clone, folder, version, name string) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	subdir := folder
	if subdir == "." {
		subdir = ""
	}
	err = zip.CreateFromVCS(f, module.Version{Path: PathOf(folder), Version: version}, clone, c.Commit, subdir)
	return errors.Join(err, f.Close())
}

// addToList adds version to the file name, which has one version a line.
func addToList(name, version string) error {
	text, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	versions := append(strings.Fields(string(text)), version)
	semver.Sort(versions)
	return os.WriteFile(name, []byte(strings.Join(slices.Compact(versions), "\n")+"\n"), 0o644)
}

// FileURL returns the URL of dir in the form that GOPROXY accepts.
func FileURL(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	slashed := filepath.ToSlash(abs)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // of C:/…
	}
	return (&url.URL{Scheme: "file", Path: slashed}).String(), nil
}
