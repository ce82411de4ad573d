package report

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/manifest"
	"github.com/deed-project/deed/internal/secret"
	"github.com/deed-project/deed/internal/types"
	"github.com/deed-project/deed/internal/wording"
)

// FieldsOf has what each entry of an object owns.
type FieldsOf struct {
	*manifest.Object
	owners []manifest.Holder
	sets   []fieldpath.Set
	sizes  sizes
}

// ReadFields reads the entries of o, and reports those that cannot be read: they own nothing.
func ReadFields(c *types.Library, o *manifest.Object) FieldsOf {
	out := FieldsOf{o, manifest.OwnersOf(o), make([]fieldpath.Set, len(o.Entries)), sizesOf(o)}
	for i, e := range o.Entries {
		var err error
		if out.sets[i], err = e.FieldsV1.Set(); err != nil {
			c.Problem(o.At("metadata", "managedFields", i), "%v: metadata.managedFields[%d], manager %q: %v", o, i, e.Manager, err)
		}
	}
	return out
}

// FieldsQuery says what of the entries is wanted.
type FieldsQuery struct {
	IsSet                     bool // a set of paths, and not managers
	Managers, Only, Not, Both []ManagerRef
}

// matching returns the union of what the managers that refs name own.
func (o FieldsOf) matching(refs ...ManagerRef) fieldpath.Set {
	var union fieldpath.Set
	for i, w := range o.owners {
		if slices.ContainsFunc(refs, func(r ManagerRef) bool { return r.Matches(w.Manager) }) {
			union = union.Union(o.sets[i])
		}
	}
	return union
}

// set returns the paths of o that are wanted.
func (q FieldsQuery) set(o FieldsOf) fieldpath.Set {
	set := o.matching(q.Only...)
	if len(q.Only) == 0 {
		for _, s := range o.sets {
			set = set.Union(s)
		}
	}
	for _, r := range q.Both {
		set = set.Intersect(o.matching(r))
	}
	return set.Minus(o.matching(q.Not...))
}

// FieldsPrinter prints who owns which fields, object by object.
type FieldsPrinter struct {
	out       *bufio.Writer
	query     FieldsQuery
	statsOnly bool
	paint     Painter
	list      *jsonList // nil for text
	count     int
}

// NewFieldsPrinter returns the printer of what q asks for that writes to out, text or JSON. With statsOnly there are no paths.
func NewFieldsPrinter(out io.Writer, format string, q FieldsQuery, statsOnly bool, paint Painter) *FieldsPrinter {
	p := &FieldsPrinter{out: bufio.NewWriter(out), query: q, statsOnly: statsOnly, paint: paint}
	if format == FormatJSON {
		p.list = &jsonList{out: p.out}
	}
	return p
}

// Print prints what is asked for of o. Errors of writing show in Close.
func (p *FieldsPrinter) Print(o FieldsOf) {
	p.count++
	switch {
	case p.list != nil && p.query.IsSet:
		p.list.add(p.query.setJSON(o))
	case p.list != nil:
		p.list.add(p.query.managersJSON(o, p.statsOnly))
	case p.query.IsSet:
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

// set prints the paths that are wanted, one in a line.
func (p *FieldsPrinter) set(o FieldsOf) {
	for at := range o.Places(p.query.set(o)) {
		where, text := o.At("metadata", "managedFields"), " (not in the object)"
		if at.Found {
			where, text = o.Key(at.Steps...), ": "+secret.Show(o.Object, at.Path, at.Value)
		}
		fmt.Fprintf(p.out, "%v: %v: %s%s\n", where, o, at.Path.Text(), text)
	}
}

// wants reports whether the query is for a manager.
func (q FieldsQuery) wants(w manifest.Holder) bool {
	return len(q.Managers) == 0 || slices.ContainsFunc(q.Managers, func(r ManagerRef) bool { return r.Matches(w.Manager) })
}

// managers prints the managers that are wanted with their paths, or only how many.
func (p *FieldsPrinter) managers(o FieldsOf) {
	if p.count > 1 {
		p.out.WriteString("\n")
	}
	fmt.Fprintf(p.out, "%v: %v: %s of JSON, %s of it managedFields\n", o.At(), o, bytesText(o.sizes.object),
		share(o.sizes.managed, o.sizes.object))
	p.out.WriteString(p.query.table(o))
	for j, w := range o.owners {
		if p.query.wants(w) && !p.statsOnly {
			fmt.Fprintf(p.out, "\n%s\n", p.paint.Paint(ownerStyle(j), showHolder(w)))
			o.printPaths(p.out, o.sets[j])
		}
	}
}

// table returns one line for each manager.
func (q FieldsQuery) table(o FieldsOf) string {
	rows := [][]string{{"MANAGER", "OPERATION", "VERSION", "TIME", "PATHS", "BYTES", "SHARE"}}
	for i, w := range o.owners {
		if q.wants(w) {
			rows = append(rows, []string{
				wording.Manager(w.Manager.Name), operation(w.Manager), w.APIVersion, fullTime(w.Time), fmt.Sprint(o.sets[i].Len()),
				fmt.Sprint(o.sizes.entries[i]), share(o.sizes.entries[i], o.sizes.object),
			})
		}
	}
	return wording.Table(rows)
}

func (o FieldsOf) printPaths(out io.Writer, set fieldpath.Set) {
	for at := range o.Places(set) {
		line := "-"
		if at.Found {
			line = fmt.Sprint(o.Key(at.Steps...).Line)
		}
		fmt.Fprintf(out, "  %5s  %s\n", line, at.Path.Text())
	}
}
