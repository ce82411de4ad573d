package managedfields

import (
	"maps"

	"github.com/deed-project/deed/value"
)

// ObjectFromAny is [ObjectOf] for an object as unstructured.Unstructured holds it. The Object refers to content, which must
// not be modified as long as the Object, or one that an Update of it returned, is in use.
func ObjectFromAny(content map[string]any) (Object, error) {
	bare, managed := content, any(nil)
	metadata, _ := content["metadata"].(map[string]any)
	managed, found := metadata["managedFields"]
	if found {
		bare, metadata = maps.Clone(content), maps.Clone(metadata)
		delete(metadata, "managedFields")
		bare["metadata"] = metadata
	}
	v, err := value.FromAny(bare)
	if err != nil {
		return Object{}, err
	}
	entries, err := entriesFromAny(managed)
	if err != nil {
		return Object{}, err
	}
	return Object{Content: v, Entries: entries, null: found && managed == nil, source: source{content, v}}, nil
}

// entriesFromAny reads what an unstructured object has as metadata.managedFields.
func entriesFromAny(managed any) ([]Entry, error) {
	if list, ok := managed.([]any); ok {
		entries := make([]Entry, len(list))
		for i := range list {
			if ok = ok && entries[i].setAll(list[i]); !ok {
				break
			}
		}
		if ok {
			return entries, nil
		}
	}
	v, err := value.FromAny(managed) // says what is wrong, if anything is
	if err != nil {
		return nil, err
	}
	return entriesOf(v, FieldsFromValue)
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
			e.FieldsV1 = Fields{content: member, form: formContent}
		default:
			ok = ok && member == nil
		}
	}
	return ok
}

// ToAny returns the object with its managed fields as unstructured.Unstructured holds it. The maps for the object, its
// metadata and its entries are new. All others are new too, unless the object comes from [ObjectFromAny], maybe by way of
// [FieldManager.Update]: then it shares them with the map that it was made from. The empty maps in a fieldsV1 may be one and
// the same. The error is that of Value.
func (o Object) ToAny() (map[string]any, error) {
	content, metadata := o.source.clone(o.Content)
	if content == nil {
		content, _ = o.Content.ToAny().(map[string]any)
		metadata, _ = content["metadata"].(map[string]any)
	}
	if o.Entries == nil {
		return content, nil
	}
	if metadata == nil {
		metadata = make(map[string]any, 1)
		content["metadata"] = metadata
	}
	list := make([]any, len(o.Entries))
	for i, e := range o.Entries {
		var err error
		if list[i], err = e.toAny(); err != nil {
			return nil, &EntryError{Index: i, Manager: e.Manager, Err: err}
		}
	}
	metadata["managedFields"] = list
	return content, nil
}

// source is the map that a document was made from.
type source struct {
	content map[string]any
	value   value.Value // the document, which has no managed fields
}

// clone returns a copy of the map and of the metadata in it, which has no managed fields, if v is still the document that was
// made from the map. All that is inside is shared.
func (s source) clone(v value.Value) (content, metadata map[string]any) {
	if s.content == nil || !s.value.Same(v) {
		return nil, nil
	}
	content = maps.Clone(s.content)
	if metadata, _ = content["metadata"].(map[string]any); metadata != nil {
		metadata = maps.Clone(metadata)
		delete(metadata, "managedFields")
		content["metadata"] = metadata
	}
	return content, metadata
}

func (e Entry) toAny() (map[string]any, error) {
	content := make(map[string]any, 7)
	for _, f := range e.texts() {
		if f.text != "" {
			content[f.name] = f.text
		}
	}
	if e.FieldsV1.IsAbsent() {
		return content, nil
	}
	fields, err := e.FieldsV1.toAny()
	content["fieldsV1"] = fields
	return content, err
}
