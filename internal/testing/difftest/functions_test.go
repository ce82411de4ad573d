package difftest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	smdpath "sigs.k8s.io/structured-merge-diff/v4/fieldpath"
	smdtyped "sigs.k8s.io/structured-merge-diff/v4/typed"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/testing/gen"
	"github.com/deed-project/deed/internal/testing/seeds"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/typed"
	"github.com/deed-project/deed/value"
)

// subject is a type with values of it, in both engines.
type subject struct {
	typ    *schema.Type
	smd    smdtyped.ParseableType
	values gen.Values
	broken string // the difference that was found
}

// TestFunctions checks that each function of package typed gives the answers of its counterpart, for random types and values.
func TestFunctions(t *testing.T) {
	for seed := range seeds.Each(t, histories(t)) {
		c := gen.Seeded(seed)
		s := gen.NewSchema(c)
		if c.Chance(20) {
			s.OpenLists(c)
		}
		w, err := newWorld(s)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range s.Versions {
			u := subject{typ: w.types[v.Name], smd: w.smd[v.Name], values: gen.Values{Choices: c, Depth: 4}}
			other := subject{typ: w.types[s.Versions[0].Name], smd: w.smd[s.Versions[0].Name], values: u.values}
			u.check(&other)
			if u.broken != "" {
				t.Fatalf("seed %d, type %s of\n%s\n%s", seed, v.Root, s.Document.Value(), u.broken)
			}
		}
	}
}

// check compares all functions. other is a version of the same type, for Reconcile.
func (u *subject) check(other *subject) {
	u.values.Duplicates = u.values.Chance(40)
	old := u.values.Of(u.typ)
	new := u.values.Mutate(u.values.Mutate(old, u.typ), u.typ)
	u.validate(u.values.Spoil(old, u.typ))
	deedOld, smdOld := u.validate(old)
	deedNew, smdNew := u.validate(new)
	if smdOld == nil || smdNew == nil {
		return
	}
	u.fields(deedOld, smdOld)
	u.compare(deedOld, deedNew, smdOld, smdNew)
	u.merge(deedOld, smdOld, new)
	set := gen.Subset(u.values.Choices, identified(deedOld.Fields().Union(deedNew.Fields())))
	u.remove(deedOld, smdOld, set)
	u.ownFields(deedOld, smdOld)
	if foreign, err := typed.New(old, other.typ, typed.AllowDuplicates); err == nil {
		set = gen.Subset(u.values.Choices, identified(foreign.Fields()))
	}
	u.reconcile(smdOld, set)
}

// identified returns s without the paths of items without identity, which have no text.
func identified(s fieldpath.Set) fieldpath.Set {
	var paths []fieldpath.Path
	for path := range s.All() {
		if !slices.Contains(path, fieldpath.Any()) {
			paths = append(paths, path)
		}
	}
	return fieldpath.SetOf(paths...)
}

func (u *subject) differ(what string, got, want any, about ...any) {
	if u.broken == "" && fmt.Sprint(got) != fmt.Sprint(want) {
		u.broken = fmt.Sprintf("%s of %v\n deed %v\n want %v", what, about, got, want)
	}
}

// validate returns v in both engines. The second result is nil if both reject v.
func (u *subject) validate(v value.Value) (typed.Value, *smdtyped.TypedValue) {
	_, strictWant := u.smd.FromUnstructured(v.ToAny())
	want, wantErr := u.smd.FromUnstructured(v.ToAny(), smdtyped.AllowDuplicates)
	if strings.Contains(fmt.Sprint(strictWant, wantErr), "omits key field ") {
		return typed.Value{}, nil // see lacksKey
	}
	_, strictGot := typed.New(v, u.typ)
	got, err := typed.New(v, u.typ, typed.AllowDuplicates)
	u.differ("errors", sameProblems(strictGot, strictWant), strictWant, v)
	u.differ("errors, duplicates allowed", sameProblems(err, wantErr), wantErr, v)
	return got, want
}

// sameProblems returns want if got reports the same problems, and otherwise got. The reference walks objects in map order and stops at the
// first undeclared member, so it reports a part of deed's problems. If a type admits several kinds, it may walk a value twice and repeat
// its problems.
func sameProblems(got, want error) error {
	all, some := problems(got), problems(want)
	if strings.Contains(fmt.Sprint(want), ": field not declared in schema") {
		all = slices.DeleteFunc(all, func(line string) bool { return !has(some, line) })
	}
	for _, line := range slices.Concat(all, some) {
		if !has(all, line) || !has(some, line) {
			return got
		}
	}
	return want
}

