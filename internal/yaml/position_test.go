package yaml

import (
	"fmt"
	"testing"
)

func TestPosition(t *testing.T) {
	const block = `# comment
a: 1
é:
c:
  d:
  - x
  -
  - e: 5
    f: &q {g: 1}
  i: *q
  <<: [{j: 6, g: 7}, *q]
1: {yes: "z"}
`
	const texts = `{"z": {}}
{"é": [1, {"b" : "x:,{",
  "c":{"d":null}}, []]}`
	for _, c := range []struct {
		text     string
		document int
		path     []any
		want     string // of the key and of the value
	}{
		{block, 0, nil, "2:1 2:1"},
		{block, 0, []any{"a"}, "2:1 2:4"},
		{block, 0, []any{"é"}, "3:1 3:1"},
		{block, 0, []any{"c"}, "4:1 5:3"},
		{block, 0, []any{"c", "d"}, "5:3 6:3"},
		{block, 0, []any{"c", "d", 0}, "6:5 6:5"},
		{block, 0, []any{"c", "d", 1}, "7:4 7:4"},
		{block, 0, []any{"c", "d", 2, "e"}, "8:5 8:8"},
		{block, 0, []any{"c", "d", 2, "f", "g"}, "9:12 9:15"},
		{block, 0, []any{"c", "i"}, "10:3 10:6"},
		{block, 0, []any{"c", "i", "g"}, "9:12 9:15"},
		{block, 0, []any{"c", "j"}, "11:9 11:12"},
		{block, 0, []any{"c", "g"}, "11:15 11:18"},
		{block, 0, []any{"1", "true"}, "12:5 12:10"},
		{block, 0, []any{"b"}, "2:1 2:1"},
		{block, 0, []any{"c", "d", 3}, "5:3 6:3"},
		{block, 0, []any{"c", "d", -1}, "5:3 6:3"},
		{block, 0, []any{"c", "d", "e"}, "5:3 6:3"},
		{block, 0, []any{"c", 0, "e"}, "4:1 5:3"},
		{block, 0, []any{"a", "b", 1}, "2:1 2:4"},
		{texts, 0, []any{"z"}, "1:2 1:7"},
		{texts, 1, nil, "2:1 2:1"},
		{texts, 1, []any{"é"}, "2:2 2:7"},
		{texts, 1, []any{"é", 0}, "2:8 2:8"},
		{texts, 1, []any{"é", 1, "b"}, "2:12 2:18"},
		{texts, 1, []any{"é", 1, "c", "d"}, "3:8 3:12"},
		{texts, 1, []any{"é", 2}, "3:20 3:20"},
		{texts, 1, []any{"é", 3}, "2:2 2:7"},
		{texts, 1, []any{"é", 1, "c", "d", "x"}, "3:8 3:12"},
		{texts, 1, []any{"é", "b"}, "2:2 2:7"},
		{texts, 1, []any{0}, "2:1 2:1"},
	} {
		docs, err := Parse("", []byte(c.text))
		if err != nil {
			t.Fatal(err)
		}
		keyLine, keyColumn := docs[c.document].KeyPosition(c.path...)
		line, column := docs[c.document].Position(c.path...)
		if got := fmt.Sprintf("%d:%d %d:%d", keyLine, keyColumn, line, column); got != c.want {
			t.Errorf("%v in document %d: got %s, want %s", c.path, c.document, got, c.want)
		}
	}
}

func TestPositionOfNothing(t *testing.T) {
	if line, column := (Document{}).Position("a"); line != 0 || column != 0 {
		t.Errorf("got %d:%d, want 0:0", line, column)
	}
}

// TestPositionsAreIndexed counts allocations for a question about one of many members after another question. Without an index, the
// positions of all conflicts of an object would take quadratic time.
func TestPositionsAreIndexed(t *testing.T) {
	const members = 2000
	inYAML, inJSON := "data:\n", `{"data": {"":0`
	for i := range members {
		inYAML += fmt.Sprintf("  k%d: v\n", i)
		inJSON += fmt.Sprintf(",\n\"k%d\": 1", i)
	}
	for name, text := range map[string]string{"plain": inYAML, "nodes": "# not plain\n" + inYAML, "json": inJSON + "}}"} {
		docs, err := Parse("", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		docs[0].Position("data", "k7")
		path := []any{"data", "k1500"}
		if got := testing.AllocsPerRun(10, func() { docs[0].Position(path...) }); got > 4 {
			t.Errorf("%s: one question makes %v objects", name, got)
		}
		if line, _ := docs[0].Position(path...); line < 1500 {
			t.Errorf("%s: found in line %d", name, line)
		}
	}
}
