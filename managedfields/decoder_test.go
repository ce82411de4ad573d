package managedfields_test

import (
	"math/rand/v2"
	"testing"

	"github.com/deed-project/deed/internal/testing/kindtest"
	"github.com/deed-project/deed/internal/testing/seeds"
	"github.com/deed-project/deed/internal/work"
	"github.com/deed-project/deed/managedfields"
)

// TestDecoder has one decoder read all objects of all histories, as text, as maps and as values, and demands that field managers
// answer as they do to objects that were each read alone.
func TestDecoder(t *testing.T) {
	m := kindtest.Manager(nil)
	var d managedfields.Decoder
	kindtest.Histories(t, func(t *testing.T, r *rand.Rand, live managedfields.Object) {
		object := kindtest.RandomObject(t, r)
		stored, sent := decoded(t, r, &d, live), decoded(t, r, &d, object)
		sameAnswer(t, stored, nil, live, nil)
		sameAnswer(t, sent, nil, object, nil)
		if r.IntN(2) == 0 {
			sent.Entries, object.Entries = nil, nil
			want, wantErr := kindtest.Manager(nil).Apply(live, object, "a", true)
			got, err := kindtest.Manager(nil).Apply(stored, sent, "a", true)
			sameAnswer(t, got, err, want, wantErr)
			return
		}
		want, wantErr := m.Update(live, object, "u")
		got, err := kindtest.Manager(nil).Update(stored, sent, "u")
		if (err == nil) != (wantErr == nil) || !got.Content.Equal(want.Content) {
			t.Errorf("got %v (error %v), want %v (error %v)", got.Content, err, want.Content, wantErr)
		}
	})
}

// decoded reads o in any form by d.
func decoded(t *testing.T, r *rand.Rand, d *managedfields.Decoder, o managedfields.Object) managedfields.Object {
	t.Helper()
	switch r.IntN(3) {
	case 0:
		return d.Next(o)
	case 1:
		out, err := d.Parse(o.AppendJSON(nil))
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	content, err := o.AsAny()
	if err != nil {
		t.Fatal(err)
	}
	out, err := d.FromAny(content)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func sameAnswer(t *testing.T, got managedfields.Object, err error, want managedfields.Object, wantErr error) {
	t.Helper()
	if (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
		t.Errorf("error %v, want %v", err, wantErr)
	}
	if string(got.AppendJSON(nil)) != string(want.AppendJSON(nil)) {
		t.Errorf("got  %s\nwant %s", got.AppendJSON(nil), want.AppendJSON(nil))
	}
}

// TestDecoderRemembers demands that what a field manager has checked is not checked again in what the decoder reads next, and is by
// a field manager of another type.
func TestDecoderRemembers(t *testing.T) {
	live := kindtest.RandomObject(t, seeds.Rand(t))
	content, err := live.AsAny()
	if err != nil {
		t.Fatal(err)
	}
	m := kindtest.Manager(nil)
	nodes := func(read func(map[string]any) (managedfields.Object, error)) int {
		stored, err := read(content)
		if err != nil {
			t.Fatal(err)
		}
		return work.Record(func() {
			if _, err := m.Update(stored, stored, "u"); err != nil {
				t.Fatal(err)
			}
		}).Nodes
	}
	var d managedfields.Decoder
	alone, first, second := nodes(managedfields.ObjectFromAny), nodes(d.FromAny), nodes(d.FromAny)
	if alone < 10 || first != alone || second >= 5 {
		t.Errorf("%d nodes alone, %d for the decoder's first object, %d for its second", alone, first, second)
	}
	if d.Last().IsAbsent() {
		t.Error("the decoder has read nothing")
	}
}

// TestDecoderErrors demands that a decoder goes on after what it cannot read.
func TestDecoderErrors(t *testing.T) {
	var d managedfields.Decoder
	for _, text := range []string{`{`, `[]`, `1`, `{"a":}`, `{"metadata":{"managedFields":1}}`} {
		if _, err := d.Parse([]byte(text)); err == nil {
			t.Errorf("%s is read", text)
		}
		if o, err := d.Parse([]byte(`{"a":1}`)); err != nil || o.Content.Get("a").Int() != 1 {
			t.Errorf("after %s: %v, error %v", text, o.Content, err)
		}
	}
	if _, err := d.FromAny(map[string]any{"a": func() {}}); err == nil {
		t.Error("a function is read")
	}
}
