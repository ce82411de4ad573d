package watch_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/deed-project/deed/internal/testing/seeds"
	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/internal/servertest"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/server/store/memory"
)

// stalled is the connection of a client that does not read: http.ResponseWriter.
type stalled struct {
	header  http.Header
	code    int
	begun   func()        // is called when the first bytes are there
	goingOn chan struct{} // is closed when the client reads again
	once    sync.Once
}

func (s *stalled) Header() http.Header  { return s.header }
func (s *stalled) WriteHeader(code int) { s.code = code }
func (s *stalled) Write(b []byte) (int, error) {
	s.once.Do(s.begun)
	<-s.goingOn
	return len(b), nil
}

// fill creates 60 ConfigMaps of 100 kB.
func fill(t *testing.T, s *server.Server) {
	t.Helper()
	long := strings.Repeat("a longer text ", 7000)
	for i := range 60 {
		if w := servertest.Ask(s, "POST /api/v1/namespaces/default/configmaps", fmt.Sprintf(`{"metadata":{"name":"m%d"},"data":{"a":"%d %s"}}`, i, i, long)); w.Code != 201 {
			t.Fatal(w.Body)
		}
	}
}

const protobufType = "application/vnd.kubernetes.protobuf"

// TestStalledReaders has forty clients ask for a list of 6 MB and not read it. None holds more of it than is about to be sent.
func TestStalledReaders(t *testing.T) {
	s := servertest.New(t, server.Config{})
	fill(t, s)
	for _, c := range []struct{ name, path, accept, encoding string }{
		{"JSON", "", "application/json", ""},
		{"compressed", "", "application/json", "gzip"},
		{"with line breaks", "?pretty=true", "application/json", ""},
		{"compressed, with line breaks", "?pretty=true", "application/json", "gzip"},
		{"a table of whole objects", "?includeObject=Object", servertest.TableJSON, ""},
		{"protocol buffers", "", protobufType, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			const clients, most = 40, 1500 << 10 // a compressor takes 800 KiB, and a list that is held 6 MB
			request := func() *http.Request {
				r := httptest.NewRequest(http.MethodGet, "/api/v1/configmaps"+c.path, nil)
				r.Header.Set("Accept", c.accept)
				r.Header.Set("Accept-Encoding", c.encoding)
				return r
			}
			s.ServeHTTP(httptest.NewRecorder(), request()) // what is made once is there by now
			before := servertest.LiveHeap()
			var begun, ended sync.WaitGroup
			goingOn := make(chan struct{})
			for range clients {
				begun.Add(1)
				w := &stalled{header: http.Header{}, begun: begun.Done, goingOn: goingOn}
				ended.Go(func() {
					if s.ServeHTTP(w, request()); w.code != http.StatusOK {
						t.Errorf("answered with %d", w.code)
					}
				})
			}
			begun.Wait()
			if held := int64(servertest.LiveHeap() - before); held > clients*most {
				t.Errorf("%d clients hold %d bytes", clients, held)
			}
			close(goingOn)
			ended.Wait()
		})
	}
}

// TestHeldLists has clients ask for lists of metadata, each of which is held whole, and not read them. From some client on they are told to come
// again, and are answered once others have gone.
func TestHeldLists(t *testing.T) {
	const metadataOnly = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
	s := servertest.New(t, server.Config{})
	fill(t, s)
	request := func(accept string) *http.Request {
		r := httptest.NewRequest(http.MethodGet, "/api/v1/configmaps", nil)
		r.Header.Set("Accept", accept)
		return r
	}
	var ended sync.WaitGroup
	goingOn := make(chan struct{})
	held, refused := 0, ""
	for refused == "" && held < 100 {
		begun := make(chan struct{})
		w := &stalled{header: http.Header{}, begun: func() { close(begun) }, goingOn: goingOn}
		ended.Go(func() { s.ServeHTTP(w, request(metadataOnly)) })
		if <-begun; w.code == http.StatusTooManyRequests {
			refused = w.header.Get("Retry-After")
		} else {
			held++
		}
	}
	if held < 10 || held > 30 || refused != "1" {
		t.Errorf("%d lists of 6 MB are held, and then one is told to come again after %q s", held, refused)
	}
	w := httptest.NewRecorder()
	if s.ServeHTTP(w, request("application/json")); w.Code != http.StatusOK {
		t.Errorf("JSON, which is sent as it is read, is answered with %d", w.Code)
	}
	close(goingOn)
	ended.Wait()
	w = httptest.NewRecorder()
	if s.ServeHTTP(w, request(metadataOnly)); w.Code != http.StatusOK {
		t.Errorf("when all have gone, the answer is %d", w.Code)
	}
}

