package cli

import (
	"errors"
	"slices"

	"github.com/spf13/pflag"

	"github.com/deed-project/deed/cmd/internal/dryrun"
	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/report"
	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/managedfields"
)

// putFlags holds the flags that write outcomes back into the files of the live objects.
type putFlags struct {
	write  bool
	dryRun choice
}

func (f *putFlags) register(flags *pflag.FlagSet) {
	flags.BoolVar(&f.write, "write", false, "put the outcomes into the files of --live")
	f.dryRun = choice{"none", []string{"none", "client", "server"}}
	flags.Var(&f.dryRun, "dry-run", "as in kubectl, a `mode` of none, client or server; all but none keep --write from writing")
}

// rewriter returns the writer of the live files, or nil if nothing is to be written.
func (f *putFlags) rewriter(c *cli, live []string) (*manifest.Rewriter, error) {
	if !f.write {
		return nil, nil
	}
	if slices.Contains(live, clusterName) {
		return nil, errors.New("--write writes files: a cluster is only read")
	}
	return c.NewRewriter(live, c.out, f.dryRun.value != "none")
}

// note describes what was done to an object, in the words of kubectl.
func (f *putFlags) note(o managedfields.Object, verb string) string {
	note := report.NameOf(o) + " " + verb
	switch f.dryRun.value {
	case "client":
		note += " (dry run)"
	case "server":
		note += " (server dry run)"
	}
	return note
}

// emitter sends outcomes to standard output, to the live files, or both.
type emitter struct {
	*cli
	put     putFlags
	verb    string // what is done, in the words of kubectl
	printer *report.Printer
	files   *manifest.Rewriter
}

func (e *emitter) add(t *dryrun.Task, outcome managedfields.Object) {
	if e.printer != nil {
		if err := e.printer.Print(outcome); err != nil {
			e.Problem(t.Given.At(), "%v: %s", t.Given, t.Given.View().Error(err))
			return
		}
	}
	if e.files == nil {
		return
	}
	note, err := e.put.note(outcome, e.verb), error(nil)
	if e.printer != nil {
		note = ""
	}
	if t.Live != nil {
		err = e.files.Set(t.Live, outcome, note)
	} else {
		err = e.files.Create(t.Given.Id, outcome, note)
	}
	if err != nil {
		e.Problem(t.Given.At(), "%v: %s", t.Given, t.Given.View().Error(err))
	}
}

// refuse prints the reason in place of the outcome of t, if the output format is JSON.
func (e *emitter) refuse(t *dryrun.Task, reason error) {
	if e.printer == nil {
		return
	}
	if err := e.printer.PrintStatus(t.Given, reason); err != nil {
		e.Problem(t.Given.At(), "%v: %s", t.Given, t.Given.View().Error(err))
	}
}

// close prints and writes the outcomes that are still buffered.
func (e *emitter) close() {
	if e.printer != nil {
		if err := e.printer.Close(); err != nil {
			e.Failed(secret.Open.Error(err))
		}
	}
	if e.files != nil {
		e.files.Flush()
	}
}
