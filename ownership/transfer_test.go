package ownership_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/testing/kindtest"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/ownership"
	"github.com/deed-project/deed/schema"
)

func TestTransfer(t *testing.T) {
	const item = `{"f:c":{"k:{\"name\":\"x\"}":{".":{},"f:name":{},"f:image":{},"f:dir":{"f:size":{}}}}}`
	for _, test := range []struct {
		name, entries string
		from, to      merge.Manager
		within        string
		want          string
	}{
		{"everything, to somebody new", entry("ann", "Apply", "v1", "1", `{"f:a":{},"f:b":{}}`), kindtest.Applier("ann"), kindtest.Updater("bob"), ``,
			`bob Update v1 1: .a .b`},
		{"to somebody who was active later", entry("ann", "Apply", "v1", "1", `{"f:a":{}}`) + "," + entry("bob", "Update", "v1", "2", `{"f:b":{}}`),
			kindtest.Applier("ann"), kindtest.Updater("bob"), ``, `bob Update v1 2: .a .b`},
		{"by somebody who was", entry("ann", "Apply", "v1", "3", `{"f:a":{}}`) + "," + entry("bob", "Update", "v1", "", `{"f:b":{}}`),
			kindtest.Applier("ann"), kindtest.Updater("bob"), ``, `bob Update v1 3: .a .b`},
		{"co-owners stay", entry("ann", "Apply", "v1", "1", `{"f:a":{}}`) + "," + entry("eve", "Apply", "v1", "1", `{"f:a":{}}`),
			kindtest.Applier("eve"), kindtest.Applier("bob"), ``, `
			ann Apply v1 1: .a
			bob Apply v1 1: .a`},
		{"a path and what is below it", entry("ann", "Apply", "v1", "1", `{"f:a":{".":{},"f:x":{}},"f:ab":{}}`), kindtest.Applier("ann"), kindtest.Applier("bob"), `.a`, `
			ann Apply v1 1: .ab
			bob Apply v1 1: .a .a.x`},
		{"nothing there", entry("ann", "Apply", "v1", "1", `{"f:a":{}}`), kindtest.Applier("ann"), kindtest.Applier("bob"), `.b`, `ann Apply v1 1: .a`},
		{"a part of an item", entry("ann", "Apply", "v1", "1", item), kindtest.Applier("ann"), kindtest.Applier("bob"), `.c[name="x"].image`, `
			ann Apply v1 1: .c[name="x"] .c[name="x"].name .c[name="x"].dir.size
			bob Apply v1 1: .c[name="x"] .c[name="x"].image .c[name="x"].name`},
		{"a whole item", entry("ann", "Apply", "v1", "1", item), kindtest.Applier("ann"), kindtest.Applier("bob"), `.c[name="x"]`,
			`bob Apply v1 1: .c[name="x"] .c[name="x"].image .c[name="x"].name .c[name="x"].dir.size`},
		{"to oneself", entry("ann", "Apply", "v1", "1", `{"f:a":{}}`), kindtest.Applier("ann"), kindtest.Applier("ann"), ``, `ann Apply v1 1: .a`},
		{"the version is the fields' own", entry("ann", "Apply", "v2", "1", `{"f:a":{}}`), kindtest.Applier("ann"), merge.Manager{Name: "bob", Operation: merge.Update}, ``,
			`bob Update v2 1: .a`},
		{"who owns nothing goes", entry("ann", "Apply", "v1", "1", `{"f:a":{}}`) + "," + entry("eve", "Apply", "v1", "1", `{}`), kindtest.Applier("ann"), kindtest.Applier("bob"), ``,
			`bob Apply v1 1: .a`},
	} {
		t.Run(test.name, func(t *testing.T) {
			var within []fieldpath.Path
			if test.within != "" {
				within = append(within, kindtest.Path(t, test.within))
			}
			got, err := ownership.Transfer(managedfields.Object{Entries: kindtest.Entries(t, `[`+test.entries+`]`)}, nil, test.from, test.to, within...)
			if err != nil {
				t.Fatal(err)
			}
			if kindtest.Show(t, got) != kindtest.Lines(test.want) {
				t.Errorf("got\n%s", kindtest.Show(t, got))
			}
		})
	}
}