// TestListMessages compares lists in protocol buffers with the same lists in JSON: short ones, and those that are read twice.
func TestListMessages(t *testing.T) {
	random := seeds.Rand(t)
	s := servertest.New(t, server.Config{})
	for i := range 40 {
		body := fmt.Sprintf(`{"metadata":{"name":"n%02d","labels":{"a":"%d"}},"data":{"é<\"":%q}}`, i, random.IntN(3), strings.Repeat("x", random.IntN(120_000)))
		servertest.Ask(s, "POST /api/v1/namespaces/default/configmaps", body)
	}
	decoder := protobuf.NewSerializer(scheme.Scheme, scheme.Scheme)
	for _, query := range []string{"", "limit=7", "limit=30", "labelSelector=a%3D1", "labelSelector=a+in+(0,2)&limit=30", "fieldSelector=metadata.name%3Dn07",
		"fieldSelector=metadata.name%3Dnone", "limit=3&resourceVersion=0"} {
		path := "GET /api/v1/namespaces/default/configmaps?" + query
		w := servertest.Ask(s, path+" Accept="+protobufType, "")
		var got, want corev1.ConfigMapList
		if _, _, err := decoder.Decode(w.Body.Bytes(), nil, &got); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		if _, _, err := scheme.Codecs.UniversalDeserializer().Decode(servertest.Ask(s, path, "").Body.Bytes(), nil, &want); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		want.TypeMeta, got.TypeMeta = metav1.TypeMeta{}, metav1.TypeMeta{}
		if !equality.Semantic.DeepEqual(got, want) {
			t.Errorf("%s: %.300v\nwant %.300v", query, got, want)
		}
		message, err := got.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		envelope := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: "v1", Kind: "ConfigMapList"}, Raw: message}
		text, err := envelope.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		if string(text) != string(w.Body.Bytes()[len("k8s\x00"):]) {
			t.Errorf("%s: the bytes are not those of the library", query)
		}
	}
}

// interrupted is a store in which something happens once between two readings of ConfigMaps: store.Store.
type interrupted struct {
	store.Store
	between func()
	ranges  int
}

// Range reads records.
func (s *interrupted) Range(ctx context.Context, r store.Range) (store.Page, error) {
	if s.between != nil && strings.HasPrefix(r.Prefix, "/registry/configmaps/") {
		if s.ranges++; s.ranges == 2 {
			s.between()
		}
	}
	return s.Store.Range(ctx, r)
}

// TestWriteWithinMessages writes while a list in protocol buffers is read twice. Both readings are of one version, and the list is whole.
func TestWriteWithinMessages(t *testing.T) {
	objects := &interrupted{Store: memory.New()}
	s := servertest.New(t, server.Config{Store: objects})
	fill(t, s)
	before := listedVersion(t, s)
	objects.between = func() {
		servertest.Ask(s, "POST /api/v1/namespaces/default/configmaps", `{"metadata":{"name":"a"}}`)
		servertest.Ask(s, "DELETE /api/v1/namespaces/default/configmaps/m1", "")
	}
	w := servertest.Ask(s, "GET /api/v1/namespaces/default/configmaps Accept="+protobufType, "")
	var got corev1.ConfigMapList
	if _, _, err := protobuf.NewSerializer(scheme.Scheme, scheme.Scheme).Decode(w.Body.Bytes(), nil, &got); err != nil {
		t.Fatal(err)
	}
	if objects.ranges < 2 || len(got.Items) != 60 || got.ResourceVersion != before {
		t.Errorf("after %d readings it has %d objects of version %s, want 60 of %s", objects.ranges, len(got.Items), got.ResourceVersion, before)
	}
}

// listedVersion returns the version of a list of ConfigMaps.
func listedVersion(t *testing.T, s http.Handler) string {
	t.Helper()
	return servertest.Parsed(t, servertest.Ask(s, "GET /api/v1/configmaps?limit=1", "")).Get("metadata", "resourceVersion").Str()
}
