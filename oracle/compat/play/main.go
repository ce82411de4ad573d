// Command play prints what whatever is linked in the place of structured-merge-diff makes of random values and writes: a line for each
// outcome. With the same arguments it must print the same lines, whatever that is. Values have numbers of all types, maps as decoders of
// YAML make them, and, in every second case, parts that do not conform.
package main

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/merge"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

const schemaText = `types:
- name: object
  map:
    fields:
    - {name: number, type: {scalar: numeric}}
    - {name: text, type: {scalar: string}}
    - {name: flag, type: {scalar: boolean}}
    - {name: scalar, type: {scalar: untyped}}
    - {name: child, type: {namedType: object}}
    - {name: whole, type: {namedType: object, elementRelationship: atomic}}
    - {name: names, type: {list: {elementType: {scalar: string}, elementRelationship: associative}}}
    - {name: numbers, type: {list: {elementType: {scalar: numeric}, elementRelationship: associative}}}
    - {name: steps, type: {list: {elementType: {scalar: untyped}, elementRelationship: atomic}}}
    - {name: ports, type: {list: {elementType: {namedType: port}, elementRelationship: associative, keys: [port, protocol]}}}
    - {name: labels, type: {map: {elementType: {scalar: string}}}}
    - {name: parts, type: {map: {elementType: {namedType: object}}}}
    - {name: more, type: {namedType: __untyped_deduced_}}
- name: port
  map:
    fields:
    - {name: port, type: {scalar: numeric}}
    - {name: protocol, type: {scalar: string}, default: TCP}
    - {name: name, type: {scalar: string}}
    - {name: child, type: {namedType: object}}
- name: __untyped_atomic_
  scalar: untyped
  list: {elementType: {namedType: __untyped_atomic_}, elementRelationship: atomic}
  map: {elementType: {namedType: __untyped_atomic_}, elementRelationship: atomic}
- name: __untyped_deduced_
  scalar: untyped
  list: {elementType: {namedType: __untyped_atomic_}, elementRelationship: atomic}
  map: {elementType: {namedType: __untyped_deduced_}, elementRelationship: separable}
`

func main() {
	seed, cases := flag.Uint64("seed", 1, "of the first case"), flag.Int("cases", 1000, "how many")
	flag.Parse()
	parser, err := typed.NewParser(schemaText)
	if err != nil {
		panic(err)
	}
	for i := range *cases {
		g := &game{rand.New(rand.NewPCG(*seed+uint64(i), 0)), parser.Type("object"), fmt.Sprint("case ", *seed+uint64(i))}
		if i%2 == 0 {
			g.values(false)
			g.writes()
		} else {
			g.values(true)
		}
		g.methods()
	}
}

type game struct {
	*rand.Rand
	typ  typed.ParseableType
	name string
}

// say prints an outcome. A panic is one, too.
func (g *game) say(what string, outcome func() string) {
	defer func() {
		if recover() != nil {
			fmt.Printf("%s %s: panic\n", g.name, what)
		}
	}()
	fmt.Printf("%s %s: %s\n", g.name, what, outcome())
}

// values merges and compares two values, and takes them apart.
func (g *game) values(odd bool) {
	a, b := g.object(3, odd), g.object(3, odd)
	g.say("a", func() string { return show(a) })
	g.say("b", func() string { return show(b) })
	for _, v := range []any{a, b} {
		g.say("valid", func() string {
			_, err := g.typ.FromUnstructured(v)
			_, twice := g.typ.FromUnstructured(v, typed.AllowDuplicates)
			return fmt.Sprint(err == nil, twice == nil)
		})
	}
	left := typed.AsTypedUnvalidated(value.NewValueInterface(a), g.typ.Schema, g.typ.TypeRef)
	right := typed.AsTypedUnvalidated(value.NewValueInterface(b), g.typ.Schema, g.typ.TypeRef)
	g.say("merged", func() string { return typedOrError(left.Merge(right)) })
	g.say("merged back", func() string {
		merged, err := left.Merge(right)
		if err != nil {
			return "error"
		}
		return typedOrError(merged.Merge(left))
	})
	g.say("compared", func() string {
		c, err := left.Compare(right)
		if err != nil {
			return "error"
		}
		return fmt.Sprintf("%q", c)
	})
	for _, v := range []*typed.TypedValue{left, right} {
		set := fieldpath.NewSet()
		g.say("fields", func() string {
			var err error
			if set, err = v.ToFieldSet(); err != nil {
				set = fieldpath.NewSet()
				return "error"
			}
			return showSet(set)
		})
		some := fieldpath.NewSet()
		for path := range g.some(set) {
			some.Insert(path)
		}
		g.say("removed", func() string { return show(v.RemoveItems(some).AsValue().Unstructured()) })
		g.say("extracted", func() string { return show(v.ExtractItems(some.Leaves()).AsValue().Unstructured()) })
		if !odd {
			g.say("with keys", func() string {
				return show(v.ExtractItems(some.Leaves(), typed.WithAppendKeyFields()).AsValue().Unstructured())
			})
		}
		g.say("named", func() string { return showSet(some.EnsureNamedFieldsAreMembers(g.typ.Schema, g.typ.TypeRef)) })
		if _, err := set.ToJSON(); err == nil { // a set with elements that select nothing has no text
			g.sets(set, some)
		}
	}
}

