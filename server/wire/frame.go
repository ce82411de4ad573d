package wire

import (
	"encoding/binary"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"

	"github.com/deed-project/deed/value"
)

// Events of a watch in a stream, one after the other:
//
//	JSON       {"type":"ADDED","object":{...}}\n
//	protobuf   00 00 01 2c, and 300 bytes of a WatchEvent, whose raw object has an envelope of its own
//	CBOR       d9 d9 f7, and a map of type and object

// StreamType returns the media type of a stream of events.
func (rep Representation) StreamType() string {
	switch rep.Media {
	case Protobuf:
		return Protobuf + ";stream=watch"
	case CBOR:
		return CBORSequence
	}
	return rep.Media
}

// LengthOfFrame is the size in bytes of the length prefix of a protobuf event.
const LengthOfFrame = 4

// AppendEvent appends an event of a watch. A JSON event is a line. A protobuf event has a length prefix of four bytes. A CBOR event is an
// item of a CBOR sequence. It returns an error if the representation cannot hold the object.
func (rep Representation) AppendEvent(b []byte, typ string, object Document) ([]byte, error) {
	switch rep.Media {
	case Protobuf:
		return appendMessageEvent(b, typ, object)
	case CBOR:
		return appendCBOREvent(b, typ, object)
	}
	return AppendTextEvent(b, typ, object.AppendJSON), nil
}

// AppendTextEvent appends an event of a watch as a line of JSON. object appends the JSON text of the event's object.
func AppendTextEvent(b []byte, typ string, object func([]byte) []byte) []byte {
	b = append(b, `{"type":"`...)
	b = append(b, typ...)
	b = append(b, `","object":`...)
	return append(object(b), "}\n"...)
}

// appendMessageEvent appends an event in protobuf. The object is encoded first, since its length precedes it.
func appendMessageEvent(b []byte, typ string, object Document) ([]byte, error) {
	raw, err := object.AppendProtobuf(nil)
	if err != nil {
		return b, err
	}
	frame, err := (&metav1.WatchEvent{Type: typ, Object: runtime.RawExtension{Raw: raw}}).Marshal()
	return append(binary.BigEndian.AppendUint32(b, uint32(len(frame))), frame...), err
}

// appendCBOREvent appends an event in CBOR.
func appendCBOREvent(b []byte, typ string, object Document) ([]byte, error) {
	v, err := value.Parse(object.AppendJSON(nil))
	if err != nil {
		return b, err
	}
	data, err := direct.Marshal(map[string]any{"type": typ, "object": v.ToAny()})
	return append(append(b, selfDescribed...), data...), err
}