func TestTransferRefuses(t *testing.T) {
	o := kindtest.New(t, ``)
	o.Entries = kindtest.Entries(t, `[`+entry("ann", "Apply", "v1", "1", `{"f:a":{}}`)+","+entry("bob", "Apply", "v2", "1", `{"f:a":{}}`)+`]`)
	if _, err := ownership.Transfer(o, nil, kindtest.Applier("eve"), kindtest.Applier("ann")); !errors.Is(err, ownership.ErrNoManager) ||
		err.Error() != `no such manager: "eve"; there is "ann", "bob"` {
		t.Errorf("from nobody: %v", err)
	}
	if _, err := ownership.Transfer(o, nil, kindtest.Applier("ann"), kindtest.Applier("bob")); !errors.Is(err, ownership.ErrVersion) {
		t.Errorf("to an applier of another version: %v", err)
	}
	if _, err := ownership.Transfer(o, nil, kindtest.Applier("bob"), kindtest.Updater("eve")); !errors.Is(err, ownership.ErrVersion) {
		t.Errorf("to a new updater of another version: %v", err)
	}
	bad := managedfields.Object{Entries: kindtest.Entries(t, `[`+entry("ann", "Apply", "v1", "1", `{"bad":{}}`)+`]`)}
	var e *managedfields.EntryError
	if _, err := ownership.Transfer(bad, nil, kindtest.Applier("ann"), kindtest.Applier("bob")); !errors.As(err, &e) {
		t.Errorf("an unreadable entry: %v", err)
	}
}

// Fields become those of the receiver's version: by another name, where a version calls them so.
func TestTransferAcrossVersions(t *testing.T) {
	renamed := &ownership.Versions{Types: map[string]*schema.Type{"example.com/v1": kindtest.Type, "example.com/v2": kindtest.Type}}
	converted := &ownership.Versions{Types: renamed.Types, Converter: sizeConverter{}}
	for _, test := range []struct {
		versions *ownership.Versions
		from, to string
		want     string
	}{
		{renamed, "ann", "bob", "bob Apply v2 2: .spec.replicas .spec.quota.size"},
		{converted, "ann", "bob", "bob Apply v2 2: .spec.quota.size"},
		{converted, "bob", "ann", "ann Apply v1 2: .spec.replicas"},
	} {
		o := kindtest.New(t, `"spec":{"replicas":3}`)
		o.Entries = kindtest.Entries(t, `[`+entry("ann", "Apply", "v1", "1", `{"f:spec":{"f:replicas":{}}}`)+","+
			entry("bob", "Apply", "v2", "2", `{"f:spec":{"f:quota":{"f:size":{}}}}`)+`]`)
		got, err := ownership.Transfer(o, test.versions, kindtest.Applier(test.from), kindtest.Applier(test.to))
		if err != nil {
			t.Fatal(err)
		}
		if kindtest.Show(t, got) != kindtest.Lines(test.want) {
			t.Errorf("from %s to %s: got\n%s", test.from, test.to, kindtest.Show(t, got))
		}
	}
}

// What is given to somebody new and given back is as it was.
func TestTransferForthAndBack(t *testing.T) {
	parts := 0
	kindtest.Histories(t, func(t *testing.T, r *rand.Rand, o managedfields.Object) {
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
			there, err := ownership.Transfer(o, nil, e.Manager, kindtest.Applier("new"), within...)
			if err != nil {
				t.Error(err)
				return
			}
			given, _ := managedfields.Decode(there)
			if _, ok := given.Get(kindtest.Applier("new")); !ok && e.Fields.Len() > 0 && len(within) == 0 {
				t.Errorf("nothing of %v is given", e.Manager)
			}
			back := there
			if _, ok := given.Get(kindtest.Applier("new")); ok {
				if back, err = ownership.Transfer(managedfields.Object{Entries: there}, nil, kindtest.Applier("new"), e.Manager); err != nil {
					t.Error(err)
					return
				}
			}
			after, err := managedfields.Decode(back)
			if err != nil || !merging.Equal(after, before) {
				t.Errorf("%v within %v: got\n%swant\n%s%v", e.Manager, within, kindtest.Show(t, back), kindtest.Show(t, o.Entries), err)
			}
		}
	})
	if parts < 100 {
		t.Errorf("only %d parts", parts)
	}
}
