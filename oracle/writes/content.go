package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/deed-project/deed/oracle/pair"
)

// with returns an object with a value at a path of names.
func with(object map[string]any, v any, path ...string) map[string]any {
	return put(object, pair.Edit{Path: stepsOf(path), Value: v})
}

// without returns an object without what a path of names leads to.
func without(object map[string]any, path ...string) map[string]any {
	if pair.Get(object, path[:len(path)-1]...) == nil && len(path) > 1 {
		return object
	}
	return put(object, pair.Edit{Path: stepsOf(path), Remove: true})
}

func put(object map[string]any, e pair.Edit) map[string]any {
	return pair.Put(object, e.Path, e).(map[string]any)
}

func stepsOf(path []string) []any {
	out := make([]any, len(path))
	for i, name := range path {
		out[i] = name
	}
	return out
}

// place is where a value stands in a document.
type place struct {
	path  []any
	value any
}

// pointer returns the path as a JSON pointer.
func (p place) pointer() string {
	var b strings.Builder
	for _, step := range p.path {
		fmt.Fprint(&b, "/", strings.NewReplacer("~", "~0", "/", "~1").Replace(fmt.Sprint(step)))
	}
	return b.String()
}

// places calls yield with each place below the root of a document, parents first.
func places(v any, path []any, yield func(place)) {
	below := func(step any, v any) {
		p := place{append(slices.Clone(path), step), v}
		yield(p)
		places(v, p.path, yield)
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			below(name, v[name])
		}
	case []any:
		for i, item := range v {
			below(i, item)
		}
	}
}

// place returns a random place that is one of those wanted, or nil.
func (w *writer) place(document any, wanted func(place) bool) *place {
	var found []place
	places(document, nil, func(p place) {
		if wanted(p) {
			found = append(found, p)
		}
	})
	if len(found) == 0 {
		return nil
	}
	return &found[w.IntN(len(found))]
}

// identity returns metadata with the name, and sometimes without the namespace.
func (w *writer) identity() map[string]any {
	out := map[string]any{"name": w.name}
	if w.kind.namespace != "" && w.chance(0.7) {
		out["namespace"] = w.kind.namespace
	}
	return out
}

// named returns an object of the kind with a name.
func (w *writer) named(object map[string]any) map[string]any {
	object = maps.Clone(object)
	object["apiVersion"], object["kind"], object["metadata"] = w.group.Version, w.kind.name, w.identity()
	return object
}

// configuration returns what a manager wants: a base object with changes, often in part if the object exists.
func (w *writer) configuration() map[string]any {
	bases := slices.DeleteFunc(slices.Clone(w.kind.bases), func(b *pair.Base) bool { return b.Object["apiVersion"] != w.group.Version })
	var object map[string]any
	switch {
	case len(bases) > 0:
		object = one(w, bases...).Object
	case w.live != nil:
		object = w.live
	default: // of another version, which has other fields
		object = one(w, w.kind.bases...).Object
	}
	object = without(w.named(object), "status")
	if w.chance(0.3) {
		object = with(object, w.labels(), "metadata", "labels")
	}
	if w.chance(0.2) {
		object = with(object, map[string]any{one(w, "a", "b", "c.io/d"): one(w, "x", "y", "")}, "metadata", "annotations")
	}
	if w.chance(0.2) {
		object = w.marked(object)
	}
	if w.chance(0.3) { // so that a deletion waits, and writes come after it
		finalizers := one(w, []any{"f.io/a"}, []any{"f.io/a", "f.io/b"}, []any{})
		if w.chance(0.3) {
			finalizers = append(finalizers, one(w, "orphan", "foregroundDeletion", "kubernetes", "kubernetes.io/pvc-protection", "kubernetes.io/pv-protection",
				"batch.kubernetes.io/job-tracking", "f.io/a", "none", "f.io/A b"))
		}
		object = with(object, finalizers, "metadata", "finalizers")
	}
	if w.chance(0.1) {
		owner := map[string]any{"apiVersion": one(w, "v1", "apps/v1"), "kind": one(w, "ConfigMap", "ConfigMap", "Node"), "name": "x", "uid": one(w, "u1", "u2")}
		if w.chance(0.3) {
			owner[one(w, "controller", "blockOwnerDeletion")] = w.chance(0.7)
		}
		owners := []any{owner}
		if w.chance(0.2) {
			owners = append(owners, with(owner, one(w, "u1", "u3"), "uid"))
		}
		object = with(object, owners, "metadata", "ownerReferences")
	}
	object = w.varied(object)
	if w.live != nil && w.chance(0.5) {
		object = w.thinned(object)
	}
	return object
}

