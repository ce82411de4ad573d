package server_test

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	openapiv2 "github.com/google/gnostic-models/openapiv2"
	openapiv3 "github.com/google/gnostic-models/openapiv3"
	"github.com/klauspost/compress/zstd"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	apidiscovery "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/deed-project/deed/internal/testing/seeds"
	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/internal/servertest"
	"github.com/deed-project/deed/server/wire"
	"github.com/deed-project/deed/value"
)

// The tests of this file compare the documents about what a server serves, discovery and OpenAPI, with those of a kube-apiserver.

// Media types of documents.
const (
	aggregatedParams = ";g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
	openAPIType      = "application/com.github.proto-openapi.spec.v%d@v1.0+protobuf"
)

// asker sends a request in the words of ask.
type asker func(request, body string) *httptest.ResponseRecorder

// documents returns the documents of a server by request. Members are sorted, and the schemas of built-in types are replaced by a hash.
func documents(t *testing.T, send asker) map[string]value.Value {
	t.Helper()
	out := map[string]value.Value{"GET /": documentOf(t, send, "GET /")}
	for _, root := range []string{"/api", "/apis"} {
		out["GET "+root] = documentOf(t, send, "GET "+root)
		for _, media := range []string{"application/json", "application/yaml", wire.Protobuf} {
			request := "GET " + root + " Accept=" + media + aggregatedParams
			out[request] = documentOf(t, send, request)
		}
	}
	out["GET /apis Accept="+wire.Protobuf] = documentOf(t, send, "GET /apis Accept="+wire.Protobuf)
	for group := range out["GET /apis"].Get("groups").Items() {
		path := "GET /apis/" + group.Get("name").Str()
		out[path] = documentOf(t, send, path)
	}
	var paths []value.Value
	for path := range documentOf(t, send, "GET /openapi/v3").Get("paths").Members() {
		paths = append(paths, value.String(path))
		request := "GET /openapi/v3/" + path
		out[request] = documentOf(t, send, request)
		if strings.HasPrefix(path, "apis/") && strings.Count(path, "/") == 2 || path == "api/v1" {
			out["GET /"+path] = documentOf(t, send, "GET /"+path)
			request += fmt.Sprintf(" Accept="+openAPIType, 3)
			out[request] = documentOf(t, send, request)
		}
	}
	out["GET /openapi/v3"] = value.List(paths...)
	out["GET /openapi/v2"] = documentOf(t, send, "GET /openapi/v2")
	request := fmt.Sprintf("GET /openapi/v2 Accept="+openAPIType, 2)
	out[request] = documentOf(t, send, request)
	return out
}

// documentOf returns the answer to a request, in the form in which it is compared.
func documentOf(t *testing.T, send asker, request string) value.Value {
	t.Helper()
	w := send(request, "")
	if w.Code != http.StatusOK {
		return value.String(fmt.Sprint(w.Code, " ", w.Body.String()))
	}
	text, media := w.Body.Bytes(), w.Header().Get("Content-Type")
	var err error
	switch {
	case strings.Contains(media, "spec.v2"):
		return sortedMessage(t, text, &openapiv2.Document{})
	case strings.Contains(media, "spec.v3"):
		return sortedMessage(t, text, &openapiv3.Document{})
	case strings.HasPrefix(media, wire.Protobuf+aggregatedParams):
		text, err = fromProtobuf(text, &apidiscovery.APIGroupDiscoveryList{})
	case strings.HasPrefix(media, wire.Protobuf):
		text, err = fromProtobuf(text, &metav1.APIGroupList{})
	case strings.HasPrefix(media, "application/yaml"):
		text, err = yaml.YAMLToJSON(text)
	}
	if err != nil {
		t.Fatal(request, err)
	}
	document, err := value.Parse(text)
	if err != nil {
		t.Fatal(request, err)
	}
	if document.Get("kind").Str() == "APIVersions" {
		document = document.With("serverAddressByClientCIDRs", value.Value{}) // its address
	}
	return hashed(inNameOrder(document))
}

