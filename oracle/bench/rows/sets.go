package rows

import (
	"bytes"
	"errors"

	peerfieldpath "sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/oracle/bench/fixture"
	"github.com/deed-project/deed/oracle/bench/measure"
)

// setText returns the fields of an object as fieldsV1.
func setText(kind fixture.Kind, object []byte) ([]byte, error) {
	v, err := peerTyped(kind, object)
	if err != nil {
		return nil, err
	}
	set, err := v.ToFieldSet()
	if err != nil {
		return nil, err
	}
	return set.ToJSON()
}

// halves returns two sets that have a third of text's paths in common.
func halves(text []byte) (a, b []byte, err error) {
	set, err := fieldpath.ParseSet(text)
	if err != nil {
		return nil, nil, err
	}
	var first, second fieldpath.Builder
	i := 0
	for path := range set.All() {
		if i%3 != 0 {
			first.Add(path)
		}
		if i%3 != 1 {
			second.Add(path)
		}
		i++
	}
	return first.Set().AppendJSON(nil), second.Set().AppendJSON(nil), nil
}

// parseSet reads fieldsV1.
func parseSet(text []byte) sides {
	return sides{
		deed: func() (measure.Worker, error) {
			var set fieldpath.Set
			run := func() (err error) { set, err = fieldpath.ParseSet(text); return err }
			return measure.Worker{Run: run, Answer: func() (string, error) { return string(set.AppendJSON(nil)), nil }}, nil
		},
		peer: func() (measure.Worker, error) {
			set := &peerfieldpath.Set{}
			run := func() error {
				set = &peerfieldpath.Set{}
				return set.FromJSON(bytes.NewReader(text))
			}
			return measure.Worker{Run: run, Answer: func() (string, error) { return printPeer(set) }}, nil
		},
	}
}

// printSet writes fieldsV1, into memory that is kept for the next time, as whoever prints an object does.
func printSet(text []byte) sides {
	return sides{
		deed: func() (measure.Worker, error) {
			set, err := fieldpath.ParseSet(text)
			var out []byte
			run := func() error { out = set.AppendJSON(out[:0]); return nil }
			return measure.Worker{Run: run, Answer: func() (string, error) { return string(out), nil }}, err
		},
		peer: func() (measure.Worker, error) {
			set := &peerfieldpath.Set{}
			err := set.FromJSON(bytes.NewReader(text))
			var out bytes.Buffer
			run := func() error {
				out.Reset()
				return set.ToJSONStream(&out)
			}
			return measure.Worker{Run: run, Answer: func() (string, error) { return out.String(), nil }}, err
		},
	}
}

// operation combines two sets.
type operation struct {
	name string
	deed func(a, b fieldpath.Set) fieldpath.Set
	peer func(a, b *peerfieldpath.Set) *peerfieldpath.Set
}

var operations = []operation{
	{"union", fieldpath.Set.Union, (*peerfieldpath.Set).Union},
	{"intersect", fieldpath.Set.Intersect, (*peerfieldpath.Set).Intersection},
	{"minus", fieldpath.Set.Minus, (*peerfieldpath.Set).Difference},
	{"without", fieldpath.Set.Without, (*peerfieldpath.Set).RecursiveDifference},
}

// combine combines the halves of text.
func combine(op operation, text []byte) (sides, error) {
	first, second, err := halves(text)
	if err != nil {
		return sides{}, err
	}
	return sides{
		deed: func() (measure.Worker, error) {
			a, errA := fieldpath.ParseSet(first)
			b, errB := fieldpath.ParseSet(second)
			var out fieldpath.Set
			run := func() error { out = op.deed(a, b); return nil }
			answer := func() (string, error) { return string(out.AppendJSON(nil)), nil }
			return measure.Worker{Run: run, Answer: answer}, errors.Join(errA, errB)
		},
		peer: func() (measure.Worker, error) {
			a, b := &peerfieldpath.Set{}, &peerfieldpath.Set{}
			err := errors.Join(a.FromJSON(bytes.NewReader(first)), b.FromJSON(bytes.NewReader(second)))
			var out *peerfieldpath.Set
			run := func() error { out = op.peer(a, b); return nil }
			return measure.Worker{Run: run, Answer: func() (string, error) { return printPeer(out) }}, err
		},
	}, nil
}

func printPeer(set *peerfieldpath.Set) (string, error) {
	text, err := set.ToJSON()
	return string(text), err
}
