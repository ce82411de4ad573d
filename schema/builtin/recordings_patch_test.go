package builtin_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// odd plays an apply of a configuration that may be none: the server looks at the request before the field manager
// does.
func (y *tally) odd(
	t *testing.T, where, kind string, s serverStep, live managedfields.Object, manager string, force bool,
) {
	response := parsed(t, s.Response)
	byRequest := []string{"error encoding patch", "error decoding patch", "the name of", "the namespace of"}
	for _, prefix := range byRequest {
		if strings.HasPrefix(response.Get("message").Str(), prefix) {
			y.compared["not played"]++
			return
		}
	}
	config, err := managedfields.ParseObject(named(t, s))
	if err != nil || s.Code == 422 || s.Code == 404 || s.Code == 409 && !strings.HasPrefix(response.Get("message").Str(), "Apply failed") {
		y.compared["not played"]++
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

func parsed(t *testing.T, text []byte) value.Value {
	t.Helper()
	v, err := value.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// patch plays a patch: an update with what the patch makes of the live object. A strategic merge patch of labels
// and annotations is like any other.
func (y *tally) patch(t *testing.T, where, kind string, s serverStep, manager string) {
	body := parsed(t, s.Body)
	for _, name := range []string{"metadata", "apiVersion", "kind"} {
		body = body.With(name, value.Value{})
	}
	plain := body.Len() == 0 && !strings.ContainsAny(string(s.Body), "[$")
	if s.Code >= 300 || s.Op == "smp" && !plain { // what a strategic merge patch does to spec is the server's to know
		y.compared["not played"]++
		return
	}
	live := parsed(t, s.Live)
	var patched value.Value
	switch s.Op {
	case "merge", "status-merge", "smp":
		patched = mergePatched(live, parsed(t, s.Body))
	case "jsonpatch":
		patched = live
		for op := range parsed(t, s.Body).Items() {
			pointer := strings.Split(op.Get("path").Str(), "/")[1:]
			patched = jsonPatched(patched, pointer, op)
		}
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
	out, err := m.Update(objectOf(t, s.Live), object, manager, managedfields.KeepEntries)
	if !out.Content.IsAbsent() {
		err = nil
	}
	y.compare(t, where, kind, s, out, err)
}

// mergePatched is a JSON merge patch.
func mergePatched(v, patch value.Value) value.Value {
	if patch.Kind() != value.KindObject {
		return patch
	}
	if v.Kind() != value.KindObject {
		v = value.Object()
	}
	for name, member := range patch.Members() {
		if member.IsNull() {
			v = v.With(name, value.Value{})
		} else {
			v = v.With(name, mergePatched(v.Get(name), member))
		}
	}
	return v
}

// jsonPatched carries out an operation of a JSON patch that is known to succeed.
func jsonPatched(v value.Value, pointer []string, op value.Value) value.Value {
	name := strings.NewReplacer("~1", "/", "~0", "~").Replace(pointer[0])
	if v.Kind() == value.KindList {
		var items []value.Value
		for item := range v.Items() {
			items = append(items, item)
		}
		i, _ := strconv.Atoi(name)
		if len(pointer) > 1 {
			items[i] = jsonPatched(items[i], pointer[1:], op)
			return value.List(items...)
		}
		switch op.Get("op").Str() {
		case "remove":
			items = append(items[:i], items[i+1:]...)
		case "replace":
			items[i] = op.Get("value")
		}
		return value.List(items...)
	}
	if len(pointer) > 1 {
		return v.With(name, jsonPatched(v.Get(name), pointer[1:], op))
	}
	switch op.Get("op").Str() {
	case "remove":
		return v.With(name, value.Value{})
	case "add", "replace":
		return v.With(name, op.Get("value"))
	}
	return v
}

// scale plays a write of the number of replicas: the parent's managers go to a Scale object and come back from it.
func (y *tally) scale(t *testing.T, where, kind string, s serverStep, manager string, force bool) {
	gvk := schema.ParseGVK(s.APIVersion, kind)
	parent := objectOf(t, s.Live)
	response := parsed(t, s.Response)
	handler := managedfields.NewScaleHandler(parent.Entries, s.APIVersion, y.kind(t, gvk).Replicas())
	entries, err := handler.ToSubresource()
	if err != nil {
		t.Fatal(err)
	}
	live := managedfields.Object{Content: scaleOf(parent.Content), Entries: entries}
	m := y.scaleManager(t)
	body := parsed(t, s.Body)
	var out managedfields.Object
	if s.Op == "scale-apply" {
		config, failed := managedfields.ObjectOf(body)
		if failed != nil {
			t.Fatal(failed)
		}
		out, err = m.Apply(live, config, manager, force)
	} else {
		if s.Op == "scale-merge" {
			body = mergePatched(live.Content, body)
		}
		object, failed := managedfields.ObjectOf(body)
		if failed != nil {
			t.Fatal(failed)
		}
		out, err = m.Update(live, object, manager, managedfields.KeepEntries)
	}
	if err != nil || s.Code >= 300 {
		text := ""
		if err != nil {
			text = err.Error()
		}
		y.same(t, where, kind, "conflicts", causes(response.Get("message").Str()), causes(text))
		return
	}
	if len(s.After) == 0 || strings.Contains(s.Query, "dryRun") {
		return
	}
	after, err := handler.ToParent(out.Entries)
	if err != nil {
		t.Fatal(err)
	}
	y.same(t, where, kind, "managedFields", entriesText(objectOf(t, s.After)), entriesText(managedfields.Object{Entries: after}))
	k := y.kind(t, gvk)
	count := value.Int(out.Content.At("spec", "replicas").Int())
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
	if n := parent.At("spec", "replicas"); n.Int() != 0 {
		v = v.With("spec", value.Object(value.Member{Name: "replicas", Value: n}))
	}
	return v.With("metadata", names)
}
