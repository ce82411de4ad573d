package typed_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/typed"
)

// allParts is the type of an object with one of each: a keyed list, a granular and an atomic container, and a set.
const allParts = `{"types":[{"name":"root","map":{"fields":[
	{"name":"list","type":{"list":{"elementRelationship":"associative","keys":["name"],"elementType":{"map":{"fields":[
		{"name":"name","type":{"scalar":"string"}},{"name":"value","type":{"scalar":"numeric"}}]}}}}},
	{"name":"m","type":{"map":{"elementType":{"scalar":"numeric"}}}},
	{"name":"a","type":{"list":{"elementRelationship":"atomic","elementType":{"scalar":"numeric"}}}},
	{"name":"s","type":{"list":{"elementRelationship":"associative","elementType":{"scalar":"string"}}}}]}}]}`

// The rules of Compare, each by an example.
func TestCompareByRules(t *testing.T) {
	root := typeOf(t, allParts)
	const whole = `{"a":[1],"list":[{"name":"a","value":1}],"m":{"x":1,"y":2},"s":["p"]}`
	paths := []string{`.a`, `.list`, `.list[name="a"]`, `.list[name="a"].name`, `.list[name="a"].value`, `.m`, `.m.x`, `.m.y`, `.s`, `.s[="p"]`}
	for _, c := range []struct {
		rule, old, new           string
		added, modified, removed []string
	}{
		{rule: "C1", old: `{"m":{"x":1,"y":2}}`, new: `{"m":{"y":3,"z":1}}`, added: []string{".m.z"}, modified: []string{".m.y"}, removed: []string{".m.x"}},
		{rule: "C1, atomic", old: `{"a":[1,2]}`, new: `{"a":[2,1]}`, modified: []string{".a"}},
		{rule: "C2", old: `{"m":{}}`, new: `{"m":{"x":1}}`, added: []string{".m.x"}},
		{rule: "C2, nothing to descend into", old: `{"m":{}}`, new: `{"m":null}`, modified: []string{".m"}},
		{rule: "C2, lists", old: `{"s":["p"]}`, new: `{"s":null}`, removed: []string{`.s[="p"]`}},
		{rule: "C3, added", old: `{}`, new: whole, added: paths},
		{rule: "C3, removed", old: whole, new: `{}`, removed: paths},
		{
			rule: "C4", old: `{"list":[{"name":"a","value":1},{"name":"b","value":2},{"name":"c","value":3}]}`,
			new:      `{"list":[{"name":"c","value":3},{"name":"a","value":9},{"name":"d"}]}`,
			added:    []string{`.list[name="d"]`, `.list[name="d"].name`},
			modified: []string{`.list[name="a"].value`},
			removed:  []string{`.list[name="b"]`, `.list[name="b"].name`, `.list[name="b"].value`},
		},
		{rule: "C4, sets", old: `{"s":["p","q","r"]}`, new: `{"s":["r","p","t"]}`, added: []string{`.s[="t"]`}, removed: []string{`.s[="q"]`}},
		{rule: "C5, one and several", old: `{"s":["p","p","q"]}`, new: `{"s":["p","q","q"]}`,
			added: []string{`.s[="p"]`, `.s[="q"]`}, removed: []string{`.s[="p"]`, `.s[="q"]`}},
		{rule: "C5, several", old: `{"list":[{"name":"a","value":1},{"name":"a","value":2}]}`, new: `{"list":[{"name":"a","value":2},{"name":"a","value":1}]}`,
			modified: []string{`.list[name="a"]`}},
		{rule: "C5, several that are the same", old: `{"m":{},"s":["p","q","p"]}`, new: `{"m":{},"s":["q","p","p"]}`},
		{rule: "C5, none and several", old: `{}`, new: `{"list":[{"name":"a","value":1},{"name":"a"},{"name":"b"}]}`,
			added: []string{`.list`, `.list[name="a"]`, `.list[name="b"]`, `.list[name="b"].name`}},
	} {
		got, err := typed.Compare(valueOf(t, root, c.old), valueOf(t, root, c.new))
		if err != nil {
			t.Fatal(err)
		}
		for what, pair := range map[string][2]fieldpath.Set{
			"added": {got.Added, setOf(t, c.added...)}, "modified": {got.Modified, setOf(t, c.modified...)}, "removed": {got.Removed, setOf(t, c.removed...)},
		} {
			if !pair[0].Equal(pair[1]) {
				t.Errorf("%s, from %s to %s: %s are\n%v\nwant\n%v", c.rule, c.old, c.new, what, pair[0], pair[1])
			}
		}
	}
}

