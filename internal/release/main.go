// Command release builds the artifacts of a release from this repository, and tests them as users run them. Run it in the checkout:
//
//	go run ./internal/release help
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/deed-project/deed/internal/release/modules"
)

func main() {
	os.Exit(Run(os.Args[1:], os.Stdout, os.Stderr))
}

const usage = `Usage: go run ./internal/release COMMAND

  proxy -version VERSION DIR   write the published modules as a module proxy: GOPROXY=file://DIR
  tidy [-check]                tidy the go.mod and go.sum files, though no version that they name need exist
  bump VERSION                 require the modules of this repository at VERSION
  build -version VERSION -o DIR
                               build the files of a release
  push FILE...                 push images of a release to the registry that they name, as REGISTRY_USER with REGISTRY_TOKEN
  check                        install and import what is committed, as others do: see docs/releasing.md
`

// command is a subcommand. It defines its flags in f, and returns the function to run once they are parsed.
type command func(f *flag.FlagSet) func(r *run, args []string) error

var commands = map[string]command{
	"proxy": proxyCommand,
	"tidy":  tidyCommand,
	"bump":  bumpCommand,
	"build": buildCommand,
	"push":  pushCommand,
	"check": checkCommand,
}

// run is one run of the program.
type run struct {
	*modules.Checkout
	out io.Writer
}

// errUsage is the error of a wrong command line. The flag set has already printed the reason.
var errUsage = errors.New("wrong usage")

// Run executes the command line args in the working directory, and returns the exit code: 2 for wrong usage, 1 for any other failure.
func Run(args []string, out, errOut io.Writer) int {
	err := start(args, out, errOut)
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errUsage):
		return 2
	}
	fmt.Fprintf(errOut, "release: %v\n", err)
	return 1
}

func start(args []string, out, errOut io.Writer) error {
	carryOut, rest, err := parse(args, errOut)
	if carryOut == nil || err != nil {
		return err
	}
	checkout, err := modules.Open(".")
	if err != nil {
		return err
	}
	return carryOut(&run{checkout, out}, rest)
}

// parse returns the function that args select, with its arguments. It returns nil if args ask for help.
func parse(args []string, errOut io.Writer) (carryOut func(*run, []string) error, rest []string, err error) {
	if len(args) == 0 || commands[args[0]] == nil {
		fmt.Fprint(errOut, usage)
		if len(args) > 0 && strings.Trim(args[0], "-") == "help" {
			return nil, nil, nil
		}
		return nil, nil, errUsage
	}
	f := flag.NewFlagSet(args[0], flag.ContinueOnError)
	f.SetOutput(errOut)
	carryOut = commands[args[0]](f)
	if err := f.Parse(args[1:]); errors.Is(err, flag.ErrHelp) {
		return nil, nil, nil
	} else if err != nil {
		return nil, nil, errUsage
	}
	return carryOut, f.Args(), nil
}

// step prints the next step.
func (r *run) step(format string, args ...any) { fmt.Fprintf(r.out, "== "+format+"\n", args...) }

func proxyCommand(f *flag.FlagSet) func(*run, []string) error {
	version := f.String("version", "", "version of the modules; default is that at which they require each other")
	return func(r *run, args []string) error {
		if len(args) != 1 {
			return errors.New("proxy needs one folder")
		}
		if *version == "" {
			var err error
			if *version, err = r.Version(); err != nil {
				return err
			}
		}
		if err := r.WriteProxy(*version, args[0]); err != nil {
			return err
		}
		url, err := modules.FileURL(args[0])
		if err != nil {
			return err
		}
		fmt.Fprintf(r.out, "GOPROXY=%s serves %s at %s, commit %s\n", url, strings.Join(modules.Paths(), ", "), *version, r.Commit)
		return nil
	}
}

func bumpCommand(*flag.FlagSet) func(*run, []string) error {
	return func(r *run, args []string) error {
		if len(args) != 1 {
			return errors.New("bump needs one version, such as v0.2.0")
		}
		changed, err := modules.Bump(r.Dir, args[0])
		for _, name := range changed {
			fmt.Fprintln(r.out, name)
		}
		return err
	}
}
