package managedfields

import "github.com/deed-project/deed/value"

// Objects in the form of unstructured.Unstructured: maps. An object that was made from a map refers
// to the map. The way back shares its unchanged parts.

// ObjectFromAny is [ObjectOf] for an object in the form of unstructured.Unstructured. An empty or
// nil content, which an empty Unstructured has, gives the zero Object. The Object refers to
// content. The caller must not modify content while that Object, or a result of a [FieldManager]
// for it, is in use.
func ObjectFromAny(content map[string]any) (Object, error) {
	d := value.Decoder{Except: entriesPath}
	v, err := d.FromAny(content)
	if err != nil {
		return Object{}, err
	}
	return objectOfMap(content, v)
}

// objectOfMap returns the object that content holds. v is content without its managed fields.
func objectOfMap(content map[string]any, v value.Value) (_ Object, err error) {
	if len(content) == 0 {
		return Object{}, nil
	}
	o := Object{Content: v, source: source{content, v}}
	metadata, isMap := content["metadata"].(map[string]any)
	if !isMap { // of another map type: v has all of content
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

// entriesFromAny reads the metadata.managedFields of an unstructured object. It also returns
// managed itself if the entries do not hold all of it.
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
	v, err := value.FromAny(managed) // returns the error, if there is one
	if err != nil {
		return nil, value.Value{}, err
	}
	entries, all, err := entriesOf(v, FieldsOf[value.Value])
	if all || err != nil {
		v = value.Value{}
	}
	return entries, v, err
}

// setAll sets e to the entry in content. It reports whether content has the expected form.
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

// AsAny returns the object with its managed fields in the form of unstructured.Unstructured. The
// object, its metadata and its entries are new maps. The caller must not modify the values in them,
// because they may be shared:
//
//   - Equal values are shared with the map from which [ObjectFromAny] made the object.
//   - For the result of an update by a [FieldManager], that is the map of the new object. For an
//     apply, it is the map of the live object, or of the configuration that created the object.
//   - The fieldsV1 of entries may be shared with other objects.
//
// For an object that shares nothing, use [value.Value.ToAny] on the result of Value. The error is
// that of Value.
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

// source is a map and the document made from it. The document has no managed fields.
type source struct {
	content map[string]any
	value   value.Value
}

// anyAfter returns v in unstructured form. content is the unstructured form of former, or nil. Parts
// of v that are the same in former are shared with content.
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

// toAny returns e in unstructured form. The map is new; its fieldsV1 may be shared.
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
