package aggregation_test

import (
	"net/http"
	"regexp"
	"testing"

	"github.com/deed-project/deed/server/internal/servertest"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/server/store/memory"
	"github.com/deed-project/deed/value"
)

const (
	services = "/apis/apiregistration.k8s.io/v1/apiservices/"
	prefix   = "/registry/apiregistration.k8s.io/apiservices/"
)

// identity is what differs between two APIServices with the same content.
var identity = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)

// stored returns the stored text of an APIService without its identity, "" if there is none.
func stored(t *testing.T, s store.Store, name string) string {
	t.Helper()
	page, err := s.Range(t.Context(), store.Range{Prefix: prefix + name, Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	if len(page.Records) == 0 || page.Records[0].Key != prefix+name {
		return ""
	}
	return identity.ReplaceAllString(string(page.Records[0].Text), "-")
}

// TestPrepared compares the APIServices that a server stores before the first request for APIServices with those that requests create.
func TestPrepared(t *testing.T) {
	objects := memory.New()
	defer objects.Close()
	s := servertest.On(t, objects, servertest.WidgetDefinitions(t)...)
	for _, name := range []string{"v1.", "v1.apps", "v2.autoscaling", "v1.example.org"} {
		object := servertest.Parsed(t, servertest.Ask(s, "GET "+services+name, ""))
		want := stored(t, objects, name)
		metadata := object.Get("metadata")
		body := object.With("status", value.Value{}).With("metadata", value.Object(
			value.Member{Name: "name", Value: metadata.Get("name")}, value.Member{Name: "labels", Value: metadata.Get("labels")}))
		if _, err := objects.Delete(t.Context(), prefix+name, 0); err != nil {
			t.Fatal(err)
		}
		servertest.Create(t, s, services[:len(services)-1]+"?fieldManager=kube-apiserver", body.String())
		if got := stored(t, objects, name); got != want || want == "" {
			t.Errorf("a request creates\n%s\nand the start of a server\n%s", got, want)
		}
	}
}

// TestDefinitions registers versions of definitions as long as a definition serves them, and restores what others do to them.
func TestDefinitions(t *testing.T) {
	objects := memory.New()
	defer objects.Close()
	s := servertest.On(t, objects)
	const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	const name = "v1.example.org"
	servertest.Ask(s, "GET "+services+"v1.", "") // from now on they are registered
	create := func(plural string) { servertest.Create(t, s, definitions, servertest.Definition(plural)) }
	create("gears")
	want := stored(t, objects, name)
	if want == "" {
		t.Fatal("the version of a definition is not registered")
	}
	create("wheels")
	send := func(method, path, body string) {
		t.Helper()
		if code, v := servertest.Send(t, s, method, path, body); code != http.StatusOK {
			t.Fatalf("%s %s: %d %v", method, path, code, v)
		}
	}
	send(http.MethodDelete, services+name, "")
	if got := stored(t, objects, name); got != want {
		t.Errorf("after its deletion it is %s, want %s", got, want)
	}
	spec := func() value.Value {
		return servertest.Parsed(t, servertest.Ask(s, "GET "+services+name, "")).Get("spec")
	}
	was := spec()
	send(http.MethodPatch, services+name, `{"spec":{"versionPriority":7}}`)
	if got := spec(); !got.Equal(was) {
		t.Errorf("after a change its spec is %v, want %v", got, was)
	}
	send(http.MethodDelete, definitions+"/gears.example.org", "")
	servertest.Await(t, func() bool {
		code, _ := servertest.Send(t, s, http.MethodGet, definitions+"/gears.example.org", "")
		return code == http.StatusNotFound
	})
	if stored(t, objects, name) == "" {
		t.Error("the version is gone while a definition serves it")
	}
	send(http.MethodDelete, definitions+"/wheels.example.org", "")
	servertest.Await(t, func() bool { return stored(t, objects, name) == "" })

	// An APIService without the label belongs to a user, and stays as it is.
	servertest.Create(t, s, services[:len(services)-1], `{"metadata":{"name":"v1.example.org"},"spec":{"group":"example.org","version":"v1",
		"groupPriorityMinimum":5,"versionPriority":6}}`)
	create("gears")
	if got := spec().Get("versionPriority").Int(); got != 6 {
		t.Errorf("an APIService of somebody else gets the priority %d", got)
	}
	send(http.MethodDelete, definitions+"/gears.example.org", "")
	servertest.Await(t, func() bool {
		code, _ := servertest.Send(t, s, http.MethodGet, definitions+"/gears.example.org", "")
		return code == http.StatusNotFound
	})
	if stored(t, objects, name) == "" {
		t.Error("an APIService of somebody else is gone")
	}
	create("gears")
	send(http.MethodDelete, services+name, "")
	if got := stored(t, objects, name); got != want {
		t.Errorf("after the deletion of that of somebody else, it is %s, want %s", got, want)
	}
}
