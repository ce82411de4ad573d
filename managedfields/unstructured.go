package managedfields

import "github.com/deed-project/deed/value"

// Objects as unstructured.Unstructured holds them: maps. An object that was made from a map
// remembers it, so that going back shares what did not change instead of making it again.

// ObjectFromAny is [ObjectOf] for an object as unstructured.Unstructured holds it. An empty or nil
// content gives the zero Object: it is what an Unstructured has that nothing was read into. The Object
// refers to content, which must not be modified as long as the Object, or one that a [FieldManager]
// made of it, is in use.
func ObjectFromAny(content map[string]any) (Object, error) {
	d := value.Decoder{Except: entriesPath}
	v, err := d.FromAny(content)
	if err != nil {
		return Object{}, err
	}
	return objectOfMap(content, v)
}

// objectOfMap returns the object that content holds, given all of it but its managed fields as v.
func objectOfMap(content map[string]any, v value.Value) (_ Object, err error) {
	if len(content) == 0 {
		return Object{}, nil
	}
	o := Object{Content: v, source: source{content, v}}
	metadata, isMap := content["metadata"].(map[string]any)
	if !isMap { // of another type that holds objects, nothing was left out
		if o, err = ObjectOf(v); o.Content.Same(v) {
			o.source = source{content, v}
		}
		return o, err
	}
	managed, found := metadata["managedFields"]
	if !found {
		return o, nil
	}
	if o.Entries, o.managed, err = entriesFromAny(managed); err != nil {
		return Object{}, err
	}
	return o, nil
}

// entriesFromAny reads what an unstructured object has as metadata.managedFields, and returns that
// itself where the entries do not tell all of it.
func entriesFromAny(managed any) ([]Entry, value.Value, error) {
	if list, ok := managed.([]any); ok {
		entries := make([]Entry, len(list))
		for i := range list {
			if ok = ok && entries[i].setAll(list[i]); !ok {
				break
			}
		}
		if ok {
			return entries, value.Value{}, nil
		}
	}
	v, err := value.FromAny(managed) // says what is wrong, if anything is
	if err != nil {
		return nil, value.Value{}, err
	}
	entries, all, err := entriesOf(v, FieldsOf[value.Value])
	if all || err != nil {
		v = value.Value{}
	}
	return entries, v, err
}

// setAll makes e the entry that content is. It reports whether content is as it should be.
func (e *Entry) setAll(content any) bool {
	members, ok := content.(map[string]any)
	for name, member := range members {
		switch member := member.(type) {
		case string:
			ok = ok && name != "fieldsV1" && e.set(name, member) == nil
		case map[string]any:
			ok = ok && name == "fieldsV1"
			e.FieldsV1 = Fields{held: member}
		default:
			ok = ok && member == nil && isMember(name)
		}
	}
	return ok
}

// AsAny returns the object with its managed fields as unstructured.Unstructured holds it. The
// object, its metadata and its entries are new maps; what is below them must not be modified. It is
// shared, as far as it is the same, with the map that [ObjectFromAny] made the object from, or, for
// what a [FieldManager] returned, with that of the object that it was updated to, of the live one
// that it was applied to, or of the configuration that created it. The fieldsV1 of entries may be
// shared with other objects that have the same. Of an object that shares nothing use
// [value.Value.ToAny] on what Value returns.
//
// The error is that of Value.
func (o Object) AsAny() (map[string]any, error) {
	former, from := o.source.value, o.source.content
	content := make(map[string]any, o.Content.Len()+1)
	for name, member := range o.Content.Members() {
		if name != "metadata" {
			content[name] = anyAfter(member, former.Get(name), from[name])
		}
	}
	metadata := map[string]any{}
	fromMetadata, _ := from["metadata"].(map[string]any)
	for name, member := range o.Content.Get("metadata").Members() {
		metadata[name] = anyAfter(member, former.Get("metadata", name), fromMetadata[name])
	}
	if o.Entries != nil {
		list, c := make([]any, len(o.Entries)), processCache
		if len(o.Entries) > manyEntries {
			c = noCache
		}
		for i, e := range o.Entries {
			var err error
			if list[i], err = e.toAny(c); err != nil {
				return nil, &EntryError{Index: i, Manager: e.Manager, Err: err}
			}
		}
		metadata["managedFields"] = list
	}
	if len(metadata) > 0 || o.Content.Get("metadata").Kind() == value.KindObject {
		content["metadata"] = metadata
	} else if v := o.Content.Get("metadata"); !v.IsAbsent() {
		content["metadata"] = v.ToAny()
	}
	return content, nil
}

// source is the map that a document was made from. The document has no managed fields.
type source struct {
	content map[string]any
	value   value.Value
}

// anyAfter returns v as unstructured objects hold it. content is what the document former was made
// from, or nil: where v is the same as former, the result shares its part of content.
func anyAfter(v, former value.Value, content any) any {
	if v.Same(former) && content != nil {
		return content
	}
	switch content := content.(type) {
	case map[string]any:
		if v.Kind() == value.KindObject && former.Kind() == value.KindObject {
			out := make(map[string]any, v.Len())
			for name, member := range v.Members() {
				out[name] = anyAfter(member, former.Get(name), content[name])
			}
			return out
		}
	case []any:
		if v.Kind() == value.KindList && former.Kind() == value.KindList {
			out := make([]any, v.Len())
			for i := range out {
				if i < len(content) {
					out[i] = anyAfter(v.Item(i), former.Item(i), content[i])
				} else {
					out[i] = v.Item(i).ToAny()
				}
			}
			return out
		}
	}
	return v.ToAny()
}

// toAny returns e as unstructured objects hold it. The map is new; its fieldsV1 may be shared.
func (e Entry) toAny(c *Cache) (map[string]any, error) {
	content := make(map[string]any, 7)
	for _, f := range e.texts() {
		if f.text != "" {
			content[f.name] = f.text
		}
	}
	if e.FieldsV1.IsAbsent() {
		return content, nil
	}
	fields, err := e.FieldsV1.toAny(c, e.Manager)
	content["fieldsV1"] = fields
	return content, err
}
