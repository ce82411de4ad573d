package typed_test

import (
	"testing"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/testing/gen"
	"github.com/deed-project/deed/internal/testing/model"
	"github.com/deed-project/deed/internal/testing/seeds"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/typed"
	"github.com/deed-project/deed/value"
)

// trial is a random type with values of it.
type trial struct {
	*testing.T
	values      gen.Values
	typ         *schema.Type
	live, other typed.Value // may hold items twice
	config      typed.Value // holds no item twice
}

// eachTrial calls check with random types and values.
func eachTrial(t *testing.T, check func(*trial)) {
	for seed := range seeds.Each(t, 1500) {
		c := gen.Seeded(seed)
		s := gen.NewSchema(c)
		compiled, err := schema.Compile(s.Document)
		if err != nil {
			t.Fatal(err)
		}
		root := compiled[s.Versions[c.N(2)].Root]
		x := trial{T: t, typ: root, values: gen.Values{Choices: c, Depth: 4, PartialKeys: true, Duplicates: c.Chance(40)}}
		live := x.values.Of(root)
		x.live = x.typed(live)
		x.other = x.typed(x.values.Mutate(x.values.Mutate(live, root), root))
		x.config = x.typed(gen.Distinct(x.values.Part(x.values.Mutate(live, root), root), root))
		before := [...]string{x.live.Content().String(), x.other.Content().String(), x.config.Content().String()}
		check(&x)
		after := [...]string{x.live.Content().String(), x.other.Content().String(), x.config.Content().String()}
		if before != after {
			t.Errorf("a value was modified: %q, was %q", after, before)
		}
		if t.Failed() {
			t.Fatalf("seed %d\nlive %v\nother %v\nconfig %v\nschema %v",
				seed, x.live.Content(), x.other.Content(), x.config.Content(), s.Document.Value())
		}
	}
}

func (x *trial) typed(v value.Value) typed.Value {
	out, err := typed.New(v, x.typ, typed.AllowDuplicates)
	if err != nil {
		x.Fatalf("%v is no value of its type: %v", v, err)
	}
	return out
}

func (x *trial) merge(live, config typed.Value) typed.Value {
	out, err := typed.Merge(live, config)
	if err != nil {
		x.Errorf("merge: %v", err)
	}
	return out
}

func (x *trial) compare(old, new typed.Value) typed.Diff {
	out, err := typed.Compare(old, new)
	if err != nil {
		x.Errorf("compare: %v", err)
	}
	return out
}

// copied returns v in storage of its own.
func (x *trial) copied(v typed.Value) typed.Value {
	out, err := value.FromAny(v.Content().ToAny())
	if err != nil {
		x.Fatal(err)
	}
	return x.typed(out)
}

// Merge answers as the naive model does, and merging the same again changes nothing.
func TestMergeIsModel(t *testing.T) {
	eachTrial(t, func(x *trial) {
		got := x.merge(x.live, x.config)
		want := model.Merge(x.typ, x.live.Content(), x.config.Content())
		if got.Content().String() != want.String() {
			x.Errorf("merge is %v, want %v", got.Content(), want)
		}
		if again := x.merge(got, x.config); again.Content().String() != got.Content().String() {
			x.Errorf("merging twice is %v, merging once %v", again.Content(), got.Content())
		}
	})
}

// countValues returns how many values v is made of.
func countValues(v value.Value) int {
	n := 1
	for item := range v.Items() {
		n += countValues(item)
	}
	for _, member := range v.Members() {
		n += countValues(member)
	}
	return n
}

// Merge shares with live what config does not change, as long as there are no large leaves.
func TestMergeShares(t *testing.T) {
	eachTrial(t, func(x *trial) {
		x.values.Duplicates = false
		live := x.typed(gen.Distinct(x.live.Content(), x.typ))
		if same := x.merge(live, x.copied(live)); !typing.Same(same, live) && countValues(live.Content()) < 64 {
			x.Errorf("merging a copy makes something new: %v", same.Content())
		}
		if x.typ.Map() == nil || x.typ.Map().Atomic() || live.Content().Kind() != value.KindObject {
			return
		}
		merged := x.merge(x.live, x.config).Content()
		for name, member := range x.live.Content().Members() {
			if x.config.Content().Get(name).IsAbsent() && !merged.Get(name).Same(member) {
				x.Errorf("%q is not shared", name)
			}
		}
	})
}

