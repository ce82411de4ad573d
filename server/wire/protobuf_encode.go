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

// Tags of the two fields that the messages of all lists have: the metadata of the list, and each item.
const (
	listMetaTag = 1<<3 | 2
	listItemTag = 2<<3 | 2
)

// Tags of the fields of the envelope.
const (
	envelopeKindTag     = 1<<3 | 2
	envelopeRawTag      = 2<<3 | 2
	envelopeEncodingTag = 3<<3 | 2
	envelopeTypeTag     = 4<<3 | 2
)

// encodable is a Go type that prints itself as protocol buffers.
type encodable interface {
	Size() int // of its message
	Marshal() ([]byte, error)
}

// AppendProtobuf appends the object in the envelope of protocol buffers. It is an error if its Go type is not known, or cannot
// hold what the object has.
func (o Object) AppendProtobuf(b []byte) ([]byte, error) {
	raw, err := marshalAs(o.Value, messageOf(o.Value, o.New))
	return appendEnvelope(b, o.Get("apiVersion").Str(), o.Get("kind").Str(), raw, err)
}

// AppendProtobuf appends the object as [Object] does.
func (m Managed) AppendProtobuf(b []byte) ([]byte, error) {
	whole, err := m.Object.Value()
	if err != nil {
		return b, err
	}
	return Object{whole, m.New}.AppendProtobuf(b)
}

// AppendProtobuf appends the list in the envelope of protocol buffers, item by item. The error is as that of [Object].
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

// Messages are the parts of a list of objects in the envelope of protocol buffers, in which all lengths stand in front: the head, each object,
// and the end.
type Messages struct{ Version *catalog.Version }

// AppendHead appends the head of a list whose objects have so many bytes together.
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

// Size returns how many bytes AppendObject appends.
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

// AppendEnd appends the end, which says that the list is encoded in no other way.
func (m Messages) AppendEnd(b []byte) []byte {
	return appendField(appendField(b, envelopeEncodingTag, nil), envelopeTypeTag, nil)
}

// AppendProtobuf appends the document in the envelope of protocol buffers. It is an error if its Go type has none.
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

// messageOf returns an empty object of the Go type of v, which is of the kind of a resource unless it says something else. It is
// nil if the type is not known.
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

// marshalAs returns v as the message that target, an empty object of its Go type, becomes.
func marshalAs(v value.Value, target any) ([]byte, error) {
	message, err := messageFrom(v, target)
	if err != nil {
		return nil, err
	}
	return message.Marshal()
}

// messageFrom returns target, an empty object of the Go type of v, with what v has.
func messageFrom(v value.Value, target any) (encodable, error) {
	message, ok := target.(encodable)
	if !ok {
		return nil, fmt.Errorf("objects of kind %q are no messages of protocol buffers", v.Get("kind").Str())
	}
	return message, structs.Into(v, target)
}

// appendField appends a field of a message that holds bytes.
func appendField(b []byte, tag byte, content []byte) []byte {
	b = binary.AppendUvarint(append(b, tag), uint64(len(content)))
	return append(b, content...)
}

// appendEnvelope appends a message with what tells its kind, unless there is an error, which it returns.
func appendEnvelope(b []byte, apiVersion, kind string, raw []byte, err error) ([]byte, error) {
	if err != nil {
		return b, err
	}
	envelope, err := (&runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: apiVersion, Kind: kind}, Raw: raw}).Marshal()
	return append(append(b, protobufMagic...), envelope...), err
}
