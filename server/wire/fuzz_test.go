package wire

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"

	"github.com/deed-project/deed/internal/testing/seeds"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/value"
)

var podKind = schema.GVK{Version: "v1", Kind: "Pod"}

func newPod() any { return &corev1.Pod{} }

const podText = `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","labels":{"a":"b"},"creationTimestamp":"2026-01-02T03:04:05Z"},` +
	`"spec":{"containers":[{"name":"c","image":"i:1","resources":{"limits":{"cpu":"1500m"}}}],"hostNetwork":true},"status":{"phase":"Running"}}`

// FuzzProtobuf decodes protobuf bodies. A decoded object must survive encoding and decoding, except for zero times: a document has null for
// them, and null encodes as an absent field.
func FuzzProtobuf(f *testing.F) {
	content, err := value.Parse([]byte(podText))
	if err != nil {
		f.Fatal(err)
	}
	seed, err := Object{Value: content, New: newPod}.AppendProtobuf(nil)
	if err != nil {
		f.Fatal(err)
	}
	seeds.Fuzz(f, [][]byte{seed, seed[:len(seed)/2], protobufMagic, nil}, func(t *testing.T, body []byte) {
		sent, err := DecodeProtobuf(body, newPod(), podKind)
		if err != nil {
			return
		}
		again, err := Object{Value: sent.Content, New: newPod}.AppendProtobuf(nil)
		if err != nil {
			t.Fatalf("%v is read and cannot be written: %v", sent.Content, err)
		}
		reread, err := DecodeProtobuf(again, newPod(), podKind)
		if err != nil || !withoutNulls(reread.Content).Equal(withoutNulls(sent.Content)) {
			t.Errorf("%v\nis read again as\n%v, %v", sent.Content, reread.Content, err)
		}
	})
}

// withoutNulls returns v without members that are null.
func withoutNulls(v value.Value) value.Value {
	switch v.Kind() {
	case value.KindList:
		var items []value.Value
		for item := range v.Items() {
			items = append(items, withoutNulls(item))
		}
		return value.List(items...)
	case value.KindObject:
		var members []value.Member
		for name, member := range v.Members() {
			if !member.IsNull() {
				members = append(members, value.Member{Name: name, Value: withoutNulls(member)})
			}
		}
		return value.Object(members...)
	}
	return v
}

// FuzzCBOR decodes CBOR bodies. A decoded object must survive being stored and read again, except for names and texts that are not UTF-8,
// which JSON repairs.
func FuzzCBOR(f *testing.F) {
	content, err := value.Parse([]byte(podText))
	if err != nil {
		f.Fatal(err)
	}
	seed, err := appendCBOR(nil, Object{Value: content})
	if err != nil {
		f.Fatal(err)
	}
	corpus := [][]byte{seed, seed[:len(seed)/2], {0xa1, 0x61, 'a', 0xfb, 0x7f, 0xf8, 0, 0, 0, 0, 0, 0}, nil}
	seeds.Fuzz(f, corpus, func(t *testing.T, body []byte) {
		sent, err := DecodeCBOR(body, "Pod")
		if err != nil {
			return
		}
		if sent.Content, err = value.Parse(sent.Content.AppendJSON(nil)); err != nil {
			return // the repair made two names equal
		}
		again, err := appendCBOR(nil, Object{Value: sent.Content})
		if err != nil {
			t.Fatalf("%v is read and cannot be written: %v", sent.Content, err)
		}
		reread, err := DecodeCBOR(again, "Pod")
		if err != nil || !reread.Content.Equal(sent.Content) {
			t.Errorf("%v\nis read again as\n%v, %v", sent.Content, reread.Content, err)
		}
	})
}

// FuzzBody decodes JSON and YAML bodies. A decoded object states its kind, and survives encoding and decoding.
func FuzzBody(f *testing.F) {
	corpus := []string{
		podText, "", "null", "[]", `{"a":1,"a":2}`, "a: &x [1]\nb: *x\n", `{"kind":1}`, `{"apiVersion":null,"kind":"Pod"}`, "n: 1\n",
	}
	seeds.Fuzz(f, corpus, func(t *testing.T, body string) {
		for _, media := range []string{JSON, YAML} {
			sent, err := DecodeStandard([]byte(body), media, podKind)
			if err != nil {
				continue
			}
			if sent.Content.Get("kind").Str() == "" || sent.Content.Get("apiVersion").Str() == "" {
				t.Errorf("%s is of no kind: %v", media, sent.Content)
			}
			again, err := DecodeStandard(sent.Content.AppendJSON(nil), JSON, podKind)
			if err != nil || !again.Content.Equal(sent.Content) {
				t.Errorf("%v\nis read again as\n%v, %v", sent.Content, again.Content, err)
			}
		}
	})
}

// FuzzTable prints objects with arbitrary column paths. A row must have as many cells as there are columns, and the Table must be a
// document.
func FuzzTable(f *testing.F) {
	for _, path := range []string{".spec.containers[0].name", ".metadata.labels['a']", "..", "[", ".status", "{.a}", ".spec.containers[*].name"} {
		f.Add(podText, path, "integer")
		f.Add(podText, path, "date")
	}
	f.Fuzz(func(t *testing.T, text, path, typ string) {
		object, err := value.Parse([]byte(text))
		if err != nil || object.Kind() != value.KindObject || !utf8.ValidString(typ) {
			return
		}
		version := &catalog.Version{
			Resource: &catalog.Resource{Kind: "Pod", Custom: true},
			Columns: catalog.Listed(catalog.Column{Name: "Name", Type: "string", Path: ".metadata.name"},
				catalog.PathColumn(catalog.Column{Name: "X", Type: typ, Path: path})),
		}
		table := Table{Of: "v1", Version: version}.Document(ListMeta{}, []value.Value{object}, true)
		if n := table.Get("rows").Item(0).Get("cells").Len(); n != 2 {
			t.Errorf("%d cells", n)
		}
		if again, err := value.Parse(table.AppendJSON(nil)); err != nil || !again.Equal(table) {
			t.Errorf("%v\nis read as\n%v, %v", table, again, err)
		}
	})
}

// FuzzAccept negotiates. The result must be among the offered types.
func FuzzAccept(f *testing.F) {
	seeds.Fuzz(f, []string{
		"", "*/*", "application/json;q=0.5, application/yaml", "application/json;as=Table;g=meta.k8s.io;v=v1,application/json",
		"application/vnd.kubernetes.protobuf", "text/plain", ",;,=;q=x", "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
	}, func(t *testing.T, accept string) {
		r := httptest.NewRequest(http.MethodGet, "/api/v1/pods", nil)
		r.Header.Set("Accept", accept)
		for name, negotiate := range map[string]func(*http.Request, Offer) (Representation, error){"": Negotiate, "watch": NegotiateWatch} {
			for _, offered := range [][]string{{JSON, YAML}, {JSON, YAML, Protobuf}} {
				rep, err := negotiate(r, Offer{Convert: true, Protobuf: len(offered) == 3})
				if err == nil && !slices.Contains(offered, strings.TrimSuffix(rep.Media, ";stream=watch")) {
					t.Errorf("%s %q gets %q, and is offered %q", name, accept, rep.Media, offered)
				}
			}
		}
	})
}
