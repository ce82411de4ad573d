package beside

import (
	"fmt"
	"testing"

	"github.com/deed-project/deed/internal/testing/seeds"
	"github.com/deed-project/deed/value"
)

// numbered returns an object with a member for each number below n that has reports.
func numbered(n int, has func(i int) bool) value.Value {
	var members []value.Member
	for i := range n {
		if has(i) {
			members = append(members, value.Member{Name: fmt.Sprintf("%06d", i), Value: value.Int(int64(i))})
		}
	}
	return value.Object(members...)
}

// TestMembers compares Get with a lookup of each name.
func TestMembers(t *testing.T) {
	random := seeds.Rand(t)
	for range 2000 {
		n, one, other := random.IntN(60), 1+random.IntN(9), 1+random.IntN(9)
		walked := numbered(n, func(int) bool { return random.IntN(one) == 0 })
		known := numbered(n, func(int) bool { return random.IntN(other) == 0 })
		members := Of(known)
		for name := range walked.Members() {
			if got, want := members.Get(name), known.Get(name); !got.Same(want) {
				t.Fatalf("%s of %v is %v, want %v, beside %v", name, known, got, want, walked)
			}
		}
	}
	for _, v := range []value.Value{{}, value.Null(), value.String("a"), value.List(value.Int(1))} {
		if members := Of(v); !members.Get("a").IsAbsent() {
			t.Errorf("%v has a member", v)
		}
	}
}

// TestMembersInStep walks wide objects: the next member matches, and no member is skipped twice.
func TestMembersInStep(t *testing.T) {
	const wide = 20000
	all := numbered(wide, func(int) bool { return true })
	for _, gap := range []int{1, 7} {
		some := numbered(wide, func(i int) bool { return i%gap == 0 })
		members, dense := Of(some), Of(all)
		i := 0
		for name := range all.Members() {
			members.Get(name)
			if at := i/gap + 1; members.next != min(at, some.Len()) {
				t.Fatalf("after %s of every %d. member: at %d, want %d", name, gap, members.next, at)
			}
			i++
		}
		i = 0
		for name := range some.Members() {
			dense.Get(name)
			if at := i*gap + 1; dense.next != at {
				t.Fatalf("after %s, every %d. of all members: at %d, want %d", name, gap, dense.next, at)
			}
			i++
		}
	}
}

func TestItem(t *testing.T) {
	list := value.List(value.Int(1), value.Int(2))
	if got := Item(list, 1); got.Int() != 2 {
		t.Errorf("item 1 is %v", got)
	}
	if !Item(list, 2).IsAbsent() || !Item(value.Object(), 0).IsAbsent() || !Item(value.Value{}, 0).IsAbsent() {
		t.Error("there are items that are none")
	}
}
