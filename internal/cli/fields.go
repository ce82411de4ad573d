package cli

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/value"
)

// fieldsFlags are those of deed fields.
type fieldsFlags struct {
	input    inputFlags
	managers []string
	only     []string
	not      []string
	both     []string
	stats    bool
	format   choice
	color    colorFlags
}

func (c *cli) fieldsCommand() *cobra.Command {
	var f fieldsFlags
	cmd := &cobra.Command{
		Use:   "fields -f LIVE",
		Short: "Show managedFields in a readable form, and compare managers",
		Long: `Show the managedFields of objects in a readable form: for each manager the paths
that it owns, with their lines in the input, and how many bytes that takes.

With --only, --not and --both, show instead which paths are owned so, one in a
line behind its place: those that one of the managers of --only owns, or, if there
is none, anybody, that all managers of --both own, and that nobody of --not does.
A path is itself only, not what is above or below it, in the version that the
manager wrote.

` + managerRefUsage + `

No schema is needed. A path that the object does not have has - for its line.`,
		Example: `  # Who owns what, in paths, and what does it cost?
  deed fields -f live.yaml
  deed fields -f live.yaml --stats

  # What would nobody own if kubectl went away? What do both own?
  deed fields -f live.yaml --only kubectl --not autoscaler
  deed fields -f live.yaml --both kubectl,autoscaler`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error { return c.fields(f) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	f.input.registerFor(flags, storedObjects)
	flags.StringArrayVar(&f.managers, "manager", nil, "show only this `manager`; repeatable")
	flags.StringSliceVar(&f.only, "only", nil, "show paths that one of these `managers` owns")
	flags.StringSliceVar(&f.not, "not", nil, "leave out paths that one of these `managers` owns")
	flags.StringSliceVar(&f.both, "both", nil, "show paths that all of these `managers` own")
	flags.BoolVar(&f.stats, "stats", false, "show no paths, only how many there are and how many bytes they take")
	f.format = choice{formatText, []string{formatText, formatJSON}}
	flags.VarP(&f.format, "output", "o", "output format")
	f.color.register(flags)
	cmd.MarkFlagsMutuallyExclusive("manager", "only")
	cmd.MarkFlagsMutuallyExclusive("manager", "both")
	cmd.MarkFlagsMutuallyExclusive("manager", "not")
	cmd.MarkFlagsMutuallyExclusive("stats", "only")
	cmd.MarkFlagsMutuallyExclusive("stats", "both")
	cmd.MarkFlagsMutuallyExclusive("stats", "not")
	return cmd
}

// fields is deed fields.
func (c *cli) fields(f fieldsFlags) error {
	objects, err := c.storedOnly(f.input)
	if err != nil {
		return err
	}
	q, err := f.query(objects)
	if err != nil {
		return err
	}
	var all []fieldsOf
	for _, o := range objects {
		c.untracked(o)
		all = append(all, readFields(c.library, o))
	}
	out := bufio.NewWriter(c.out)
	switch {
	case q.isSet && f.format.value == formatJSON:
		err = writeJSON(out, q.setsJSON(all))
	case q.isSet:
		q.printSets(out, all)
	case f.format.value == formatJSON:
		err = writeJSON(out, q.managersJSON(all, f.stats))
	default:
		err = q.printManagers(out, all, f.stats, f.color.painter(c.out))
	}
	return c.flush(out, err)
}

// fieldsOf has what each entry of an object owns.
type fieldsOf struct {
	*object
	owners []holder
	sets   []fieldpath.Set
	sizes  sizes
}

// fieldsOf reads the entries of o, and reports those that cannot be read: they own nothing.
func readFields(c *library, o *object) fieldsOf {
	out := fieldsOf{o, ownersOf(o), make([]fieldpath.Set, len(o.Entries)), sizesOf(o)}
	for i, e := range o.Entries {
		var err error
		if out.sets[i], err = e.FieldsV1.Set(); err != nil {
			c.problem(o.at("metadata", "managedFields", i), "%v: metadata.managedFields[%d], manager %q: %v", o, i, e.Manager, err)
		}
	}
	return out
}

// place returns the line of path in the input and the value there, and 0 and absent when the object has no such path.
func (o *object) place(path fieldpath.Path) (line int, v value.Value) {
	way := steps(o.Content, path)
	if v = valueAt(o.Content, way); len(way) != len(path) || v.IsAbsent() {
		return 0, value.Value{}
	}
	return o.key(way...).line, v
}

// fieldsQuery says what of the entries is wanted.
type fieldsQuery struct {
	isSet                     bool // a set of paths, and not managers
	managers, only, not, both []managerRef
}

func (f fieldsFlags) query(objects []*object) (q fieldsQuery, err error) {
	q.isSet = len(f.only)+len(f.not)+len(f.both) > 0
	for _, flag := range []struct {
		name  string
		texts []string
		refs  *[]managerRef
	}{{"--manager", f.managers, &q.managers}, {"--only", f.only, &q.only}, {"--not", f.not, &q.not}, {"--both", f.both, &q.both}} {
		if *flag.refs, err = managerRefs(flag.name, flag.texts, objects); err != nil {
			return q, err
		}
	}
	if len(q.both) == 1 {
		return q, fmt.Errorf("--both needs several managers, such as %v,NAME", q.both[0])
	}
	return q, nil
}

// matching returns the union of what the managers that refs name own.
func (o fieldsOf) matching(refs ...managerRef) fieldpath.Set {
	var union fieldpath.Set
	for i, w := range o.owners {
		if slices.ContainsFunc(refs, func(r managerRef) bool { return r.matches(w.Manager) }) {
			union = union.Union(o.sets[i])
		}
	}
	return union
}

// set returns the paths of o that are wanted.
func (q fieldsQuery) set(o fieldsOf) fieldpath.Set {
	set := o.matching(q.only...)
	if len(q.only) == 0 {
		for _, s := range o.sets {
			set = set.Union(s)
		}
	}
	for _, r := range q.both {
		set = set.Intersect(o.matching(r))
	}
	return set.Minus(o.matching(q.not...))
}

func (q fieldsQuery) printSets(out *bufio.Writer, objects []fieldsOf) {
	for _, o := range objects {
		for path := range q.set(o).All() {
			where := o.at("metadata", "managedFields")
			text := " (not in the object)"
			if line, v := o.place(path); line > 0 {
				where, text = o.key(steps(o.Content, path)...), ": "+showIn(o.object, path, v)
			}
			fmt.Fprintf(out, "%v: %v: %s%s\n", where, o, path.Text(), text)
		}
	}
}

// wants reports whether the query is for a manager.
func (q fieldsQuery) wants(w holder) bool {
	return len(q.managers) == 0 || slices.ContainsFunc(q.managers, func(r managerRef) bool { return r.matches(w.Manager) })
}

func (q fieldsQuery) printManagers(out *bufio.Writer, objects []fieldsOf, statsOnly bool, paint painter) error {
	for i, o := range objects {
		if i > 0 {
			out.WriteString("\n")
		}
		fmt.Fprintf(out, "%v: %v: %s of JSON, %s of it managedFields\n", o.at(), o, bytesText(o.sizes.object),
			share(o.sizes.managed, o.sizes.object))
		if err := q.table(out, o); err != nil {
			return err
		}
		for j, w := range o.owners {
			if q.wants(w) && !statsOnly {
				fmt.Fprintf(out, "\n%s\n", paint.paint(ownerStyle(j), showHolder(w)))
				o.printPaths(out, o.sets[j])
			}
		}
	}
	return nil
}

// table prints one line for each manager.
func (q fieldsQuery) table(out io.Writer, o fieldsOf) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "MANAGER\tOPERATION\tVERSION\tTIME\tPATHS\tBYTES\tSHARE")
	for i, w := range o.owners {
		if q.wants(w) {
			fmt.Fprintln(t, strings.Join([]string{manager(w.Manager.Name), operation(w.Manager), w.APIVersion, fullTime(w.Time),
				fmt.Sprint(o.sets[i].Len()), fmt.Sprint(o.sizes.entries[i]), share(o.sizes.entries[i], o.sizes.object)}, "\t"))
		}
	}
	return t.Flush()
}

func (o fieldsOf) printPaths(out io.Writer, set fieldpath.Set) {
	for path := range set.All() {
		at := "-"
		if line, _ := o.place(path); line > 0 {
			at = fmt.Sprint(line)
		}
		fmt.Fprintf(out, "  %5s  %s\n", at, path.Text())
	}
}