// inNameOrder returns a document of discovery with custom resources and their groups by name. Only the aggregated document of a kube-apiserver
// has them in this order; others have them in the random order of a map.
func inNameOrder(document value.Value) value.Value {
	if group, _, _ := strings.Cut(document.Get("groupVersion").Str(), "/"); isCustom(group) {
		return document.With("resources", byName(slices.Collect(document.Get("resources").Items()), 0))
	}
	if document.Get("kind").Str() != "APIGroupList" {
		return document
	}
	groups := slices.Collect(document.Get("groups").Items())
	return document.With("groups", byName(groups, slices.IndexFunc(groups, func(g value.Value) bool {
		return isCustom(g.Get("name").Str())
	})))
}

// isCustom reports whether a group has custom resources.
func isCustom(group string) bool { return strings.Contains(group, "example.") }

// byName returns items as a list, those from first on by name. Subresources stay in their order.
func byName(items []value.Value, first int) value.Value {
	slices.SortStableFunc(items[first:], func(a, b value.Value) int {
		x, _, _ := strings.Cut(a.Get("name").Str(), "/")
		y, _, _ := strings.Cut(b.Get("name").Str(), "/")
		return cmp.Compare(x, y)
	})
	return value.List(items...)
}

// fromProtobuf returns an object in the envelope of kube-apiserver as JSON.
func fromProtobuf(text []byte, into interface {
	Unmarshal([]byte) error
}) ([]byte, error) {
	var envelope runtime.Unknown
	if err := envelope.Unmarshal(bytes.TrimPrefix(text, []byte("k8s\x00"))); err != nil {
		return nil, err
	}
	if err := into.Unmarshal(envelope.Raw); err != nil {
		return nil, err
	}
	text, err := json.Marshal(into)
	if err != nil {
		return nil, err
	}
	document, err := value.Parse(text)
	return document.With("kind", value.String(envelope.Kind)).With("apiVersion", value.String(envelope.APIVersion)).AppendJSON(nil), err
}

// hashed replaces the schemas of built-in types in an OpenAPI document by hashes.
func hashed(document value.Value) value.Value {
	for _, at := range [][]string{{"definitions"}, {"components", "schemas"}} {
		schemas := document.Get(at...)
		out := schemas
		for name, schema := range schemas.Members() {
			if strings.HasPrefix(name, "io.k8s.") {
				out = out.With(name, hashOf(schema.AppendJSON(nil)))
			}
		}
		switch {
		case schemas.IsAbsent():
		case len(at) == 1:
			document = document.With(at[0], out)
		default:
			document = document.With(at[0], document.Get(at[0]).With(at[1], out))
		}
	}
	return document
}

func hashOf(text []byte) value.Value {
	sum := sha256.Sum256(text)
	return value.String(fmt.Sprintf("%x", sum[:6]))
}

// sortedMessage returns an OpenAPI document in protobuf as the hashes of its paths, schemas and parameters, by name. Their members are sorted.
func sortedMessage(t *testing.T, text []byte, m proto.Message) value.Value {
	t.Helper()
	if err := proto.Unmarshal(text, m); err != nil {
		t.Fatal(err)
	}
	sortMessage(m.ProtoReflect())
	var of []proto.Message
	switch m := m.(type) {
	case *openapiv2.Document:
		for _, p := range m.Paths.Path {
			of = append(of, p)
		}
		for _, s := range m.Definitions.AdditionalProperties {
			of = append(of, s)
		}
		for _, p := range m.Parameters.AdditionalProperties {
			of = append(of, p)
		}
		m.Paths, m.Definitions, m.Parameters = nil, nil, nil
	case *openapiv3.Document:
		for _, p := range m.Paths.Path {
			of = append(of, p)
		}
		for _, s := range m.Components.Schemas.AdditionalProperties {
			of = append(of, s)
		}
		m.Paths, m.Components.Schemas = nil, nil
	}
	out := value.Object()
	for _, part := range append(of, m) {
		encoded, err := proto.MarshalOptions{Deterministic: true}.Marshal(part)
		if err != nil {
			t.Fatal(err)
		}
		name := ""
		if named, ok := part.(interface{ GetName() string }); ok {
			name = named.GetName()
		}
		out = out.With(name, hashOf(encoded))
	}
	return out
}