func has(lines []string, line string) bool {
	return slices.ContainsFunc(lines, func(other string) bool { return sameLine(line, other) })
}

// objectAsKey matches lines that show an object as a key. The members of that object come in any order; see objectsAsKeys.
var objectAsKey = regexp.MustCompile(`(?s)\[.*=.*=`)

func sameLine(a, b string) bool {
	letters := func(s string) string { return string(slices.Sorted(slices.Values([]byte(s)))) }
	return a == b || objectAsKey.MatchString(a) && letters(a) == letters(b)
}

// problems returns the lines of an error, one for each problem. Version 4 of the reference has another text for missing keys.
func problems(err error) []string {
	if err == nil {
		return nil
	}
	lines := strings.Split(strings.TrimPrefix(err.Error(), "errors:\n  "), "\n  ")
	for i, line := range lines {
		lines[i], _, _ = strings.Cut(line, " that omits ")
	}
	return lines
}

func wire(s *smdpath.Set) string {
	if s == nil {
		return "nil"
	}
	out, err := s.ToJSON()
	if err != nil {
		return err.Error()
	}
	return string(out)
}

func (u *subject) fields(v typed.Value, smd *smdtyped.TypedValue) {
	want, err := smd.ToFieldSet()
	if err != nil {
		u.differ("fields", "no error", err, v.Content())
		return
	}
	if strings.Contains(wire(want), "invalid PathElement") {
		return // a set with items of undefined lists has no text
	}
	u.differ("fields", string(v.Fields().AppendJSON(nil)), wire(want), v.Content())
	// A server reads sets back, and the numbers in their keys become floats.
	set := v.Fields()
	u.differ("named fields", string(typing.WithNamedFields(set, u.typ).AppendJSON(nil)),
		wire(smdSet(set).EnsureNamedFieldsAreMembers(u.smd.Schema, u.smd.TypeRef)), v.Content())
}

// ownFields removes the fields of a value from it, with the items without identity.
func (u *subject) ownFields(v typed.Value, smd *smdtyped.TypedValue) {
	set, smdSet := v.Fields(), smdFieldsOf(smd)
	u.differ("what is left without all fields", v.Remove(set).Content(), contentOf(smd.RemoveItems(smdSet)), v.Content())
}

func smdFieldsOf(v *smdtyped.TypedValue) *smdpath.Set {
	out, err := v.ToFieldSet()
	if err != nil {
		panic(err)
	}
	return out
}

func (u *subject) compare(old, new typed.Value, smdOld, smdNew *smdtyped.TypedValue) {
	want, wantErr := smdOld.Compare(smdNew)
	got, err := typed.Compare(old, new)
	u.differ("errors of compare", sameProblems(err, wantErr), wantErr, old.Content(), new.Content())
	if err == nil && wantErr == nil {
		show := func(s fieldpath.Set) string { return string(s.AppendJSON(nil)) }
		u.differ("comparison", []string{show(got.Added), show(got.Modified), show(got.Removed)},
			[]string{wire(want.Added), wire(want.Modified), wire(want.Removed)}, old.Content(), new.Content())
	}
}

func (u *subject) merge(live typed.Value, smdLive *smdtyped.TypedValue, config value.Value) {
	config = u.values.Part(config, u.typ)
	if u.values.Chance(70) {
		config = gen.Distinct(config, u.typ)
	}
	deedConfig, smdConfig := u.validate(config)
	if smdConfig == nil {
		return
	}
	want, wantErr := smdLive.Merge(smdConfig)
	got, err := typed.Merge(live, deedConfig)
	// The reference drops lists within items whose own items have no identity; see swallowedErrors.
	swallowed := smdLive.Validate(smdtyped.AllowDuplicates) != nil || opensInItems(u.typ, live.Content(), false) || opensInItems(u.typ, config, false) ||
		repeatsInItems(u.typ, config, false)
	if wantErr == nil && swallowed {
		if err == nil {
			u.differ("swallowed errors of merge", err, "an error", live.Content(), config)
		}
		return
	}
	u.differ("errors of merge", sameProblems(err, wantErr), wantErr, live.Content(), config)
	if err == nil && wantErr == nil {
		u.differ("merge", got.Content(), contentOf(want), live.Content(), config)
	}
}

