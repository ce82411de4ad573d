package report

import (
	"bufio"
	"errors"
	"io"

	"github.com/deed-project/deed/cmd/internal/dryrun"
	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/typed"
)

// objectDiff is the difference that an apply makes to one object, in JSON.
type objectDiff struct {
	manifest.Ref
	Created bool        `json:"created"`
	Changes []fieldDiff `json:"changes"`
}

// fieldDiff is one field that differs. An added field has no live value, a removed one no result. Fields with differing fields below them
// are left out.
type fieldDiff struct {
	Path   string       `json:"path"`
	Change string       `json:"change"` // added, removed or modified
	Live   secret.Value `json:"live,omitzero"`
	Result secret.Value `json:"result,omitzero"`
}

// DiffPrinter prints differences for programs: a list with an item for each object, including objects without a difference.
type DiffPrinter struct {
	log  *notice.Log
	out  *bufio.Writer
	list *jsonList
}

// NewDiffPrinter returns a printer to out that raises the exit code of log if there is a difference.
func NewDiffPrinter(log *notice.Log, out io.Writer) *DiffPrinter {
	p := &DiffPrinter{log: log, out: bufio.NewWriter(out)}
	p.list = &jsonList{out: p.out}
	return p
}

// Add prints the changes of outcome to the live object of t. The cost is the cost of comparing the two. Close returns errors of writing.
func (p *DiffPrinter) Add(t *dryrun.Task, outcome managedfields.Object) {
	d := objectDiff{Ref: t.Given.Ref(), Created: t.Live == nil}
	var err error
	if d.Changes, err = p.changes(t, outcome); err != nil {
		p.log.Problem(t.Given.At(), "%v: %s", t.Given, t.Given.View().Error(err))
		return
	}
	if d.Created || len(d.Changes) > 0 {
		p.log.Raise(notice.ExitFinding)
	}
	p.list.add(d)
	p.out.Flush()
}

// changes returns the fields of outcome that differ from the live object of t, in the order of their paths.
func (p *DiffPrinter) changes(t *dryrun.Task, outcome managedfields.Object) ([]fieldDiff, error) {
	live, err := typing.Empty(t.Type()), error(nil)
	if t.Live != nil {
		live, err = typed.New(t.Before().Content, t.Type(), typed.AllowDuplicates)
	}
	if err != nil {
		return nil, err
	}
	result, err := typed.New(outcome.Content, t.Type(), typed.AllowDuplicates)
	if err != nil {
		return nil, err
	}
	found, err := typed.Compare(live, result)
	if err != nil {
		return nil, err
	}
	out, view := []fieldDiff{}, t.Given.View()
	all := found.Added.Union(found.Modified).Union(found.Removed).Leaves()
	for step := range typed.Walk(all, []typed.Value{live, result}) {
		f := fieldDiff{Path: view.Path(step.Path), Change: "modified"}
		f.Live, f.Result = view.Pair(step.Path, step.Values[0], step.Values[1])
		switch {
		case f.Live.IsAbsent():
			f.Change = "added"
		case f.Result.IsAbsent():
			f.Change = "removed"
		}
		out = append(out, f)
	}
	return out, nil
}

// Close ends the list. It returns the first error of writing.
func (p *DiffPrinter) Close() error {
	p.list.end()
	p.out.WriteString("\n")
	return errors.Join(p.list.err, p.out.Flush())
}
