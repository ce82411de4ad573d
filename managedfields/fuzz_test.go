package managedfields_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/testing/kindtest"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/value"
)

// seedEntries are managed fields, good and bad.
var seedEntries = []string{
	`null`, `[]`, `[{}]`, `[{},{}]`, `{}`, `[1]`, `[{"manager":1}]`, `[{"time":"x"}]`,
	`[{"manager":"alpha","operation":"Apply","apiVersion":"example.com/v1","time":"2026-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":` +
		`{"f:spec":{"f:replicas":{},"f:containers":{"k:{\"name\":\"a\"}":{".":{},"f:name":{}}}},"f:metadata":{"f:finalizers":{"v:\"x\"":{}}}}}]`,
	`[{"manager":"alpha","operation":"Update","apiVersion":"example.com/v2","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{}},"subresource":"status"},` +
		`{"manager":"alpha","operation":"Update","apiVersion":"example.com/v2","fieldsType":"FieldsV1","subresource":"status"}]`,
	`[{"operation":"Apply","apiVersion":"a/b/c","fieldsType":"FieldsV1","fieldsV1":{"q:a":{},"f:metadata":{"f:managedFields":{}}}}]`,
	`[{"operation":"Apply","apiVersion":"v1","fieldsType":"FieldsV2"}]`, `[{"operation":"apply","apiVersion":"v1","fieldsType":"FieldsV1"}]`,
	`[{"operation":"Apply","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"k:{":{}}}]`,
	`[{"operation":"Apply","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"v:1.0":{},"i:0":{},"v:1":{}}}]`,
	`[{"operation":"Apply","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":"x"}]`,
}

var seedMembers = []string{
	``, `"spec":{"replicas":1}`, `"spec":{"containers":[{"name":"a"},{"name":"a"}],"args":["x"]}`, `"spec":null`, `"unknown":1`,
	`"spec":{"containers":[{"ports":[{"port":80},{"port":80,"protocol":"TCP"}]}]}`,
	`"metadata":{"uid":"u","labels":{"a":null},"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{"}}`,
}

// Managed fields that are decoded are all accounted for: each entry is in the result with its fields, or a later one for the
// same manager is. What is wrong with others names the entry.
func FuzzDecode(f *testing.F) {
	for _, s := range seedEntries {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		o, err := managedfields.ParseObject([]byte(`{"metadata":{"managedFields":` + text + `}}`))
		if err != nil {
			checkEntryError(t, err, -1)
			return
		}
		decoded, err := managedfields.Decode(o.Entries)
		if err != nil {
			checkEntryError(t, err, len(o.Entries))
			return
		}
		last := map[merge.Manager]managedfields.Entry{}
		for _, e := range o.Entries {
			last[managerOf(e)] = e
		}
		if merging.Len(decoded) != len(last) {
			t.Fatalf("%d managers of %d in %s", merging.Len(decoded), len(last), text)
		}
		for m, e := range last {
			var want fieldpath.Set
			if e.FieldsV1.Bytes() != nil {
				if want, err = fieldpath.ParseSet(e.FieldsV1.Bytes()); err != nil {
					t.Fatalf("%v was decoded, but %v", e.FieldsV1, err)
				}
			}
			if got, _ := decoded.Get(m); !got.Fields.Equal(want) || got.APIVersion != e.APIVersion || !got.Time.Equal(e.Time) {
				t.Fatalf("%v owns %s, want %s", m, got.Fields.AppendJSON(nil), want.AppendJSON(nil))
			}
		}
		again, err := managedfields.Decode(managedfields.Encode(decoded))
		if err != nil || !merging.Equal(again, decoded) {
			t.Fatalf("%s is decoded to %+v, and encoded and decoded again to %+v, %v", text, decoded, again, err)
		}
	})
}

func managerOf(e managedfields.Entry) merge.Manager {
	m := merge.Manager{Name: e.Manager, Operation: e.Operation, APIVersion: e.APIVersion, Subresource: e.Subresource}
	if m.Operation == merge.Apply {
		m.APIVersion = ""
	}
	return m
}

// checkEntryError checks that an error of managed fields says where the defect is. n is how many entries there are, if known.
func checkEntryError(t *testing.T, err error, n int) {
	t.Helper()
	var syntax *value.SyntaxError
	var entry *managedfields.EntryError
	switch {
	case errors.As(err, &syntax) && n < 0:
	case errors.As(err, &entry):
		if entry.Index < 0 || n >= 0 && entry.Index >= n || !strings.HasPrefix(entry.Error(), "metadata.managedFields[") {
			t.Fatalf("%d entries: %v", n, err)
		}
	case n >= 0 || !strings.Contains(err.Error(), "metadata.managedFields"):
		t.Fatalf("an error that names no entry: %v", err)
	}
}

// fuzzedObject returns the object of a fuzzed request: members without the outer braces, and managed fields. It reports
// whether they make one.
func fuzzedObject(members, entries string) (managedfields.Object, bool) {
	if members != "" {
		members = "," + members
	}
	o, err := managedfields.ParseObject([]byte(`{"apiVersion":"example.com/v1","kind":"Thing"` + members + `}`))
	if err != nil {
		return o, false
	}
	managed, err := managedfields.ParseObject([]byte(`{"metadata":{"managedFields":` + entries + `}}`))
	o.Entries = managed.Entries
	return o, err == nil
}

