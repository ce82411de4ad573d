package managedfields_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
)

func TestTransfer(t *testing.T) {
	const item = `{"f:c":{"k:{\"name\":\"x\"}":{".":{},"f:name":{},"f:image":{},"f:dir":{"f:size":{}}}}}`
	for _, test := range []struct {
		name, entries string
		from, to      merge.Manager
		within        string
		want          string
	}{
		{"everything, to somebody new", entry("ann", "Apply", "v1", "1", `{"f:a":{},"f:b":{}}`), applier("ann"), updater("bob"), ``,
			`bob Update v1 1: .a .b`},
		{"to somebody who was active later", entry("ann", "Apply", "v1", "1", `{"f:a":{}}`) + "," + entry("bob", "Update", "v1", "2", `{"f:b":{}}`),
			applier("ann"), updater("bob"), ``, `bob Update v1 2: .a .b`},
		{"by somebody who was", entry("ann", "Apply", "v1", "3", `{"f:a":{}}`) + "," + entry("bob", "Update", "v1", "", `{"f:b":{}}`),
			applier("ann"), updater("bob"), ``, `bob Update v1 3: .a .b`},
		{"co-owners stay", entry("ann", "Apply", "v1", "1", `{"f:a":{}}`) + "," + entry("eve", "Apply", "v1", "1", `{"f:a":{}}`),
			applier("eve"), applier("bob"), ``, `
			ann Apply v1 1: .a
			bob Apply v1 1: .a`},
		{"a path and what is below it", entry("ann", "Apply", "v1", "1", `{"f:a":{".":{},"f:x":{}},"f:ab":{}}`), applier("ann"), applier("bob"), `.a`, `
			ann Apply v1 1: .ab
			bob Apply v1 1: .a .a.x`},
		{"nothing there", entry("ann", "Apply", "v1", "1", `{"f:a":{}}`), applier("ann"), applier("bob"), `.b`, `ann Apply v1 1: .a`},
		{"a part of an item", entry("ann", "Apply", "v1", "1", item), applier("ann"), applier("bob"), `.c[name="x"].image`, `
			ann Apply v1 1: .c[name="x"] .c[name="x"].name .c[name="x"].dir.size
			bob Apply v1 1: .c[name="x"] .c[name="x"].image .c[name="x"].name`},
		{"a whole item", entry("ann", "Apply", "v1", "1", item), applier("ann"), applier("bob"), `.c[name="x"]`,
			`bob Apply v1 1: .c[name="x"] .c[name="x"].image .c[name="x"].name .c[name="x"].dir.size`},
		{"to oneself", entry("ann", "Apply", "v1", "1", `{"f:a":{}}`), applier("ann"), applier("ann"), ``, `ann Apply v1 1: .a`},
		{"the version is the fields' own", entry("ann", "Apply", "v2", "1", `{"f:a":{}}`), applier("ann"), merge.Manager{Name: "bob", Operation: merge.Update}, ``,
			`bob Update v2 1: .a`},
		{"who owns nothing goes", entry("ann", "Apply", "v1", "1", `{"f:a":{}}`) + "," + entry("eve", "Apply", "v1", "1", `{}`), applier("ann"), applier("bob"), ``,
			`bob Apply v1 1: .a`},
	} {
		t.Run(test.name, func(t *testing.T) {
			var within []fieldpath.Path
			if test.within != "" {
				within = append(within, parsePath(t, test.within))
			}
			got, err := managedfields.Transfer(parseEntries(t, `[`+test.entries+`]`), test.from, test.to, within...)
			if err != nil {
				t.Fatal(err)
			}
			if show(t, got) != lines(test.want) {
				t.Errorf("got\n%s", show(t, got))
			}
		})
	}
}

func TestTransferRefuses(t *testing.T) {
	entries := parseEntries(t, `[`+entry("ann", "Apply", "v1", "1", `{"f:a":{}}`)+","+entry("bob", "Apply", "v2", "1", `{"f:a":{}}`)+`]`)
	if _, err := managedfields.Transfer(entries, applier("eve"), applier("ann")); !errors.Is(err, managedfields.ErrNoManager) {
		t.Errorf("from nobody: %v", err)
	}
	if _, err := managedfields.Transfer(entries, applier("ann"), applier("bob")); !errors.Is(err, managedfields.ErrOtherVersion) {
		t.Errorf("to an applier of another version: %v", err)
	}
	if _, err := managedfields.Transfer(entries, applier("bob"), updater("eve")); !errors.Is(err, managedfields.ErrOtherVersion) {
		t.Errorf("to a new updater of another version: %v", err)
	}
	bad := parseEntries(t, `[`+entry("ann", "Apply", "v1", "1", `{"bad":{}}`)+`]`)
	var e *managedfields.EntryError
	if _, err := managedfields.Transfer(bad, applier("ann"), applier("bob")); !errors.As(err, &e) {
		t.Errorf("an unreadable entry: %v", err)
	}
}

// What is given to somebody new and given back is as it was.
func TestTransferForthAndBack(t *testing.T) {
	parts := 0
	histories(t, func(t *testing.T, r *rand.Rand, o managedfields.Object) {
		before, err := managedfields.Decode(o.Entries)
		if err != nil {
			t.Fatal(err)
		}
		for e := range before.All() {
			var within []fieldpath.Path
			for path := range e.Fields.All() {
				if r.IntN(4) == 0 {
					within = append(within, path[:1+r.IntN(len(path))])
					parts++
				}
			}
			there, err := managedfields.Transfer(o.Entries, e.Manager, applier("new"), within...)
			if err != nil {
				t.Error(err)
				return
			}
			given, _ := managedfields.Decode(there)
			if _, ok := given.Get(applier("new")); !ok && e.Fields.Len() > 0 && len(within) == 0 {
				t.Errorf("nothing of %v is given", e.Manager)
			}
			back := there
			if _, ok := given.Get(applier("new")); ok {
				if back, err = managedfields.Transfer(there, applier("new"), e.Manager); err != nil {
					t.Error(err)
					return
				}
			}
			after, err := managedfields.Decode(back)
			if err != nil || !after.Equal(before) {
				t.Errorf("%v within %v: got\n%swant\n%s%v", e.Manager, within, show(t, back), show(t, o.Entries), err)
			}
		}
	})
	if parts < 100 {
		t.Errorf("only %d parts", parts)
	}
}
