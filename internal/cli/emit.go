package cli

import (
	"strings"

	"github.com/spf13/pflag"

	"github.com/deed-project/deed/managedfields"
)

// putFlags say whether outcomes are put back into the files of the live objects.
type putFlags struct {
	write  bool
	dryRun choice
}

func (f *putFlags) register(flags *pflag.FlagSet) {
	flags.BoolVar(&f.write, "write", false, "put the outcomes into the files of --live")
	f.dryRun = choice{"none", []string{"none", "client", "server"}}
	flags.Var(&f.dryRun, "dry-run", "as in kubectl, a `mode` of none, client or server; all but none keep --write from writing")
}

// rewriter returns what writes to the live files, nil if nothing is to be written.
func (f *putFlags) rewriter(c *cli, live []string) (*rewriter, error) {
	if !f.write {
		return nil, nil
	}
	return c.newRewriter(live, c.out, f.dryRun.value != "none")
}

// note says what was done to an object, in the words of kubectl.
func (f *putFlags) note(o *object, verb string) string {
	name := strings.ToLower(o.id.kind)
	if o.id.group != "" {
		name += "." + o.id.group
	}
	note := name + "/" + o.id.name + " " + verb
	switch f.dryRun.value {
	case "client":
		note += " (dry run)"
	case "server":
		note += " (server dry run)"
	}
	return note
}

// emitter puts outcomes where they belong: on standard output, into the live files, or both.
type emitter struct {
	*cli
	put     putFlags
	verb    string // what is done, as kubectl says it
	printer *printer
	files   *rewriter
}

func (e *emitter) add(t *task, outcome managedfields.Object) {
	if e.printer != nil {
		if err := e.printer.print(outcome); err != nil {
			e.problem(t.given.at(), "%v: %v", t.given, err)
			return
		}
	}
	if e.files == nil {
		return
	}
	note, err := e.put.note(t.given, e.verb), error(nil)
	if e.printer != nil {
		note = ""
	}
	if t.live != nil {
		err = e.files.set(t.live, outcome, note)
	} else {
		err = e.files.create(t.given.id, outcome, note)
	}
	if err != nil {
		e.problem(t.given.at(), "%v: %v", t.given, err)
	}
}

// close prints and writes what is not printed and written yet.
func (e *emitter) close() {
	if e.printer != nil {
		if err := e.printer.close(); err != nil {
			e.failed(err)
		}
	}
	if e.files != nil {
		e.files.flush()
	}
}
