package merge

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/deed-project/deed/internal/testing/seeds"
)

// jsonOf returns the JSON text that kube-apiserver has for the identity of a manager.
func jsonOf(t *testing.T, m Manager) string {
	t.Helper()
	text, err := json.Marshal(struct {
		Manager     string    `json:"manager,omitempty"`
		Operation   Operation `json:"operation,omitempty"`
		APIVersion  string    `json:"apiVersion,omitempty"`
		Subresource string    `json:"subresource,omitempty"`
	}{m.Name, m.Operation, m.APIVersion, m.Subresource})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestManagerOrder compares the order of managers with that of the JSON texts that it stands for.
func TestManagerOrder(t *testing.T) {
	names := []string{"", "a", "a b", "a!", `a"`, `a\`, "a0", "a<", "a>", "a&", "<", "a\x1f", "a \x7f", "a\n", "ab", "aé", "a\u2028", "a\xff", "á", "z"}
	versions := []string{"", "v1", "apps/v1"}
	r := seeds.Rand(t)
	pick := func(from []string) string { return from[r.IntN(len(from))] }
	random := func() Manager {
		return Manager{pick(names), []Operation{"", Apply, Update}[r.IntN(3)], pick(versions), pick([]string{"", "scale", "status"})}
	}
	for range 20000 {
		m, n := random(), random()
		if got, want := string(m.appendJSON(nil)), jsonOf(t, m); got != want {
			t.Fatalf("%+v is %s as JSON, want %s", m, got, want)
		}
		want := strings.Compare(jsonOf(t, m), jsonOf(t, n))
		if got := m.compare(n); got != want {
			t.Fatalf("%+v Compare %+v = %d, want %d", m, n, got, want)
		}
	}
}

func TestManagers(t *testing.T) {
	a, b := Manager{Name: "a", Operation: Apply}, Manager{Name: "b", Operation: Update, APIVersion: "v1"}
	ms := ManagersOf(Entry{Manager: b, APIVersion: "v1"}, Entry{Manager: a, APIVersion: "v1"}, Entry{Manager: b, APIVersion: "v2"})
	if ms.size() != 2 {
		t.Fatalf("got %d managers, want 2", ms.size())
	}
	if e, ok := ms.Get(b); !ok || e.APIVersion != "v2" {
		t.Errorf("got %v %v, want the last entry of b", e, ok)
	}
	without := ms.without(a)
	if _, ok := without.Get(a); ok || ms.size() != 2 {
		t.Error("Without must remove a from the result and leave the receiver alone")
	}
	if !without.with(Entry{Manager: a, APIVersion: "v1"}).equal(ms) {
		t.Error("With must undo Without")
	}
	if got := slices.Collect(ms.All()); got[0].Manager != a {
		t.Errorf("got %v first, want a", got[0].Manager)
	}
	if got := b.String(); got != `"b" using v1` {
		t.Errorf("got %s", got)
	}
}

// TestManagersModel compares few and many managers with a map of them, sorted by their JSON texts. A tag goes with its entry.
func TestManagersModel(t *testing.T) {
	r := seeds.Rand(t)
	for _, n := range []int{0, 1, 2, 3, 4, 5, 6, few, few + 1, few + 2, few + 3, few + 4, 200} {
		entries, tags, last := make([]Entry, n), make([]uint32, n), map[Manager]uint32{}
		for i := range entries {
			m := Manager{Name: fmt.Sprint(r.IntN(n)), Operation: Apply}
			if r.IntN(2) == 0 {
				m.Name += "\xff" // others have the same JSON text
			}
			entries[i], tags[i], last[m] = Entry{Manager: m, APIVersion: fmt.Sprint(i)}, uint32(i), uint32(i)
		}
		ms := tagged(slices.Clone(entries), tags)
		want := slices.SortedFunc(maps.Keys(last), func(a, b Manager) int { return strings.Compare(jsonOf(t, a), jsonOf(t, b)) })
		checkManagers(t, ms, want, last)
		if at, found := (internal{}).Search(ms, Manager{Name: "~"}, len(want)); at != len(want) || found {
			t.Fatalf("behind the last of %d managers, one is found at %d, %t", len(want), at, found)
		}
		for i, e := range ms.entries {
			if tags[i] != last[e.Manager] {
				t.Fatalf("of %d entries, number %d is tagged as %d", n, last[e.Manager], tags[i])
			}
			if at, found := (internal{}).Search(ms, e.Manager, r.IntN(i+1)); at != i || !found {
				t.Fatalf("%v is found at %d, %t, though it is at %d", e.Manager, at, found, i)
			}
			stranger := e.Manager
			stranger.Name = strings.TrimSuffix(stranger.Name, "\xff") + "\xfe"
			if _, found := ms.Get(stranger); found {
				t.Fatalf("%q is found, though there is only %q", stranger.Name, e.Manager.Name)
			}
			other, gone := maps.Clone(last), e.Manager
			delete(other, gone)
			other[stranger] = 1000
			at, _ := slices.BinarySearchFunc(want, stranger, func(a, b Manager) int { return strings.Compare(jsonOf(t, a), jsonOf(t, b)) })
			changed := slices.Insert(slices.Clone(want), at, stranger)
			changed = slices.DeleteFunc(changed, func(m Manager) bool { return m == gone })
			added := Entry{Manager: stranger, APIVersion: "1000"}
			checkManagers(t, ms.without(gone).with(added), changed, other)
			checkManagers(t, Managers{slices.Clone(ms.entries)}.replace(gone, added), changed, other)
			other[stranger] = 2000
			added.APIVersion = "2000"
			checkManagers(t, ms.with(Entry{Manager: stranger}).replace(gone, added), changed, other)
		}
		checkManagers(t, ms, want, last)
	}
}

// checkManagers demands the managers of want, each with the version that is the number it has in numbers.
func checkManagers(t *testing.T, ms Managers, want []Manager, numbers map[Manager]uint32) {
	t.Helper()
	if len(ms.entries) != len(want) {
		t.Fatalf("%d managers, want %d", len(ms.entries), len(want))
	}
	for i, e := range ms.entries {
		if e.Manager != want[i] || e.APIVersion != fmt.Sprint(numbers[e.Manager]) {
			t.Fatalf("manager %d of %d is %+v of %s, want %+v of %d", i, len(want), e.Manager, e.APIVersion, want[i], numbers[want[i]])
		}
	}
}