// marked returns an object with an annotation or a label that a kube-apiserver reads, of its own or of its template of pods.
func (w *writer) marked(object map[string]any) map[string]any {
	kind, at, container := w.kind.name, []any(nil), "absent"
	isSpec := func(p place) bool { return p.path[len(p.path)-1] == "spec" && pair.Get(p.value, "containers") != nil }
	if spec := w.place(object, isSpec); spec != nil && (kind == "Pod" || w.chance(0.7)) {
		kind, at = "Pod", spec.path[:len(spec.path)-1]
		if containers, _ := pair.Get(spec.value, "containers").([]any); len(containers) > 0 && w.chance(0.9) {
			container, _ = pair.Get(containers[0], "name").(string)
		}
	}
	member, name, value := pair.Mark(kind, container, w.IntN)
	path := append(slices.Clone(at), "metadata", member, name)
	return put(object, pair.Edit{Path: path, Value: value, Remove: w.chance(0.1)})
}

func (w *writer) labels() map[string]any {
	out := map[string]any{}
	for _, name := range [...]string{"app", "tier", "k.io/n"} {
		if w.chance(0.5) {
			out[name] = one(w, "x", "y", "z")
		}
	}
	return out
}

// inContent reports whether a place is neither in the metadata nor in the status.
func inContent(l *pair.Location) bool { return l.Path[0] != "metadata" && l.Path[0] != "status" }

// locations returns the places of an object that are wanted, with their schemas.
func (w *writer) locations(object map[string]any, absent int, wanted func(*pair.Location) bool) []*pair.Location {
	schemas := w.group.Schemas
	return slices.DeleteFunc(schemas.Locations(schemas.Of(w.kind.name), object, absent), func(l *pair.Location) bool { return !wanted(l) })
}

// varied returns an object with up to two other values, or with a field more.
func (w *writer) varied(object map[string]any) map[string]any {
	for range w.IntN(3) {
		found := w.locations(object, 0, func(l *pair.Location) bool { return l.Exists && inContent(l) })
		if len(found) == 0 {
			break
		}
		l := one(w, found...)
		object = put(object, pair.Edit{Path: l.Path, Value: w.alternative(l)})
	}
	if w.chance(0.25) {
		if found := w.locations(object, 1, func(l *pair.Location) bool { return !l.Exists && inContent(l) }); len(found) > 0 {
			l := one(w, found...)
			object = put(object, pair.Edit{Path: l.Path, Value: w.fresh(l.Schema, 0)})
		}
	}
	return object
}

// alternative returns another value for a place: what another object has in the field, or a change of what is there.
func (w *writer) alternative(l *pair.Location) any {
	if values := w.kind.values[l.Field]; len(values) > 1 && w.chance(0.6) {
		return one(w, values...)
	}
	switch v := l.Value.(type) {
	case []any:
		i := w.IntN(len(v) + 1)
		switch {
		case i == len(v):
			return append(slices.Clone(v), w.fresh(w.group.Schemas.Resolve(l.Schema.Items), 0))
		case w.chance(0.5):
			return slices.Delete(slices.Clone(v), i, i+1)
		}
		v = slices.Clone(v)
		slices.Reverse(v)
		return v
	case map[string]any:
		if l.Schema.Additional != nil {
			v = maps.Clone(v)
			v[one(w, "app", "a", "b.io/c")] = w.fresh(w.group.Schemas.Resolve(l.Schema.Additional), 0)
			return v
		}
		return v
	case string:
		if len(l.Schema.Enum) == 0 && l.Schema.Format == "" && w.chance(0.3) {
			return v + "x"
		}
	}
	return w.fresh(l.Schema, 0)
}

// fresh returns a value of a type that may be right.
func (w *writer) fresh(s *pair.Schema, depth int) any {
	resolve := w.group.Schemas.Resolve
	switch {
	case len(s.Enum) > 0:
		return one(w, s.Enum...)
	case s.Format == "quantity":
		return one[any](w, "1", "1000m", "2", "0.5", "1Gi", "1024Mi", 1)
	case s.Format == "int-or-string" || s.IntOrText:
		return one[any](w, 1, 2, "25%", "http")
	case s.Type == "integer" || s.Type == "number":
		return one[any](w, 0, 1, 2, 3, 80)
	case s.Type == "boolean":
		return w.chance(0.5)
	case s.Format == "date-time":
		return one(w, "2024-01-01T00:00:00Z", "2020-02-02T02:02:02Z") // with a fraction: see docs/divergences.md
	case s.Format == "byte":
		return "aGk=" // not "", for the same reason
	case s.Type == "string":
		return one(w, "x", "y", "z", "a", "a.b/c", "1", "", "True", "10.1.2.3")
	case s.Items != nil && depth < 3:
		out := []any{}
		for range w.IntN(3) {
			out = append(out, w.fresh(resolve(s.Items), depth+1))
		}
		return out
	case s.Items != nil:
		return []any{}
	}
	out := map[string]any{}
	switch {
	case depth >= 3:
	case s.Additional != nil:
		for _, name := range [...]string{"a", "b.io/c"} {
			if w.chance(0.5) {
				out[name] = w.fresh(resolve(s.Additional), depth+1)
			}
		}
	default:
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			if slices.Contains(s.Required, name) || w.chance(0.2) {
				out[name] = w.fresh(resolve(s.Properties[name]), depth+1)
			}
		}
	}
	return out
}

