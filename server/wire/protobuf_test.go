package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	"k8s.io/apimachinery/pkg/api/meta"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/deed-project/deed/internal/testing/seeds"
	kindschema "github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// TestProtobuf encodes random objects of all built-in kinds and lists of them, and compares the bytes with those of the serializer that
// kube-apiserver uses.
func TestProtobuf(t *testing.T) {
	random := fuzzer.FuzzerFor(metafuzzer.Funcs, rand.NewSource(int64(seeds.First(t))), scheme.Codecs)
	peer := protobuf.NewSerializer(scheme.Scheme, scheme.Scheme)
	kinds := 0
	for gvk, typ := range scheme.Scheme.AllKnownTypes() {
		object, err := scheme.Scheme.New(gvk)
		if _, ok := object.(encodable); !ok || err != nil || gvk.Version == runtime.APIVersionInternal || typ.Name() != gvk.Kind {
			continue
		}
		newOf := func() any { return object.DeepCopyObject() }
		for range 5 {
			filled := object.DeepCopyObject()
			random.Fill(filled)
			filled.GetObjectKind().SetGroupVersionKind(gvk)
			text, err := json.Marshal(filled)
			if err != nil {
				t.Fatal(err)
			}
			content := parsed(t, text)
			document := Document(Object{Value: content, New: newOf})
			if meta.IsListType(filled) {
				item, err := scheme.Scheme.New(itemKind(gvk))
				if err != nil {
					continue // the items are not of a registered kind
				}
				document = List{Value: content, New: func() any { return item.DeepCopyObject() }}
			}
			got, err := document.AppendProtobuf(nil)
			if err != nil {
				t.Fatalf("%v: %v", gvk, err)
			}
			read := object.DeepCopyObject()
			if err := json.Unmarshal(content.AppendJSON(nil), read); err != nil {
				t.Fatal(err)
			}
			var want bytes.Buffer
			if err := peer.Encode(read, &want); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want.Bytes()) {
				t.Fatalf("%v: %s\n got %q\nwant %q", gvk, text, got, want.Bytes())
			}
		}
		kinds++
	}
	if kinds < 200 {
		t.Errorf("only %d kinds", kinds)
	}
}

func parsed(t *testing.T, text []byte) value.Value {
	t.Helper()
	v, err := value.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// itemKind returns the kind of the items of a list.
func itemKind(list schema.GroupVersionKind) schema.GroupVersionKind {
	list.Kind = list.Kind[:len(list.Kind)-len("List")]
	return list
}

// TestUnreadableFields decodes an object whose managed fields have something behind the fields: it has none then.
func TestUnreadableFields(t *testing.T) {
	for fields, want := range map[string]int{`{"f:data":{}}`: 1, `{"f:data":{}} x`: 0, `{"f:data":{}}{}`: 0} {
		raw, err := (&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{ManagedFields: []metav1.ManagedFieldsEntry{
			{Manager: "m", FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields)},
		}}}).Marshal()
		if err != nil {
			t.Fatal(err)
		}
		body, err := (&runtime.Unknown{Raw: raw}).Marshal()
		if err != nil {
			t.Fatal(err)
		}
		sent, err := DecodeProtobuf(append([]byte("k8s\x00"), body...), &corev1.ConfigMap{}, kindschema.GVK{Version: "v1", Kind: "ConfigMap"})
		if got := sent.Content.Get("metadata", "managedFields").Len(); err != nil || got != want {
			t.Errorf("%s: %d entries, %v; want %d", fields, got, err, want)
		}
	}
}

// TestRawData decodes objects with raw data. What is no JSON ends the connection; a name that is there twice and bytes that are no UTF-8 do not.
func TestRawData(t *testing.T) {
	for raw, want := range map[string]string{
		`{"a":[1]}`: `{"a":[1]}`, `{"a":1,"b":{"c":1,"c":2}}`: `{"a":1,"b":{"c":2}}`, "{\"a\":\"\xff\"}": `{"a":"\ufffd"}`,
		`{"a":1,"a":12345678901234567}`: `{"a":12345678901234567}`,
		``:                              "", `"`: "", `{`: "", `1z`: "", `z`: "", `{"a":1e400}`: "",
	} {
		message, err := (&appsv1.ControllerRevision{Data: runtime.RawExtension{Raw: []byte(raw)}}).Marshal()
		if err != nil {
			t.Fatal(err)
		}
		body, err := (&runtime.Unknown{Raw: message}).Marshal()
		if err != nil {
			t.Fatal(err)
		}
		kind := kindschema.GVK{Group: "apps", Version: "v1", Kind: "ControllerRevision"}
		sent, err := DecodeProtobuf(append([]byte("k8s\x00"), body...), &appsv1.ControllerRevision{}, kind)
		if want == "" {
			if !errors.Is(err, ErrAbort) {
				t.Errorf("%s: %v", raw, err)
			}
			continue
		}
		wanted, parsed := value.Parse([]byte(want))
		if data := sent.Content.Get("data"); err != nil || parsed != nil || !data.Equal(wanted) {
			t.Errorf("%s: got %v, %v %v; want %s", raw, data, err, parsed, want)
		}
	}
}
