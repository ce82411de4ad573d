package value

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestSortMembers compares with a sort of the standard library: many sizes, common prefixes, names that begin others, and
// equal names.
func TestSortMembers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		prefix := strings.Repeat("p", r.IntN(12))
		members := make([]Member, r.IntN(200))
		for i := range members {
			members[i] = Member{prefix + fmt.Sprint(r.IntN(1000)) + strings.Repeat("x", r.IntN(3)), Int(int64(i))}
		}
		want := slices.Clone(members)
		slices.SortStableFunc(want, func(a, b Member) int { return strings.Compare(a.Name, b.Name) })
		sortStable(members)
		for i := range want {
			if members[i].Name != want[i].Name || !members[i].Value.Equal(want[i].Value) {
				t.Fatalf("member %d is %s %v, want %s %v", i, members[i].Name, members[i].Value, want[i].Name, want[i].Value)
			}
		}
	}
}