// thinned returns an object without some of what its schema does not require, as another manager has it.
func (w *writer) thinned(object map[string]any) map[string]any {
	for range 1 + w.IntN(4) {
		optional := func(l *pair.Location) bool {
			return l.Exists && !l.Required && len(l.Path) > 1 && !(l.Path[0] == "metadata" && (l.Path[1] == "name" || l.Path[1] == "namespace"))
		}
		found := w.locations(object, 0, optional)
		if len(found) == 0 {
			break
		}
		object = put(object, pair.Edit{Path: one(w, found...).Path, Remove: true})
	}
	return object
}

// mutated returns the stored object with parts of a configuration, and sometimes without one of its fields.
func (w *writer) mutated() map[string]any {
	object, other := w.live, w.configuration()
	for _, name := range slices.Sorted(maps.Keys(other)) {
		members, isObject := other[name].(map[string]any)
		switch {
		case name == "apiVersion" || name == "kind" || name == "metadata":
		case isObject:
			for _, member := range slices.Sorted(maps.Keys(members)) {
				if w.chance(0.4) {
					object = with(object, members[member], name, member)
				}
			}
		case w.chance(0.4):
			object = with(object, other[name], name)
		}
	}
	if w.chance(0.4) {
		object = with(object, w.labels(), "metadata", "labels")
	}
	if w.chance(0.2) {
		object = w.marked(object)
	}
	if w.chance(0.3) {
		if found := w.locations(object, 0, func(l *pair.Location) bool { return l.Exists && inContent(l) }); len(found) > 0 {
			object = put(object, pair.Edit{Path: one(w, found...).Path, Remove: true})
		}
	}
	return object
}

// newStatus returns a status: that of a base object or the stored one, with changes.
func (w *writer) newStatus() any {
	s := w.group.Schemas.Resolve(w.group.Schemas.Of(w.kind.name).Properties["status"])
	status := any(map[string]any{})
	if values := w.kind.values["status"]; len(values) > 0 && w.chance(0.6) {
		status = one(w, values...)
	} else if v := w.live["status"]; v != nil && w.chance(0.5) {
		status = v
	}
	for range w.IntN(3) {
		found := w.group.Schemas.Locations(s, status, 0)
		if len(found) == 0 {
			break
		}
		l := one(w, found...)
		e := pair.Edit{Path: l.Path, Remove: l.Exists && w.chance(0.3)}
		if !e.Remove {
			e.Value = w.fresh(l.Schema, 0)
		}
		status = pair.Put(status, e.Path, e)
	}
	return status
}

// spoiled returns an object with one thing wrong: a null, an empty value, one of another type, an unknown field, an item twice, or odd metadata.
func (w *writer) spoiled(object map[string]any) map[string]any {
	p := w.place(object, func(p place) bool {
		return p.path[0] != "apiVersion" && p.path[0] != "kind" && !(p.path[0] == "metadata" && (len(p.path) < 2 || p.path[1] == "name"))
	})
	if p == nil {
		return object
	}
	set := func(path []any, v any) map[string]any { return put(object, pair.Edit{Path: path, Value: v}) }
	parent := p.path[:len(p.path)-1]
	_, inList := p.path[len(p.path)-1].(int)
	switch n := w.IntN(9); {
	case n < 2:
		return set(p.path, nil)
	case n == 2:
		return set(p.path, w.other(p.value))
	case n == 3:
		return set(p.path, one[any](w, map[string]any{}, []any{}, "text", 7, true, 1.5))
	case n == 4 && !inList:
		return set(append(slices.Clone(parent), "unknown"), one[any](w, "u", map[string]any{"a": 1}, nil))
	case n == 5 && inList:
		return set(append(slices.Clone(parent), 1<<20), p.value) // at the end
	case n == 6:
		if _, ok := p.value.(map[string]any); ok {
			return set(append(slices.Clone(p.path), one(w, "foo", "nmae")), 1)
		}
	case n == 7:
		return set([]any{one(w, "extra", "spec", "data", "status")}, one[any](w, nil, map[string]any{}, map[string]any{"x": "y"}, "text"))
	}
	name := one(w, "creationTimestamp", "labels", "annotations", "generateName", "resourceVersion", "uid", "generation", "selfLink", "ownerReferences")
	return set([]any{"metadata", name}, one[any](w, nil, map[string]any{}, []any{}, "", "2026-01-01T00:00:00Z", "x", 1))
}
