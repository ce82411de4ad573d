package managedfields_test

import (
	"fmt"
	"testing"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/testing/kindtest"
	"github.com/deed-project/deed/managedfields"
)

var replicas = map[string]fieldpath.Path{
	"example.com/v1": {fieldpath.Field("spec"), fieldpath.Field("replicas")},
	"example.com/v2": {fieldpath.Field("spec"), fieldpath.Field("size")},
	"example.com/v0": nil,
}

const (
	parentApplier = `{"manager":"ann","operation":"Apply","apiVersion":"example.com/v1","time":"2026-01-01T00:01:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:replicas":{},"f:paused":{}}}}`
	parentUpdater = `{"manager":"bob","operation":"Update","apiVersion":"example.com/v1","time":"2026-01-01T00:02:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:replicas":{},"f:paused":{}}}}`
	parentOnly    = `{"manager":"bob","operation":"Update","apiVersion":"example.com/v1","time":"2026-01-01T00:02:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:replicas":{}}}}`
	parentV2      = `{"manager":"eve","operation":"Update","apiVersion":"example.com/v2","time":"2026-01-01T00:03:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:size":{}}}}`
	parentV0      = `{"manager":"eve","operation":"Update","apiVersion":"example.com/v0","time":"2026-01-01T00:03:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:replicas":{}}}}`
	parentV9      = `{"manager":"eve","operation":"Update","apiVersion":"example.com/v9","time":"2026-01-01T00:03:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:replicas":{}}}}`
)

func TestScaleEntries(t *testing.T) {
	for _, test := range []struct{ name, parent, want string }{
		{"nobody", `[]`, ``},
		{"only the replicas, with times", `[` + parentApplier + `,` + parentUpdater + `]`, `
			ann Apply v1 1: .spec.replicas
			bob Update v1 2: .spec.replicas`},
		{"another path in another version", `[` + parentV2 + `]`, `eve Update v1 3: .spec.replicas`},
		{"a version without scale, and one that is not known", `[` + parentV0 + `,` + parentV9 + `]`, ``},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := managedfields.ScaleEntries(kindtest.Entries(t, test.parent), replicas)
			if err != nil {
				t.Fatal(err)
			}
			if kindtest.Show(t, got) != kindtest.Lines(test.want) {
				t.Errorf("got\n%s", kindtest.Show(t, got))
			}
			for _, e := range got {
				if e.APIVersion != "autoscaling/v1" {
					t.Errorf("%s is of %s", e.Manager, e.APIVersion)
				}
			}
		})
	}
}

func TestEntriesAfterScale(t *testing.T) {
	scale := func(manager, operation, subresource string) string {
		return fmt.Sprintf(`{"manager":%q,"operation":%q,"apiVersion":"autoscaling/v1","time":"2026-01-01T00:09:00Z","subresource":%q,"fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:replicas":{}}}}`,
			manager, operation, subresource)
	}
	const other = `{"manager":"kim","operation":"Update","apiVersion":"autoscaling/v1","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:labels":{}}}}`
	for _, test := range []struct{ name, parent, scale, want string }{
		{"a new owner steals, and has no time", parentApplier, scale("hpa", "Update", "scale"), `
			ann Apply v1 1: .spec.paused
			hpa Update v1/scale -: .spec.replicas`},
		{"who has nothing left is dropped", parentOnly, scale("hpa", "Apply", "scale"), `
			hpa Apply v1/scale -: .spec.replicas`},
		{"an applier is recognized", parentApplier, scale("ann", "Apply", ""), `
			ann Apply v1 1: .spec.paused .spec.replicas`},
		{"an updater is not, and becomes two of one identity", parentUpdater, scale("bob", "Update", ""), `
			bob Update v1 -: .spec.replicas
			bob Update v1 2: .spec.paused`},
		{"who gives up the replicas", parentApplier, ``, `ann Apply v1 1: .spec.paused`},
		{"without scale, and not known", parentV0 + `,` + parentV9, ``, `eve Update v0 3: .spec.replicas`},
		{"who owns something else in scale", parentOnly, other, ``},
	} {
		t.Run(test.name, func(t *testing.T) {
			parent, scale := kindtest.Entries(t, `[`+test.parent+`]`), kindtest.Entries(t, `[`+test.scale+`]`)
			got, err := managedfields.EntriesAfterScale(parent, scale, "example.com/v1", replicas)
			if err != nil {
				t.Fatal(err)
			}
			if kindtest.Show(t, got) != kindtest.Lines(test.want) {
				t.Errorf("got\n%s", kindtest.Show(t, got))
			}
		})
	}
}

// Who owned replicas as an updater, and comes back from scale untouched, owns them no more after the next read.
func TestScaleRoundTripForgetsUpdaters(t *testing.T) {
	before := kindtest.Entries(t, `[`+parentUpdater+`]`)
	scale, err := managedfields.ScaleEntries(before, replicas)
	if err != nil {
		t.Fatal(err)
	}
	parent, err := managedfields.EntriesAfterScale(before, scale, "example.com/v1", replicas)
	if err != nil {
		t.Fatal(err)
	}
	managers, err := managedfields.Decode(parent)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := kindtest.Show(t, managedfields.Encode(managers)), "bob Update v1 2: .spec.paused\n"; len(parent) != 2 || got != want {
		t.Errorf("%d entries, read as\n%s", len(parent), got)
	}
}

func TestScaleOfUnreadableEntries(t *testing.T) {
	bad := kindtest.Entries(t, `[{"manager":"x","operation":"Delete"}]`)
	if _, err := managedfields.ScaleEntries(bad, replicas); err == nil {
		t.Error("ScaleEntries takes an unknown operation")
	}
	if _, err := managedfields.EntriesAfterScale(bad, nil, "example.com/v1", replicas); err == nil {
		t.Error("EntriesAfterScale takes an unknown operation of the parent")
	}
	if _, err := managedfields.EntriesAfterScale(nil, bad, "example.com/v1", replicas); err == nil {
		t.Error("EntriesAfterScale takes an unknown operation of scale")
	}
}
