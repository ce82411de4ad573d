package builtin_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/deed-project/deed/internal/testing/recording"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
)

// recorded is how the reference answered the history of an object: see oracle/history, which makes it.
type recorded struct {
	Name, Group, Version, Kind string
	Records                    []record
}

type record struct {
	Step, Manager, Verb string
	Time                time.Time
	Sent, Object        json.RawMessage
	Entries             []struct {
		Manager, APIVersion, FieldsType, Subresource string
		Operation                                    merge.Operation
		Time                                         time.Time
		FieldsV1                                     json.RawMessage
	}
	Error string
}

func readRecordings(t *testing.T) []recorded {
	t.Helper()
	all, err := recording.Load[recorded]("../../testdata/histories.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// With the embedded schemas deed answers as the reference did: the same objects, the same bytes in managedFields,
// and the same message for each conflict.
func TestRecordedHistories(t *testing.T) {
	recordings := readRecordings(t)
	if len(recordings) < 32 {
		t.Fatalf("%d recordings, want 32 or more", len(recordings))
	}
	for _, rec := range recordings {
		t.Run(rec.Name, func(t *testing.T) { replay(t, rec) })
	}
}

// replay sends the requests of rec. A request whose answer differs ends the history: all that follow it would
// differ too.
func replay(t *testing.T, rec recorded) {
	gvk := schema.GVK{Group: rec.Group, Version: rec.Version, Kind: rec.Kind}
	typ, ok := builtin.Catalog().Lookup(gvk)
	if !ok {
		t.Fatalf("no type for %v", gvk)
	}
	var now time.Time
	manager, err := managedfields.New(managedfields.Config{
		GVK: gvk, Types: map[string]*schema.Type{gvk.APIVersion(): typ}, Now: func() time.Time { return now },
	})
	if err != nil {
		t.Fatal(err)
	}
	var live managedfields.Object
	for _, r := range rec.Records {
		now = r.Time
		sent, err := managedfields.ParseObject(r.Sent)
		if err != nil {
			t.Fatal(err)
		}
		out, err := send(manager, live, sent, r)
		if diff := cmp.Diff(r.answer(), answerOf(t, out, err)); diff != "" {
			t.Fatalf("%s by %s (%s): (-reference +deed)\n%s", r.Step, r.Manager, r.Verb, diff)
		}
		if err == nil {
			live = out
		}
	}
}

func send(m *managedfields.FieldManager, live, sent managedfields.Object, r record) (managedfields.Object, error) {
	if r.Verb == "update" {
		return m.Update(live, sent, r.Manager)
	}
	return m.Apply(live, sent, r.Manager, r.Verb == "force")
}

// answer is what a request came to. Fields is the text of each entry's fieldsV1.
type answer struct {
	Object  string
	Entries []managedfields.Entry
	Fields  []string
	Error   string
}

func (r record) answer() answer {
	a := answer{Object: string(r.Object), Error: r.Error}
	for _, e := range r.Entries {
		a.add(managedfields.Entry{
			Manager: e.Manager, Operation: e.Operation, APIVersion: e.APIVersion, Time: e.Time,
			FieldsType: e.FieldsType, FieldsV1: managedfields.FieldsOf(string(e.FieldsV1)), Subresource: e.Subresource,
		})
	}
	return a
}

func answerOf(t *testing.T, out managedfields.Object, err error) answer {
	t.Helper()
	if err != nil {
		return answer{Error: err.Error()}
	}
	document, err := out.Value() // names sorted, as unstructured objects print
	if err != nil {
		t.Fatal(err)
	}
	a := answer{Object: document.String()}
	for _, e := range out.Entries {
		a.add(e)
	}
	return a
}

func (a *answer) add(e managedfields.Entry) {
	a.Fields = append(a.Fields, e.FieldsV1.String())
	e.FieldsV1 = managedfields.Fields{}
	a.Entries = append(a.Entries, e)
}
