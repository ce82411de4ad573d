package cli

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/pflag"
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

// loader reads the objects in files.
type loader struct {
	*log
	in       io.Reader
	archived map[string][]byte // files that are not on disk, by name
	jobs     int               // how many objects are worked on at a time; 0 is one for each processor
}

// stdinName stands for standard input on the command line, and stdinShown in messages.
const (
	stdinName  = "-"
	stdinShown = "stdin"
)

// errNoInput says that there is nothing to read.
var errNoInput = errors.New("no input: name files or directories with -f, or pipe objects in")

// inputs returns the names of f, or standard input if there are none and something is piped in. It is the first function of
// this file to be called, as it sets how many jobs there are.
func (c *cli) inputs(f inputFlags) ([]string, error) {
	if f.jobs < 0 {
		return nil, errors.New("--jobs must not be negative")
	}
	c.jobs = f.jobs
	if len(f.files) > 0 {
		return f.files, nil
	}
	if file, ok := c.in.(*os.File); ok {
		if info, err := file.Stat(); err != nil || info.Mode()&os.ModeCharDevice != 0 {
			return nil, errNoInput // a terminal, or nothing at all
		}
	}
	return []string{stdinName}, nil
}

// checkStdin refuses command lines that read standard input twice.
func checkStdin(names ...[]string) error {
	count := 0
	for _, name := range slices.Concat(names...) {
		if name == stdinName {
			count++
		}
	}
	if count > 1 {
		return errors.New("standard input can be read only once: name it once, and files otherwise")
	}
	return nil
}

// read returns the texts of the named files in order, and those of the files in the named directories, sorted by name. What
// cannot be read is reported and left out.
func (c *loader) read(names []string, recursive bool) []*text {
	var texts []*text
	for _, name := range names {
		if name == stdinName {
			data, err := io.ReadAll(c.in)
			if err != nil {
				c.problem(inFile(stdinShown), "%v", err)
				continue
			}
			texts = append(texts, &text{name: stdinShown, data: data})
			continue
		}
		if data, ok := c.archived[name]; ok {
			texts = append(texts, &text{name: name, path: name, data: data})
			continue
		}
		for _, file := range c.filesIn(name, recursive) {
			data, err := os.ReadFile(file)
			if err != nil {
				c.fileProblem(file, err)
				continue
			}
			texts = append(texts, &text{name: file, path: file, data: data})
		}
	}
	return texts
}

// manifestExtensions are those of the files that count in a directory, as in kubectl.
var manifestExtensions = []string{".json", ".yaml", ".yml"}

// filesIn returns name itself if it is a file, whatever its extension, and the manifests in it if it is a directory.
func (c *loader) filesIn(name string, recursive bool) []string {
	info, err := os.Stat(name)
	if err != nil {
		c.fileProblem(name, err)
		return nil
	}
	if !info.IsDir() {
		return []string{name}
	}
	files := c.manifestsIn(name, recursive)
	if len(files) == 0 {
		hint := ""
		if !recursive {
			hint = "; -R looks into the directories in it"
		}
		c.problem(inFile(name), "no .yaml, .yml or .json files in this directory%s", hint)
	}
	return files
}

// manifestsIn returns the manifests in a directory.
func (c *loader) manifestsIn(name string, recursive bool) []string {
	var files []string
	err := filepath.WalkDir(name, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			c.fileProblem(path, err)
			return nil
		case entry.IsDir() && path != name && !recursive:
			return fs.SkipDir
		case !entry.IsDir() && slices.Contains(manifestExtensions, filepath.Ext(path)):
			files = append(files, path)
		}
		return nil
	})
	if err != nil {
		c.fileProblem(name, err)
	}
	return files
}
