package report

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/manifest"
	"github.com/deed-project/deed/internal/types"
)

// FieldsOf has what each entry of an object owns.
type FieldsOf struct {
	*manifest.Object
	owners []manifest.Holder
	sets   []fieldpath.Set
	sizes  sizes
}

// fieldsOf reads the entries of o, and reports those that cannot be read: they own nothing.
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

// PrintSets prints the paths that are wanted, one in a line.
func (q FieldsQuery) PrintSets(out *bufio.Writer, objects []FieldsOf) {
	for _, o := range objects {
		for path := range q.set(o).All() {
			where := o.At("metadata", "managedFields")
			text := " (not in the object)"
			if line, v := o.Place(path); line > 0 {
				where, text = o.Key(manifest.Steps(o.Content, path)...), ": "+ShowIn(o.Object, path, v)
			}
			fmt.Fprintf(out, "%v: %v: %s%s\n", where, o, path.Text(), text)
		}
	}
}

// wants reports whether the query is for a manager.
func (q FieldsQuery) wants(w manifest.Holder) bool {
	return len(q.Managers) == 0 || slices.ContainsFunc(q.Managers, func(r ManagerRef) bool { return r.Matches(w.Manager) })
}

// PrintManagers prints the managers that are wanted with their paths, or only how many.
func (q FieldsQuery) PrintManagers(out *bufio.Writer, objects []FieldsOf, statsOnly bool, paint Painter) error {
	for i, o := range objects {
		if i > 0 {
			out.WriteString("\n")
		}
		fmt.Fprintf(out, "%v: %v: %s of JSON, %s of it managedFields\n", o.At(), o, bytesText(o.sizes.object),
			share(o.sizes.managed, o.sizes.object))
		if err := q.table(out, o); err != nil {
			return err
		}
		for j, w := range o.owners {
			if q.wants(w) && !statsOnly {
				fmt.Fprintf(out, "\n%s\n", paint.Paint(ownerStyle(j), showHolder(w)))
				o.printPaths(out, o.sets[j])
			}
		}
	}
	return nil
}

// table prints one line for each manager.
func (q FieldsQuery) table(out io.Writer, o FieldsOf) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "MANAGER\tOPERATION\tVERSION\tTIME\tPATHS\tBYTES\tSHARE")
	for i, w := range o.owners {
		if q.wants(w) {
			fmt.Fprintln(t, strings.Join([]string{Manager(w.Manager.Name), operation(w.Manager), w.APIVersion, fullTime(w.Time),
				fmt.Sprint(o.sets[i].Len()), fmt.Sprint(o.sizes.entries[i]), share(o.sizes.entries[i], o.sizes.object)}, "\t"))
		}
	}
	return t.Flush()
}

func (o FieldsOf) printPaths(out io.Writer, set fieldpath.Set) {
	for path := range set.All() {
		at := "-"
		if line, _ := o.Place(path); line > 0 {
			at = fmt.Sprint(line)
		}
		fmt.Fprintf(out, "  %5s  %s\n", at, path.Text())
	}
}
