package yaml

import (
	"fmt"
	"strings"
	"testing"

	"github.com/deed-project/deed/internal/work"
)

// TestAddedMembersStandInOrder adds members to objects whose own are in the order of kubectl, in another one, and in none that
// kubectl has for all names: 9x, 10 and 91.
func TestAddedMembersStandInOrder(t *testing.T) {
	for _, c := range []struct{ text, wanted, want string }{
		{"a: 1\nc: 1\ne: 1\n", `{"a":1,"b":2,"c":1,"d":2,"e":1,"f":2}`, "a: 1\nb: 2\nc: 1\nd: 2\ne: 1\nf: 2\n"},
		{"c: 1\na: 1\n", `{"a":1,"b":2,"c":1,"d":2}`, "c: 1\na: 1\nb: 2\nd: 2\n"},
		{"item2: 1\nitem10: 1\n", `{"item1":2,"item10":1,"item2":1,"item3":2}`, "item1: 2\nitem2: 1\nitem3: 2\nitem10: 1\n"},
		{"10: 1\n", `{"10":1,"9x":2,"91":2}`, "10: 1\n\"91\": 2\n9x: 2\n"},
		{"<<: {x: 1}\nz: 1\n", `{"a":2,"x":1,"z":1}`, "<<: {x: 1}\na: 2\nz: 1\n"},
	} {
		if got, _ := rewriteAll(t, []byte(c.text), []string{c.wanted}); string(got) != c.want {
			t.Errorf("%q becomes %q, want %q", c.text, got, c.want)
		}
	}
}

// TestMovedItemsKeepTheirText moves items over others that are alike.
func TestMovedItemsKeepTheirText(t *testing.T) {
	for _, c := range []struct{ text, wanted, want string }{
		{"- a # one\n- a # two\n- b\n- c\n", `["b","c","a"]`, "- b\n- c\n- a # one\n"},
		{"- a # one\n- b # two\n", `["b","a"]`, "- b # two\n- a # one\n"},
		{"- a # one\n- a # two\n- b\n", `["b","a","a"]`, "- b\n- a # one\n- a # two\n"},
		{"- 1.0 # one\n- 2\n", `[2,1]`, "- 2\n- 1.0 # one\n"},
	} {
		if got, _ := rewriteAll(t, []byte(c.text), []string{c.wanted}); string(got) != c.want {
			t.Errorf("%q becomes %q, want %q", c.text, got, c.want)
		}
	}
}

// TestAddedMembersAreLinear counts the names that are compared for members that are added between others: four times as many
// members may cost little more than four times as much.
func TestAddedMembersAreLinear(t *testing.T) {
	cost := func(members int) int {
		var text, wanted strings.Builder
		wanted.WriteString(`{"": 0`)
		for i := range members {
			fmt.Fprintf(&text, "k%05d: 1\n", 2*i)
			fmt.Fprintf(&wanted, `,"k%05d": 1, "k%05d": 2`, 2*i, 2*i+1)
		}
		docs := strings.Replace(wanted.String(), `"": 0,`, "", 1) + "}"
		return work.Record(func() {
			if _, reprinted := rewriteAll(t, []byte(text.String()), []string{docs}); len(reprinted) > 0 {
				t.Error("the text is not edited")
			}
		}).Pairs
	}
	few, many := cost(500), cost(2000)
	t.Logf("%d pairs for 500 members, %d for 2000", few, many)
	if few < 500 || many > 6*few {
		t.Errorf("%d pairs are compared for 500 members, and %d for 2000", few, many)
	}
}

// TestLongLines edits each member of an object in one line of 700 kB, with characters of several bytes and without: the places
// of members are not counted from the beginning of the line for each.
func TestLongLines(t *testing.T) {
	for _, text := range []string{"x", "é", "漢字", "🙂"} {
		members := func(format string) string {
			var b strings.Builder
			for i := range 20000 {
				fmt.Fprintf(&b, format, i, text)
			}
			return b.String()[len(", "):]
		}
		old, want := members(", m%05d: {name: %q, value: 1}"), members(", m%05d: {name: %q, value: 2}")
		wanted := "{" + members(`, "m%05d": {"name": %q, "value": 2}`) + "}"
		got, reprinted := rewriteAll(t, []byte("{"+old+"}\n"), []string{wanted})
		if len(reprinted) > 0 || string(got) != "{"+want+"}\n" {
			t.Errorf("members beside %q are not edited in their places (%d documents printed anew)", text, len(reprinted))
		}
	}
}
