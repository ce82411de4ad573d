// Package command builds deed from the checkout and runs it, for tests that compare deed's output with the reference. The packages of the
// command line are internal to their module, so tests run the command like its users.
package command

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// deed is the path of the program that Main built.
var deed string

// Main builds deed, runs the tests of m, and returns the exit code for TestMain.
func Main(m *testing.M) (code int) {
	dir, err := os.MkdirTemp("", "deed")
	if err == nil {
		defer os.RemoveAll(dir)
		deed = filepath.Join(dir, "deed")
		err = build(deed)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

func build(file string) error {
	cmd := exec.Command("go", "build", "-o", file, "github.com/deed-project/deed/cmd/deed")
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build deed: %w\n%s", err, text)
	}
	return nil
}

// Run runs deed without input and returns its standard output. The error holds its standard error.
func Run(args ...string) ([]byte, error) {
	var out, errs bytes.Buffer
	cmd := exec.Command(deed, args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("deed %s: %w\n%s", args[0], err, errs.Bytes())
	}
	return out.Bytes(), nil
}