// sets combines two sets of either form.
func (g *game) sets(set, some *fieldpath.Set) {
	read := fieldpath.NewSet()
	g.say("read", func() string {
		text, err := set.ToJSON()
		if err != nil {
			return "error"
		}
		if err := read.FromJSON(strings.NewReader(string(text))); err != nil {
			return "not read"
		}
		return showSet(read)
	})
	for _, pair := range [][2]*fieldpath.Set{{set, some}, {some, set}, {read, some}, {some, read}} {
		l, r := pair[0], pair[1]
		g.say("sets", func() string {
			return strings.Join([]string{
				showSet(l.Union(r)), showSet(l.Intersection(r)), showSet(l.Difference(r)), showSet(l.RecursiveDifference(r)), showSet(l.Leaves()),
			}, "  ")
		})
	}
	g.say("grown", func() string {
		copied := read.Copy()
		copied.Insert(fieldpath.MakePathOrDie("child", "child", "new"))
		copied.Children.Descend(fieldpath.FieldNameElement("child")).Insert(fieldpath.MakePathOrDie("other"))
		return showSet(read) + "  " + showSet(copied)
	})
	g.say("assigned", func() string {
		tree := *some.Copy()
		before := showSet(&tree)
		other := tree
		tree.Insert(fieldpath.MakePathOrDie("tree"))
		after := showSet(&tree)
		other.Insert(fieldpath.MakePathOrDie("other"))
		added := showSet(&other)
		other.Members = set.Members.Copy()
		replaced := showSet(&other)
		tree.Children = set.Children.Copy()
		return strings.Join([]string{before, after, added, replaced, showSet(&tree)}, "  ")
	})
}

// text is a type whose methods print and read JSON.
type text string

func (t text) MarshalJSON() ([]byte, error) { return []byte(t), nil }

func (t *text) UnmarshalJSON(b []byte) error {
	*t = text(b)
	return nil
}

// methods converts a text to maps, and maps to a text, as a type with methods for JSON is converted.
func (g *game) methods() {
	entry := value.TypeReflectEntryOf(reflect.TypeFor[text]())
	in := text(g.json(3))
	g.say("methods of "+string(in), func() string {
		x, err := entry.ToUnstructured(reflect.ValueOf(in))
		if err != nil {
			return "error"
		}
		return show(x)
	})
	for _, x := range []any{g.object(3, g.IntN(2) == 0), g.names(3)} {
		g.say("methods", func() string {
			var out text
			if err := entry.FromUnstructured(reflect.ValueOf(x), reflect.ValueOf(&out).Elem()); err != nil {
				return "error"
			}
			return string(out)
		})
	}
}

// json returns a random JSON text, now and then one with a defect.
func (g *game) json(depth int) string {
	if depth == 0 || g.IntN(5) == 0 {
		return []string{
			`"a"`, `"\u00fc\n<"`, `"\ud800"`, "\"\xff\"", `1`, `1.0`, `1e3`, `-0`, `12345678901234567890`, `true`, `null`, `{}`, `[]`, `"\"`, `nil`,
		}[g.IntN(15)]
	}
	if g.IntN(5) == 0 {
		return "[" + g.json(depth-1) + ", " + g.json(depth-1) + "]"
	}
	var members []string
	for range g.IntN(4) {
		name := []string{`"f:a"`, `"f:b"`, `"k:{\"port\":80}"`, `"."`, `"\u003c"`, `"ü"`}[g.IntN(6)]
		members = append(members, name+[]string{":", ": "}[g.IntN(2)]+[]string{"{}", g.json(depth - 1)}[g.IntN(2)])
	}
	return "{" + strings.Join(members, ",") + "}" + []string{"", "", "", "", " ", "\n", "x"}[g.IntN(7)]
}

