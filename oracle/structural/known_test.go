package structural_test

import (
	"slices"
	"testing"

	"github.com/deed-project/deed/internal/door"
	"github.com/deed-project/deed/internal/testing/gen"
	"github.com/deed-project/deed/internal/testing/seeds"
	"github.com/deed-project/deed/schema/structural"
	"github.com/deed-project/deed/value"
)

var (
	doors  = door.Open(structural.Internal{})
	values = door.Open(value.Internal{})
)

// TestKnown compares the steps on an object that shares parts with a known, settled one with the steps on the whole object. DEED_CASES sets
// the number of cases, DEED_SEED their seed.
func TestKnown(t *testing.T) {
	cases, seed := number(t, "DEED_CASES", 20000), seeds.First(t)
	shared, steady, changed := 0, 0, 0
	for i := range cases {
		c := gen.Seeded(seed + uint64(i/10))
		schema := randomSchema(c)
		s, err := structural.Compile(schema)
		if err != nil {
			t.Fatalf("%v\n%v", err, schema)
		}
		c = gen.Seeded(seed<<32 + uint64(i))
		known := settled(s, randomObject(c, schema))
		if known.IsAbsent() {
			continue
		}
		object := values.Share(mixed(c, randomObject(c, schema), known, 4), known)
		if sharesParts(object, known) {
			shared++
		}
		decoded, unknown, err := decodeAll(s, object)
		quick, quickUnknown, quickErr := doors.Decode(s, object, known)
		if !outcome(quick, quickUnknown, quickErr).equal(outcome(decoded, unknown, err)) {
			t.Fatalf("decode\nschema %v\nobject %v\nbeside %v\nwant %v %v %v\ngot %v %v %v", schema, object, known,
				decoded, unknown, err, quick, quickUnknown, quickErr)
		}
		loaded, err := loadAll(s, object)
		quick, quickErr = doors.Load(s, object, known)
		if !outcome(quick, nil, quickErr).equal(outcome(loaded, nil, err)) {
			t.Fatalf("load\nschema %v\nobject %v\nbeside %v\nwant %v %v\ngot %v %v", schema, object, known, loaded, err, quick, quickErr)
		}
		if err == nil && !identical(loaded, object) {
			changed++
		}
		if s.Duplicates(known) == nil && len(s.Duplicates(object)) != len(doors.Duplicates(s, object, known)) {
			t.Fatalf("duplicates\nschema %v\nobject %v\nbeside %v", schema, object, known)
		}
		if decoded, _, err := decodeAll(s, object); err == nil && doors.DecodesSettled(s) {
			steady++
			again, err := loadAll(s, decoded)
			quick, quickErr := doors.Load(s, decoded, decoded)
			if !outcome(quick, nil, quickErr).equal(outcome(again, nil, err)) {
				t.Fatalf("steady\nschema %v\ndecoded %v\nwant %v %v\ngot %v %v", schema, decoded, again, err, quick, quickErr)
			}
		}
	}
	t.Logf("%d cases, %d share parts, %d have steady schemas, %d change", cases, shared, steady, changed)
	if shared < cases/20 || steady < cases/10 || changed < cases/4 {
		t.Error("the cases are one-sided")
	}
}

func decodeAll(s *structural.Schema, object value.Value) (value.Value, []string, error) {
	decoded, unknown, err := s.Decode(object)
	if err != nil {
		return value.Value{}, nil, err
	}
	return s.Default(decoded), unknown, nil
}

func loadAll(s *structural.Schema, object value.Value) (value.Value, error) {
	loaded, err := s.Load(object)
	if err != nil {
		return value.Value{}, err
	}
	return s.Default(loaded), nil
}

// settled returns object after repeated reading, or absent if it cannot be read.
func settled(s *structural.Schema, object value.Value) value.Value {
	for range 5 {
		again, err := loadAll(s, object)
		if err != nil {
			return value.Value{}
		}
		if again.Same(object) {
			return object
		}
		object = again
	}
	return value.Value{}
}

// mixed returns object with some parts replaced by those of known.
func mixed(c *gen.Choices, object, known value.Value, depth int) value.Value {
	if c.Chance(30) || depth == 0 {
		return known
	}
	if object.Kind() != value.KindObject || known.Kind() != value.KindObject {
		return object
	}
	for name, member := range known.Members() {
		if c.Chance(60) {
			object = object.With(name, mixed(c, object.Get(name), member, depth-1))
		}
	}
	return object
}

// sharesParts reports whether an object shares some parts with known, but not all.
func sharesParts(object, known value.Value) bool {
	same := func(name string) bool { return object.Get(name).Len() > 0 && object.Get(name).Same(known.Get(name)) }
	return !object.Same(known) && slices.ContainsFunc(names, same)
}
