package report

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/deed-project/deed/cmd/internal/entries"
	"github.com/deed-project/deed/cmd/internal/wording"
	"github.com/deed-project/deed/fieldpath"
)

// FieldsPrinter prints the fields of each manager, object by object.
type FieldsPrinter struct {
	out       *bufio.Writer
	query     entries.Query
	statsOnly bool
	paint     Painter
	list      *jsonList // nil for text
	count     int
}

// NewFieldsPrinter returns a printer to out that prints the paths of q as text or JSON. With statsOnly it prints no paths.
func NewFieldsPrinter(out io.Writer, format string, q entries.Query, statsOnly bool, paint Painter) *FieldsPrinter {
	p := &FieldsPrinter{out: bufio.NewWriter(out), query: q, statsOnly: statsOnly, paint: paint}
	if format == FormatJSON {
		p.list = &jsonList{out: p.out}
	}
	return p
}

// Print prints the fields of o. Close returns errors of writing.
func (p *FieldsPrinter) Print(o entries.Entries) {
	p.count++
	switch {
	case p.list != nil && p.query.IsSet():
		p.list.add(setOf(o, p.query))
	case p.list != nil:
		p.list.add(managersOf(o, p.query, p.statsOnly))
	case p.query.IsSet():
		p.set(o)
	default:
		p.managers(o)
	}
	p.out.Flush()
}

// Close ends the output. It returns the first error of writing.
func (p *FieldsPrinter) Close() error {
	if p.list == nil {
		return p.out.Flush()
	}
	p.list.end()
	p.out.WriteString("\n")
	return errors.Join(p.list.err, p.out.Flush())
}

// set prints the paths of the query, one in a line.
func (p *FieldsPrinter) set(o entries.Entries) {
	view := o.View()
	for at := range o.Places(p.query.Set(o)) {
		where, text := o.At("metadata", "managedFields"), " (not in the object)"
		if at.Found {
			where, text = o.Key(at.Steps...), ": "+view.Value(at.Path, at.Value).String()
		}
		fmt.Fprintf(p.out, "%v: %v: %s%s\n", where, o, view.Path(at.Path), text)
	}
}

// managers prints the managers of the query with their paths, or only with their counts.
func (p *FieldsPrinter) managers(o entries.Entries) {
	if p.count > 1 {
		p.out.WriteString("\n")
	}
	sizes := entries.SizesOf(o.Object)
	fmt.Fprintf(p.out, "%v: %v: %s of JSON, %s of it managedFields\n", o.At(), o, bytesText(sizes.Object), share(sizes.Managed, sizes.Object))
	p.out.WriteString(table(o, p.query, sizes))
	for j, w := range o.Owners {
		if p.query.Wants(w) && !p.statsOnly {
			fmt.Fprintf(p.out, "\n%s\n", p.paint.Paint(ownerStyle(j), showHolder(w)))
			p.paths(o, o.Sets[j])
		}
	}
}

// table returns one line for each manager in q.
func table(o entries.Entries, q entries.Query, sizes entries.Sizes) string {
	rows := [][]string{{"MANAGER", "OPERATION", "VERSION", "TIME", "PATHS", "BYTES", "SHARE"}}
	for i, w := range o.Owners {
		if q.Wants(w) {
			rows = append(rows, []string{
				wording.Manager(w.Manager.Name), operation(w.Manager), w.APIVersion, fullTime(w.Time), fmt.Sprint(o.Sets[i].Len()),
				fmt.Sprint(sizes.Entries[i]), share(sizes.Entries[i], sizes.Object),
			})
		}
	}
	return wording.Table(rows)
}

// paths prints the paths of set with their lines in o.
func (p *FieldsPrinter) paths(o entries.Entries, set fieldpath.Set) {
	view := o.View()
	for at := range o.Places(set) {
		line := "-"
		if at.Found {
			line = fmt.Sprint(o.Key(at.Steps...).Line)
		}
		fmt.Fprintf(p.out, "  %5s  %s\n", line, view.Path(at.Path))
	}
}
