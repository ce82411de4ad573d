package registry_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/registry"
	"github.com/deed-project/deed/server/store/memory"
	"github.com/deed-project/deed/value"
)

// form is a form that loads objects with one more member, and refuses those that have it.
type form struct{ catalog.Form }

// Load returns stored with a member.
func (form) Load(stored value.Value) (value.Value, error) {
	if !stored.Get("loaded").IsAbsent() {
		return stored, errors.New("loaded already")
	}
	return stored.With("loaded", value.Bool(true)), nil
}

// TestObjects reads objects that are there, are not, and cannot be read.
func TestObjects(t *testing.T) {
	ctx, s := t.Context(), memory.New()
	defer s.Close()
	for key, text := range map[string]string{
		"/a/x": `{"metadata":{"managedFields":[],"name":"x"}}`, "/a/y": `{"metadata":{"name":"y"}}`, "/b/x": `no JSON`, "/c/x": `{"loaded":1}`,
	} {
		if _, err := s.Put(ctx, key, []byte(text), 0); err != nil {
			t.Fatal(err)
		}
	}
	for key, want := range map[string]string{"/a/y": `{"metadata":{"name":"y"}} <nil>`, "/a/z": " <nil>"} {
		object, err := registry.Object(ctx, s, key)
		got := ""
		if !object.IsAbsent() {
			got = object.String()
		}
		if got += fmt.Sprint(" ", err); got != want {
			t.Errorf("%s is %s, want %s", key, got, want)
		}
	}
	if _, err := registry.Object(ctx, s, "/b/x"); err == nil {
		t.Error("an object that is no JSON is read")
	}
	for prefix, want := range map[string]string{"/a/": "x true y true <nil>", "/b/": "/b/x: ", "/c/": "/c/x: loaded already", "/d/": "<nil>"} {
		objects, err := registry.Objects(ctx, s, &catalog.Resource{Prefix: prefix, Versions: []*catalog.Version{{Form: form{}}}})
		got := ""
		for _, o := range objects {
			got += fmt.Sprint(o.Get("metadata", "name").Str(), " ", o.Get("loaded").Bool(), " ")
		}
		if got += fmt.Sprint(err); !strings.HasPrefix(got, want) {
			t.Errorf("the objects below %s are %s, want %s", prefix, got, want)
		}
		empty, err := registry.IsEmpty(ctx, s, prefix)
		if err != nil || empty != (prefix == "/d/") {
			t.Errorf("%s is empty: %v (error %v)", prefix, empty, err)
		}
	}
	s.Close()
	if _, err := registry.Object(ctx, s, "/a/x"); err == nil {
		t.Error("a store that is closed has an object")
	}
	if empty, err := registry.IsEmpty(ctx, s, "/d/"); empty || err == nil {
		t.Errorf("a store that is closed is empty: %v (error %v)", empty, err)
	}
}

// TestTerminating tells objects that are being deleted from others.
func TestTerminating(t *testing.T) {
	for text, want := range map[string][2]bool{
		`{"metadata":{"deletionTimestamp":"x"}}`: {true, true},
		`{"deletionTimestamp":"x"}`:              {false, true},
		`{"metadata":{"name":"x"}}`:              {false, false},
	} {
		object, err := value.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if got := [2]bool{registry.IsTerminating(object), registry.MayBeTerminating([]byte(text))}; got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}
