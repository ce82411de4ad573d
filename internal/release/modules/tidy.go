package modules

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

// Tidy returns the files mod and sum of a module in dir as go mod tidy writes them. It takes the published modules from the work tree
// below root. The required versions of published modules need not exist. sum gets no lines for them, because their sums change with
// every commit.
func Tidy(root, dir, mod, sum string) (tidyMod, tidySum []byte, err error) {
	temp, err := os.MkdirTemp("", "deed-tidy")
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	f, err := parse(mod)
	if err != nil {
		return nil, nil, err
	}
	// While go mod tidy runs, a replace directive that names a published module points to its folder.
	held := map[string]module.Version{}
	for _, folder := range Published {
		if old, ok := standIns[folder]; ok && replaces(f, old, PathOf(folder)) {
			held[old] = f.Replace[slices.IndexFunc(f.Replace, func(r *modfile.Replace) bool { return r.Old.Path == old })].New
			if err := f.AddReplace(old, "", filepath.Join(root, folder), ""); err != nil {
				return nil, nil, err
			}
		}
	}
	var replaced []string
	for _, folder := range Published {
		if p := PathOf(folder); declared(folder) != f.Module.Mod.Path && p == declared(folder) {
			replaced = append(replaced, p)
			if err := f.AddReplace(p, "", filepath.Join(root, folder), ""); err != nil {
				return nil, nil, err
			}
		}
	}
	tempMod, tempSum := filepath.Join(temp, "go.mod"), filepath.Join(temp, "go.sum")
	if err := errors.Join(write(f, tempMod), copyFile(sum, tempSum)); err != nil {
		return nil, nil, err
	}
	cmd := exec.Command("go", "mod", "tidy", "-modfile="+tempMod)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, nil, fmt.Errorf("go mod tidy for %s: %w\n%s", mod, err, out)
	}
	if f, err = parse(tempMod); err != nil {
		return nil, nil, err
	}
	for _, p := range replaced {
		if err := f.DropReplace(p, ""); err != nil {
			return nil, nil, err
		}
	}
	for old, to := range held {
		if err := f.AddReplace(old, "", to.Path, to.Version); err != nil {
			return nil, nil, err
		}
	}
	f.Cleanup()
	if tidyMod, err = f.Format(); err != nil {
		return nil, nil, err
	}
	if tidySum, err = os.ReadFile(tempSum); errors.Is(err, fs.ErrNotExist) {
		err = nil // the module requires nothing
	}
	return tidyMod, tidySum, err
}

// replaces reports whether f replaces the module at old by the one at path.
func replaces(f *modfile.File, old, path string) bool {
	return slices.ContainsFunc(f.Replace, func(r *modfile.Replace) bool { return r.Old.Path == old && r.New.Path == path })
}

// Bump sets the version of the published modules in the require and replace directives of all committed *.mod files below root. It
// leaves alone requirements that are replaced. It returns the names of the files that it changed.
func Bump(root, version string) (changed []string, err error) {
	names, err := git(root, "ls-files", "--", "*.mod")
	if err != nil {
		return nil, err
	}
	for name := range strings.Lines(string(names)) {
		name = strings.TrimSpace(name)
		file := filepath.Join(root, filepath.FromSlash(name))
		before, err := os.ReadFile(file)
		if err != nil {
			return changed, err
		}
		f, err := parse(file)
		if err != nil {
			return changed, err
		}
		if err := bump(f, version); err != nil {
			return changed, err
		}
		if err := write(f, file); err != nil {
			return changed, err
		}
		if after, err := os.ReadFile(file); err != nil {
			return changed, err
		} else if !bytes.Equal(before, after) {
			changed = append(changed, name)
		}
	}
	return changed, nil
}

func bump(f *modfile.File, version string) error {
	replaced := map[string]bool{}
	for _, r := range f.Replace {
		replaced[r.Old.Path] = true
		if published(r.New.Path) {
			if err := f.AddReplace(r.Old.Path, r.Old.Version, r.New.Path, version); err != nil {
				return err
			}
		}
	}
	for _, r := range f.Require {
		if !published(r.Mod.Path) || replaced[r.Mod.Path] {
			continue
		}
		if err := f.AddRequire(r.Mod.Path, version); err != nil {
			return err
		}
	}
	return nil
}

func parse(name string) (*modfile.File, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return modfile.Parse(name, text, nil)
}

func write(f *modfile.File, name string) error {
	text, err := f.Format()
	if err != nil {
		return err
	}
	return os.WriteFile(name, text, 0o644)
}

// copyFile copies the file from to the file to, if from exists.
func copyFile(from, to string) error {
	text, err := os.ReadFile(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o644)
}
