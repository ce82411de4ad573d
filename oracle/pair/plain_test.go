package pair

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// TestPlain encodes objects as protocol buffers and as CBOR, and decodes them again: alone and as events of a watch.
func TestPlain(t *testing.T) {
	object := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a"}, "data": map[string]any{"b": "c"}, "nope": 1}
	const decoded = `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"},"data":{"b":"c"}}`
	body, err := EncodeProtobuf(object)
	if err != nil {
		t.Fatal(err)
	}
	var stream bytes.Buffer
	for range 2 {
		frame := bytes.Buffer{}
		event := &metav1.WatchEvent{Type: "ADDED", Object: runtime.RawExtension{Raw: body}}
		if err := events.Encode(event, &frame); err != nil {
			t.Fatal(err)
		}
		stream.Write(binary.BigEndian.AppendUint32(nil, uint32(frame.Len())))
		stream.Write(frame.Bytes())
	}
	asCBOR, err := EncodeCBOR(object)
	if err != nil {
		t.Fatal(err)
	}
	const whole = `{"apiVersion":"v1","data":{"b":"c"},"kind":"ConfigMap","metadata":{"name":"a"},"nope":1}`
	event := `{"type":"ADDED","object":` + decoded + `}`
	for _, c := range []struct {
		form string
		body []byte
		want string
	}{
		{Protobuf, body, decoded},
		{Protobuf + ";stream=watch", stream.Bytes(), event + "\n" + event},
		{CBOR, asCBOR, whole},
		{cborEvent, append(asCBOR, asCBOR...), whole + "\n" + whole},
		{"application/json", []byte("{}"), "{}"},
		{Protobuf, nil, ""},
	} {
		r, err := Reply{Code: 200, Header: http.Header{"Content-Type": {c.form}}, Body: c.body}.Plain()
		if got := strings.TrimSpace(string(r.Body)); got != c.want || err != nil {
			t.Errorf("%s: %s, %v", c.form, got, err)
		}
	}
	for _, c := range []struct{ form, body string }{
		{Protobuf, "nope"}, {Protobuf, string(body[:len(body)-1])}, {Protobuf + ";stream=watch", stream.String()[:stream.Len()-1]},
		{CBOR, string(asCBOR[:len(asCBOR)-1])}, {cborEvent, string(asCBOR[:len(asCBOR)-1])},
	} {
		if r, err := (Reply{Header: http.Header{"Content-Type": {c.form}}, Body: []byte(c.body)}).Plain(); err == nil {
			t.Errorf("%s: %q is read as %q", c.form, c.body, r.Body)
		}
	}
}

// TestNoProtobuf encodes objects that cannot be protocol buffers.
func TestNoProtobuf(t *testing.T) {
	for _, text := range []string{
		`{"apiVersion":"example.org/v1","kind":"Thing"}`, `{"apiVersion":"v1","kind":"ConfigMap","data":[]}`, `{}`, `[]`, `1`,
	} {
		var object any
		if err := json.Unmarshal([]byte(text), &object); err != nil {
			t.Fatal(err)
		}
		if body, err := EncodeProtobuf(object); err == nil {
			t.Errorf("%s is %q", text, body)
		}
	}
	if InProtobuf("example.org/v1", "Thing") || !InProtobuf("apps/v1", "Deployment") {
		t.Error("the kinds with Go types are others")
	}
}
