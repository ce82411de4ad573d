package cli

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/deed-project/deed/cmd/internal/finding"
	"github.com/deed-project/deed/cmd/internal/notice"
)

// NewServer makes the server that validates objects: see package judge.
type NewServer func(finding.ServerConfig) (finding.Server, error)

// fullProgram is the program with a server in it. It takes the command lines of deed. A program that imports the server takes twice the
// time to start, so that deed leaves the commands that need it to this one: see docs/decisions/0041.
const fullProgram = "deed-validate"

// programVariable names the environment variable with the name of the program that runs fullProgram.
const programVariable = "DEED_PROGRAM"

// RunWith is [Run] for a program with a server in it.
func RunWith(server NewServer, args []string, in io.Reader, out, err io.Writer) int {
	c := newCLI(in, out, err)
	c.newServer = server
	if name := os.Getenv(programVariable); name != "" {
		c.program = name
	}
	return c.run(args, c.rootCommand())
}

// errNotFull is returned by [cli.delegate] if fullProgram is not there.
var errNotFull = errors.New(fullProgram + " is not installed: it belongs beside deed")

// delegating says whether deed runs fullProgram. Tests in the process do not.
var delegating = true

// delegate runs the command line by fullProgram, which is beside this program or in PATH. It returns errNotFull if it is in neither.
func (c *cli) delegate() error {
	if !delegating {
		return errNotFull
	}
	name := fullProgram
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	path := ""
	if self, err := os.Executable(); err == nil {
		if self, err = filepath.EvalSymlinks(self); err == nil {
			path = filepath.Join(filepath.Dir(self), name)
		}
	}
	if _, err := os.Stat(path); err != nil {
		if path, err = exec.LookPath(name); err != nil {
			return errNotFull
		}
	}
	cmd := exec.Command(path, c.args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.In, c.out, c.Err
	cmd.Env = append(os.Environ(), programVariable+"="+c.program)
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.ExitCode() > 0:
		c.Raise(exit.ExitCode())
	case err != nil:
		c.Failed(path + " failed")
		c.Raise(notice.ExitInternal)
	}
	return nil
}
