package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/typed"
)

// schemaDiffFlags are those of deed schema diff.
type schemaDiffFlags struct {
	live      []string
	recursive bool
	format    choice
}

func (c *cli) schemaDiffCommand() *cobra.Command {
	var f schemaDiffFlags
	cmd := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "Compare two schemas, and what that means for the owners of objects",
		Long: `Compare two schemas, each a file with CustomResourceDefinitions, an OpenAPI
document or a schema of structured-merge-diff, or the word builtin: which fields
come and go, which values change their type, and which lists and objects are
merged in another way.

With --live, show also what becomes of who owns what in stored objects when they
are next written: what was owned as a whole and is granular then, or the other
way round, and what the new schema does not admit.

The exit code is 1 if there are differences.`,
		Args: cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error { return c.schemaDiff(f, args[0], args[1]) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringArrayVar(&f.live, "live", nil, "`file` or directory with "+storedObjects+", or - for standard input; repeatable")
	flags.BoolVarP(&f.recursive, "recursive", "R", false, "read directories with everything below them")
	f.format = choice{formatText, []string{formatText, formatJSON}}
	flags.VarP(&f.format, "output", "o", "output format")
	return cmd
}

// schemaChange is one difference between two schemas.
type schemaChange struct {
	Kind   string `json:"kind"`
	Path   string `json:"path,omitempty"`
	Detail string `json:"detail"`
	Effect string `json:"effect,omitempty"` // on who owns what
}

// ownerChange is what becomes of what a manager owns.
type ownerChange struct {
	objectJSON
	Manager *ownerJSON `json:"manager,omitempty"` // none where it is about the object
	Lost    []string   `json:"lost,omitempty"`
	Gained  []string   `json:"gained,omitempty"`
	Hollow  []string   `json:"itselfOnly,omitempty"` // lists and objects whose parts are owned one by one from then on
	Unknown []string   `json:"undeclared,omitempty"` // paths that the new schema does not have
	Detail  string     `json:"detail,omitempty"`

	subject *object
	where   position
}

func (c *cli) schemaDiff(f schemaDiffFlags, oldName, newName string) error {
	if err := checkStdin([]string{oldName, newName}, f.live); err != nil {
		return err
	}
	if oldName == builtinName && newName == builtinName {
		return errors.New("these are the same schema")
	}
	old, new := schemaIn(c.library, oldName), schemaIn(c.library, newName)
	if old == nil || new == nil {
		return nil
	}
	changes := compareSchemas(old, new)
	var owners []ownerChange
	for _, o := range c.objects(c.read(f.live, f.recursive)) {
		owners = append(owners, ownersUnder(c.library, o, old.catalog, new.catalog)...)
	}
	if len(changes)+len(owners) > 0 {
		c.raise(exitFinding)
	}
	out := bufio.NewWriter(c.out)
	if f.format.value == formatJSON {
		return c.flush(out, writeJSON(out, struct {
			Changes []schemaChange `json:"changes"`
			Owners  []ownerChange  `json:"owners"`
		}{append([]schemaChange{}, changes...), append([]ownerChange{}, owners...)}))
	}
	for _, x := range changes {
		subject := x.Kind
		if x.Path != "" {
			subject += ": " + x.Path
		}
		fmt.Fprintf(out, "%s: %s\n", subject, x.Detail)
		if x.Effect != "" {
			fmt.Fprintf(out, "    %s\n", x.Effect)
		}
	}
	for _, x := range owners {
		x.print(out)
	}
	return c.flush(out, nil)
}

// compareSchemas returns the differences between the types of all kinds.
func compareSchemas(old, new *schemaFile) []schemaChange {
	d := comparison{}
	before, after := old.roots(), new.roots()
	names := slices.Sorted(maps.Keys(before))
	for name := range after {
		if before[name] == nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		d.kind = name
		switch {
		case after[name] == nil:
			effect := "The next write to an object forgets what is owned in this version."
			if isEmpty(old.catalog) {
				effect = ""
			}
			d.add("", "is gone", effect)
		case before[name] == nil:
			d.add("", "is new", "")
		default:
			d.seen = map[[2]*schema.Type]bool{}
			d.compare(before[name], after[name], "")
		}
	}
	return d.changes
}

// isEmpty reports whether a schema knows no kinds.
func isEmpty(c *schema.Catalog) bool {
	for range c.Kinds() {
		return false
	}
	return true
}

// comparison compares types.
type comparison struct {
	kind    string
	seen    map[[2]*schema.Type]bool
	changes []schemaChange
}

func (d *comparison) add(path, detail, effect string) {
	d.changes = append(d.changes, schemaChange{d.kind, path, detail, effect})
}

func (d *comparison) compare(old, new *schema.Type, path string) {
	if pair := [2]*schema.Type{old, new}; old == new || d.seen[pair] {
		return
	} else {
		d.seen[pair] = true
	}
	if before, after := kinds(old), kinds(new); before != after {
		d.add(path, fmt.Sprintf("is %s, was %s", after, before), "")
	}
	if a, b := old.List(), new.List(); a != nil && b != nil {
		d.lists(a, b, path)
		d.compare(a.Element(), b.Element(), path+"[]")
	}
	if a, b := old.Map(), new.Map(); a != nil && b != nil {
		d.maps(a, b, path)
	}
}

func (d *comparison) lists(old, new *schema.List, path string) {
	before, after := listText(old), listText(new)
	if before == after {
		return
	}
	effect := "Keys tell other items apart than before: what is owned by the old keys is nobody's."
	switch {
	case old.Topology() == schema.AtomicList:
		effect = "Who owns the list keeps that, but what is in it has no owner any more."
	case new.Topology() == schema.AtomicList:
		effect = "Who owns anything in the list owns all of it: they will conflict."
	}
	d.add(path, fmt.Sprintf("is %s, was %s", after, before), effect)
}

func listText(l *schema.List) string {
	switch l.Topology() {
	case schema.AtomicList:
		return "an atomic list"
	case schema.SetList:
		return "a set"
	case schema.KeyedList:
		return "a list keyed by " + keyNames(l.Keys())
	}
	return "a list without a topology"
}

func (d *comparison) maps(old, new *schema.Map, path string) {
	switch {
	case old.Atomic() && !new.Atomic():
		d.add(path, "is merged field by field, was atomic", "Who owns the object keeps that, but what is in it has no owner any more.")
	case !old.Atomic() && new.Atomic():
		d.add(path, "is atomic, was merged field by field", "Who owns anything in the object owns all of it: they will conflict.")
	}
	before, after := fieldsByName(old), fieldsByName(new)
	names := slices.Collect(maps.Keys(before))
	for name := range after {
		if _, ok := before[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		a, inOld := before[name]
		b, inNew := after[name]
		at := path + "." + name
		switch {
		case !inNew && new.Element() != nil:
			d.compare(a.Type, new.Element(), at)
		case !inNew:
			d.add(at, "is gone", "Objects that have it cannot be applied to until it is removed.")
		case !inOld:
			d.add(at, "is new: "+kinds(b.Type), "")
		default:
			if !a.Default.Equal(b.Default) {
				d.add(at, fmt.Sprintf("is %s by default, was %s", show(b.Default), show(a.Default)), "")
			}
			d.compare(a.Type, b.Type, at)
		}
	}
	switch a, b := old.Element(), new.Element(); {
	case a != nil && b == nil:
		d.add(path, "admits no other fields any more", "")
	case a == nil && b != nil:
		d.add(path, "admits other fields", "")
	case a != nil:
		d.compare(a, b, path+".*")
	}
}

func fieldsByName(m *schema.Map) map[string]schema.Field {
	out := map[string]schema.Field{}
	for _, f := range m.Fields() {
		out[f.Name] = f
	}
	return out
}

// ownersUnder returns what becomes of who owns what in o when the schema of its kind changes.
func ownersUnder(c *library, o *object, old, new *schema.Catalog) []ownerChange {
	var out []ownerChange
	add := func(x ownerChange, where position) {
		x.objectJSON, x.subject, x.where = o.json(), o, where
		out = append(out, x)
	}
	t, ok := new.Lookup(o.GVK())
	if !ok {
		add(ownerChange{Detail: "the new schema does not have the kind in this version"}, o.at("apiVersion"))
		return out
	}
	var defects typed.Errors
	if _, err := typed.New(o.Content, t, typed.AllowDuplicates); errors.As(err, &defects) {
		for _, d := range defects {
			add(ownerChange{Detail: "the new schema does not admit it: " + explain(d, t)}, o.defectAt(d))
		}
	}
	f := readFields(c, o)
	for i, w := range f.owners {
		if x := changeOf(w, f.sets[i], schema.ParseGVK(w.APIVersion, o.id.kind), old, new); x != nil {
			add(*x, o.at("metadata", "managedFields", i))
		}
	}
	return out
}

// changeOf returns what becomes of set, which w owns in an object of kind gvk, and nil if nothing does.
func changeOf(w holder, set fieldpath.Set, gvk schema.GVK, old, new *schema.Catalog) *ownerChange {
	x := &ownerChange{Manager: &ownersJSON([]holder{w})[0]}
	t, ok := new.Lookup(gvk)
	if !ok {
		x.Detail = "the new schema does not have the kind in " + w.APIVersion + ": the next write forgets what it owns"
		return x
	}
	after, changed, err := typed.Reconcile(set, t)
	switch {
	case err != nil:
		x.Detail = err.Error()
	case changed:
		x.Lost, x.Gained = texts(set.Minus(after)), texts(after.Minus(set))
	}
	if before, ok := old.Lookup(gvk); ok {
		for path := range after.All() {
			switch a, b := typeAt(before, path), typeAt(t, path); {
			case a != nil && b == nil:
				x.Unknown = append(x.Unknown, path.Text())
			case a != nil && isAtomic(a) && !isAtomic(b):
				x.Hollow = append(x.Hollow, path.Text())
			}
		}
	}
	if x.Detail == "" && len(x.Lost)+len(x.Gained)+len(x.Hollow)+len(x.Unknown) == 0 {
		return nil
	}
	return x
}

// isAtomic reports whether lists or objects of type t are owned as a whole.
func isAtomic(t *schema.Type) bool {
	l, m := t.List(), t.Map()
	return l != nil && l.Topology() == schema.AtomicList || m != nil && m.Atomic()
}

func texts(s fieldpath.Set) []string {
	var out []string
	for path := range s.All() {
		out = append(out, path.Text())
	}
	return out
}

func (x ownerChange) print(out io.Writer) {
	who := ""
	if x.Manager != nil {
		who = fmt.Sprintf(": %q (%s)", x.Manager.Manager, strings.Join([]string{x.Manager.Operation, x.Manager.APIVersion}, ", "))
	}
	fmt.Fprintf(out, "%v: %v%s", x.where, x.subject, who)
	if x.Detail != "" {
		fmt.Fprintf(out, ": %s", x.Detail)
	}
	fmt.Fprintln(out)
	for _, list := range []struct {
		text  string
		paths []string
	}{{"owns no more", x.Lost}, {"owns instead", x.Gained}, {"owns nothing in", x.Hollow}, {"owns what is not declared", x.Unknown}} {
		for _, path := range list.paths {
			fmt.Fprintf(out, "    %s %s\n", list.text, path)
		}
	}
}