// accountFor checks that out has an entry for everybody of before who owned something, except for actor, for managers of
// versions that do not exist, and for those whose fields the write can have changed.
func accountFor(t *testing.T, before merge.Managers, actor merge.Manager, live, out managedfields.Object) {
	t.Helper()
	after, err := managedfields.Decode(out.Entries)
	if err != nil {
		t.Fatalf("the outcome has undecodable entries: %v", err)
	}
	own := fieldpath.SetOf(fieldpath.Path{fieldpath.Field("metadata"), fieldpath.Field("managedFields")})
	for e := range before.All() {
		known := e.APIVersion == "example.com/v1" || e.APIVersion == "example.com/v2"
		if e.Manager == actor || !known || e.Fields.Minus(own).IsEmpty() || !live.Content.Equal(out.Content) || merging.Len(before) > 10 {
			continue
		}
		if kept, ok := after.Get(e.Manager); !ok || !kept.Time.Equal(e.Time) {
			t.Fatalf("nothing changed, but the entry of %v with %s is gone:\n%+v", e.Manager, e.Fields.AppendJSON(nil), out.Entries)
		}
	}
}

// FuzzApply applies to objects with any managed fields. The law: what cannot be decoded is an error that names the entry, and
// otherwise every entry is accounted for. Inputs stay as they are.
func FuzzApply(f *testing.F) {
	for i, entries := range seedEntries {
		f.Add(seedMembers[i%len(seedMembers)], entries, seedMembers[(i+1)%len(seedMembers)], "alpha", i%2 == 0)
		f.Add(seedMembers[(i+2)%len(seedMembers)], entries, seedMembers[(i+2)%len(seedMembers)], "kubectl", false)
	}
	f.Fuzz(func(t *testing.T, members, entries, configured, manager string, force bool) {
		live, ok := fuzzedObject(members, entries)
		config, ok2 := fuzzedObject(configured, `null`)
		if !ok || !ok2 {
			return
		}
		given := append(config.Content.AppendJSON(nil), live.Content.AppendJSON(nil)...)
		out, err := kindtest.Manager(nil).Apply(live, config, manager, force)
		if !bytes.Equal(given, append(config.Content.AppendJSON(nil), live.Content.AppendJSON(nil)...)) {
			t.Fatal("the apply changed its inputs")
		}
		before, bad := managedfields.Decode(live.Entries)
		if bad != nil {
			checkEntryError(t, err, len(live.Entries))
			return
		}
		if err != nil {
			if managedfields.ToStatus(err).Message == "" {
				t.Fatalf("%#v has no message", err)
			}
			return
		}
		accountFor(t, before, merge.Manager{Name: orUnknown(manager), Operation: merge.Apply}, live, out)
	})
}

func orUnknown(manager string) string {
	if manager == "" {
		return "unknown"
	}
	return manager
}

// FuzzUpdate updates objects with any managed fields to objects with any others. The law: every entry that counts is accounted
// for, which are those of the new object if they are valid and some, and else those of the live one; they stay
// as they are when the update fails.
func FuzzUpdate(f *testing.F) {
	for i, entries := range seedEntries {
		next := seedEntries[(i+3)%len(seedEntries)]
		f.Add(seedMembers[i%len(seedMembers)], entries, seedMembers[(i+1)%len(seedMembers)], next, "alpha")
		f.Add(seedMembers[i%len(seedMembers)], entries, seedMembers[i%len(seedMembers)], `null`, "")
	}
	f.Fuzz(func(t *testing.T, members, entries, updated, others, manager string) {
		live, ok := fuzzedObject(members, entries)
		object, ok2 := fuzzedObject(updated, others)
		if !ok || !ok2 {
			return
		}
		out, err := kindtest.Manager(nil).Update(live, object, manager)
		if !out.Content.Same(object.Content) {
			t.Fatalf("the update changed the object to %v", out.Content)
		}
		if err != nil {
			if !slices.EqualFunc(out.Entries, live.Entries, sameEntry) {
				t.Fatalf("%v, but the entries are not kept: %+v", err, out.Entries)
			}
			return
		}
		before, bad := managedfields.Decode(object.Entries)
		reset := object.Entries != nil && len(object.Entries) == 0 || len(object.Entries) == 1 && sameEntry(object.Entries[0], managedfields.Entry{})
		if bad != nil || merging.Len(before) == 0 {
			before, _ = managedfields.Decode(live.Entries) // managed fields that cannot be read count as none here
		}
		if !reset {
			actor := merge.Manager{Name: orUnknown(manager), Operation: merge.Update, APIVersion: "example.com/v1"}
			accountFor(t, before, actor, live, out)
		}
	})
}

func sameEntry(a, b managedfields.Entry) bool {
	return managerOf(a) == managerOf(b) && a.APIVersion == b.APIVersion && a.Time.Equal(b.Time) && a.FieldsType == b.FieldsType &&
		a.FieldsV1.Equal(b.FieldsV1)
}
