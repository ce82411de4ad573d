package managedfields_test

import (
	"strings"
	"testing"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/value"
)

const lastAppliedName = "kubectl.kubernetes.io/last-applied-configuration"

// kubectl's record becomes what it applied, as it applied it, but for the record itself.
func TestKubectlRecordsWhatItApplies(t *testing.T) {
	live := parseObject(t, `{"apiVersion":"g/v1","kind":"K","metadata":{"annotations":{"`+lastAppliedName+`":"old"}}}`)
	for config, want := range map[string]string{
		`{"apiVersion":"g/v1","kind":"K"}`:                                                                       `{"apiVersion":"g/v1","kind":"K"}`,
		`{"apiVersion":"g/v1","kind":"K","metadata":{}}`:                                                         `{"apiVersion":"g/v1","kind":"K","metadata":{}}`,
		`{"apiVersion":"g/v1","kind":"K","metadata":{"managedFields":null}}`:                                     `{"apiVersion":"g/v1","kind":"K","metadata":{"managedFields":null}}`,
		`{"apiVersion":"g/v1","kind":"K","metadata":{"annotations":{}}}`:                                         `{"apiVersion":"g/v1","kind":"K","metadata":{"annotations":{}}}`,
		`{"apiVersion":"g/v1","kind":"K","metadata":{"annotations":{"` + lastAppliedName + `":"sent"}}}`:         `{"apiVersion":"g/v1","kind":"K","metadata":{"annotations":{}}}`,
		`{"apiVersion":"g/v1","kind":"K","metadata":{"annotations":{"` + lastAppliedName + `":"sent","a":"<"}}}`: `{"apiVersion":"g/v1","kind":"K","metadata":{"annotations":{"a":"\u003c"}}}`,
		`{"apiVersion":"g/v1","kind":"K","metadata":{"annotations":{"a":null}}}`:                                 `{"apiVersion":"g/v1","kind":"K","metadata":{"annotations":{"a":""}}}`,
	} {
		out, err := schemalessManager(t, nil).Apply(live, parseObject(t, config), "kubectl", true)
		if err != nil {
			t.Fatal(err)
		}
		if got := out.Content.Get("metadata", "annotations", lastAppliedName); got.Str() != want+"\n" {
			t.Errorf("%s recorded %s, want %s", config, got, value.String(want))
		}
	}
}

// A new record is stored as every change is, although no field changes. It is no change of the fields: the applier's entry gets no time. An
// object in another version than the endpoint's is not stored.
func TestKubectlsRecordIsStored(t *testing.T) {
	var stored []managedfields.Change
	m := schemalessManager(t, func(c *managedfields.Config) {
		c.Store = func(c managedfields.Change) (value.Value, error) {
			stored = append(stored, c)
			return c.Object.With("metadata", c.Live.Get("metadata")), nil
		}
	})
	live := parseObject(t, `{"apiVersion":"g/v1","kind":"K","metadata":{"annotations":{"`+lastAppliedName+`":"old"}},"a":1}`)
	out, err := m.Apply(live, parseObject(t, `{"apiVersion":"g/v1","kind":"K","a":1}`), "kubectl", false)
	if err != nil || len(stored) != 1 || !out.Content.Equal(live.Content) || !out.Entries[0].Time.IsZero() {
		t.Errorf("stored %+v as %s, %v", stored, out.AppendJSON(nil), err)
	}
	current := live.Content.With("metadata", stored[0].Object.Get("metadata"))
	if _, err := m.Apply(managedfields.Object{Content: current, Entries: out.Entries}, parseObject(t, `{"apiVersion":"g/v1","kind":"K","a":1}`), "kubectl", false); err != nil ||
		len(stored) != 1 {
		t.Errorf("the same record is stored %d times, %v", len(stored), err)
	}
	live.Content = live.Content.With("apiVersion", value.String("g/v2"))
	if _, err := m.Apply(live, parseObject(t, `{"apiVersion":"g/v1","kind":"K","a":1}`), "kubectl", false); err != nil || len(stored) != 1 {
		t.Errorf("in another version, it is stored %d times, %v", len(stored), err)
	}
}

