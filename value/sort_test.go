package value

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/deed-project/deed/internal/testing/seeds"
)

// TestSortMembers compares with a sort of the standard library: many sizes, common prefixes, names
// that begin others, and equal names.
func TestSortMembers(t *testing.T) {
	r := seeds.Rand(t)
	for range 500 {
		prefix := strings.Repeat("p", r.IntN(12))
		members := make([]Member, r.IntN(200))
		middle := pick(r, "", "", "example.com/", strings.Repeat("\x00", 9))
		for i := range members {
			members[i] = Member{prefix + middle + fmt.Sprint(r.IntN(1000)) + strings.Repeat("x", r.IntN(3)), Int(int64(i))}
			switch r.IntN(40) {
			case 0:
				members[i].Name = prefix
			case 1:
				members[i].Name = prefix + pick(r, "other.org/", "example.org/") + fmt.Sprint(r.IntN(9))
			}
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

// TestHostileNames sorts names that tell late where they differ, or again and again a little later.
// A search for what they begin with that reads a name once for each of its bytes would take hours
// for the first.
func TestHostileNames(t *testing.T) {
	long := strings.Repeat("a", 1<<23)
	members := []Member{{Name: long + "b"}, {Name: long[:1<<22] + "c" + long}}
	for i := range 2 * maxInsertion {
		members = append(members, Member{Name: fmt.Sprintf("a%03d", i)})
	}
	slices.Reverse(members)
	sortStable(members)
	if !slices.IsSortedFunc(members, compareNames) {
		t.Error("long names are not sorted")
	}
	stairs := make([]Member, 2000)
	for i := range stairs {
		stairs[i] = Member{Name: strings.Repeat("a", (i*7919)%len(stairs)) + "b"}
	}
	sortStable(stairs)
	if !slices.IsSortedFunc(stairs, compareNames) {
		t.Error("names that begin others are not sorted")
	}
}
