package managedfields

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strconv"
	"testing"
	"weak"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/testing/seeds"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// TestReadMap reads maps that are modified between readings: what is remembered must never answer for another map.
func TestReadMap(t *testing.T) {
	r := seeds.Rand(t)
	c := NewCache(DefaultBudget)
	content := map[string]any{}
	for i := range 20000 {
		if i%50 == 0 {
			content = map[string]any{}
		}
		modify(r, content)
		got, err := readMap(c, content, "", 0)
		want, canonical, wantErr := paths.FromAny(content)
		if (err == nil) != (wantErr == nil) || err == nil && (!got.set.Equal(want) || got.canonical != canonical) {
			text, _ := json.Marshal(content)
			t.Fatalf("%s: got %s, %v (error %v), want %s, %v (error %v)",
				text, got.set.AppendJSON(nil), got.canonical, err, want.AppendJSON(nil), canonical, wantErr)
		}
	}
}

// modify changes one thing in content or below.
func modify(r *rand.Rand, content map[string]any) {
	name := [...]string{"f:a", "f:b", "f:c", `k:{"n":"x"}`, `k:{"n":"y"}`, `v:1`, "i:2", "."}[r.IntN(8)]
	switch member, there := content[name].(map[string]any); {
	case there && member != nil && r.IntN(3) > 0:
		modify(r, member)
	case there && r.IntN(2) == 0:
		delete(content, name)
	case r.IntN(100) == 0:
		content[name] = [...]any{nil, "text", 1.5, map[string]any(nil)}[r.IntN(4)]
	default:
		content[name] = map[string]any{}
	}
}