// sortMessage sorts the named members within a message, and those of the YAML in it.
func sortMessage(m protoreflect.Message) {
	m.Range(func(field protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case field.Kind() == protoreflect.StringKind && field.Name() == "yaml" && m.Descriptor().Name() == "Any":
			text, err := yaml.YAMLToJSON([]byte(v.String()))
			if err == nil {
				m.Set(field, protoreflect.ValueOfString(string(text)))
			}
		case field.Kind() != protoreflect.MessageKind:
		case field.IsList():
			list := v.List()
			var items []protoreflect.Value
			for i := range list.Len() {
				sortMessage(list.Get(i).Message())
				items = append(items, list.Get(i))
			}
			if name := field.Message().Fields().ByName("name"); name != nil && strings.HasPrefix(string(field.Message().Name()), "Named") {
				slices.SortFunc(items, func(a, b protoreflect.Value) int {
					return cmp.Compare(a.Message().Get(name).String(), b.Message().Get(name).String())
				})
			}
			for i, item := range items {
				list.Set(i, item)
			}
		default:
			sortMessage(v.Message())
		}
		return true
	})
}

// documentsFile has the definitions that TestDocuments creates, and the documents of a kube-apiserver that has them.
const documentsFile = "testdata/documents.json.zst"

// documentsDelay is the time that a kube-apiserver gets to add definitions to OpenAPI.
const documentsDelay = 20 * time.Second

type recordedDocuments struct {
	Definitions []value.Value
	Documents   map[string]value.Value
}

// recordedDefinitions is the number of definitions in documentsFile.
const recordedDefinitions = 200

// documentedDefinitions returns random definitions, more than [recordedDefinitions], because a server refuses a few of them. Four of them
// share a group.
func documentedDefinitions(t *testing.T, seed uint64) (out []value.Value) {
	t.Helper()
	g := &generator{Rand: seeds.Stream(seed, 0)}
	for i := range recordedDefinitions + 20 {
		group := fmt.Sprintf("g%d.seed-%d.%s", i/4, seed, []string{"example.org", "example.k8s.io"}[i/4%10/9])
		definition, err := value.Parse([]byte(g.text(g.documented(i, group))))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, definition)
	}
	return out
}

// TestDocuments compares all documents with those of a kube-apiserver, in both of which random definitions were created. With DEED_PEER, the
// kube-apiserver is asked and the file is written; it must be a new one. DEED_SEED makes it other definitions.
func TestDocuments(t *testing.T) {
	if testing.Short() {
		t.Skip("short: making all documents takes a minute with the race detector, and one goroutine makes them")
	}
	s, peer := servertest.New(t, server.Config{Authenticate: asAdmin}), os.Getenv("DEED_PEER")
	here := asker(func(request, body string) *httptest.ResponseRecorder { return servertest.Ask(s, request, body) })
	there := asker(func(request, body string) *httptest.ResponseRecorder { return askPeer(t, peer, request, body) })
	if peer != "" {
		writeDocuments(t, documentsFile, recordDocuments(t, there))
	}
	recorded := readDocuments(t, documentsFile)
	for _, definition := range recorded.Definitions {
		if w := here("POST "+servertest.DefinitionsPath+servertest.JSON, definition.String()); w.Code != http.StatusCreated {
			t.Fatalf("%s\n%d %s", definition, w.Code, w.Body)
		}
	}
	compareDocuments(t, documents(t, here), recorded.Documents)
}

// recordDocuments creates random definitions in a kube-apiserver. It returns the definitions that it takes, and the documents.
func recordDocuments(t *testing.T, there asker) (out recordedDocuments) {
	t.Helper()
	definePeer(t, there)
	for _, definition := range documentedDefinitions(t, seeds.First(t)) {
		if len(out.Definitions) == recordedDefinitions {
			break
		}
		if w := there("POST "+servertest.DefinitionsPath+servertest.JSON, definition.String()); w.Code == http.StatusCreated {
			out.Definitions = append(out.Definitions, definition)
		}
	}
	time.Sleep(documentsDelay)
	out.Documents = documents(t, there)
	return out
}

