package managedfields

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/deed-project/deed/internal/jsontext"
	"github.com/deed-project/deed/internal/slab"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// Objects without their managed fields, and the way back to JSON with them. Nothing is lost:
// managed keeps the list as it was read if the entries do not hold all of it.
//
//	{"metadata":{"name":"a","managedFields":[E1,E2]},"spec":{}}
//
//	Content   {"metadata":{"name":"a"},"spec":{}}
//	Entries   E1 E2
//	managed   absent, unless E1 or E2 has members that Entry lacks

// Object is an API object with its metadata.managedFields beside it. It is immutable as long as no
// caller modifies Entries. The zero Object is no object.
type Object struct {
	Content value.Value // the object without metadata.managedFields; absent for the zero Object
	Entries []Entry     // nil when metadata.managedFields is absent or null, and empty when it is an empty list

	// managed is metadata.managedFields as it was read, if Entries do not hold all of it: null, or
	// a list with members that Entry lacks. It is absent otherwise.
	managed value.Value
	source  source  // the map from which ObjectFromAny made Content, if it did
	memory  *memory // what is known of Content or of its predecessors; nil for nothing
	// sent is the document from which Content was read, or the argument of Config.Hold. It is
	// absent if it is not known. Field managers hand it on.
	sent value.Value
}

// ParseObject reads an object from JSON text, which it repairs as kube-apiserver does: see
// [value.Decoder]. The error is a [*value.SyntaxError] or an error of [ObjectOf]. The fieldsV1 of
// entries stay text.
func ParseObject(json []byte) (Object, error) {
	d := value.Decoder{Repair: true, Text: fieldsPath}
	documents.SetKnown(&d, knownText)
	v, err := documents.ParseAlone(d, json)
	if err != nil {
		return Object{}, err
	}
	return objectOfText(v)
}

var (
	entriesPath = []string{"metadata", "managedFields"}
	fieldsPath  = []string{"metadata", "managedFields", "*", "fieldsV1"} // leads to the values that stay text
)

// objectOfText is objectOf for a document v whose fieldsV1 are text.
func objectOfText(v value.Value) (Object, error) {
	o, err := objectOf(v, fieldsOfText)
	if o.managed.Kind() != value.KindList {
		return o, err
	}
	items := slices.Collect(o.managed.Items())
	for i, item := range items {
		if text := item.Get("fieldsV1"); !text.IsAbsent() {
			d := value.Decoder{Repair: true, Repeats: true}
			fields, _ := documents.ParseAlone(d, []byte(text.Str())) // absent if it is no JSON
			items[i] = item.With("fieldsV1", fields)
		}
	}
	o.managed = value.List(items...)
	return o, nil
}

// fieldsOfText returns the Fields of a fieldsV1 that stayed text.
func fieldsOfText(text value.Value) Fields {
	if text.Str() == "null" {
		return Fields{}
	}
	return FieldsOf(text.Str())
}

// ObjectOf takes the managed fields out of v. It returns an error if they are no list, or if an
// entry has a member of the wrong kind. It does not check the content of fieldsV1.
func ObjectOf(v value.Value) (Object, error) { return objectOf(v, FieldsOf[value.Value]) }

// objectOf is ObjectOf. fields makes the fieldsV1 of an entry from its JSON value.
func objectOf(v value.Value, fields func(value.Value) Fields) (Object, error) {
	if v.Kind() != value.KindObject {
		return Object{}, fmt.Errorf("expected an object, got %s", v.Kind())
	}
	managed := v.Get("metadata", "managedFields")
	if managed.IsAbsent() {
		return Object{Content: v}, nil
	}
	entries, all, err := entriesOf(managed, fields)
	if err != nil {
		return Object{}, err
	}
	o := Object{Content: withoutEntries(v), Entries: entries}
	if !all {
		o.managed = managed
	}
	return o, nil
}

// data returns the content as an apply merges it. Managed fields that are null are data like any
// other null: applying them changes every object. Managed fields that Entries do not hold in full
// are data, too.
func (o Object) data() value.Value {
	if o.managed.IsAbsent() {
		return o.Content
	}
	return o.Content.With("metadata", o.Content.Get("metadata").With("managedFields", o.managed))
}

// Value returns the object with its managed fields in it. The error names the entry whose FieldsV1
// is invalid JSON.
func (o Object) Value() (value.Value, error) {
	if o.Entries == nil {
		return o.Content, nil
	}
	entries, err := entriesValue(o.Entries)
	if err != nil {
		return value.Value{}, err
	}
	metadata := o.Content.Get("metadata").With("managedFields", entries)
	return o.Content.With("metadata", metadata), nil
}

// AppendJSON appends the object with its managed fields to b as canonical JSON text, see
// [value.Value.AppendJSON]. Text of fieldsV1 keeps its order.
func (o Object) AppendJSON(b []byte) []byte {
	if o.Entries == nil {
		return o.Content.AppendJSON(b)
	}
	scratch := printers.Get().(*[]byte)
	text := o.print(*scratch)
	b = append(b, text...)
	*scratch = slab.Kept(text, maxScratch)
	printers.Put(scratch)
	return b
}

// printers holds scratch buffers for printing. The destination then grows once, to the size that it
// needs.
var printers = sync.Pool{New: func() any { return new([]byte) }}

// maxScratch is the number of bytes of a scratch buffer that are kept for the next object.
const maxScratch = 1 << 20

// print is AppendJSON for an object with entries.
func (o Object) print(b []byte) []byte {
	b = append(b, '{')
	written := false
	for name, member := range o.Content.Members() {
		if !written && name >= "metadata" {
			b = o.appendMetadata(appendName(b, "metadata"))
			written = true
		}
		if name != "metadata" {
			b = member.AppendJSON(appendName(b, name))
		}
	}
	if !written {
		b = o.appendMetadata(appendName(b, "metadata"))
	}
	return append(b, '}')
}

// appendMetadata appends the object's metadata with its managed fields.
func (o Object) appendMetadata(b []byte) []byte {
	b = append(b, '{')
	written := false
	for name, member := range o.Content.Get("metadata").Members() {
		if !written && name > "managedFields" {
			b = o.appendEntries(appendName(b, "managedFields"))
			written = true
		}
		b = member.AppendJSON(appendName(b, name))
	}
	if !written {
		b = o.appendEntries(appendName(b, "managedFields"))
	}
	return append(b, '}')
}

// appendEntries appends the entries as a JSON list.
func (o Object) appendEntries(b []byte) []byte {
	b = append(b, '[')
	for i, e := range o.Entries {
		if i > 0 {
			b = append(b, ',')
		}
		b = e.appendJSON(b)
	}
	return append(b, ']')
}

// appendName appends the name of an object's next member, after a comma if it needs one.
func appendName(b []byte, name string) []byte {
	if b[len(b)-1] != '{' {
		b = append(b, ',')
	}
	return append(jsontext.AppendString(b, name, jsontext.Standard), ':')
}

// GVK returns the kind that the object states. Parts that the object does not state are empty. All
// parts are empty if its apiVersion has more than one slash.
func (o Object) GVK() schema.GVK { return gvkOf(o.Content) }

// gvkOf returns the kind that v states.
func gvkOf(v value.Value) schema.GVK {
	apiVersion := v.Get("apiVersion").Str()
	if strings.Count(apiVersion, "/") > 1 {
		return schema.GVK{}
	}
	return schema.ParseGVK(apiVersion, v.Get("kind").Str())
}