// The rules of Extract and ExtractWithKeys, each by an example.
func TestExtractByRules(t *testing.T) {
	root := typeOf(t, allParts)
	v := valueOf(t, root, `{"a":[1,2],"list":[{"name":"a","value":1},{"name":"b","value":2}],"m":{"x":1,"y":2},"s":["p","q"]}`)
	for _, c := range []struct {
		paths          []string
		want, withKeys string
	}{
		{nil, `null`, `null`},
		{[]string{".m.x"}, `{"m":{"x":1}}`, `{"m":{"x":1}}`},
		{[]string{".m.y", ".m.z"}, `{"m":{"y":2}}`, `{"m":{"y":2}}`},
		{[]string{".m.z"}, `{"m":null}`, `{"m":null}`},
		{[]string{".a"}, `{"a":[1,2]}`, `{"a":[1,2]}`},
		{[]string{`.s[="q"]`}, `{"s":["q"]}`, `{"s":["q"]}`},
		{[]string{`.s[="r"]`}, `{"s":null}`, `{"s":null}`},
		{[]string{`.list[name="b"].value`}, `{"list":[{"value":2}]}`, `{"list":[{"name":"b","value":2}]}`},
		{[]string{`.list[name="b"]`}, `{"list":[{"name":"b","value":2}]}`, `{"list":[{"name":"b"}]}`},
		{[]string{`.list[name="a"].name`, `.list[name="b"].value`}, `{"list":[{"name":"a"},{"value":2}]}`, `{"list":[{"name":"a"},{"name":"b","value":2}]}`},
	} {
		set := setOf(t, c.paths...)
		if got := v.Extract(set).Content().String(); got != c.want {
			t.Errorf("%v extracts %s, want %s", c.paths, got, c.want)
		}
		if got := typing.ExtractWithKeys(v, set).Content().String(); got != c.withKeys {
			t.Errorf("%v extracts %s with keys, want %s", c.paths, got, c.withKeys)
		}
	}
}

// A set divides the items of a list, whatever their order and number: Extract keeps its items, and Remove the others.
func TestSetsDivideLists(t *testing.T) {
	root := typeOf(t, allParts)
	list := func(items []string) string {
		if len(items) == 0 {
			return `{"s":null}`
		}
		return `{"s":["` + strings.Join(items, `","`) + `"]}`
	}
	for n := 1; n < 150; n++ {
		r := rand.New(rand.NewPCG(uint64(n), 0))
		var all, within, without, paths []string
		for _, i := range r.Perm(n) {
			item := fmt.Sprintf("item-%d", i)
			all = append(all, item)
			if r.IntN(3) > 0 {
				within = append(within, item)
				paths = append(paths, fmt.Sprintf(`.s[="%s"]`, item))
			} else {
				without = append(without, item)
				paths = append(paths, fmt.Sprintf(`.s[="other-%d"]`, i))
			}
		}
		v, set := valueOf(t, root, list(all)), setOf(t, paths...)
		if got := v.Extract(set).Content().String(); got != list(within) {
			t.Errorf("%d items: the set extracts %s, want %s", n, got, list(within))
		}
		if got := v.Remove(set).Content().String(); got != list(without) {
			t.Errorf("%d items: without the set there is %s, want %s", n, got, list(without))
		}
	}
}

// The fields of a value: leaves, and items with what is in them unless they are there several times.
func TestFieldsByRules(t *testing.T) {
	root := typeOf(t, allParts)
	for document, want := range map[string][]string{
		`{}`:                      nil,
		`{"a":[1,2],"m":{"x":1}}`: {".a", ".m.x"},
		`{"a":[],"m":{}}`:         {".a", ".m"},
		`{"a":null,"m":null}`:     {".a", ".m"},
		`{"m":{"x":null}}`:        {".m.x"},
		`{"s":["q","p"],"list":[{"name":"b"},{"name":"a","value":1}]}`: {
			`.list[name="a"]`, `.list[name="a"].name`, `.list[name="a"].value`, `.list[name="b"]`, `.list[name="b"].name`, `.s[="p"]`, `.s[="q"]`,
		},
		`{"s":["p","q","p"],"list":[{"name":"a","value":1},{"name":"c"},{"name":"a"}]}`: {
			`.list[name="a"]`, `.list[name="c"]`, `.list[name="c"].name`, `.s[="p"]`, `.s[="q"]`,
		},
	} {
		if got := valueOf(t, root, document).Fields(); !got.Equal(setOf(t, want...)) {
			t.Errorf("%s has\n%v\nwant\n%v", document, got, setOf(t, want...))
		}
	}
}

// Items without identity in a list inside of an item have a path, too.
func TestFieldsOfInnerItemsWithoutIdentity(t *testing.T) {
	root := typeOf(t, `{"types":[{"name":"root","map":{"fields":[{"name":"l","type":{"namedType":"list"}}]}},
		{"name":"list","list":{"elementRelationship":"associative","keys":["k"],"elementType":{"map":{"fields":[
			{"name":"k","type":{"scalar":"string"}},{"name":"l","type":{"namedType":"list"}}]}}}}]}`)
	v := valueOf(t, root, `{"l":[{"k":"a","l":[{"k":"b"}]},{"k":"c","l":[{"k":"d"}]}]}`)
	fields := v.Remove(setOf(t, `.l[k="c"].l[k="d"].k`)).Fields()
	inner := setOf(t, `.l[k="c"].l`)
	for path := range inner.All() {
		if !fields.Has(append(path, fieldpath.Element{})) {
			t.Errorf("nothing is below %v in\n%v", path, fields)
		}
	}
	if !fields.Has(pathOf(t, `.l[k="a"].l[k="b"].k`)) || fields.Len() != 7 {
		t.Errorf("%d fields:\n%v", fields.Len(), fields)
	}
}

func pathOf(t *testing.T, text string) fieldpath.Path {
	t.Helper()
	p, err := fieldpath.ParsePath(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
