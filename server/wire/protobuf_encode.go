package wire

import (
	"encoding/binary"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/value"
	"github.com/deed-project/deed/value/structs"
)

// Answers in protobuf, as messages of the Go types in an envelope. The tags below are those of fields with a length: the number of the
// field and the wire type 2.

// Tags of the two fields of every list message: its metadata and its items.
const (
	listMetaTag = 1<<3 | 2
	listItemTag = 2<<3 | 2
)

// Tags of the fields of the envelope, runtime.Unknown.
const (
	envelopeKindTag     = 1<<3 | 2
	envelopeRawTag      = 2<<3 | 2
	envelopeEncodingTag = 3<<3 | 2
	envelopeTypeTag     = 4<<3 | 2
)

// encodable is a Go type that encodes itself as protobuf.
type encodable interface {
	Size() int // of the encoded message in bytes
	Marshal() ([]byte, error)
}

// AppendProtobuf appends the object in the protobuf envelope. It returns an error if the Go type is unknown or cannot hold a field of the
// object.
func (o Object) AppendProtobuf(b []byte) ([]byte, error) {
	raw, err := marshalAs(o.Value, messageOf(o.Value, o.New))
	return appendEnvelope(b, o.Get("apiVersion").Str(), o.Get("kind").Str(), raw, err)
}

// AppendProtobuf appends the object as [Object.AppendProtobuf] does.
func (m Managed) AppendProtobuf(b []byte) ([]byte, error) {
	whole, err := m.Object.Value()
	if err != nil {
		return b, err
	}
	return Object{whole, m.New}.AppendProtobuf(b)
}

// AppendProtobuf appends the list in the protobuf envelope, item by item. Its errors are those of [Object.AppendProtobuf].
//
// All lists of Kubernetes have the same two fields, so a list needs no Go type of its own. One item is decoded at a time.
func (l List) AppendProtobuf(b []byte) ([]byte, error) {
	metadata, err := marshalAs(l.Get("metadata"), &metav1.ListMeta{})
	raw := appendField(nil, listMetaTag, metadata)
	for item := range l.Get("items").Items() {
		if err != nil {
			return b, err
		}
		var message []byte
		message, err = marshalAs(item, messageOf(item, l.New))
		raw = appendField(raw, listItemTag, message)
	}
	return appendEnvelope(b, l.Get("apiVersion").Str(), l.Get("kind").Str(), raw, err)
}

// Messages encodes a list of objects in the protobuf envelope piece by piece: the head, each object, the end. The head contains the length
// of all objects, so that the sizes must be known first.
//
// What it writes is what List.AppendProtobuf writes of the same objects.
type Messages struct{ Version *catalog.Version }

// AppendHead appends the head of a list. size is the sum of [Messages.Size] over its objects.
//
// The length of the raw field covers the metadata, which it appends, and the objects, which follow.
func (m Messages) AppendHead(b []byte, meta ListMeta, size int) ([]byte, error) {
	metadata, err := marshalAs(meta.value(m.Version.Custom), &metav1.ListMeta{})
	if err != nil {
		return b, err
	}
	is := runtime.TypeMeta{APIVersion: m.Version.APIVersion(), Kind: m.Version.ListKind}
	kind, err := is.Marshal()
	b = appendField(append(b, protobufMagic...), envelopeKindTag, kind)
	raw := appendField(nil, listMetaTag, metadata)
	b = binary.AppendUvarint(append(b, envelopeRawTag), uint64(len(raw)+size))
	return append(b, raw...), err
}

// Size returns the number of bytes that AppendObject appends.
func (m Messages) Size(object value.Value) (int, error) {
	message, err := messageFrom(object, m.Version.New())
	if err != nil {
		return 0, err
	}
	n := message.Size()
	return 1 + len(binary.AppendUvarint(nil, uint64(n))) + n, nil
}

// AppendObject appends an object of the list.
func (m Messages) AppendObject(b []byte, object value.Value) ([]byte, error) {
	message, err := marshalAs(object, m.Version.New())
	if err != nil {
		return b, err
	}
	return appendField(b, listItemTag, message), nil
}

// AppendEnd appends the end of the envelope: an empty content encoding and an empty content type.
func (m Messages) AppendEnd(b []byte) []byte {
	return appendField(appendField(b, envelopeEncodingTag, nil), envelopeTypeTag, nil)
}

// AppendProtobuf appends the document in the protobuf envelope. It returns an error if the Go type has no protobuf encoding.
func (t Typed) AppendProtobuf(b []byte) ([]byte, error) {
	message, ok := t.Object.(encodable)
	o, isObject := t.Object.(runtime.Object)
	if !ok || !isObject {
		return b, fmt.Errorf("%T is no message of protocol buffers", t.Object)
	}
	raw, err := message.Marshal()
	apiVersion, kind := o.GetObjectKind().GroupVersionKind().ToAPIVersionAndKind()
	return appendEnvelope(b, apiVersion, kind, raw, err)
}

// messageOf returns an empty object of the Go type of v: a Status, a PartialObjectMetadata or a Scale if v states that kind, else the type
// of the resource. It returns nil if the type is unknown.
//
// It calls resource for each object, because the object is filled in.
func messageOf(v value.Value, resource func() any) any {
	switch gvk := schema.ParseGVK(v.Get("apiVersion").Str(), v.Get("kind").Str()); {
	case gvk == schema.GVK{Version: "v1", Kind: "Status"}:
		return &metav1.Status{}
	case gvk.Group == metav1.GroupName && gvk.Kind == AsPartial:
		return &metav1.PartialObjectMetadata{}
	case gvk == catalog.ScaleKind:
		return catalog.EmptyScale()
	}
	if resource == nil {
		return nil
	}
	return resource()
}

// marshalAs returns v encoded as protobuf. target is an empty object of the Go type of v.
func marshalAs(v value.Value, target any) ([]byte, error) {
	message, err := messageFrom(v, target)
	if err != nil {
		return nil, err
	}
	return message.Marshal()
}

// messageFrom fills target, an empty object of the Go type of v, with v and returns it.
//
// Members that the Go type lacks are left out.
func messageFrom(v value.Value, target any) (encodable, error) {
	message, ok := target.(encodable)
	if !ok {
		return nil, fmt.Errorf("objects of kind %q are no messages of protocol buffers", v.Get("kind").Str())
	}
	return message, structs.Into(v, target)
}

// appendField appends a length-delimited field of a message.
func appendField(b []byte, tag byte, content []byte) []byte {
	b = binary.AppendUvarint(append(b, tag), uint64(len(content)))
	return append(b, content...)
}

// appendEnvelope appends raw in an envelope that names its kind. If err is not nil, it appends nothing and returns err.
func appendEnvelope(b []byte, apiVersion, kind string, raw []byte, err error) ([]byte, error) {
	if err != nil {
		return b, err
	}
	envelope, err := (&runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: apiVersion, Kind: kind}, Raw: raw}).Marshal()
	return append(append(b, protobufMagic...), envelope...), err
}
