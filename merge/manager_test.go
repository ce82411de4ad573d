package merge

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
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
	pick := func(from []string) string { return from[rand.IntN(len(from))] }
	random := func() Manager {
		return Manager{pick(names), []Operation{"", Apply, Update}[rand.IntN(3)], pick(versions), pick([]string{"", "scale", "status"})}
	}
	for range 20000 {
		m, n := random(), random()
		if got, want := string(m.appendJSON(nil)), jsonOf(t, m); got != want {
			t.Fatalf("%+v is %s as JSON, want %s", m, got, want)
		}
		want := strings.Compare(jsonOf(t, m), jsonOf(t, n))
		if got := m.Compare(n); got != want {
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