// FieldsLike is Fields without some, whatever is expected, and what is expected if that is equal.
func TestFieldsLike(t *testing.T) {
	met := 0
	eachTrial(t, func(x *trial) {
		some := x.other.Fields().Intersect(x.config.Fields())
		for _, except := range []fieldpath.Set{{}, some, x.config.Fields()} {
			want := x.live.Fields().Minus(except)
			for _, like := range []fieldpath.Set{{}, x.other.Fields(), want.Minus(some), x.copied(x.live).Fields().Minus(except)} {
				got := typing.FieldsLike(x.live, like, except)
				if paths.JSON(got) != paths.JSON(want) {
					x.Errorf("fields without\n%v\nlike\n%v\nare\n%v\nwant\n%v", except, like, got, want)
				}
				if paths.Same(got, like) != want.Equal(like) {
					x.Errorf("the fields are what was expected, %v: %t", like, paths.Same(got, like))
				}
				if paths.Same(got, like) && got.Len() > 3 {
					met++
				}
			}
		}
	})
	if met < 1000 {
		t.Errorf("only %d sets were expected", met)
	}
}

// A value does not differ from itself, and there and back are opposites.
func TestCompareIsSymmetric(t *testing.T) {
	eachTrial(t, func(x *trial) {
		if d := x.compare(x.live, x.copied(x.live)); !typing.IsEmpty(d) {
			x.Errorf("a copy differs: %v", d)
		}
		there, back := x.compare(x.live, x.other), x.compare(x.other, x.live)
		if !there.Added.Equal(back.Removed) || !there.Removed.Equal(back.Added) {
			x.Errorf("there %v, back %v", there, back)
		}
	})
}

// What Merge changes is what config has: a merge adds and modifies nothing else, and removes nothing but what it replaces.
func TestMergeChangesWhatConfigHas(t *testing.T) {
	eachTrial(t, func(x *trial) {
		d := x.compare(x.config, x.merge(x.live, x.config))
		if lost := d.Removed.Intersect(x.config.Fields()); !lost.IsEmpty() {
			x.Errorf("config's %v is gone", lost)
		}
	})
}

// Nothing that was removed is left, unless items lose keys and become others by it.
func TestRemove(t *testing.T) {
	eachTrial(t, func(x *trial) {
		var b fieldpath.Builder
		for p := range gen.Subset(x.values.Choices, x.live.Fields()).All() {
			if n := len(p); n < 2 || p[n-2].Kind() != fieldpath.KindKey {
				b.Add(p)
			}
		}
		set := b.Set()
		left := x.live.Remove(set)
		if still := left.Fields().Intersect(set); !still.IsEmpty() {
			x.Errorf("%v is still there in %v", still, left.Content())
		}
		for p := range set.All() {
			if !typing.At(left, p).IsAbsent() {
				x.Errorf("%v is still there", p)
			}
		}
	})
}

// Which fields a removal takes follows from the sets, or from what is left.
func TestLost(t *testing.T) {
	eachTrial(t, func(x *trial) {
		fields := typing.NamedFields(x.live)
		if want := typing.WithNamedFields(x.live.Fields(), x.typ); !fields.Equal(want) {
			t.Errorf("the named fields are\n%v\nwant\n%v", fields, want)
		}
		for _, s := range []fieldpath.Set{gen.Subset(x.values.Choices, fields), x.config.Fields(), fields.Minus(typing.NamedFields(x.config)), x.other.Fields()} {
			for _, left := range []typed.Value{x.live.Remove(s), typing.RemoveKeepingEmptied(x.live, s)} {
				if got, want := typing.Lost(fields, s, left), fields.Minus(typing.NamedFields(left)); !got.Equal(want) {
					t.Errorf("without\n%v\n%v lost\n%v\nwant\n%v", s, left.Content(), got, want)
				}
			}
		}
	})
}

// The order in which the members of an object were given does not matter.
func TestMemberOrder(t *testing.T) {
	eachTrial(t, func(x *trial) {
		var shuffle func(v value.Value) value.Value
		shuffle = func(v value.Value) value.Value {
			var members []value.Member
			for name, member := range v.Members() {
				members = append(members, value.Member{Name: name, Value: shuffle(member)})
			}
			if members == nil {
				return v
			}
			gen.Shuffle(x.values.Choices, members)
			return value.Object(members...)
		}
		live := x.typed(shuffle(x.live.Content()))
		if got, want := x.merge(live, x.config), x.merge(x.live, x.config); got.Content().String() != want.Content().String() {
			x.Errorf("merge of %v is %v, want %v", live.Content(), got.Content(), want.Content())
		}
		if !live.Fields().Equal(x.live.Fields()) {
			x.Errorf("fields are %v, want %v", live.Fields(), x.live.Fields())
		}
	})
}

// At finds what Fields names.
func TestAt(t *testing.T) {
	eachTrial(t, func(x *trial) {
		for p := range x.live.Fields().All() {
			if typing.At(x.live, p).IsAbsent() {
				x.Errorf("nothing at %v", p)
			}
		}
		if !typing.At(x.live, nil).Same(x.live.Content()) || !typing.At(x.live, fieldpath.Path{fieldpath.Field("missing")}).IsAbsent() {
			x.Error("the root is not at the empty path, or something is where nothing is")
		}
	})
}
