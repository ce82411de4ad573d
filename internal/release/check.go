package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/deed-project/deed/internal/release/modules"
)

// consumers are the directories of testdata/consumers: modules of other projects. Their go.mod and go.sum are named consumer.mod and
// consumer.sum here, so that they belong to no workspace.
var consumers = []string{"library", "controller", "kube", "replace"}

func (r *run) consumer(name string) string {
	return filepath.Join(r.Dir, "internal", "release", "testdata", "consumers", name)
}

// copyConsumer creates a module of a consumer in dir.
func (r *run) copyConsumer(name, dir string) error {
	return errors.Join(
		os.CopyFS(dir, os.DirFS(r.consumer(name))),
		os.Rename(filepath.Join(dir, "consumer.mod"), filepath.Join(dir, "go.mod")),
		os.Rename(filepath.Join(dir, "consumer.sum"), filepath.Join(dir, "go.sum")),
	)
}

func checkCommand(f *flag.FlagSet) func(*run, []string) error {
	full := f.Bool("full", false, "build everything for all platforms, twice")
	return func(r *run, args []string) (err error) {
		temp, err := os.MkdirTemp("", "deed-release")
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
		if status, err := r.Uncommitted(); err != nil {
			return err
		} else if status != "" {
			fmt.Fprintf(r.out, "These changes are not committed, and not looked at:\n%s", status)
		}
		return r.check(temp, *full)
	}
}

// check creates a module proxy of the commit. With the proxy, it runs the tests of consumers and installs the commands. These use a module
// cache in temp and no workspace, so that they cannot see this checkout. Then it builds a release.
func (r *run) check(temp string, full bool) error {
	r.step("go.mod and go.sum are tidy")
	if err := r.tidy(true); err != nil {
		return err
	}
	version, err := r.Version()
	if err != nil {
		return err
	}
	r.step("a module proxy of %s at %s", r.Commit, version)
	proxy := filepath.Join(temp, "proxy")
	if err := r.WriteProxy(version, proxy); err != nil {
		return err
	}
	tool, err := modules.NewTool(proxy, filepath.Join(temp, "modcache"))
	if err != nil {
		return err
	}
	for _, name := range consumers {
		r.step("the tests of the module %s", name)
		if err := r.testConsumer(tool, name, filepath.Join(temp, "consumers", name)); err != nil {
			return err
		}
	}
	if err := r.installCommands(tool, version, filepath.Join(temp, "bin")); err != nil {
		return err
	}
	return r.checkBuilds(version, full, temp)
}

// checkBuilds builds a release twice and compares the bytes. Without full, it builds for the host only, and deed once for Windows, because
// other platforms take long.
func (r *run) checkBuilds(version string, full bool, temp string) error {
	o := order{version, []string{"deed", "deed-apiserver"}, []string{host}}
	if full {
		o.platforms = platforms
	}
	var sums [2][]byte
	for i := range sums {
		r.step("build %d of %s for %s", i+1, strings.Join(o.programs, " and "), strings.Join(o.platforms, ", "))
		out := filepath.Join(temp, fmt.Sprint("dist", i))
		if err := r.build(o, out); err != nil {
			return err
		}
		var err error
		if sums[i], err = os.ReadFile(filepath.Join(out, "checksums.txt")); err != nil {
			return err
		}
	}
	if !bytes.Equal(sums[0], sums[1]) {
		return fmt.Errorf("two builds of one commit differ:\n%s\n%s", sums[0], sums[1])
	}
	if err := r.tryArchives(version, filepath.Join(temp, "dist0"), filepath.Join(temp, "unpacked")); err != nil {
		return err
	}
	if full {
		return nil
	}
	r.step("deed for a platform that is most unlike the others")
	return r.build(order{version, []string{"deed"}, []string{"windows/amd64"}}, filepath.Join(temp, "dist-other"))
}

func (r *run) testConsumer(tool *modules.Tool, name, dir string) error {
	if err := r.copyConsumer(name, dir); err != nil {
		return err
	}
	// No go.sum has the sums of the modules of this repository, because they change with every commit.
	out, err := tool.In(dir).Run("test", "-mod=mod", "./...")
	fmt.Fprintf(r.out, "%s", out)
	return err
}

// installCommands installs the commands into bin and compares their versions with version.
func (r *run) installCommands(tool *modules.Tool, version, bin string) error {
	for _, c := range []struct{ path, ask, says string }{
		{"cmd/deed", "version", "deed"}, {"cmd/deed-validate", "version", "deed"}, {"server/cmd/deed-apiserver", "--version", "deed-apiserver"},
	} {
		target := modules.Root + "/" + c.path + "@" + version
		r.step("go install %s", target)
		if _, err := tool.With("GOBIN="+bin).Run("install", target); err != nil {
			return err
		}
		name := filepath.Base(c.path)
		out, err := exec.Command(filepath.Join(bin, name), c.ask).Output()
		if err != nil {
			return fmt.Errorf("%s %s: %w", name, c.ask, err)
		}
		if first, _, _ := strings.Cut(string(out), "\n"); first != c.says+" "+version {
			return fmt.Errorf("%s %s says %q, and was installed as %s", name, c.ask, first, version)
		}
		fmt.Fprintf(r.out, "%s", out)
	}
	return nil
}

// tryArchives unpacks the archives for the host with tar, and compares the versions of the programs with the commit.
func (r *run) tryArchives(version, from, to string) error {
	for name, ask := range map[string]string{"deed": "version", "deed-apiserver": "--version"} {
		archive := filepath.Join(from, name+"_"+version+"_"+strings.ReplaceAll(host, "/", "_")+".tar.gz")
		dir := filepath.Join(to, name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		if out, err := exec.Command("tar", "-xzf", archive, "-C", dir).CombinedOutput(); err != nil {
			return fmt.Errorf("tar -xzf %s: %w\n%s", archive, err, out)
		}
		out, err := exec.Command(filepath.Join(dir, name), ask).Output()
		if err != nil {
			return fmt.Errorf("%s %s: %w", name, ask, err)
		}
		if want := name + " " + version + "\ncommit " + r.Commit + "\n"; !strings.HasPrefix(string(out), want) {
			return fmt.Errorf("%s of %s says %q, want %q", name, archive, out, want)
		}
		for _, file := range []string{"LICENSE", "README.md", "completions/" + name + ".bash", "man/man1/" + name + ".1"} {
			if info, err := os.Stat(filepath.Join(dir, file)); err != nil || info.Size() == 0 {
				return fmt.Errorf("%s has no %s: %v", archive, file, err)
			}
		}
	}
	return nil
}