// TestRandomDocuments creates other random definitions here and in the kube-apiserver of DEED_PEER, and compares all documents.
func TestRandomDocuments(t *testing.T) {
	peer := os.Getenv("DEED_PEER")
	if peer == "" {
		t.Skip("DEED_PEER names no kube-apiserver")
	}
	s := servertest.New(t, server.Config{Authenticate: asAdmin})
	here := asker(func(request, body string) *httptest.ResponseRecorder { return servertest.Ask(s, request, body) })
	there := asker(func(request, body string) *httptest.ResponseRecorder { return askPeer(t, peer, request, body) })
	definePeer(t, there)
	taken := 0
	for _, definition := range documentedDefinitions(t, seeds.First(t)) {
		body := definition.String()
		w, other := here("POST "+servertest.DefinitionsPath+servertest.JSON, body), there("POST "+servertest.DefinitionsPath+servertest.JSON, body)
		if other.Code != w.Code {
			t.Errorf("%s\n here %d %s\nthere %d %s", body, w.Code, servertest.Message(w), other.Code, servertest.Message(other))
		}
		if w.Code == http.StatusCreated {
			taken++
		} else {
			t.Log(servertest.Message(w))
		}
	}
	time.Sleep(documentsDelay)
	compareDocuments(t, documents(t, here), documents(t, there))
	t.Logf("%d definitions", taken)
}

// requestedFile has the documents about versions on request of a kube-apiserver with --runtime-config api/all=true.
const requestedFile = "testdata/requested.json.zst"

// TestRequestedDocuments compares the documents about versions on request with those of a kube-apiserver that serves all versions, and the lists of
// all groups. With DEED_PEER, the kube-apiserver is asked and the file is written.
func TestRequestedDocuments(t *testing.T) {
	s, peer := servertest.New(t, server.Config{Authenticate: asAdmin, RuntimeConfig: map[string]bool{"api/all": true}}), os.Getenv("DEED_PEER")
	about := func(send asker) map[string]value.Value {
		all := documents(t, send)
		maps.DeleteFunc(all, func(request string, _ value.Value) bool {
			return request != "GET /apis" && (strings.Contains(request, " Accept=") || !strings.Contains(request, "alpha") && !strings.Contains(request, "beta"))
		})
		return all
	}
	if peer != "" {
		definePeer(t, func(request, body string) *httptest.ResponseRecorder { return askPeer(t, peer, request, body) })
		writeDocuments(t, requestedFile, recordedDocuments{
			Documents: about(func(request, body string) *httptest.ResponseRecorder { return askPeer(t, peer, request, body) }),
		})
	}
	recorded := readDocuments(t, requestedFile)
	if len(recorded.Documents) < 15 {
		t.Errorf("%d documents are recorded", len(recorded.Documents))
	}
	compareDocuments(t, about(func(request, body string) *httptest.ResponseRecorder { return servertest.Ask(s, request, body) }), recorded.Documents)
}

// readDocuments reads a file of documents.
func readDocuments(t *testing.T, name string) (out recordedDocuments) {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close() // it was only read
	z, err := zstd.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	text, err := io.ReadAll(z)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func writeDocuments(t *testing.T, name string, recorded recordedDocuments) {
	t.Helper()
	text, err := json.Marshal(recorded)
	if err != nil {
		t.Fatal(err)
	}
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithWindowSize(32<<20))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, z.EncodeAll(text, nil), 0o644); err != nil {
		t.Fatal(err)
	}
}

// compareDocuments compares the documents of this server with those of a kube-apiserver.
func compareDocuments(t *testing.T, got, want map[string]value.Value) {
	t.Helper()
	for request, there := range want {
		differ(t, request, got[request], there)
	}
	for request := range got {
		if _, known := want[request]; !known {
			t.Errorf("kube-apiserver has no %s", request)
		}
	}
}

// differ reports the places in which two documents differ.
func differ(t *testing.T, path string, got, want value.Value) {
	t.Helper()
	switch {
	case got.Equal(want):
	case got.Kind() == value.KindObject && want.Kind() == value.KindObject:
		for name, w := range want.Members() {
			differ(t, path+" "+name, got.Get(name), w)
		}
		for name, g := range got.Members() {
			if want.Get(name).IsAbsent() {
				t.Errorf("%s %s is %.200s, want nothing", path, name, g)
			}
		}
	case got.Kind() == value.KindList && want.Kind() == value.KindList && got.Len() == want.Len():
		for i := range want.Len() {
			differ(t, fmt.Sprint(path, " ", i), got.Item(i), want.Item(i))
		}
	default:
		t.Errorf("%s\n got %.1500s\nwant %.1500s", path, got, want)
	}
}
