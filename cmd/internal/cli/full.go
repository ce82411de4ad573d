package cli

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/deed-project/deed/cmd/internal/checkpipe"
	"github.com/deed-project/deed/cmd/internal/finding"
	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/cmd/internal/validation"
)

// Full is what deed-validate has and deed lacks, because it takes time to start. The zero Full has nothing.
type Full struct {
	// NewServer makes the server that validates objects: see package judge.
	NewServer func(finding.ServerConfig) (finding.Server, error)
	Checks    validation.Checks // see package checks
}

// fullProgram is the program with a server in it. It takes the command lines of deed. A program that imports the server takes twice the
// time to start, so that deed leaves the commands that need it to this one: see docs/decisions/0041. Other commands ask it questions.
const fullProgram = "deed-validate"

// answerArgument is the only argument of fullProgram if it answers the questions of package checkpipe.
const answerArgument = "answer-checks"

// programVariable names the environment variable with the name of the program that runs fullProgram.
const programVariable = "DEED_PROGRAM"

// RunWith is [Run] for fullProgram, and for deed if full is zero.
func RunWith(full Full, args []string, in io.Reader, out, err io.Writer) int {
	c := newCLI(in, out, err)
	if slices.Equal(args, []string{answerArgument}) {
		if err := checkpipe.Serve(in, out, full.Checks); err != nil {
			c.Failed(secret.Open.Error(err))
			return notice.ExitInternal
		}
		return notice.ExitDone
	}
	if c.newServer = full.NewServer; full.Checks != nil {
		c.Validation = validation.Server{Checks: full.Checks}
	}
	if name := os.Getenv(programVariable); name != "" {
		c.program = name
	}
	return c.run(args, c.rootCommand())
}

// errNotFull is returned by [cli.delegate] if fullProgram is not there.
var errNotFull = errors.New(fullProgram + " is not installed: it belongs beside deed")

// delegating says whether deed runs fullProgram. Tests in the process do not.
var delegating = true

// findFull returns the path of fullProgram, which is beside this program or in PATH. It returns errNotFull if it is in neither.
func findFull() (string, error) {
	if !delegating {
		return "", errNotFull
	}
	name := fullProgram
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if self, err := os.Executable(); err == nil {
		if self, err = filepath.EvalSymlinks(self); err == nil {
			if path := filepath.Join(filepath.Dir(self), name); exists(path) {
				return path, nil
			}
		}
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", errNotFull
	}
	return path, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// askFull returns a command that starts fullProgram to answer questions.
func askFull() (*exec.Cmd, error) {
	path, err := findFull()
	if err != nil {
		return nil, err
	}
	return exec.Command(path, answerArgument), nil
}

// delegate runs the command line by fullProgram. It returns errNotFull if it is not there.
func (c *cli) delegate() error {
	path, err := findFull()
	if err != nil {
		return err
	}
	cmd := exec.Command(path, c.args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.In, c.out, c.Err
	cmd.Env = append(os.Environ(), programVariable+"="+c.program)
	err = cmd.Run()
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
