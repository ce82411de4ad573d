package histories

import (
	"strings"

	"github.com/deed-project/deed/internal/testing/gen"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// values makes and changes values. Stored objects may have repeated list items, configurations may not.
func (w *Writer) values(duplicates bool) *gen.Values {
	return &gen.Values{Choices: w.Choices, Depth: 4, Duplicates: duplicates, PartialKeys: true}
}

// fresh returns an object that is independent of the live one: a manifest, or random content.
func (w *Writer) fresh(e Endpoint) value.Value {
	if seeds := w.player.World.Seeds[e.APIVersion]; len(seeds) > 0 {
		return w.changed(gen.Pick(w.Choices, seeds...), e, w.N(2), false)
	}
	fresh := object("apiVersion", e.APIVersion, "kind", w.player.World.Kind,
		"metadata", object("name", "it", "namespace", "here"))
	values := w.values(false)
	for _, f := range w.members(e) {
		if w.Chance(60) {
			fresh = fresh.With(f.Name, values.Of(f.Type))
		}
	}
	if w.player.World.Types[e.APIVersion] == schema.Deduced || w.Chance(5) {
		fresh = fresh.With("spec", values.Of(schema.Deduced))
	}
	return w.changed(fresh, e, w.N(2), false)
}

// members returns the fields of the endpoint's objects, without those of every object.
func (w *Writer) members(e Endpoint) []schema.Field {
	var out []schema.Field
	m := w.player.World.Types[e.APIVersion].Map()
	if m == nil {
		return nil
	}
	for _, f := range m.Fields() {
		if f.Name != "apiVersion" && f.Name != "kind" && f.Name != "metadata" {
			out = append(out, f)
		}
	}
	return out
}

// part returns a part of the live object as a configuration.
func (w *Writer) part(live value.Value, e Endpoint) value.Value {
	seen, err := w.player.World.Seen(e, live)
	if err != nil {
		return w.fresh(e)
	}
	t := w.player.World.Types[e.APIVersion]
	metadata := seen.Get("metadata")
	part := w.values(false).Part(seen.With("metadata", value.Value{}), t)
	kept := object("name", metadata.Get("name"), "namespace", metadata.Get("namespace"))
	for _, name := range []string{"labels", "annotations", "finalizers", "ownerReferences"} {
		if v := metadata.Get(name); !v.IsAbsent() && w.Chance(50) {
			kept = kept.With(name, v)
		}
	}
	if w.Chance(3) {
		kept = metadata.With("managedFields", value.Value{})
	}
	config := part.With("metadata", kept).With("apiVersion", seen.Get("apiVersion")).With("kind", seen.Get("kind"))
	if w.Chance(90) {
		config = gen.Distinct(config, t)
	}
	return config
}

// changed returns object with n changes.
func (w *Writer) changed(object value.Value, e Endpoint, n int, duplicates bool) value.Value {
	values := w.values(duplicates)
	members := w.members(e)
	for range n {
		if w.crowd || len(members) == 0 || w.Chance(30) {
			object = object.With("metadata", w.changedMetadata(object.Get("metadata")))
			continue
		}
		f := gen.Pick(w.Choices, members...)
		if has := object.Get(f.Name); has.IsAbsent() {
			object = object.With(f.Name, values.Of(f.Type))
		} else {
			object = object.With(f.Name, values.Mutate(has, f.Type))
		}
	}
	return object
}

func (w *Writer) changedMetadata(metadata value.Value) value.Value {
	word := func() string { return gen.Pick(w.Choices, "x", "y", "z", "w", "v", "u") }
	switch w.N(7) {
	case 0, 1, 2:
		return metadata.With("labels", w.entry(metadata.Get("labels"), word()+"l", word()))
	case 3:
		return metadata.With("annotations", w.entry(metadata.Get("annotations"), word()+"a", word()))
	case 4:
		return metadata.With("finalizers", w.item(metadata.Get("finalizers"), value.String(word())))
	case 5:
		owner := object("apiVersion", "v1", "kind", "Node", "name", word(), "uid", word())
		return metadata.With("ownerReferences", w.item(metadata.Get("ownerReferences"), owner))
	}
	return metadata.With(gen.Pick(w.Choices, "labels", "annotations", "finalizers", "ownerReferences"), value.Value{})
}

// entry sets a member of an object of strings, or removes it.
func (w *Writer) entry(object value.Value, name, text string) value.Value {
	if object.Kind() != value.KindObject {
		object = value.Object()
	}
	if w.Chance(25) {
		return object.With(name, value.Value{})
	}
	return object.With(name, value.String(text))
}

// item adds an item to a list, or removes one. It replaces an item of the same identity.
func (w *Writer) item(list, item value.Value) value.Value {
	var items []value.Value
	for other := range list.Items() {
		if !other.Get("uid").Equal(item.Get("uid")) || item.Get("uid").IsAbsent() && !other.Equal(item) {
			items = append(items, other)
		}
	}
	if w.Chance(30) && len(items) > 0 {
		at := w.N(len(items))
		return value.List(append(items[:at:at], items[at+1:]...)...)
	}
	return value.List(append(items, item)...)
}

// unfit returns a configuration that a server refuses or has to check.
func (w *Writer) unfit(config value.Value, e Endpoint, live value.Value) value.Value {
	switch w.N(8) {
	case 0:
		return config.With("apiVersion", gen.Pick(w.Choices, value.String("apps/v1"), value.String("a/b/c"), value.Value{}, value.String("")))
	case 1:
		return config.With("kind", gen.Pick(w.Choices, value.String("Pod"), value.Value{}))
	case 2:
		return w.withEntries(config, gen.Pick(w.Choices, value.Null(), value.List(), value.List(value.Object())))
	case 3:
		return w.withEntries(config, live.Get("metadata", "managedFields"))
	case 4:
		return config.With("unknown", value.Int(1))
	}
	if w.player.World.structs != nil {
		return config
	}
	t := w.player.World.Types[e.APIVersion]
	spoiled := w.values(true).Spoil(config.With("metadata", value.Value{}), t)
	if spoiled.Kind() != value.KindObject {
		return config
	}
	return spoiled.With("metadata", config.Get("metadata"))
}

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// recorded returns the live object with a record of client-side apply: correct, partly correct, of another version, or unreadable.
func (w *Writer) recorded(live value.Value) value.Value {
	e := Endpoint{APIVersion: w.player.World.Versions[0]}
	var record string
	switch w.N(9) {
	case 0:
		record = gen.Pick(w.Choices, "", "{", "[]", "null", `{"apiVersion":1}`, "{} x")
	case 1:
		record = w.part(live, e).With("kind", value.Value{}).String()
	case 2:
		record = w.part(live, e).With("apiVersion", value.String("other/v1")).String()
	case 3:
		record = w.changed(w.part(live, e), e, 1, true).String()
	case 4:
		if last, ok := w.last["kubectl"]; ok {
			record = last.String()
		}
	default:
		record = w.part(live, e).String()
	}
	if strings.HasPrefix(record, `{"`) { // as a user may write it
		switch w.N(8) {
		case 0:
			record = `{"metadata":{"labels":1},"spec":7,"data":null,` + record[1:]
		case 1:
			record = strings.ReplaceAll(record, `":"`, `":"\ud800`)
		}
	}
	metadata := live.Get("metadata")
	annotations := metadata.Get("annotations")
	if annotations.Kind() != value.KindObject {
		annotations = value.Object()
	}
	if w.Chance(5) {
		annotations = annotations.With("big", value.String(strings.Repeat("x", 262100-w.N(300))))
	}
	return live.With("metadata", metadata.With("annotations", annotations.With(lastApplied, value.String(record))))
}
