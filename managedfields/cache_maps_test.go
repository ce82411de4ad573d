package managedfields_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/managedfields"
)

// annotated returns an object with one entry, which owns annotations.
func annotated(manager, time string, annotations ...string) map[string]any {
	fields := map[string]any{}
	for _, name := range annotations {
		fields["f:"+name] = map[string]any{}
	}
	return map[string]any{"metadata": map[string]any{"managedFields": []any{map[string]any{
		"manager": manager, "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1", "time": time,
		"fieldsV1": map[string]any{"f:metadata": map[string]any{"f:annotations": fields}},
	}}}}
}

// owned returns what the only manager of an object owns.
func owned(content map[string]any) (fieldpath.Set, error) {
	o, err := managedfields.ObjectFromAny(content)
	if err != nil {
		return fieldpath.Set{}, err
	}
	managers, err := managedfields.Decode(o.Entries)
	if err != nil {
		return fieldpath.Set{}, err
	}
	for e := range managers.All() {
		return e.Fields, nil
	}
	return fieldpath.Set{}, nil
}

func annotations(names ...string) fieldpath.Set {
	var b fieldpath.Builder
	for _, name := range names {
		b.Add(fieldpath.Path{fieldpath.Field("metadata"), fieldpath.Field("annotations"), fieldpath.Field(name)})
	}
	return b.Set()
}

// TestMapsThatChange reads maps that are alike in all that a cache could find them by, and one that changes after it was read.
func TestMapsThatChange(t *testing.T) {
	const then, later = "2026-01-02T03:04:05Z", "2026-01-02T03:04:06Z"
	a, b, again := annotated("m", then, "a", "b"), annotated("m", then, "a", "c"), annotated("m", later, "a", "b")
	wantSet := func(content map[string]any, names ...string) {
		t.Helper()
		if got, err := owned(content); err != nil || !got.Equal(annotations(names...)) {
			t.Errorf("got %v (%v), want %v", got, err, names)
		}
	}
	for range 3 {
		wantSet(a, "a", "b")
		wantSet(b, "a", "c")
		wantSet(a, "a", "b")
		wantSet(again, "a", "b")
	}
	entry := a["metadata"].(map[string]any)["managedFields"].([]any)[0].(map[string]any)
	fields := entry["fieldsV1"].(map[string]any)["f:metadata"].(map[string]any)["f:annotations"].(map[string]any)
	delete(fields, "f:b")
	wantSet(a, "a")
	fields["f:z"] = map[string]any{}
	wantSet(a, "a", "z")
	fields["f:z"] = map[string]any{"no element": 1}
	if got, err := owned(a); err == nil {
		t.Errorf("got %v, want an error", got)
	}
	fields["f:z"] = nil // means what {} means, but is not written so
	for range 2 {
		wantSet(a, "a", "z")
		o, err := managedfields.ObjectFromAny(a)
		if err != nil {
			t.Fatal(err)
		}
		managers, err := managedfields.Decode(o.Entries)
		if err != nil {
			t.Fatal(err)
		}
		if text := managedfields.Encode(managers)[0].FieldsV1.String(); strings.Contains(text, "null") {
			t.Errorf("the map was kept as it came: %s", text)
		}
	}
}

// TestMapsAreReadAtOnce reads few and many maps in several goroutines.
func TestMapsAreReadAtOnce(t *testing.T) {
	var work sync.WaitGroup
	for worker := range 4 {
		work.Go(func() {
			for i := range 3000 {
				manager, name := fmt.Sprint("manager-", i*worker%7), fmt.Sprint("name-", i%1500)
				got, err := owned(annotated(manager, "2026-01-02T03:04:05Z", name))
				if err != nil || !got.Equal(annotations(name)) {
					t.Errorf("got %v (%v), want %s", got, err, name)
					return
				}
			}
		})
	}
	work.Wait()
}

// BenchmarkDecodeMapsAlike reads the entries of objects in turn, all of which one manager wrote, at different times, and whose
// fields differ in nothing but one key: as those of Pods do, in their addresses.
func BenchmarkDecodeMapsAlike(b *testing.B) {
	for _, n := range []int{1, 100} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			entries := make([][]managedfields.Entry, n)
			for i := range entries {
				content := annotated("kubelet", fmt.Sprintf("2026-01-02T03:%02d:%02dZ", i/60, i%60), "a")
				entry := content["metadata"].(map[string]any)["managedFields"].([]any)[0].(map[string]any)
				status := map[string]any{"f:podIPs": map[string]any{fmt.Sprintf(`k:{"ip":"10.0.0.%d"}`, i): map[string]any{}}}
				for j := range 30 {
					status[fmt.Sprintf("f:field-%d", j)] = map[string]any{}
				}
				entry["fieldsV1"].(map[string]any)["f:status"] = status
				o, err := managedfields.ObjectFromAny(content)
				if err != nil {
					b.Fatal(err)
				}
				entries[i] = o.Entries
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if _, err := managedfields.Decode(entries[i%n]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
