package wire

import (
	"bytes"
	"encoding/json"
	"errors"

	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	"sigs.k8s.io/yaml"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/value"
)

// Encoding answers. All encodings but protobuf are made from JSON text:
//
//	document --AppendJSON--> JSON --+--> as it is, or indented
//	                                +--> YAML, by the library
//	                                +--> CBOR, from the parsed text
//	document --AppendProtobuf-----------> protobuf, by the Go type
//
// The append functions append to memory of the caller, and keep none of it.

// Document is the content of a response, independent of its encoding.
type Document interface {
	// AppendJSON appends the document as JSON text, without a line break at its end.
	AppendJSON(b []byte) []byte
	// AppendProtobuf appends the document in the protobuf envelope. It returns an error if protobuf cannot hold the document.
	AppendProtobuf(b []byte) ([]byte, error)
}

// Object is an object of a resource, or another document about one: a Status, a Scale, metadata.
type Object struct {
	value.Value
	// New returns a pointer to an empty object of the Go type of the resource. It is nil for custom resources.
	New func() any
}

// Managed is an object of a resource with its managed fields in a separate part. It encodes as the [Object] that contains them.
type Managed struct {
	managedfields.Object
	Text func([]byte) []byte // appends the JSON text; nil if the text is not known
	New  func() any          // as Object.New
}

// AppendJSON appends the object, including its managed fields.
//
// The text is spliced in if it is known; see read.View.TextOf.
func (m Managed) AppendJSON(b []byte) []byte {
	if m.Text != nil {
		return m.Text(b)
	}
	return m.Object.AppendJSON(b)
}

// List is a list of objects.
type List struct {
	value.Value
	New func() any // as Object.New
}

// Text is a document that is JSON text already, without a line break at its end. It has no protobuf encoding.
type Text []byte

// AppendJSON appends the text.
func (t Text) AppendJSON(b []byte) []byte { return append(b, t...) }

// AppendProtobuf returns an error.
func (t Text) AppendProtobuf(b []byte) ([]byte, error) {
	return b, errors.New("the document is no message of protocol buffers")
}

// Typed is a document that is a Go object of Kubernetes, such as a discovery document.
type Typed struct{ Object any }

// AppendJSON appends the output of encoding/json.
func (t Typed) AppendJSON(b []byte) []byte {
	text, err := json.Marshal(t.Object)
	if err != nil {
		panic(err) // plain data always marshals
	}
	return append(b, text...)
}

// Append appends a document in the representation rep.
//
// JSON without indentation ends with a line break, as the encoder of kube-apiserver writes it. On an error, the outcome is meaningless.
func (rep Representation) Append(b []byte, d Document) ([]byte, error) {
	switch {
	case rep.Media == Protobuf:
		return d.AppendProtobuf(b)
	case rep.Media == CBOR:
		return appendCBOR(b, d)
	case rep.Media == YAML:
		text, err := yaml.JSONToYAML(d.AppendJSON(nil))
		return append(b, text...), err
	case rep.Pretty:
		indented := bytes.NewBuffer(b)
		err := json.Indent(indented, d.AppendJSON(nil), "", "  ")
		return indented.Bytes(), err
	}
	return append(d.AppendJSON(b), '\n'), nil
}

// selfDescribed begins every CBOR body: the tag of RFC 8949, section 3.4.6.
var selfDescribed = []byte{0xd9, 0xd9, 0xf7}

// appendCBOR appends a document as CBOR, in the format of kube-apiserver's serializer.
func appendCBOR(b []byte, d Document) ([]byte, error) {
	v, err := value.Parse(d.AppendJSON(nil))
	if err != nil {
		return b, err
	}
	data, err := direct.Marshal(v.ToAny())
	return append(append(b, selfDescribed...), data...), err
}
