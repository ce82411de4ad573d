package server_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/deed-project/deed/server/internal/servertest"
	"github.com/deed-project/deed/value"
)

// notServed are the resources and subresources that a kube-apiserver has and this one has not.
var notServed []string

// unserved reports whether a document, or a part of one, is about what is not served here: resources, their paths and the schemas of their
// kinds, and metrics of health checks.
func unserved(name string) bool {
	resource := strings.NewReplacer("{name}/", "", "{namespace}/", "", "/{name}", "", "/{path}", "", "watch/", "").Replace(name)
	for _, unserved := range notServed {
		if strings.HasSuffix(resource, "/"+unserved) || resource == unserved {
			return true
		}
	}
	return strings.Contains(name, "/metrics/slis")
}

// withoutUnserved returns a document without what is not served here, absent if nothing is left.
func withoutUnserved(document value.Value) value.Value {
	switch document.Kind() {
	case value.KindObject:
		if unserved(nameOf(document)) {
			return value.Value{}
		}
		out := document
		for name, member := range document.Members() {
			if unserved(name) {
				out = out.With(name, value.Value{})
				continue
			}
			out = out.With(name, withoutUnserved(member))
		}
		if subs := document.Get("subresources"); !subs.IsAbsent() {
			served := slices.DeleteFunc(slices.Collect(subs.Items()), func(sub value.Value) bool {
				return unserved(nameOf(document) + "/" + sub.Get("subresource").Str())
			})
			if out = out.With("subresources", value.Value{}); len(served) > 0 {
				out = out.With("subresources", value.List(served...))
			}
		}
		return out
	case value.KindList:
		var out []value.Value
		for item := range document.Items() {
			if item.Kind() == value.KindString && unserved(item.Str()) {
				continue
			}
			if item = withoutUnserved(item); !item.IsAbsent() {
				out = append(out, item)
			}
		}
		return value.List(out...)
	}
	return document
}

// nameOf returns the name of a group or a resource in a document of discovery.
func nameOf(v value.Value) string {
	for _, at := range [][]string{{"metadata", "name"}, {"name"}, {"resource"}} {
		if name := v.Get(at...); name.Kind() == value.KindString {
			return name.Str()
		}
	}
	return ""
}

// TestAggregatedDiscovery asks for what is known already.
func TestAggregatedDiscovery(t *testing.T) {
	s := servertest.Widgets(t)
	for _, path := range []string{"/api", "/apis"} {
		accept := " Accept=application/json" + aggregatedParams
		etag := servertest.Ask(s, "GET "+path+accept, "").Header().Get("Etag")
		if again := servertest.Ask(s, "GET "+path+accept+" If-None-Match="+etag, ""); etag == "" || again.Code != http.StatusNotModified {
			t.Errorf("%s: what is known is answered with %d", path, again.Code)
		}
	}
}
