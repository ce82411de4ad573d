package histories

import (
	"slices"

	"github.com/deed-project/deed/internal/testing/gen"
	"github.com/deed-project/deed/value"
)

// tampered returns the managed fields of live as a manual edit may leave them.
func (w *Writer) tampered(live value.Value) value.Value {
	entries := slices.Collect(live.Get("metadata", "managedFields").Items())
	if len(entries) == 0 {
		entries = []value.Value{w.entryOf("alpha", "Apply")}
	}
	for range 1 + w.N(2) {
		at := w.N(len(entries))
		switch w.N(8) {
		case 0:
			entries = slices.Delete(entries, at, at+1)
		case 1:
			entries = slices.Insert(entries, at, w.edited(entries[at]))
		case 2:
			entries = append(entries, w.entryOf(gen.Pick(w.Choices, w.managers...), gen.Pick(w.Choices, "Apply", "Update")))
		case 3:
			gen.Shuffle(w.Choices, entries)
		default:
			entries[at] = w.edited(entries[at])
		}
		if len(entries) == 0 {
			break
		}
	}
	return value.List(entries...)
}

func (w *Writer) entryOf(manager, operation string) value.Value {
	return object("manager", manager, "operation", operation, "apiVersion", gen.Pick(w.Choices, w.player.World.Versions...),
		"fieldsType", "FieldsV1", "fieldsV1", w.fields())
}

// edited returns an entry with one member changed, mostly to a valid one.
func (w *Writer) edited(entry value.Value) value.Value {
	text := func(options ...string) value.Value { return value.String(gen.Pick(w.Choices, options...)) }
	switch w.N(16) {
	case 0:
		return entry.With("manager", text(w.managers...))
	case 1:
		return entry.With("operation", text("Apply", "Update", "Update", "apply", ""))
	case 2, 3:
		versions := append([]string{"v1", "deed.example.org/v9", "apps/v1", "apps/v9"}, w.player.World.Versions...)
		return entry.With("apiVersion", text(append(versions, w.player.World.Versions...)...))
	case 4:
		return entry.With("apiVersion", text("a/b/c", "", "v1/"))
	case 5:
		return entry.With("fieldsType", text("FieldsV1", "FieldsV2", ""))
	case 6:
		return entry.With("time", gen.Pick(w.Choices, value.Value{}, value.Null(), value.String("2000-01-01T00:00:00Z"),
			value.String("1969-12-31T23:59:59Z"), value.String("2000-01-01T02:00:00+02:00"), value.String("2030-06-01T10:11:12Z"),
			value.String("2000-01-01T00:00:00.75Z")))
	case 7:
		return entry.With("subresource", gen.Pick(w.Choices, value.String("status"), value.Value{}, value.String(""), value.String("scale")))
	case 8:
		return entry.With("fieldsV1", gen.Pick(w.Choices, value.Value{}, value.Null(), value.Object(), value.Int(1), value.String("x"), value.List()))
	case 9:
		return entry.With("more", value.String("x"))
	case 10:
		return entry.With("fieldsV1", w.fields())
	case 11:
		return entry.With("fieldsV1", object("f:metadata", object("f:managedFields", value.Object(), ".", value.Object())))
	}
	return entry.With("fieldsV1", w.editedTrie(entry.Get("fieldsV1")))
}

// strangeKeys are keys of a trie that are unknown, malformed, or spelled differently from the reference.
var strangeKeys = []string{
	"q:a", "abc", "f", "", ":", "f:", "k:{", `k:{}`, `k:{"z":1,"name":"x"}`, `k:{"name": "x"}`, "k:[]", "v:", "v:1.0", `v:"x"`, "v:{}", "i:x",
	"i:0", "i:-1", "i:1e2", ".", "f:spec", "f:metadata", "v:1e2", "v:null", `k:{"name":"x","name":"y"}`, "k:null",
	"v:1 x", `v:"x"}`, "v:1-2", "v:truex", `k:{"name":"x"}y`, "k:nullx", "v:[]]",
}

// editedTrie returns a trie with one key added or removed.
func (w *Writer) editedTrie(trie value.Value) value.Value {
	if trie.Kind() != value.KindObject {
		return w.fields()
	}
	if trie.Len() > 0 && w.Chance(60) {
		member := trie.Member(w.N(trie.Len()))
		if w.Chance(20) {
			return trie.With(member.Name, value.Value{})
		}
		return trie.With(member.Name, w.editedTrie(member.Value))
	}
	if w.Chance(40) {
		below := gen.Pick(w.Choices, value.Object(), value.Object(), object("f:x", value.Object()), value.Int(1), value.Null())
		return trie.With(gen.Pick(w.Choices, strangeKeys...), below)
	}
	return trie.With(gen.Pick(w.Choices, "f:a", "f:b", "f:spec", "f:status", "f:metadata", "."), w.fields())
}

// fields returns a small set of fields.
func (w *Writer) fields() value.Value {
	out := value.Object()
	for range w.N(3) {
		below := value.Object()
		if w.Chance(50) {
			below = w.fields()
		}
		out = out.With(gen.Pick(w.Choices, "f:a", "f:b", "f:c", "f:spec", "f:metadata", "f:labels", "f:xl", "f:yl", "."), below)
	}
	return out
}