// TestReadMapAgain demands that a map that was read is known when it comes again, from the same entry or a later one.
func TestReadMapAgain(t *testing.T) {
	maps := func() map[string]any {
		return map[string]any{"f:metadata": map[string]any{"f:labels": map[string]any{".": map[string]any{}, "f:a": map[string]any{}}}}
	}
	content, c := maps(), NewCache(DefaultBudget)
	first, err := readMap(c, content, "again", 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, seconds := range []int64{1, 2, 2, 1} {
		if again, err := readMap(c, maps(), "again", seconds); err != nil || again != first {
			t.Errorf("at %d: the set was made again (%v)", seconds, err)
		}
	}
	if allocs := testing.AllocsPerRun(100, func() { _, _ = readMap(c, content, "again", 1) }); allocs > 0 {
		t.Errorf("%v allocations", allocs)
	}
}

// TestReadLargeMaps reads a map that has a place among the large ones, and one that is too large to be remembered.
func TestReadLargeMaps(t *testing.T) {
	const budget = 2 << 20
	cache := NewCache(budget)
	for _, c := range []struct {
		size       int
		remembered bool
	}{{2 * maxMap, true}, {2 * budget / largestShare, false}} {
		large := map[string]any{}
		for i := range c.size / 16 {
			large["f:"+strconv.Itoa(i)] = map[string]any{}
		}
		first, err := readMap(cache, large, "", 0)
		if err != nil || first.set.Len() != len(large) || paths.Size(first.set) < c.size {
			t.Fatalf("%d fields of %d bytes, error %v", first.set.Len(), paths.Size(first.set), err)
		}
		for _, seconds := range []int64{0, 1, 1, 0} {
			again, err := readMap(cache, large, "", seconds)
			if err != nil || (again == first) != c.remembered || !again.set.Equal(first.set) {
				t.Errorf("%d fields of %d bytes at %d, the same set: %t, error %v", again.set.Len(), paths.Size(again.set), seconds, again == first, err)
			}
		}
	}
}

// TestManyLargeMaps reads as many maps as have a place among the large ones, of one owner and of one shape, again and again: they do not
// take each other's place.
func TestManyLargeMaps(t *testing.T) {
	c := NewCache(DefaultBudget)
	var contents [largePlaces]map[string]any
	for i := range contents {
		contents[i] = map[string]any{}
		for j := range maxMap / 16 {
			contents[i]["f:"+strconv.Itoa(i*maxMap+j)] = map[string]any{}
		}
	}
	var first [largePlaces]*parsedSet
	for round := range 3 {
		for i, content := range contents {
			p, err := readMap(c, content, "many", int64(i))
			if err != nil {
				t.Fatal(err)
			}
			if round == 0 {
				first[i] = p
			} else if p != first[i] {
				t.Errorf("round %d: map %d was read again", round, i)
			}
		}
	}
}

// TestFitsKeepsNoType shows that a type can go although a set that is remembered was found to fit it.
func TestFitsKeepsNoType(t *testing.T) {
	fields := `{"f:metadata":{"f:labels":{"f:a":{}}}}`
	p, err := FieldsOf(fields).read(NewCache(DefaultBudget))
	if err != nil {
		t.Fatal(err)
	}
	compiled := func() *schema.Type {
		s, err := schema.Compile(&schema.Document{Types: []schema.TypeDef{{Name: "root", Atom: schema.Atom{Scalar: schema.Untyped}}}})
		if err != nil {
			t.Fatal(err)
		}
		root := s["root"]
		return root
	}
	dropped := func() weak.Pointer[schema.Type] {
		root := compiled()
		for range 2 {
			if !p.fitsTo(root) {
				t.Error("the set does not fit")
			}
		}
		return weak.Make(root)
	}()
	for i := 0; i < 10 && dropped.Value() != nil; i++ {
		runtime.GC()
	}
	if dropped.Value() != nil {
		t.Error("a type is kept alive that nothing else refers to")
	}
	if p.fitsTo(nil) || !p.fitsTo(compiled()) || p.fitsTo(nil) {
		t.Error("what fits depends on what fitted before")
	}
}

// TestFitsByType demands that a set which fits one type does not for that fit another one.
func TestFitsByType(t *testing.T) {
	p, err := FieldsOf(`{"f:a":{"f:b":{}}}`).read(NewCache(DefaultBudget))
	if err != nil {
		t.Fatal(err)
	}
	text, err := value.Parse([]byte(`{"types":[{"name":"root","map":{"fields":[
		{"name":"a","type":{"map":{"elementRelationship":"atomic","elementType":{"scalar":"string"}}}}]}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	document, err := schema.ParseDocument(text)
	if err != nil {
		t.Fatal(err)
	}
	atomic, err := schema.Compile(document)
	if err != nil {
		t.Fatal(err)
	}
	root := atomic["root"]
	if !p.fitsTo(untypedRoot(t)) || p.fitsTo(root) {
		t.Error("what fits one type fits another")
	}
}

// TestWrittenMaps demands that equal sets of an owner are written as one map, that this is the map that the set says, and that the set
// is known when the map is read.
func TestWrittenMaps(t *testing.T) {
	c := NewCache(DefaultBudget)
	set := func(name string) fieldpath.Set {
		s, err := fieldpath.ParseSet([]byte(`{"f:metadata":{"f:labels":{".":{},"f:` + name + `":{}}},"f:spec":{"f:list":{"k:{\"a\":1}":{"f:b":{}}}}}`))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	first := writeMap(c, set("a"), "m")
	if again := writeMap(c, set("a"), "m"); again != first || !reflect.DeepEqual(first.content, paths.ToAny(set("a"))) {
		t.Errorf("a set is written twice, or as %v", first.content)
	}
	if read, err := readMap(c, paths.ToAny(set("a")), "m", 7); err != nil || read != first {
		t.Errorf("a set that was written is read again, error %v", err)
	}
	if other := writeMap(c, set("b"), "m"); !reflect.DeepEqual(other.content, paths.ToAny(set("b"))) {
		t.Errorf("another set is written as %v", other.content)
	}
	read, err := readMap(c, paths.ToAny(set("c")), "n", 1)
	if err != nil {
		t.Fatal(err)
	}
	if written := writeMap(c, set("c"), "n"); !paths.Same(written.set, read.set) {
		t.Error("a set that was read is another one when it is written")
	}
}

// TestKnownText demands that a text that the cache of the process has read is known, and no other one.
func TestKnownText(t *testing.T) {
	const text = `{"f:spec":{"f:known":{}}}`
	if _, err := FieldsOf(text).read(processCache); err != nil {
		t.Fatal(err)
	}
	if got := knownText(text); got != text {
		t.Errorf("%q is known as %q", text, got)
	}
	if got := knownText(`{"f:spec":{"f:unknown":{}}}`); got != "" {
		t.Errorf("a text that was not read is known as %q", got)
	}
	o, err := ParseObject([]byte(`{"metadata":{"managedFields":[{"fieldsV1":` + text + `}]}}`))
	if err != nil || o.Entries[0].FieldsV1.String() != text {
		t.Errorf("the entry is %v, error %v", o.Entries, err)
	}
}
