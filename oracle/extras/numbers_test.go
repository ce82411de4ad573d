package extras

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	gvkschema "k8s.io/apimachinery/pkg/runtime/schema"
	serializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
	reference "k8s.io/apimachinery/pkg/util/managedfields"

	"github.com/deed-project/deed/oracle/peer"
	"github.com/deed-project/deed/value"
)

// thing returns an object with a number in the form of API servers.
func thing(number any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.org/v1", "kind": "Thing", "metadata": map[string]any{}, "spec": map[string]any{"n": number},
	}}
}

// encoded returns the text of u that API servers write.
func encoded(u *unstructured.Unstructured) (string, error) {
	scheme := runtime.NewScheme()
	s := serializer.NewSerializerWithOptions(serializer.DefaultMetaFactory, scheme, scheme, serializer.SerializerOptions{})
	var out bytes.Buffer
	err := s.Encode(u, &out)
	return strings.TrimSuffix(out.String(), "\n"), err
}

// TestNumbersInObjects checks that API servers and deed write numbers in objects alike, even small ones.
func TestNumbersInObjects(t *testing.T) {
	for number, want := range map[float64]string{
		1e-7: "1e-7", 1e-6: "0.000001", -1.5e-9: "-1.5e-9", 1e20: "100000000000000000000", 1e21: "1e+21", math.Copysign(0, -1): "-0",
	} {
		u := thing(number)
		text, err := encoded(u)
		if err != nil {
			t.Fatal(err)
		}
		v, err := value.FromAny(u.Object)
		if err != nil {
			t.Fatal(err)
		}
		if v.String() != text || v.Get("spec", "n").String() != want {
			t.Errorf("%v: API servers write %s, deed %v; want the number as %s", number, text, v, want)
		}
	}
}

// TestNotANumberIsNotStored checks that NaN cannot be stored: in the reference's field manager it conflicts with its own applier.
func TestNotANumberIsNotStored(t *testing.T) {
	p, err := peer.New(peer.Config{
		GVK:   gvkschema.GroupVersionKind{Group: "example.org", Version: "v1", Kind: "Thing"},
		Types: reference.NewDeducedTypeConverter(), Custom: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.Manager().Apply(thing(1.0), thing(math.NaN()), "alpha", true)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Manager().Apply(out, thing(math.NaN()), "beta", false); err == nil {
		t.Error("the reference has no conflict on NaN that was applied before")
	}
	if text, err := encoded(out.(*unstructured.Unstructured)); err == nil {
		t.Errorf("API servers write NaN as %s", text)
	}
	if _, err := value.FromAny(thing(math.NaN()).Object); err == nil {
		t.Error("deed accepts NaN")
	}
}
