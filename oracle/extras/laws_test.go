package extras

import (
	"testing"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/ownership"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
	"github.com/deed-project/deed/typed"
)

// TestLawsOnRecordings checks laws of extraction, owners and checks on recorded objects of all kinds.
func TestLawsOnRecordings(t *testing.T) {
	objects := 0
	for _, kind := range recordings(t) {
		gvk := schema.GVK{Group: kind.Group, Version: kind.Version, Kind: kind.Kind}
		typ, ok := builtin.Catalog().Lookup(gvk)
		if !ok {
			t.Fatalf("no type for %v", gvk)
		}
		types := map[string]*schema.Type{gvk.APIVersion(): typ}
		m, err := managedfields.New(managedfields.Config{GVK: gvk, Types: types})
		if err != nil {
			t.Fatal(err)
		}
		for _, record := range kind.Records {
			if record.Object == nil {
				continue
			}
			objects++
			o := parseObject(t, record.Object)
			extractIsNoOp(t, m, o, typ)
			ownersCover(t, o, typ)
			for _, f := range ownership.Check(o, ownership.CheckConfig{Versions: ownership.Versions{Types: types}}) {
				if f.Code != "orphan-item" {
					t.Errorf("%s, %s: %v", kind.Name, record.Step, f)
				}
			}
		}
	}
	if objects < 200 {
		t.Errorf("only %d objects", objects)
	}
}

// extractIsNoOp: applying an extracted configuration again changes nothing.
func extractIsNoOp(t *testing.T, m *managedfields.FieldManager, o managedfields.Object, typ *schema.Type) {
	t.Helper()
	for _, e := range o.Entries {
		if e.Operation != merge.Apply {
			continue
		}
		config, err := ownership.Extract(o, typ, e.Manager, "")
		if err != nil {
			t.Fatal(err)
		}
		change, err := ownership.WouldChange(m, o, managedfields.Object{Content: config}, e.Manager)
		if err != nil || change.Object || change.Ownership || change.Conflicts != nil {
			t.Errorf("%s applies %v: %+v, %v", e.Manager, config, change, err)
		}
	}
}

// ownersCover: the owners of every leaf and item are reported once.
func ownersCover(t *testing.T, o managedfields.Object, typ *schema.Type) {
	t.Helper()
	managers, err := managedfields.Decode(o.Entries)
	if err != nil {
		t.Fatal(err)
	}
	seq, err := ownership.Owners(o, typ, nil)
	if err != nil {
		t.Fatal(err)
	}
	var seen fieldpath.Builder
	parts := 0
	for part := range seq {
		if part.Through != nil {
			continue
		}
		seen.Add(part.Path)
		parts++
		owners := 0
		for range merging.OwnersOf(managers, part.Path) {
			owners++
		}
		if owners != len(part.Owners) {
			t.Errorf("%v has %d owners, and %v are told", part.Path, owners, part.Owners)
		}
	}
	v, err := typed.New(o.Content, typ)
	if err != nil {
		t.Fatal(err)
	}
	all := seen.Set()
	if missing := v.Fields().Leaves().Minus(all); !missing.IsEmpty() || all.Len() != parts {
		t.Errorf("%d paths of %d parts, missing\n%v", all.Len(), parts, missing)
	}
}
