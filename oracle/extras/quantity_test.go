package extras

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/deed-project/deed/internal/testing/seeds"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/ownership"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// randomQuantity returns a valid quantity, or nearly one. Quantities with a binary suffix stay below 1<<63, where Kubernetes caps them.
func randomQuantity(r *rand.Rand) string {
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	return pick("", "", "", "-", "+") + pick("1", "01", "10", "1024", "1000", "0.5", "1.", ".5", "1.50", "500", "0", "") +
		pick("", "", "m", "k", "Ki", "M", "Mi", "G", "Gi", "e3", "E3", "E", "Pi", "u", "n", "e-3", "K", "e")
}

// isPlain reports whether text has a digit and no fraction of a nano. Kubernetes reads m, E and the empty text as zero, where deed reads
// texts. Kubernetes rounds fractions of a nano up.
func isPlain(text string) bool {
	digits := strings.ContainsAny(strings.TrimRight(text, "eE+-3"), "0123456789")
	return digits && !(strings.Contains(text, ".") && strings.HasSuffix(text, "n"))
}

// TestQuantities checks that a value changes only in notation exactly if Kubernetes reads both notations as the same quantity.
func TestQuantities(t *testing.T) {
	gvk := schema.ParseGVK("example.com/v1", "Thing")
	m, err := managedfields.New(managedfields.Config{GVK: gvk, Types: map[string]*schema.Type{gvk.APIVersion(): schema.Deduced}})
	if err != nil {
		t.Fatal(err)
	}
	object := func(quantity string) managedfields.Object {
		text := fmt.Sprintf(`{"apiVersion":"example.com/v1","kind":"Thing","q":%q}`, quantity)
		v, err := value.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return managedfields.Object{Content: v}
	}
	same, differ, invalid := 0, 0, 0
	for seed := range seeds.Each(t, 20*rounds) {
		r := seeds.Stream(seed, 0)
		a, b := randomQuantity(r), randomQuantity(r)
		if a == b || !isPlain(a) || !isPlain(b) {
			continue
		}
		want := false
		x, errA := resource.ParseQuantity(a)
		y, errB := resource.ParseQuantity(b)
		switch {
		case errA != nil || errB != nil:
			invalid++
		case x.Cmp(y) == 0:
			want = true
			same++
		default:
			differ++
		}
		change, err := ownership.WouldChange(m, object(a), object(b), "m")
		if err != nil {
			t.Fatal(err)
		}
		if change.NotationOnly != want {
			t.Errorf("%q and %q are the same quantity: %v, and %+v", a, b, want, change)
		}
	}
	if same < 100 || differ < 1000 || invalid < 1000 {
		t.Errorf("%d pairs are the same, %d differ, %d are invalid", same, differ, invalid)
	}
}
