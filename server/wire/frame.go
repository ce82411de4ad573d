package wire

import (
	"encoding/binary"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"

	"github.com/deed-project/deed/value"
)

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

// LengthOfFrame is the length of what says how long a message of protocol buffers is that is an event.
const LengthOfFrame = 4

// AppendEvent appends an event of a watch: a line of JSON; a message of protocol buffers behind its length, which is a number of
// four bytes; or an item of a sequence of CBOR. The error is about objects that the representation cannot say.
func (rep Representation) AppendEvent(b []byte, typ string, object Document) ([]byte, error) {
	switch rep.Media {
	case Protobuf:
		return appendMessageEvent(b, typ, object)
	case CBOR:
		return appendCBOREvent(b, typ, object)
	}
	return AppendTextEvent(b, typ, object.AppendJSON), nil
}

// AppendTextEvent appends an event of a watch in JSON, whose object is a text that object appends.
func AppendTextEvent(b []byte, typ string, object func([]byte) []byte) []byte {
	b = append(b, `{"type":"`...)
	b = append(b, typ...)
	b = append(b, `","object":`...)
	return append(object(b), "}\n"...)
}

func appendMessageEvent(b []byte, typ string, object Document) ([]byte, error) {
	raw, err := object.AppendProtobuf(nil)
	if err != nil {
		return b, err
	}
	frame, err := (&metav1.WatchEvent{Type: typ, Object: runtime.RawExtension{Raw: raw}}).Marshal()
	return append(binary.BigEndian.AppendUint32(b, uint32(len(frame))), frame...), err
}

func appendCBOREvent(b []byte, typ string, object Document) ([]byte, error) {
	v, err := value.Parse(object.AppendJSON(nil))
	if err != nil {
		return b, err
	}
	data, err := direct.Marshal(map[string]any{"type": typ, "object": v.ToAny()})
	return append(append(b, selfDescribed...), data...), err
}
