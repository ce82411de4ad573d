package watch_test

import (
	"encoding/binary"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"golang.org/x/net/websocket"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/deed-project/deed/server/internal/servertest"
	"github.com/deed-project/deed/server/store/memory"
)

// dial opens a websocket for a watch.
func dial(t *testing.T, s *httptest.Server, path, accept string) *websocket.Conn {
	t.Helper()
	config, err := websocket.NewConfig("ws"+strings.TrimPrefix(s.URL, "http")+path, s.URL)
	if err != nil {
		t.Fatal(err)
	}
	if accept != "" {
		config.Header.Set("Accept", accept)
	}
	c, err := config.DialContext(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// A watch over a websocket gets each event as a frame of text, in the words of a stream, and a normal end.
func TestSockets(t *testing.T) {
	objects := memory.New()
	s := servertest.Stage(t, objects)
	port := httptest.NewServer(s)
	defer port.Close()
	c := dial(t, port, servertest.Things+"?watch=true&fieldSelector=metadata.name%3Dweb", "")
	var frame string
	if err := websocket.Message.Receive(c, &frame); err != nil {
		t.Fatal(err)
	}
	stream := servertest.Ask(s, "GET "+servertest.Things+"?watch=true&timeoutSeconds=1&fieldSelector=metadata.name%3Dweb", "")
	if frame != stream.Body.String() || !strings.HasPrefix(frame, `{"type":"ADDED","object":{`) {
		t.Errorf("the first frame is %q, and a stream is %q", frame, stream.Body)
	}
	if w := servertest.Ask(s, "DELETE "+servertest.Things+"/web", ""); w.Code != http.StatusOK {
		t.Fatal(w.Body)
	}
	if err := websocket.Message.Receive(c, &frame); err != nil || !strings.HasPrefix(frame, `{"type":"DELETED",`) {
		t.Errorf("then %q, %v", frame, err)
	}
	definition := "PATCH /apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.org"
	if w := servertest.Ask(s, definition+" Content-Type=application/merge-patch+json", `{"spec":{"names":{"categories":["things"]}}}`); w.Code != http.StatusOK {
		t.Fatal(w.Body)
	}
	if err := websocket.Message.Receive(c, &frame); !errors.Is(err, io.EOF) {
		t.Errorf("when the resource is served in another way: %q, %v", frame, err)
	}
}

// In a binary representation frames are binary, and have no length in front.
func TestSocketsOfProtobuf(t *testing.T) {
	s := servertest.Stage(t, memory.New())
	port := httptest.NewServer(s)
	defer port.Close()
	c := dial(t, port, "/api/v1/namespaces?watch=true&fieldSelector=metadata.name%3Dshop", "application/vnd.kubernetes.protobuf")
	var frame []byte
	var typ byte
	received := websocket.Codec{Unmarshal: func(data []byte, payload byte, _ any) error {
		frame, typ = data, payload
		return nil
	}}
	if err := received.Receive(c, nil); err != nil {
		t.Fatal(err)
	}
	if typ != websocket.BinaryFrame {
		t.Errorf("the frame is of type %d", typ)
	}
	var event metav1.WatchEvent
	if err := event.Unmarshal(frame); err != nil || event.Type != "ADDED" || binary.BigEndian.Uint32(frame) == uint32(len(frame)-4) {
		t.Errorf("the frame is %q: %v", frame, err)
	}
}

// What asks for a websocket and says nothing of its origin is refused, as kube-apiserver's library does it; a connection that cannot
// become one is told so.
func TestSocketRefusals(t *testing.T) {
	s := servertest.Stage(t, memory.New())
	port := httptest.NewServer(s)
	defer port.Close()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, port.URL+servertest.Things+"?watch=true", nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
	} {
		r.Header.Set(name, value)
	}
	for _, c := range []struct {
		connection []string
		code       int
	}{
		{[]string{"keep-alive, Upgrade"}, http.StatusForbidden},
		{[]string{"keep-alive", "Upgrade"}, http.StatusBadRequest}, // the library looks at the first value
	} {
		r.Header["Connection"] = c.connection
		w, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		w.Body.Close()
		if w.StatusCode != c.code {
			t.Errorf("without an origin, Connection %q: %d", c.connection, w.StatusCode)
		}
	}
	recorded := httptest.NewRecorder()
	s.ServeHTTP(recorded, r)
	if recorded.Code != http.StatusInternalServerError {
		t.Errorf("where there is no connection: %d %s", recorded.Code, recorded.Body)
	}
}