// names returns maps of names that need escapes and of some that do not.
func (g *game) names(depth int) any {
	if depth == 0 || g.IntN(4) == 0 {
		return []any{map[string]any(nil), nil, "a", `"\`, "<&>\u2028", "\xff", "\x00\x7f", true, 1, 1.5, []any(nil), []any{"a", false}}[g.IntN(12)]
	}
	out := map[string]any{}
	for range g.IntN(5) {
		out[[]string{"f:a", "f:b", `k:{"port":80}`, ".", "", "\t", "ü"}[g.IntN(7)]] = g.names(depth - 1)
	}
	return out
}

// some returns some paths of s, in an order that depends on chance alone.
func (g *game) some(s *fieldpath.Set) func(yield func(fieldpath.Path) bool) {
	var paths []fieldpath.Path
	s.Iterate(func(p fieldpath.Path) { paths = append(paths, p.Copy()) })
	g.Shuffle(len(paths), func(i, j int) { paths[i], paths[j] = paths[j], paths[i] })
	return slices.Values(paths[:len(paths)/2])
}

// sameVersions is the converter of versions that are all alike.
type sameVersions struct{}

func (sameVersions) Convert(v *typed.TypedValue, version fieldpath.APIVersion) (*typed.TypedValue, error) {
	if version == "v0" {
		return nil, errGone
	}
	return v, nil
}

func (sameVersions) IsMissingVersionError(err error) bool { return err == errGone }

var errGone = fmt.Errorf("gone")

// writes plays a history.
func (g *game) writes() {
	ignored := fieldpath.NewExcludeSetFilter(fieldpath.NewSet(fieldpath.MakePathOrDie("labels"), fieldpath.MakePathOrDie("child", "text")))
	b := &merge.UpdaterBuilder{Converter: sameVersions{}, ReturnInputOnNoop: g.IntN(2) == 0}
	switch g.IntN(3) {
	case 0:
		b.IgnoreFilter = map[fieldpath.APIVersion]fieldpath.Filter{"v1": ignored}
	case 1:
		b.IgnoreFilter = map[fieldpath.APIVersion]fieldpath.Filter{"v1": fieldpath.NewIncludeMatcherFilter(
			fieldpath.MakePrefixMatcherOrDie("child", fieldpath.MatchAnyPathElement()), fieldpath.MakePrefixMatcherOrDie("ports"))}
	}
	updater := b.BuildUpdater()
	live, err := g.typ.FromUnstructured(nil)
	if err != nil {
		panic(err)
	}
	managers := fieldpath.ManagedFields{}
	for range 8 {
		name, version := fmt.Sprint("manager", g.IntN(3)), fieldpath.APIVersion("v1")
		if g.IntN(4) == 0 {
			version = "v2"
		}
		force, update := g.IntN(2) == 0, g.IntN(3) == 0
		sent, err := g.typ.FromUnstructured(g.object(3, false))
		if err != nil {
			continue // an item that is there twice
		}
		g.say("write", func() string {
			var out *typed.TypedValue
			var owners fieldpath.ManagedFields
			if update {
				out, owners, err = updater.Update(live, sent, version, managers.Copy(), name)
			} else {
				out, owners, err = updater.Apply(live, sent, version, managers.Copy(), name, force)
			}
			if conflicts, ok := err.(merge.Conflicts); ok {
				lines := strings.Split(conflicts.Error(), "\n")
				slices.Sort(lines)
				return fmt.Sprintf("%q", lines)
			}
			if err != nil {
				return "error"
			}
			text := []string{fmt.Sprint(out == nil)}
			if out != nil {
				live = out
			}
			// As a server does, it stores the sets as text and reads them back.
			managers = fieldpath.ManagedFields{}
			for _, name := range slices.Sorted(maps.Keys(owners)) {
				o := owners[name]
				text = append(text, name, string(o.APIVersion()), fmt.Sprint(o.Applied()), showSet(o.Set()))
				set := fieldpath.NewSet()
				written, err := o.Set().ToJSON()
				if err == nil {
					err = set.FromJSON(strings.NewReader(string(written)))
				}
				if err != nil {
					return "not stored"
				}
				managers[name] = fieldpath.NewVersionedSet(set, o.APIVersion(), o.Applied())
			}
			return strings.Join(append(text, show(live.AsValue().Unstructured())), " ")
		})
	}
}

// object returns a random object of the type object, with parts that do not conform if odd says so.
func (g *game) object(depth int, odd bool) any {
	if odd && g.IntN(20) == 0 {
		return g.anything()
	}
	out := map[string]any{}
	for range g.IntN(5) + 1 {
		name := []string{"number", "text", "flag", "scalar", "child", "whole", "names", "numbers", "steps", "ports", "labels", "parts", "more"}[g.IntN(13)]
		if depth == 0 && slices.Contains([]string{"child", "whole", "parts", "ports"}, name) {
			continue
		}
		out[name] = g.member(name, depth-1, odd)
	}
	if odd && g.IntN(20) == 0 {
		out["undeclared"] = g.number()
	}
	return g.likeYAML(out)
}

// likeYAML returns m, now and then as a decoder of YAML makes it.
func (g *game) likeYAML(m map[string]any) any {
	if g.IntN(4) > 0 {
		return m
	}
	out := map[any]any{}
	for name, v := range m {
		out[name] = v
	}
	return out
}

func (g *game) member(name string, depth int, odd bool) any {
	switch {
	case odd && g.IntN(10) == 0:
		return g.anything()
	case g.IntN(12) == 0:
		return nil
	}
	switch name {
	case "number":
		return g.number()
	case "text":
		return g.word()
	case "flag":
		return g.IntN(2) == 0
	case "scalar":
		return []any{g.number(), g.word(), true}[g.IntN(3)]
	case "child", "whole":
		return g.object(depth, odd)
	case "names":
		return g.list(odd, func() any { return g.word() })
	case "numbers":
		return g.list(odd, g.number)
	case "steps":
		return g.list(true, func() any { return []any{g.number(), g.word()}[g.IntN(2)] })
	case "ports":
		return g.list(odd, func() any { return g.port(depth, odd) })
	case "labels":
		return g.likeYAML(map[string]any{g.word(): g.word(), g.word(): g.word()})
	case "parts":
		return g.likeYAML(map[string]any{g.word(): g.object(depth, odd)})
	}
	return g.likeYAML(map[string]any{g.word(): g.number(), "list": []any{g.number(), map[string]any{"a": g.word()}}})
}

func (g *game) port(depth int, odd bool) any {
	out := map[string]any{"port": g.number(), "name": g.word()}
	if g.IntN(2) == 0 {
		out["protocol"] = []any{"TCP", "UDP"}[g.IntN(2)]
	}
	if depth > 0 && g.IntN(3) == 0 {
		out["child"] = g.object(depth-1, odd)
	}
	if odd && g.IntN(6) == 0 {
		delete(out, "port")
	}
	return g.likeYAML(out)
}

// list returns up to four items, none twice unless it may be.
func (g *game) list(twice bool, item func() any) []any {
	out, seen := []any{}, map[string]bool{}
	for range g.IntN(5) {
		v := item()
		if key := show(v); twice || !seen[key] {
			out, seen[key] = append(out, v), true
		}
	}
	return out
}

func (g *game) word() string { return []string{"a", "b", "c", "longer", "ü <&>"}[g.IntN(5)] }

// number returns a number of any type. Those of one type are few, so that there are equal ones of several.
func (g *game) number() any {
	n := g.IntN(4)
	return []any{n, int8(n), int16(n), int32(n), int64(n), uint8(n), uint32(n), float64(n) + 0.5, float32(n), float64(n)}[g.IntN(10)]
}

// anything returns what may not conform, and what is no document.
func (g *game) anything() any {
	return []any{
		nil, g.word(), g.number(), true, []any{}, map[string]any{}, map[any]any{}, []any{g.word(), g.word()}, []any{nil, []any{}},
		map[string]any{g.word(): g.number()}, uint64(7), []string{"a"}, map[string]string{"a": "b"},
	}[g.IntN(13)]
}

func typedOrError(v *typed.TypedValue, err error) string {
	if err != nil {
		return "error"
	}
	return show(v.AsValue().Unstructured())
}

func showSet(s *fieldpath.Set) string {
	text, err := s.ToJSON()
	if err != nil {
		return "error"
	}
	return fmt.Sprintf("%d %q %s", s.Size(), s.String(), text)
}

// show prints a value with the types of its numbers and maps.
func show(v any) string {
	switch v := v.(type) {
	case map[string]any:
		var parts []string
		for _, name := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, fmt.Sprintf("%q:%s", name, show(v[name])))
		}
		return "{" + strings.Join(parts, ",") + "}"
	case map[any]any:
		byName := map[string]any{}
		for name, member := range v {
			byName[fmt.Sprint(name)] = member
		}
		return "YAML" + show(byName)
	case []any:
		var parts []string
		for _, item := range v {
			parts = append(parts, show(item))
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	return fmt.Sprintf("%T(%v)", v, v)
}
