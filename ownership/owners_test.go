package ownership_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/testing/kindtest"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/ownership"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/typed"
	"github.com/deed-project/deed/value"
)

// owners prints who owns what of o, one part per line: path part: owners [through path].
func owners(t testing.TB, o managedfields.Object, versions *ownership.Versions) string {
	t.Helper()
	seq, err := ownership.Owners(o, kindtest.Type, versions)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for part := range seq {
		fmt.Fprintf(&b, "%s %v:", part.Path.Text(), part.Part)
		for _, owner := range part.Owners {
			fmt.Fprintf(&b, " %s", owner.Manager.Name)
		}
		if part.Through != nil {
			b.WriteString(" through " + part.Through.Text())
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestOwners(t *testing.T) {
	m := kindtest.Manager(nil)
	live := kindtest.Apply(t, m, managedfields.Object{}, "ann",
		`"metadata":{"name":"one","labels":{"a":"1"},"finalizers":["x"]},"spec":{"args":["-a","-b"],"containers":[{"name":"z","image":"i"},{"name":"b","dir":{}}]}`)
	live = kindtest.Apply(t, m, live, "bob", `"metadata":{"name":"one"},"spec":{"selector":{"app":"x"},"containers":[{"name":"z","image":"i","ports":[{"port":80}]}]}`)
	live.Content = live.Content.With("status", kindtest.Parse(t, `{"list":[{"x":1}],"empty":[]}`))
	const want = `
		.apiVersion leaf:
		.kind leaf:
		.metadata.finalizers[="x"] item: ann
		.metadata.labels.a leaf: ann
		.metadata.name leaf:
		.spec.args atomic: ann
		.spec.args[0] leaf: ann through .spec.args
		.spec.args[1] leaf: ann through .spec.args
		.spec.containers[name="z"] item: ann bob
		.spec.containers[name="z"].image leaf: ann bob
		.spec.containers[name="z"].name leaf: ann bob
		.spec.containers[name="z"].ports[port=80,protocol="TCP"] item: bob
		.spec.containers[name="z"].ports[port=80,protocol="TCP"].port leaf: bob
		.spec.containers[name="b"] item: ann
		.spec.containers[name="b"].dir leaf: ann
		.spec.containers[name="b"].name leaf: ann
		.spec.selector atomic: bob
		.spec.selector.app leaf: bob through .spec.selector
		.status.empty leaf:
		.status.list atomic:
		.status.list[0].x leaf: through .status.list`
	if got := owners(t, live, nil); got != kindtest.Lines(want) {
		t.Errorf("got\n%s", got)
	}
}

// An item that the list holds twice is owned as one.
func TestOwnersOfDuplicates(t *testing.T) {
	o := kindtest.New(t, `"spec":{"containers":[{"name":"a","image":"1"},{"image":"2"},{"name":"a"}]}`)
	o.Entries = kindtest.Entries(t, `[`+entry("ann", "Update", "v1", "1", `{"f:spec":{"f:containers":{"k:{\"name\":\"a\"}":{}}}}`)+`]`)
	const want = `
		.apiVersion leaf:
		.kind leaf:
		.metadata.name leaf:
		.metadata.namespace leaf:
		.spec.containers[name="a"] item: ann
		.spec.containers[name="a"].image leaf: ann through .spec.containers[name="a"]
		.spec.containers[name="a"].name leaf: ann through .spec.containers[name="a"]
		.spec.containers[1] item:
		.spec.containers[1].image leaf:
		.spec.containers[name="a"] item: ann
		.spec.containers[name="a"].name leaf: ann through .spec.containers[name="a"]`
	if got := owners(t, o, nil); got != kindtest.Lines(want) {
		t.Errorf("got\n%s", got)
	}
}

// sizeConverter makes spec.replicas of v1 spec.quota.size of v2, and back.
type sizeConverter struct{}

func (sizeConverter) Convert(object value.Value, apiVersion string) (value.Value, error) {
	if apiVersion == "example.com/v3" {
		return value.Value{}, fmt.Errorf("v3: %w", merge.ErrNoVersion)
	}
	object = object.With("apiVersion", value.String(apiVersion))
	spec := object.Get("spec")
	if size := spec.Get("quota", "size"); apiVersion == "example.com/v1" && !size.IsAbsent() {
		return object.With("spec", spec.With("quota", value.Value{}).With("replicas", size)), nil
	}
	if size := spec.Get("replicas"); apiVersion == "example.com/v2" && !size.IsAbsent() {
		return object.With("spec", spec.With("replicas", value.Value{}).With("quota", value.Object(value.Member{Name: "size", Value: size}))), nil
	}
	return object, nil
}

func TestOwnersInOtherVersions(t *testing.T) {
	versions := &ownership.Versions{
		Types: map[string]*schema.Type{"example.com/v1": kindtest.Type, "example.com/v2": kindtest.Type}, Converter: sizeConverter{},
	}
	o := kindtest.New(t, `"spec":{"replicas":1,"containers":[{"name":"a","image":"i"}]}`)
	o.Entries = kindtest.Entries(t, `[`+entry("ann", "Apply", "v2", "1", `{"f:spec":{"f:quota":{"f:size":{}},"f:containers":{"k:{\"name\":\"a\"}":{".":{},"f:name":{}}}}}`)+`]`)
	const want = `
		.apiVersion leaf:
		.kind leaf:
		.metadata.name leaf:
		.metadata.namespace leaf:
		.spec.containers[name="a"] item: ann
		.spec.containers[name="a"].image leaf:
		.spec.containers[name="a"].name leaf: ann
		.spec.replicas leaf: ann`
	if got := owners(t, o, versions); got != kindtest.Lines(want) {
		t.Errorf("got\n%s", got)
	}
	for _, test := range []struct {
		version  string
		versions *ownership.Versions
		want     error
	}{
		{"v2", nil, ownership.ErrVersion},
		{"v9", versions, merge.ErrNoVersion},
		{"v3", &ownership.Versions{Types: map[string]*schema.Type{"example.com/v3": kindtest.Type}, Converter: sizeConverter{}}, merge.ErrNoVersion},
	} {
		o.Entries = kindtest.Entries(t, `[`+entry("ann", "Apply", test.version, "1", `{"f:spec":{}}`)+","+entry("bob", "Apply", "v1", "1", `{"f:spec":{"f:replicas":{}}}`)+`]`)
		seq, err := ownership.Owners(o, kindtest.Type, test.versions)
		var e *managedfields.EntryError
		if !errors.Is(err, test.want) || !errors.As(err, &e) || e.Index != 0 {
			t.Errorf("%s: %v", test.version, err)
		}
		found := false
		for part := range seq {
			found = found || len(part.Owners) == 1 && part.Owners[0].Manager.Name == "bob" && part.Owners[0].Index == 1
		}
		if !found {
			t.Errorf("%s: the other entry is not read", test.version)
		}
	}
	o.Entries = kindtest.Entries(t, `[`+entry("ann", "Apply", "v2", "1", `{"f:spec":{"f:replicas":{}}}`)+`]`)
	same := &ownership.Versions{Types: versions.Types}
	if got := owners(t, o, same); !strings.Contains(got, ".spec.replicas leaf: ann\n") {
		t.Errorf("versions that differ in name only: got\n%s", got)
	}
}

// Of two entries of one manager the last counts, and a set made when args was granular is adapted.
func TestOwnersReadsEntriesAsWritesDo(t *testing.T) {
	o := kindtest.New(t, `"spec":{"replicas":1,"args":["-a"]}`)
	o.Entries = kindtest.Entries(t, `[`+entry("ann", "Apply", "v1", "1", `{"f:spec":{"f:replicas":{}}}`)+","+
		entry("ann", "Apply", "v1", "2", `{"f:spec":{"f:args":{"v:\"-a\"":{}}}}`)+`]`)
	if got := owners(t, o, nil); !strings.Contains(got, ".spec.args atomic: ann\n") || !strings.Contains(got, ".spec.replicas leaf:\n") {
		t.Errorf("got\n%s", got)
	}
}

func TestOwnersStops(t *testing.T) {
	o := kindtest.New(t, `"spec":{"args":["-a","-b"],"containers":[{"name":"a"},{"name":"a","dir":{"size":1}}],"selector":{"a":"1"}}`)
	seq, err := ownership.Owners(o, kindtest.Type, nil)
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for range seq {
		total++
	}
	for n := 1; n <= total; n++ {
		seen := 0
		for range seq {
			if seen++; seen == n {
				break
			}
		}
		if seen != n {
			t.Errorf("the walk goes on to part %d after it was to end at %d", seen, n)
		}
	}
}

// Every leaf and item of an object comes exactly once, with exactly the managers whose sets have it.
func TestOwnersCoverTheObject(t *testing.T) {
	kindtest.Histories(t, func(t *testing.T, r *rand.Rand, o managedfields.Object) {
		managers, err := managedfields.Decode(o.Entries)
		if err != nil {
			t.Fatal(err)
		}
		seq, err := ownership.Owners(o, kindtest.Type, nil)
		if err != nil {
			t.Error(err)
		}
		var seen fieldpath.Builder
		count := 0
		for part := range seq {
			if part.Through != nil {
				if !part.Path.HasPrefix(part.Through) || len(part.Path) == len(part.Through) {
					t.Errorf("%v is not inside %v", part.Path, part.Through)
				}
				continue
			}
			seen.Add(part.Path)
			count++
			n := 0
			for range merging.OwnersOf(managers, part.Path) {
				n++
			}
			if len(part.Owners) != n {
				t.Errorf("%v has %d owners, got %v", part.Path, n, part.Owners)
			}
			for _, owner := range part.Owners {
				if e, ok := managers.Get(owner.Manager); !ok || !e.Fields.Has(part.Path) || o.Entries[owner.Index].Manager != owner.Manager.Name {
					t.Errorf("%v is not of %v", part.Path, owner)
				}
			}
		}
		all := seen.Set()
		if all.Len() != count {
			t.Errorf("%d parts, and %d paths", count, all.Len())
		}
		v, err := typed.New(o.Content, kindtest.Type)
		if err != nil {
			t.Fatal(err)
		}
		if missing := v.Fields().Leaves().Minus(all); !missing.IsEmpty() {
			t.Errorf("missing\n%v", missing)
		}
	})
}

// failingConverter converts nothing.
type failingConverter struct{}

func (failingConverter) Convert(value.Value, string) (value.Value, error) {
	return value.Value{}, errors.New("no conversion")
}
