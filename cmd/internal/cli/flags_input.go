package cli

import (
	"cmp"
	"errors"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/deed-project/deed/cmd/internal/manifest"
)

// inputFlags holds the flags that name the input of a command.
type inputFlags struct {
	files     []string
	kustomize []string
	recursive bool
	ignore    []string
	timeout   time.Duration
	jobs      int
	flag      string // the name of the flag for the files, if it is not --filename
}

func (f *inputFlags) register(flags *pflag.FlagSet) { f.registerFor(flags, "configurations") }

// registerFor is register for a command that reads the objects described by what.
func (f *inputFlags) registerFor(flags *pflag.FlagSet, what string) {
	flags.VarP(list{&f.files}, "filename", "f",
		"`file`, directory, quoted pattern such as '*.yaml', or URL with "+what+
			", or - for standard input, which is also read when there is no -f; repeatable")
	f.registerKustomize(flags)
	f.registerReading(flags)
}

func (f *inputFlags) registerKustomize(flags *pflag.FlagSet) {
	flags.VarP(list{&f.kustomize}, "kustomize", "k", "`directory` that kustomize builds, as in kubectl; repeatable")
}

// takeFiles makes cmd accept files as arguments, as if each had -f in front.
func takeFiles(cmd *cobra.Command) {
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		for _, name := range args {
			if err := cmd.Flags().Set("filename", name); err != nil {
				return err
			}
		}
		return nil
	}
}

// registerReading adds the flags that control how files are read.
func (f *inputFlags) registerReading(flags *pflag.FlagSet) {
	flags.BoolVarP(&f.recursive, "recursive", "R", false, "read directories with everything below them")
	flags.Var(list{&f.ignore}, "ignore",
		"leave out files and directories that match `pattern`, such as values.yaml or charts/*; repeatable")
	flags.DurationVar(&f.timeout, "request-timeout", manifest.DefaultTimeout, "how long the download of a URL or a request to a cluster may take; 0 means no limit")
	flags.IntVar(&f.jobs, "jobs", 0, "work on `n` objects at a time; 0 means one for each processor")
}

// use sets the options of reading in c from f.
func (f *inputFlags) use(c *cli) error {
	switch {
	case f.jobs < 0:
		return errors.New("--jobs must not be negative")
	case f.timeout < 0:
		return errors.New("--request-timeout must not be negative")
	}
	c.Jobs, c.Ignore, c.Timeout = f.jobs, f.ignore, f.timeout
	return manifest.CheckIgnored(f.ignore)
}

// errNoInput is returned if a command has no input.
var errNoInput = errors.New("no input: name files or directories, directories for kustomize with -k, or pipe objects in")

// any reports whether f names any input.
func (f *inputFlags) any() bool { return len(f.files)+len(f.kustomize) > 0 }

// inputs returns the names of the files of f. Without any input it returns standard input, or errNoInput if that is a terminal. inputs must
// be called before anything is read, because it sets the options of reading.
func (c *cli) inputs(f inputFlags) ([]string, error) {
	if err := f.use(c); err != nil {
		return nil, err
	}
	if f.any() {
		return f.files, nil
	}
	if file, ok := c.In.(*os.File); ok {
		if info, err := file.Stat(); err != nil || info.Mode()&os.ModeCharDevice != 0 {
			return nil, errNoInput // a terminal, or nothing at all
		}
	}
	c.piped = cmp.Or(f.flag, "filename")
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
