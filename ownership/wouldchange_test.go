package ownership_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/deed-project/deed/internal/testing/kindtest"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/ownership"
)

func showChange(c ownership.Change) string {
	var b strings.Builder
	fmt.Fprintf(&b, "object=%v owners=%v conflicts=%d notation only=%v\n", c.Object, c.Ownership, len(c.Conflicts), c.NotationOnly)
	for _, n := range c.Notations {
		fmt.Fprintf(&b, "%v %v: %v -> %v\n", n.Path.Text(), n.Kind, n.Live, n.Wanted)
	}
	return b.String()
}

func TestWouldChange(t *testing.T) {
	const live = `"metadata":{"name":"one","finalizers":["x","y"]},"spec":{"replicas":1,"quota":{"cpu":"1","port":80},"args":["1"],
		"containers":[{"name":"a","image":"1"},{"name":"b","ports":[{"port":80,"hostPort":1}]}]}`
	for _, test := range []struct{ name, config, want string }{
		{"nothing", live, `object=false owners=false conflicts=0 notation only=false`},
		{"less, which is pruned", strings.Replace(live, `"replicas":1,`, ``, 1), `object=true owners=true conflicts=0 notation only=false`},
		{"a value", strings.Replace(live, `"replicas":1`, `"replicas":2`, 1), `object=true owners=true conflicts=1 notation only=false`},
		{"a number", strings.Replace(live, `"replicas":1`, `"replicas":1.0`, 1), `
			object=false owners=false conflicts=0 notation only=false
			.spec.replicas number: 1 -> 1`},
		{"a quantity", strings.Replace(live, `"cpu":"1"`, `"cpu":"1000m"`, 1), `
			object=true owners=false conflicts=0 notation only=true
			.spec.quota.cpu quantity: "1" -> "1000m"`},
		{"trailing zeros", strings.Replace(live, `"cpu":"1"`, `"cpu":"1.0"`, 1), `
			object=true owners=false conflicts=0 notation only=true
			.spec.quota.cpu quantity: "1" -> "1.0"`},
		{"a number as a string", strings.Replace(live, `"port":80}`, `"port":"80"}`, 1), `
			object=true owners=false conflicts=0 notation only=true
			.spec.quota.port string: 80 -> "80"`},
		{"a string that is a string", strings.Replace(live, `"image":"1"`, `"image":"1.0"`, 1), `object=true owners=false conflicts=0 notation only=false`},
		{"order of a set", strings.Replace(live, `["x","y"]`, `["y","x"]`, 1), `
			object=true owners=false conflicts=0 notation only=true
			.metadata.finalizers order: ["x","y"] -> ["y","x"]`},
		{"a quantity and more", strings.Replace(live, `"cpu":"1"`, `"cpu":"1000m","memory":"1"`, 1), `
			object=true owners=true conflicts=0 notation only=false
			.spec.quota.cpu quantity: "1" -> "1000m"`},
		{"a number inside of what is atomic", strings.Replace(live, `["1"]`, `["2"]`, 1), `object=true owners=false conflicts=0 notation only=false`},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := kindtest.Manager(nil)
			o := kindtest.Apply(t, m, managedfields.Object{}, "ann", live)
			o = kindtest.Apply(t, m, o, "bob", `"spec":{"replicas":1}`)
			if strings.HasPrefix(test.name, "less") { // nobody else is to keep it
				o = kindtest.Apply(t, m, o, "bob", ``)
			}
			change, err := ownership.WouldChange(m, o, kindtest.New(t, test.config), "ann")
			if err != nil {
				t.Fatal(err)
			}
			if got := showChange(change); got != kindtest.Lines(test.want) {
				t.Errorf("got\n%s", got)
			}
		})
	}
}

// A keyed list whose items come in another order, and differ in notation inside.
func TestWouldChangeOrderOfItems(t *testing.T) {
	m := kindtest.Manager(nil)
	o := kindtest.Apply(t, m, managedfields.Object{}, "ann", `"spec":{"containers":[{"name":"a"},{"name":"b","dir":{"size":1}},{"name":"c"}]}`)
	change, err := ownership.WouldChange(m, o, kindtest.New(t, `"spec":{"containers":[{"name":"b","dir":{"size":1.0}},{"name":"a"},{"name":"c"}]}`), "ann")
	if err != nil {
		t.Fatal(err)
	}
	const want = "object=true owners=false conflicts=0 notation only=true\n" + `.spec.containers[name="b"].dir.size number: 1 -> 1`
	if got := showChange(change); !strings.HasPrefix(got, want+"\n.spec.containers order: ") {
		t.Errorf("got\n%s", got)
	}
}

func TestWouldChangeRefuses(t *testing.T) {
	m := kindtest.Manager(nil)
	o := kindtest.Apply(t, m, managedfields.Object{}, "ann", `"spec":{"replicas":1}`)
	var bad *managedfields.BadRequestError
	if _, err := ownership.WouldChange(m, o, o, "ann"); !errors.As(err, &bad) {
		t.Errorf("a configuration with managed fields: %v", err)
	}
}

// What would change nothing changes nothing; what would change the object or its owners does.
func TestWouldChangeIsTrue(t *testing.T) {
	none, notations := 0, 0
	kindtest.Histories(t, func(t *testing.T, r *rand.Rand, o managedfields.Object) {
		config := kindtest.New(t, kindtest.RandomConfig(r))
		if r.IntN(2) == 0 {
			extracted, err := ownership.Extract(o, kindtest.Type, "ann", "")
			if err != nil {
				t.Fatal(err)
			}
			if !extracted.IsAbsent() {
				config.Content = extracted
			}
		}
		m := kindtest.Manager(nil)
		change, err := ownership.WouldChange(m, o, config, "ann")
		if err != nil {
			t.Error(err)
			return
		}
		after, err := m.Apply(o, config, "ann", true)
		if err != nil {
			t.Error(err)
			return
		}
		if got := !after.Content.Equal(o.Content); got != change.Object {
			t.Errorf("the object changes: %v; %+v", got, change)
		}
		before, err := managedfields.Decode(o.Entries)
		if err != nil {
			t.Error(err)
		}
		now, err := managedfields.Decode(after.Entries)
		if err != nil {
			t.Error(err)
		}
		same := merging.Len(before) == merging.Len(now)
		for e := range before.All() {
			f, ok := now.Get(e.Manager)
			same = same && ok && f.Fields.Equal(e.Fields)
		}
		if same == change.Ownership {
			t.Errorf("the owners are the same: %v; %+v", same, change)
		}
		if !change.Object && !change.Ownership {
			none++
		}
		if change.NotationOnly {
			notations++
			if len(change.Notations) == 0 {
				t.Errorf("only the notation changes, but none does: %+v", change)
			}
		}
	})
	if none < 20 || notations == 0 {
		t.Errorf("%d change nothing, %d only the notation", none, notations)
	}
}
