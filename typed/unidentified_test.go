package typed_test

import (
	"testing"

	"github.com/deed-project/deed/typed"
)

// keyless is what is wrong with an item that has lost its key.
const keyless = `element 0: associative list with keys has an element that omits all key fields ["k"] (and doesn't have default values for any key fields)`

const nestedLists = `{"types":[
	{"name":"root","map":{"fields":[{"name":"l","type":{"namedType":"outer"}},{"name":"m","type":{"namedType":"inner"}}]}},
	{"name":"outer","list":{"elementRelationship":"associative","keys":["k"],"elementType":{"map":{"fields":[
		{"name":"k","type":{"scalar":"string"}},{"name":"in","type":{"namedType":"inner"}}]}}}},
	{"name":"inner","list":{"elementRelationship":"associative","keys":["k"],"elementType":{"map":{"fields":[
		{"name":"k","type":{"scalar":"string"}},{"name":"v","type":{"scalar":"string"}}]}}}}]}`

// TestUntidyValues merges and compares values whose lists have items twice, and items that have lost
// their keys by Remove.
func TestUntidyValues(t *testing.T) {
	root := typeOf(t, nestedLists)
	for _, c := range []struct {
		name, value, lost         string // lost: a path that is removed
		asLive, asConfig, compare string // the errors
	}{
		{name: "tidy", value: `{"l":[{"k":"a"},{"k":"b"}]}`},
		{
			name: "an item twice", value: `{"l":[{"k":"a"},{"k":"b"},{"k":"a"}]}`,
			asConfig: `.l: duplicate entries for key [k="a"]`,
		},
		{
			name: "an item three times", value: `{"l":[{"k":"a"},{"k":"a"},{"k":"a"}]}`,
			asConfig: "errors:\n  .l: duplicate entries for key [k=\"a\"]\n  .l: duplicate entries for key [k=\"a\"]",
		},
		{
			name: "an item without key", value: `{"m":[{"k":"a","v":"x"}]}`, lost: `.m[k="a"].k`,
			asLive:   ".m: " + keyless,
			asConfig: ".m: " + keyless,
			compare:  ".m: " + keyless,
		},
		{
			name: "an item without key, inside of one that is there once", value: `{"l":[{"k":"a","in":[{"k":"x","v":"y"}]}]}`, lost: `.l[k="a"].in[k="x"].k`,
			asLive:   ".l[k=\"a\"].in: " + keyless,
			asConfig: ".l[k=\"a\"].in: " + keyless,
			compare:  ".l[k=\"a\"].in: " + keyless,
		},
		{
			name:   "an item without key, inside of one that is there twice",
			value:  `{"l":[{"k":"a","in":[{"k":"x","v":"y"}]},{"k":"a"}]}`,
			lost:   `.l[k="a"].in[k="x"].k`,
			asLive: ".l[k=\"a\"].in: " + keyless,
			// Of errors inside and outside of items, those outside are told.
			asConfig: `.l: duplicate entries for key [k="a"]`,
		},
	} {
		v := valueOf(t, root, c.value)
		if c.lost != "" {
			v = v.Remove(setOf(t, c.lost))
		}
		nothing := valueOf(t, root, `{}`)
		_, asLive := typed.Merge(v, nothing)
		_, asConfig := typed.Merge(nothing, v)
		_, old := typed.Compare(v, nothing)
		_, new := typed.Compare(nothing, v)
		for _, got := range []struct {
			what string
			err  error
			want string
		}{{"merging into it", asLive, c.asLive}, {"merging it", asConfig, c.asConfig}, {"comparing it", old, c.compare}, {"comparing with it", new, c.compare}} {
			text := ""
			if got.err != nil {
				text = got.err.Error()
			}
			if text != got.want {
				t.Errorf("%s: %s gives\n%s\nwant\n%s", c.name, got.what, text, got.want)
			}
		}
	}
}
