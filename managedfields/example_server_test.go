package managedfields_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
)

// store is an API server for the ConfigMaps of one namespace: apply by PATCH and update by PUT, over stored JSON.
type store struct {
	fields  *managedfields.FieldManager
	objects map[string][]byte // by path
}

// ServeHTTP answers the two kinds of writes.
func (s *store) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var sent, live, stored managedfields.Object
	if err == nil {
		sent, err = managedfields.ParseObject(body)
	}
	if text, found := s.objects[r.URL.Path]; found && err == nil {
		live, err = managedfields.ParseObject(text)
	}
	manager, force := r.URL.Query().Get("fieldManager"), r.URL.Query().Get("force") == "true"
	switch {
	case err != nil:
	case r.Method == http.MethodPatch:
		stored, err = s.fields.Apply(live, sent, manager, force)
	default:
		stored, err = s.fields.Update(live, sent, manager)
	}
	if err != nil {
		status := managedfields.ToStatus(err)
		w.WriteHeader(status.Code)
		json.NewEncoder(w).Encode(status)
		return
	}
	s.objects[r.URL.Path] = stored.AppendJSON(nil)
	w.Write(s.objects[r.URL.Path])
}

// The field manager of one endpoint is all that an API server needs for server-side apply, beside storage.
func Example_server() {
	gvk := schema.GVK{Version: "v1", Kind: "ConfigMap"}
	typ, _ := builtin.Catalog().Lookup(gvk)
	fields, err := managedfields.New(managedfields.Config{
		GVK: gvk, Types: map[string]*schema.Type{"v1": typ},
		Now: func() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	server := &store{fields: fields, objects: map[string][]byte{}}
	send := func(method, manager, data string) {
		object := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":` + data + `}`
		answer := httptest.NewRecorder()
		server.ServeHTTP(answer, httptest.NewRequest(method, "/configmaps/c?fieldManager="+manager, strings.NewReader(object)))
		fmt.Println(answer.Code, strings.TrimSpace(answer.Body.String()))
	}
	send("PATCH", "alice", `{"a":"1"}`)
	send("PATCH", "bob", `{"a":"2"}`)
	send("PUT", "carol", `{"b":"3"}`)
	// Output:
	// 200 {"apiVersion":"v1","data":{"a":"1"},"kind":"ConfigMap","metadata":{"managedFields":[{"apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:a":{}}},"manager":"alice","operation":"Apply","time":"2026-01-01T00:00:00Z"}],"name":"c"}}
	// 409 {"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Apply failed with 1 conflict: conflict with \"alice\": .data.a","reason":"Conflict","details":{"causes":[{"reason":"FieldManagerConflict","message":"conflict with \"alice\"","field":".data.a"}]},"code":409}
	// 200 {"apiVersion":"v1","data":{"b":"3"},"kind":"ConfigMap","metadata":{"managedFields":[{"apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:b":{}}},"manager":"carol","operation":"Update","time":"2026-01-01T00:00:00Z"}],"name":"c"}}
}

// fake is a cluster for tests of code that applies unstructured objects.
type fake struct {
	fields  *managedfields.FieldManager
	objects map[string]map[string]any // by name
}

// apply is what the code under test calls instead of a client.
func (f *fake) apply(config map[string]any, manager string) (map[string]any, error) {
	sent, err := managedfields.ObjectFromAny(config)
	if err != nil {
		return nil, err
	}
	name := sent.Content.Get("metadata", "name").Str()
	var live managedfields.Object
	if stored, found := f.objects[name]; found {
		if live, err = managedfields.ObjectFromAny(stored); err != nil {
			return nil, err
		}
	}
	applied, err := f.fields.Apply(live, sent, manager, false)
	if err != nil {
		return nil, err
	}
	f.objects[name], err = applied.AsAny()
	return f.objects[name], err
}

// Kinds without a schema are deduced: their objects merge member by member, their lists are replaced.
func Example_fake() {
	gvk := schema.GVK{Group: "example.com", Version: "v1", Kind: "Widget"}
	fields, err := managedfields.New(managedfields.Config{
		GVK: gvk, Types: map[string]*schema.Type{gvk.APIVersion(): schema.Deduced},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	cluster := &fake{fields: fields, objects: map[string]map[string]any{}}
	widget := func(spec map[string]any) map[string]any {
		return map[string]any{
			"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"name": "w"}, "spec": spec,
		}
	}
	for _, step := range []struct {
		manager string
		spec    map[string]any
	}{
		{"alice", map[string]any{"size": int64(1), "color": "red"}},
		{"bob", map[string]any{"color": "red", "shape": "round"}},
		{"alice", map[string]any{"size": int64(2)}},
		{"bob", map[string]any{"size": int64(3)}},
	} {
		stored, err := cluster.apply(widget(step.spec), step.manager)
		fmt.Println(stored["spec"], err)
	}
	// Output:
	// map[color:red size:1] <nil>
	// map[color:red shape:round size:1] <nil>
	// map[color:red shape:round size:2] <nil>
	// <nil> Apply failed with 1 conflict: conflict with "alice": .spec.size
}