// opensInItems reports whether an item of a granular list contains a non-empty list whose relationship is undefined, outside of atomic
// parts. inItem tells that v is within an item.
func opensInItems(t *schema.Type, v value.Value, inItem bool) bool {
	if v.Kind() == value.KindObject && t.Map() != nil && !t.Map().Atomic() {
		for name, member := range v.Members() {
			if mt, _ := t.Map().Lookup(name); mt != nil && opensInItems(mt, member, inItem) {
				return true
			}
		}
	}
	if v.Kind() != value.KindList || t.List() == nil || t.List().Topology() == schema.AtomicList {
		return false
	}
	if t.List().Topology() == schema.IncompleteList {
		return inItem && v.Len() > 0
	}
	for item := range v.Items() {
		if opensInItems(t.List().Element(), item, true) {
			return true
		}
	}
	return false
}

// repeatsInItems reports whether an item of a granular list contains a list that repeats an item, outside of atomic parts. inItem tells
// that v is within an item.
func repeatsInItems(t *schema.Type, v value.Value, inItem bool) bool {
	if v.Kind() == value.KindObject && t.Map() != nil && !t.Map().Atomic() {
		for name, member := range v.Members() {
			if mt, _ := t.Map().Lookup(name); mt != nil && repeatsInItems(mt, member, inItem) {
				return true
			}
		}
	}
	if v.Kind() != value.KindList || t.List() == nil || t.List().Topology() == schema.AtomicList {
		return false
	}
	if inItem && gen.Repeats(t.List(), v) {
		return true
	}
	for item := range v.Items() {
		if repeatsInItems(t.List().Element(), item, true) {
			return true
		}
	}
	return false
}

// contentOf returns the content of v. Deed prints it, because deed spells numbers like encoding/json.
func contentOf(v *smdtyped.TypedValue) value.Value {
	out, err := value.FromAny(v.AsValue().Unstructured())
	if err != nil {
		panic(err)
	}
	return out
}

func (u *subject) remove(v typed.Value, smd *smdtyped.TypedValue, set fieldpath.Set) {
	want := smd.RemoveItems(smdSet(set))
	got := v.Remove(set)
	u.differ("remove", got.Content(), contentOf(want), v.Content(), set)
	if !lacksSomeKeys(u.typ, got.Content()) {
		u.compare(v, got, smd, want)
		u.compare(got, v, want, smd)
		u.merge(got, want, v.Content())
	}
	wantFields, err := want.ToFieldSet()
	if err != nil {
		u.differ("fields of what is left", "no error", err, v.Content(), set)
		return
	}
	// The elements of items that lost their keys have no text.
	if text := wire(wantFields); !strings.Contains(text, "invalid PathElement") {
		u.differ("fields of what is left", string(got.Fields().AppendJSON(nil)), text, v.Content(), set)
	}
}

func (u *subject) reconcile(smd *smdtyped.TypedValue, set fieldpath.Set) {
	want, wantErr := smdtyped.ReconcileFieldSetWithSchema(smdSet(set), smd)
	got, changed, err := typed.Reconcile(set, u.typ)
	u.differ("errors of reconcile", err == nil, wantErr == nil, set)
	if want == nil { // no change, which an equal set may express too
		want = smdSet(set)
	}
	if wantErr == nil {
		u.differ("reconcile", string(got.AppendJSON(nil)), wire(want), set)
		u.differ("change by reconcile", changed, !got.Equal(set), set)
	}
}

// lacksSomeKeys reports whether an item in v lacks some but not all of its keys; see lacksKey.
func lacksSomeKeys(t *schema.Type, v value.Value) bool {
	if t.Map() != nil {
		for name, member := range v.Members() {
			if mt, _ := t.Map().Lookup(name); mt != nil && lacksSomeKeys(mt, member) {
				return true
			}
		}
	}
	if t.List() == nil {
		return false
	}
	for item := range v.Items() {
		missing := 0
		for _, k := range t.List().Keys() {
			if item.Get(k.Name).IsAbsent() && k.Default.IsAbsent() {
				missing++
			}
		}
		if missing > 0 && missing < len(t.List().Keys()) || lacksSomeKeys(t.List().Element(), item) {
			return true
		}
	}
	return false
}
