package pair

import (
	"encoding/binary"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	jsonserializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes/scheme"
)

// Protobuf is the media type of objects as protocol buffers. Most clients in Go send and read built-in kinds so.
const Protobuf = "application/vnd.kubernetes.protobuf"

// types are the Go types of built-in kinds, and those of lists of metadata.
var types = func() *runtime.Scheme {
	s := runtime.NewScheme()
	utilruntime.Must(scheme.AddToScheme(s))
	utilruntime.Must(metav1.AddMetaToScheme(s))
	return s
}()

var (
	fromJSON = jsonserializer.NewSerializerWithOptions(jsonserializer.DefaultMetaFactory, types, types, jsonserializer.SerializerOptions{})
	buffers  = protobuf.NewSerializer(types, types)
	events   = protobuf.NewRawSerializer(types, types)
)

// InProtobuf reports whether objects of a kind can be protocol buffers.
func InProtobuf(apiVersion, kind string) bool {
	return types.Recognizes(schema.FromAPIVersionAndKind(apiVersion, kind))
}

// EncodeProtobuf returns an object as protocol buffers, which omit members that its Go type does not have. It returns an error if the kind has
// no Go type here, or the type cannot hold the object.
func EncodeProtobuf(object any) ([]byte, error) {
	text, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	typed, _, err := fromJSON.Decode(text, nil, nil)
	if err != nil {
		return nil, err
	}
	return runtime.Encode(buffers, typed)
}

// DecodeProtobuf returns the JSON text of an object that comes as protocol buffers.
func DecodeProtobuf(body []byte) ([]byte, error) {
	object, _, err := buffers.Decode(body, nil, nil)
	if err != nil {
		return nil, err
	}
	return json.Marshal(object)
}

// decodeEvents returns the JSON texts of the events of a watch, a line each.
func decodeEvents(stream []byte) (out []byte, err error) {
	for len(stream) > 0 {
		var frame []byte
		if frame, stream, err = cutFrame(stream); err != nil {
			return nil, err
		}
		var event metav1.WatchEvent
		if _, _, err := events.Decode(frame, nil, &event); err != nil {
			return nil, err
		}
		if event.Object.Raw, err = DecodeProtobuf(event.Object.Raw); err != nil {
			return nil, err
		}
		line, err := json.Marshal(event)
		if err != nil {
			return nil, err
		}
		out = append(append(out, line...), '\n')
	}
	return out, nil
}

// cutFrame returns the first frame of a stream, and what follows it. A frame is behind its length in four bytes.
func cutFrame(stream []byte) (frame, rest []byte, err error) {
	if len(stream) < 4 || uint64(len(stream)-4) < uint64(binary.BigEndian.Uint32(stream)) {
		return nil, nil, fmt.Errorf("a stream ends within a frame: %d bytes are left", len(stream))
	}
	end := 4 + binary.BigEndian.Uint32(stream)
	return stream[4:end], stream[end:], nil
}
