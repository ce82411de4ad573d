package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/deed-project/deed/internal/release/modules"
)

// tidied lists the directories of modules that [modules.Tidy] tidies, beside the consumers.
var tidied = append(slices.Clone(modules.Published), "oracle", "internal/release")

// replacing lists the directories of modules that find this repository's modules by replace, which go mod tidy supports.
var replacing = []string{
	"oracle/compat", "oracle/compat/apiserver", "oracle/gitops", "oracle/kube", "oracle/record", "server/apitest/controllers", "server/store/etcd/conformance", "web/browser", ".ci/tools",
}

func tidyCommand(f *flag.FlagSet) func(*run, []string) error {
	checkOnly := f.Bool("check", false, "change nothing, and fail if something is not tidy")
	return func(r *run, args []string) error { return r.tidy(*checkOnly) }
}

// tidy tidies the modules of the work tree. With checkOnly, it names the untidy ones instead.
func (r *run) tidy(checkOnly bool) error {
	var untidy []error
	for _, folder := range tidied {
		dir := filepath.Join(r.Dir, filepath.FromSlash(folder))
		untidy = append(untidy, r.tidyFiles(checkOnly, dir, filepath.Join(dir, "go.mod"), filepath.Join(dir, "go.sum")))
	}
	for _, folder := range replacing {
		untidy = append(untidy, r.tidyInPlace(checkOnly, folder))
	}
	for _, name := range consumers {
		untidy = append(untidy, r.tidyConsumer(checkOnly, name))
	}
	return errors.Join(untidy...)
}

// tidyInPlace tidies a module that needs only itself and its replacements.
func (r *run) tidyInPlace(checkOnly bool, folder string) error {
	cmd := exec.Command("go", "mod", "tidy")
	if checkOnly {
		cmd.Args = append(cmd.Args, "-diff")
	}
	cmd.Dir = filepath.Join(r.Dir, filepath.FromSlash(folder))
	cmd.Env = append(os.Environ(), "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s is not tidy, run go run ./internal/release tidy: %w\n%s", folder, err, out)
	}
	return nil
}

// tidyConsumer tidies a copy of a consumer, because only the copy has a go.mod.
func (r *run) tidyConsumer(checkOnly bool, name string) error {
	temp, err := os.MkdirTemp("", "deed-consumer")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp) // an error only leaves a copy behind
	if err := r.copyConsumer(name, temp); err != nil {
		return err
	}
	from := r.consumer(name)
	return r.tidyFiles(checkOnly, temp, filepath.Join(from, "consumer.mod"), filepath.Join(from, "consumer.sum"))
}

func (r *run) tidyFiles(checkOnly bool, dir, mod, sum string) error {
	tidyMod, tidySum, err := modules.Tidy(r.Dir, dir, mod, sum)
	if err != nil {
		return err
	}
	return errors.Join(r.settle(checkOnly, mod, tidyMod), r.settle(checkOnly, sum, tidySum))
}

// settle writes want to the file name. With checkOnly, it returns an error that shows the difference instead.
func (r *run) settle(checkOnly bool, name string, want []byte) error {
	got, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if bytes.Equal(got, want) {
		return nil
	}
	if checkOnly {
		return fmt.Errorf("%s is not tidy, run go run ./internal/release tidy:\n%s", name, difference(string(got), string(want)))
	}
	fmt.Fprintln(r.out, name)
	return os.WriteFile(name, want, 0o644)
}

// difference lists the lines that are in only one of two texts.
func difference(got, want string) string {
	var b strings.Builder
	only := func(sign, text, other string) {
		has := map[string]bool{}
		for line := range strings.Lines(other) {
			has[line] = true
		}
		for line := range strings.Lines(text) {
			if !has[line] {
				b.WriteString(sign + line)
			}
		}
	}
	only("- ", got, want)
	only("+ ", want, got)
	return b.String()
}
