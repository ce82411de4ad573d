package cli

import (
	"errors"
	"os"
	"slices"

	"github.com/spf13/pflag"

	"github.com/deed-project/deed/cmd/internal/manifest"
)

// inputFlags say where the objects of a command come from.
type inputFlags struct {
	files     []string
	recursive bool
	jobs      int
}

func (f *inputFlags) register(flags *pflag.FlagSet) { f.registerFor(flags, "configurations") }

// registerFor is register for a command that reads what.
func (f *inputFlags) registerFor(flags *pflag.FlagSet, what string) {
	flags.StringArrayVarP(&f.files, "filename", "f", nil,
		"`file` or directory with "+what+", or - for standard input, which is also read when there is no -f; repeatable")
	flags.BoolVarP(&f.recursive, "recursive", "R", false, "read directories with everything below them")
	flags.IntVar(&f.jobs, "jobs", 0, jobsUsage)
}

const jobsUsage = "work on `n` objects at a time; 0 is one for each processor"

// errNoInput says that there is nothing to read.
var errNoInput = errors.New("no input: name files or directories with -f, or pipe objects in")

// inputs returns the names of f, or standard input if there are none and something is piped in. It
// is the first function of this file to be called, as it sets how many jobs there are.
func (c *cli) inputs(f inputFlags) ([]string, error) {
	if f.jobs < 0 {
		return nil, errors.New("--jobs must not be negative")
	}
	c.Jobs = f.jobs
	if len(f.files) > 0 {
		return f.files, nil
	}
	if file, ok := c.In.(*os.File); ok {
		if info, err := file.Stat(); err != nil || info.Mode()&os.ModeCharDevice != 0 {
			return nil, errNoInput // a terminal, or nothing at all
		}
	}
	return []string{manifest.StdinName}, nil
}

// checkStdin refuses command lines that read standard input twice.
func checkStdin(names ...[]string) error {
	count := 0
	for _, name := range slices.Concat(names...) {
		if name == manifest.StdinName {
			count++
		}
	}
	if count > 1 {
		return errors.New("standard input can be read only once: name it once, and files otherwise")
	}
	return nil
}
