package history

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/oracle/kinds"
	"github.com/deed-project/deed/oracle/subject"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
	"github.com/deed-project/deed/value"
)

// TestDeedAnswersAsTheReference checks that deed answers every request of every history with the reference's bytes: object, entries, status
// and message.
func TestDeedAnswersAsTheReference(t *testing.T) {
	for _, kind := range load(t) {
		for _, structs := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/structs=%t", kind.Name, structs), func(t *testing.T) {
				want := play(t, kind, structs)
				var got []Record
				var err error
				synctest.Test(t, func(t *testing.T) { got, err = Play(newSubject(t, kind, structs), kind) })
				if err != nil {
					t.Error(err)
				}
				if diff := cmp.Diff(lines(want), lines(got)); diff != "" {
					t.Errorf("(-reference +deed)\n%s", diff)
				}
			})
		}
	}
}

func newSubject(t *testing.T, kind Kind, structs bool) *subject.Subject {
	t.Helper()
	gvk := schema.GVK(kind.GVK)
	typ, ok := builtin.Catalog().Lookup(gvk)
	if !ok {
		t.Fatalf("no type for %v", gvk)
	}
	config := managedfields.Config{GVK: gvk, Types: map[string]*schema.Type{gvk.APIVersion(): typ}}
	s, err := subject.New(config)
	if structs {
		src, _ := kinds.Of(kind.GVK)
		s, err = subject.NewStructs(config, src.Scheme)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// lines returns records for comparison, with one line for each part of an answer. It sorts the names in objects, because Go structs print
// them in the order of their fields.
func lines(records []Record) []string {
	var out []string
	for _, r := range records {
		request := r.Step + " by " + r.Manager + " (" + r.Verb + ") at " + r.Time.String() + ": "
		out = append(out, request+"sent "+sorted(r.Sent), request+"object "+sorted(r.Object),
			request+"entries "+string(r.Entries), request+"status "+string(r.Status), request+"error "+r.Error)
	}
	return out
}

func sorted(text []byte) string {
	if len(text) == 0 {
		return ""
	}
	v, err := value.Parse(text)
	if err != nil {
		return err.Error()
	}
	return v.String()
}
