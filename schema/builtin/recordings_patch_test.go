package builtin_test

import (
	"strings"
	"testing"

	"github.com/deed-project/deed/internal/mergepatch"
	"github.com/deed-project/deed/internal/testing/recording"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// odd plays an apply of a configuration that may be none: the server looks at the request before the field manager
// does.
func (y *tally) odd(
	t *testing.T, where, kind string, s recording.Exchange, live managedfields.Object, manager string, force bool,
) {
	response := s.Response
	byRequest := []string{"error encoding patch", "error decoding patch", "the name of", "the namespace of"}
	for _, prefix := range byRequest {
		if strings.HasPrefix(response.Get("message").Str(), prefix) {
			y.Leave("refused before the field manager sees it")
			return
		}
	}
	config, err := managedfields.ParseObject(s.Sent())
	if err != nil || s.Code == 422 || s.Code == 404 || s.Code == 409 && !strings.HasPrefix(response.Get("message").Str(), "Apply failed") {
		y.Leave("refused before or after the field manager sees it")
		return
	}
	out, err := y.manager(t, schema.ParseGVK(s.APIVersion, kind), "").Apply(live, config, manager, force)
	if s.Code == 400 {
		text := ""
		if err != nil {
			text = managedfields.ToStatus(err).Message
		}
		y.same(t, where, kind, "refusals", response.Get("message").Str(), text)
		return
	}
	y.compare(t, where, kind, s, out, err)
}

// patch plays a patch: an update with what the patch makes of the live object.
func (y *tally) patch(t *testing.T, where, kind string, s recording.Exchange, manager string) {
	if s.Code >= 300 {
		y.Leave("a refused patch")
		return
	}
	patched, known := s.Patched()
	if !known {
		y.Leave("a strategic merge patch of more than labels and annotations")
		return
	}
	object, err := managedfields.ObjectOf(patched)
	if err != nil {
		t.Fatalf("%s: %v", where, err)
	}
	if manager == "" {
		manager, _, _ = strings.Cut(s.UserAgent, "/")
	}
	subresource := ""
	if s.Op == "status-merge" {
		subresource = "status"
	}
	m := y.manager(t, schema.ParseGVK(s.APIVersion, kind), subresource)
	out, err := m.Update(objectOf(t, s.Live), object, manager)
	if !out.Content.IsAbsent() {
		err = nil
	}
	y.compare(t, where, kind, s, out, err)
}

// scale plays a write of the number of replicas: the parent's managers go to a Scale object and come back from it.
func (y *tally) scale(t *testing.T, where, kind string, s recording.Exchange, manager string, force bool) {
	gvk := schema.ParseGVK(s.APIVersion, kind)
	parent := objectOf(t, s.Live)
	response := s.Response
	replicas := y.kind(t, gvk).Replicas()
	entries, err := managedfields.ScaleEntries(parent.Entries, replicas)
	if err != nil {
		t.Fatal(err)
	}
	live := managedfields.Object{Content: scaleOf(parent.Content), Entries: entries}
	m := y.scaleManager(t)
	body := s.Body
	var out managedfields.Object
	if s.Op == "scale-apply" {
		config, failed := managedfields.ObjectOf(body)
		if failed != nil {
			t.Fatal(failed)
		}
		out, err = m.Apply(live, config, manager, force)
	} else {
		if s.Op == "scale-merge" {
			body = mergepatch.Apply(live.Content, body)
		}
		object, failed := managedfields.ObjectOf(body)
		if failed != nil {
			t.Fatal(failed)
		}
		out, err = m.Update(live, object, manager)
	}
	if err != nil || s.Code >= 300 {
		text := ""
		if err != nil {
			text = err.Error()
		}
		y.same(t, where, kind, "conflicts", recording.SortedLines(response.Get("message").Str()), recording.SortedLines(text))
		return
	}
	if s.After.Kind() != value.KindObject || strings.Contains(s.Query, "dryRun") {
		return
	}
	after, err := managedfields.EntriesAfterScale(parent.Entries, out.Entries, s.APIVersion, replicas)
	if err != nil {
		t.Fatal(err)
	}
	y.same(t, where, kind, "managedFields", recording.Owners(s.After), ownersOf(t, managedfields.Object{Content: value.Object(), Entries: after}))
	k := y.kind(t, gvk)
	count := value.Int(out.Content.Get("spec", "replicas").Int())
	scaled := parent.Content.With("spec", parent.Content.Get("spec").With("replicas", count))
	stored, err := k.Store("", parent.Content, scaled, scaled)
	if err != nil {
		t.Fatal(err)
	}
	y.sameObject(t, where, kind, objectOf(t, s.After).Content, stored)
}

// scaleOf returns the Scale of an object.
func scaleOf(parent value.Value) value.Value {
	metadata := parent.Get("metadata")
	v, err := value.Parse([]byte(`{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{},"spec":{},"status":{"replicas":0}}`))
	if err != nil {
		panic(err)
	}
	names := value.Object()
	for _, name := range []string{"name", "namespace", "uid", "resourceVersion", "creationTimestamp"} {
		names = names.With(name, metadata.Get(name))
	}
	if n := parent.Get("spec", "replicas"); n.Int() != 0 {
		v = v.With("spec", value.Object(value.Member{Name: "replicas", Value: n}))
	}
	return v.With("metadata", names)
}
