package managedfields

import (
	"fmt"
	"strings"
	"testing"

	"github.com/deed-project/deed/schema"
)

// The places of texts, maps and large sets are all that there are, and nobody shares one.
func TestPlacesAreApart(t *testing.T) {
	c := NewCache(DefaultBudget)
	texts, maps, large := c.texts(), c.maps(), c.large()
	if len(texts) != textPlaces || len(maps) != mapPlaces || len(large) != largePlaces || len(texts)+len(maps)+len(large) != len(c.places) {
		t.Fatalf("%d, %d and %d of %d places", len(texts), len(maps), len(large), len(c.places))
	}
	if &texts[0] != &c.places[0] || &maps[0] != &c.places[textPlaces] || &large[largePlaces-1] != &c.places[len(c.places)-1] {
		t.Error("places are shared")
	}
}

// Each row of texts has places of its own: as many texts are known as there are places, and in a full row one more takes the place
// of the oldest.
func TestRowsAreApart(t *testing.T) {
	c := NewCache(DefaultBudget)
	read := func(row, i int) *parsedSet {
		t.Helper()
		p, err := readText(c, fmt.Sprintf(`{"f:%d":{"f:%d":{}}}`, row, i), uint64(row))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	var first [textPlaces / rowSize][rowSize]*parsedSet
	for i := range rowSize {
		for row := range first {
			first[row][i] = read(row, i)
		}
	}
	for row := range first {
		for i := range rowSize {
			if read(row, i) != first[row][i] {
				t.Errorf("text %d of row %d is not known any more", i, row)
			}
		}
	}
	read(7, rowSize)
	if read(7, 1) != first[7][1] || read(7, 0) == first[7][0] {
		t.Error("one more text must take the place of the oldest")
	}
}

// A text that is as long as may be is remembered, and one that is longer is not.
func TestLongTexts(t *testing.T) {
	c := NewCache(DefaultBudget)
	for n, remembered := range map[int]bool{maxText: true, maxText + 1: false} {
		text := `{"f:` + strings.Repeat("x", n-len(`{"f:":{}}`)) + `":{}}`
		first, err1 := readText(c, text, 1)
		second, err2 := readText(c, text, 1)
		if err1 != nil || err2 != nil || len(text) != n || (first == second) != remembered {
			t.Errorf("%d bytes: remembered %t, want %t (%v, %v)", n, first == second, remembered, err1, err2)
		}
	}
}

// A cache holds as much as its budget and no byte more, and no set that takes more than its share.
func TestBudgetToTheByte(t *testing.T) {
	fill := func(budget int) int {
		c := NewCache(budget)
		for i := range 2 * largestShare {
			if _, err := readText(c, fmt.Sprintf(`{"f:%04d":{}}`, i), uint64(i)); err != nil {
				t.Fatal(err)
			}
		}
		return c.size()
	}
	size := fill(1<<20) / (2 * largestShare)
	for budget, want := range map[int]int{
		largestShare * size: largestShare * size, largestShare*size - 1: 0, (largestShare+1)*size - 1: largestShare * size,
	} {
		if got := fill(budget); got != want {
			t.Errorf("a cache of %d bytes holds %d, want %d", budget, got, want)
		}
	}
}

// Of the large sets that an owner had, the newest is the one that is tried at another time.
func TestNewestLargeSetOfAnOwner(t *testing.T) {
	c := NewCache(DefaultBudget)
	content := func(n string) map[string]any {
		all := map[string]any{}
		for i := range 5000 {
			all[fmt.Sprintf("f:%s%d", n, i)] = map[string]any{}
		}
		return all
	}
	read := func(name, owner string, seconds int64) *parsedSet {
		t.Helper()
		p, err := readMap(c, content(name), owner, seconds)
		if err != nil || paths.Size(p.set) <= maxMap {
			t.Fatalf("%d bytes, %v", paths.Size(p.set), err)
		}
		return p
	}
	read("a", "m", 1)
	newest := read("b", "m", 2)
	read("a", "n", 3)
	if read("b", "m", 4) != newest {
		t.Error("the newest set of the owner was made again")
	}
}

// The sets of an object with very many entries are not remembered; those of one with many are.
func TestVeryManyEntriesAreNotRemembered(t *testing.T) {
	for n, remembered := range map[int]bool{manyEntries: true, manyEntries + 1: false} {
		entries := make([]Entry, n)
		for i := range entries {
			entries[i] = Entry{
				Manager: fmt.Sprint("m", i), Operation: "Update", APIVersion: "v1", FieldsType: fieldsV1,
				FieldsV1: FieldsOf(fmt.Sprintf(`{"f:f%d":{}}`, i)),
			}
		}
		c := NewCache(DefaultBudget)
		if _, err := decode(entries, map[string]*schema.Type{}, c, Profile{}); err != nil || (c.size() > 0) != remembered {
			t.Errorf("%d entries: %d bytes are remembered (%v)", n, c.size(), err)
		}
	}
}
