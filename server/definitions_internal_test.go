package server

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/deed-project/deed/internal/testing/seeds"
	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/catalog/crd"
	"github.com/deed-project/deed/server/controllers"
	"github.com/deed-project/deed/server/registry"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/server/store/memory"
	"github.com/deed-project/deed/server/store/storetest"
	"github.com/deed-project/deed/value"
)

// thing returns the definition of things in a group.
func thing(t testing.TB, plural, group string) value.Value {
	t.Helper()
	d, err := value.Parse(fmt.Appendf(nil, `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
		"metadata":{"name":"%[1]s.%[2]s"},"spec":{"group":%[2]q,"scope":"Cluster","names":{"plural":%[1]q,"kind":"Kind%[1]s"},
		"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`, plural, group))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestDefinitionsAreReadOnce counts what it takes to look at definitions again that did not change, and looks at one that is replaced, and
// for one that is gone. Only that changes the catalog.
func TestDefinitionsAreReadOnce(t *testing.T) {
	for _, c := range []struct {
		name  string
		store store.Store
	}{
		{"a store that knows what happened", memory.New()},
		{"a store that does not", storetest.WithoutHistory{Store: memory.New()}},
	} {
		t.Run(c.name, func(t *testing.T) { testReadOnce(t, c.store) })
	}
}

func testReadOnce(t *testing.T, in store.Store) {
	var objects []value.Value
	for i := range 3 {
		objects = append(objects, thing(t, "things", fmt.Sprintf("g%d.org", i)))
	}
	s, err := New(Config{Objects: objects, Store: in})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	look := func() {
		if err := s.definitions.Serve(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	look()
	if n := testing.AllocsPerRun(10, look); n > 20 {
		t.Errorf("looking at three definitions again takes %v allocations", n)
	}
	patch, err := value.Parse([]byte(`{"metadata":{"labels":{"a":"b"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	served := s.catalog()
	if err := s.client.Send(t.Context(), http.MethodPatch, controllers.DefinitionsPath+"things.g1.org", patch); err != nil {
		t.Fatal(err)
	}
	if s.catalog() != served {
		t.Error("another catalog has the same resources")
	}
	if err := s.client.Send(t.Context(), http.MethodDelete, controllers.DefinitionsPath+"things.g2.org", value.Value{}); err != nil {
		t.Fatal(err)
	}
	await(t, "a definition to be gone", func() bool {
		look()
		return s.catalog().Lookup("g2.org", "things") == nil
	})
	if s.catalog() == served {
		t.Error("the catalog changed in place")
	}
}

// TestManyDefinitions counts what one more definition takes beside few and beside many others, each in a group of its own, and
// all in one.
func TestManyDefinitions(t *testing.T) {
	const few, many, each = 20, 320, 20
	for _, c := range []struct{ name, group string }{{"a group for each", "g%d.org"}, {"one group", "g.org"}} {
		t.Run(c.name, func(t *testing.T) {
			s, err := New(Config{})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			n := 0
			define := func() {
				group := c.group
				if strings.Contains(group, "%d") {
					group = fmt.Sprintf(group, n)
				}
				if err := s.Create(t.Context(), thing(t, fmt.Sprintf("things%d", n), group)); err != nil {
					t.Fatal(err)
				}
				n++
			}
			after := func(others int) float64 {
				for n < others {
					define()
				}
				return testing.AllocsPerRun(each, define)
			}
			atFirst, later := after(few), after(many)
			if later > 1.3*atFirst {
				t.Errorf("beside %d others a definition takes %v allocations, beside %d it takes %v", few, atFirst, many, later)
			}
		})
	}
}

// TestDefinedAnew deletes a definition and creates another one of its name before anybody looks: the resource is another one, and watches
// of the first end.
func TestDefinedAnew(t *testing.T) {
	for _, in := range []store.Store{memory.New(), storetest.WithoutHistory{Store: memory.New()}} {
		s, err := New(Config{Objects: []value.Value{thing(t, "things", "g.org")}, Store: in})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		key, before := s.definitions.Prefix+"things.g.org", s.catalog().Lookup("g.org", "things")
		record, err := in.Get(t.Context(), key, 0)
		if err == nil {
			_, err = in.Delete(t.Context(), key, 0)
		}
		if err == nil {
			_, err = in.Put(t.Context(), key, bytes.Replace(record.Text, []byte(`"uid":"`), []byte(`"uid":"0`), 1), 0)
		}
		if err == nil {
			err = s.definitions.Sync(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		if after := s.catalog().Lookup("g.org", "things"); after == nil || after == before || before.Gone.Err() == nil || after.Gone.Err() != nil {
			t.Errorf("the resource is %p after %p, and its watches have ended: %v", after, before, before.Gone.Err())
		}
	}
}

// TestDefinitionDeleted marks a definition whose objects hold it: watches see how they go, and end when it is gone. A change of its schema
// ends them at once.
func TestDefinitionDeleted(t *testing.T) {
	s, err := New(Config{Objects: []value.Value{thing(t, "things", "g.org"), thing(t, "others", "g.org")}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	find := func(plural string) *catalog.Resource { return s.catalog().Lookup("g.org", plural) }
	object, err := value.Parse([]byte(`{"apiVersion":"g.org/v1","kind":"Kindthings","metadata":{"name":"o","finalizers":["example.org/wait"]}}`))
	if err == nil {
		err = s.client.Send(t.Context(), http.MethodPost, "/apis/g.org/v1/things", object)
	}
	if err == nil {
		err = s.client.Send(t.Context(), http.MethodDelete, controllers.DefinitionsPath+"things.g.org", value.Value{})
	}
	if err != nil {
		t.Fatal(err)
	}
	if r := find("things"); r == nil || r.Gone.Err() != nil {
		t.Errorf("watches of a definition that is being deleted have ended")
	}
	was := find("others")
	schema, err := value.Parse([]byte(`{"spec":{"versions":[{"name":"v1","served":true,"storage":true,
		"schema":{"openAPIV3Schema":{"type":"object","description":"another"}}}]}}`))
	if err == nil {
		err = s.client.Send(t.Context(), http.MethodPatch, controllers.DefinitionsPath+"others.g.org", schema)
	}
	if now := find("others"); err != nil || now == was || was.Gone.Err() == nil || now.Gone.Err() != nil {
		t.Errorf("watches of a schema that changed have ended: %v; %v", was.Gone.Err(), err)
	}
}

// TestNames writes definitions that want each other's names, deletes some, and checks what is stored afterwards. No
// two definitions have the same name. A definition has each name that it wants and that is free, and no other names.
func TestNames(t *testing.T) {
	for _, in := range []store.Store{memory.New(), storetest.WithoutHistory{Store: memory.New()}} {
		s, err := New(Config{Store: in})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		random := seeds.Rand(t)
		some := func(of ...string) value.Value { return value.String(of[random.IntN(len(of))]) }
		waited, problem := 0, ""
		defer func() {
			if problem != "" {
				t.Error(problem)
			}
		}()
		for range 300 {
			name := fmt.Sprintf("things%d", random.IntN(6))
			names := value.Object(value.Member{Name: "listKind", Value: some("AList", "BList", "CList", "DList")},
				value.Member{Name: "singular", Value: some("a", "b", "c", "d", "e", "f", "g")},
				value.Member{Name: "shortNames", Value: value.Null()}, value.Member{Name: "categories", Value: value.Null()})
			if random.IntN(2) == 0 {
				names = names.With("shortNames", value.List(some("a", "b", "c"), some("d", "e", "f"))).With("categories", value.List(some("all", "most")))
			}
			switch definition := thing(t, name, "g.org"); random.IntN(5) {
			case 0:
				err = s.client.Send(t.Context(), http.MethodDelete, controllers.DefinitionsPath+name+".g.org", value.Value{})
			case 1:
				spec := definition.Get("spec")
				wanted := names.With("plural", value.String(name)).With("kind", some("A", "B", "C"))
				err = s.client.Send(t.Context(), http.MethodPost, strings.TrimSuffix(controllers.DefinitionsPath, "/"), definition.With("spec", spec.With("names", wanted)))
			default:
				patch := value.Object(value.Member{Name: "spec", Value: value.Object(value.Member{Name: "names", Value: names})})
				err = s.client.Send(t.Context(), http.MethodPatch, controllers.DefinitionsPath+name+".g.org", patch)
			}
			if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsAlreadyExists(err) {
				t.Fatal(err)
			}
			waiting := 0
			await(t, "names that agree, as deletions are finished in the background", func() bool {
				stored, err := registry.Objects(t.Context(), s.reader.Store, s.catalog().Lookup("apiextensions.k8s.io", "customresourcedefinitions"))
				if err != nil {
					t.Fatal(err)
				}
				waiting, problem = checkNames(stored)
				return problem == ""
			})
			waited += waiting
		}
		if waited < 100 {
			t.Errorf("only %d names were waited for", waited)
		}
	}
}

// checkNames holds definitions of one group against the law of [TestNames], and returns how many fields some of them wait for.
func checkNames(all []value.Value) (waiting int, problem string) {
	resources, kinds := map[string]string{}, map[string]string{} // who has a name
	take := func(of map[string]string, name, by string) {
		if other, taken := of[name]; taken && other != by {
			problem = fmt.Sprintf("%s and %s have the name %s", other, by, name)
		}
		of[name] = by
	}
	for _, d := range all {
		names, by := d.Get("status", "acceptedNames"), d.Get("metadata", "name").Str()
		for name := range names.Get("shortNames").Items() {
			take(resources, name.Str(), by)
		}
		for _, field := range []string{"plural", "singular"} {
			if name := names.Get(field).Str(); name != "" {
				take(resources, name, by)
			}
		}
		for _, field := range []string{"kind", "listKind"} {
			if name := names.Get(field).Str(); name != "" {
				take(kinds, name, by)
			}
		}
	}
	for _, d := range all {
		wanted, has, by := d.Get("spec", "names"), d.Get("status", "acceptedNames"), d.Get("metadata", "name").Str()
		content := true
		for _, field := range []string{"plural", "singular", "shortNames", "kind", "listKind", "categories"} {
			want, owners := wanted.Get(field), resources
			if want.Equal(has.Get(field)) {
				continue
			}
			if strings.HasSuffix(strings.ToLower(field), "kind") {
				owners = kinds
			}
			content = false
			waiting++
			each := []value.Value{want}
			if want.Kind() == value.KindList {
				each = slices.Collect(want.Items())
			}
			had := value.List(has.Get(field))
			if has.Get(field).Kind() == value.KindList {
				had = has.Get(field)
			}
			// A definition is in its own way if it has the name in another field.
			if !slices.ContainsFunc(each, func(name value.Value) bool {
				owner := owners[name.Str()]
				return owner != "" && (owner != by || !slices.ContainsFunc(slices.Collect(had.Items()), name.Equal))
			}) {
				problem = fmt.Sprintf("%s wants %s: %v, has %v, and no other field does", by, field, want, has.Get(field))
			}
		}
		if crd.HasNames(d) != content {
			problem = fmt.Sprintf("%s has all of its names: %t", by, content)
		}
		// The condition of a conflict stays after the definition has given up the name.
		for c := range d.Get("status", "conditions").Items() {
			if c.Get("type").Str() == "NamesAccepted" && c.Get("status").Str() == "True" && !content {
				problem = fmt.Sprintf("%s lacks names, and its status says that it has them", by)
			}
		}
	}
	return waiting, problem
}

// TestStaleStatus has a definition want another name while its status is written, which gives it the first one. That has another definition
// by then: the status that comes too late is not written.
func TestStaleStatus(t *testing.T) {
	var s *Server
	send := func(method, path string, object value.Value) {
		if err := s.client.Send(context.Background(), method, path, object); err != nil {
			t.Error(err)
		}
	}
	named := func(plural, kind string) value.Value {
		d := thing(t, plural, "g.org")
		return d.With("spec", d.Get("spec").With("names", d.Get("spec", "names").With("kind", value.String(kind))))
	}
	all := strings.TrimSuffix(controllers.DefinitionsPath, "/")
	once := false
	s, err := New(Config{Admission: admission.Chain{admission.Validate(func(_ context.Context, r *admission.Request) error {
		if r.Name == "first.g.org" && r.Subresource == "status" && !once {
			once = true
			patch := value.Object(value.Member{Name: "spec", Value: value.Object(value.Member{Name: "names", Value: named("first", "Taken").Get("spec", "names")})})
			send(http.MethodPatch, controllers.DefinitionsPath+"first.g.org", patch)
			send(http.MethodPost, all, named("second", "Wanted"))
		}
		return nil
	})}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	send(http.MethodPost, all, named("other", "Taken"))
	send(http.MethodPost, all, named("first", "Wanted"))
	problem := ""
	await(t, "names that agree", func() bool {
		stored, err := registry.Objects(t.Context(), s.reader.Store, s.catalog().Lookup("apiextensions.k8s.io", "customresourcedefinitions"))
		if err != nil {
			t.Fatal(err)
		}
		_, problem = checkNames(stored)
		return problem == "" && len(stored) == 3
	})
	if problem != "" || !once {
		t.Error(problem)
	}
}