// Annotations that are not all strings or null are none: nothing is recorded.
func TestKubectlRecordsNothingAmongUnreadableAnnotations(t *testing.T) {
	live := parseObject(t, `{"apiVersion":"g/v1","kind":"K","metadata":{"annotations":{"`+lastAppliedName+`":"old"}}}`)
	config := parseObject(t, `{"apiVersion":"g/v1","kind":"K","metadata":{"annotations":{"a":1}}}`)
	out, err := schemalessManager(t, nil).Apply(live, config, "kubectl", false)
	if err != nil {
		t.Fatal(err)
	}
	if got := out.Content.Get("metadata", "annotations", lastAppliedName).Str(); got != "old" {
		t.Errorf("recorded %q", got)
	}
}

// The names and values of all annotations may have 256 KiB with the record: it is kept at that size and removed at one byte more.
func TestKubectlsRecordHasRoom(t *testing.T) {
	live := parseObject(t, `{"apiVersion":"g/v1","kind":"K","metadata":{"annotations":{"`+lastAppliedName+`":"old"}}}`)
	apply := func(filler int, name string) (all value.Value, size int) {
		t.Helper()
		config := parseObject(t, `{"apiVersion":"g/v1","kind":"K","metadata":{"annotations":{"filler":"`+strings.Repeat("x", filler)+`"},"name":"`+name+`"}}`)
		out, err := schemalessManager(t, nil).Apply(live, config, "kubectl", true)
		if err != nil {
			t.Fatal(err)
		}
		all = out.Content.Get("metadata", "annotations")
		for name, text := range all.Members() {
			size += len(name) + len(text.Str())
		}
		return all, size
	}
	_, fixed := apply(0, "n")
	most := ((256 << 10) - fixed) / 2 // the filler stands in the annotation and in the record, and the name in the record alone
	name := strings.Repeat("n", 1+((256<<10)-fixed)%2)
	if all, size := apply(most, name); all.Get(lastAppliedName).IsAbsent() || size != 256<<10 {
		t.Errorf("annotations of %d bytes have no record", size)
	}
	if all, size := apply(most, name+"n"); !all.Get(lastAppliedName).IsAbsent() || all.Get("filler").Str() == "" {
		t.Errorf("annotations of %d bytes have a record", size)
	}
}

// hidden converts to version g/v2, in which objects have no annotation called filler.
type hidden struct{}

func (hidden) Convert(object value.Value, apiVersion string) (value.Value, error) {
	metadata := object.Get("metadata")
	if all := metadata.Get("annotations"); apiVersion == "g/v2" && !all.IsAbsent() {
		object = object.With("metadata", metadata.With("annotations", all.With("filler", value.Value{})))
	}
	return object.With("apiVersion", value.String(apiVersion)), nil
}

// The size of annotations is that in the version in which the server holds the object.
func TestKubectlsRecordHasRoomWhereTheObjectIsHeld(t *testing.T) {
	live := parseObject(t, `{"apiVersion":"g/v1","kind":"K","metadata":{"annotations":{"`+lastAppliedName+`":"old"}}}`)
	config := parseObject(t, `{"apiVersion":"g/v1","kind":"K","metadata":{"annotations":{"filler":"`+strings.Repeat("x", 200<<10)+`"}}}`)
	for hub, kept := range map[string]bool{"": false, "g/v1": false, "g/v2": true} {
		m := schemalessManager(t, func(c *managedfields.Config) { c.Hub, c.Converter = hub, hidden{} })
		out, err := m.Apply(live, config, "kubectl", true)
		if err != nil {
			t.Fatal(err)
		}
		if got := !out.Content.Get("metadata", "annotations", lastAppliedName).IsAbsent(); got != kept {
			t.Errorf("held in version %q: the record is kept: %t", hub, got)
		}
	}
}
