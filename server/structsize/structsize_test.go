package structsize_test

import (
	"encoding/json"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "sigs.k8s.io/json"

	"github.com/deed-project/deed/server/structsize"
)

func list(n int, item string) string { return `[` + strings.Repeat(item+`,`, n-1) + item + `]` }

func TestJSON(t *testing.T) {
	for _, c := range []struct {
		name, text string
		into       any
		refused    bool
	}{
		{"containers", `{"spec":{"containers":` + list(20_000, `{}`) + `}}`, corev1.Pod{}, true},
		{"containers, escaped", `{"spec":{"\u0063ontainers":` + list(20_000, `{}`) + `}}`, corev1.Pod{}, true},
		{"containers with spaces", `{ "spec" : { "containers" : ` + list(20_000, ` { } `) + `}}`, corev1.Pod{}, true},
		{"containers that are null", `{"spec":{"containers":` + list(20_000, `null`) + `}}`, corev1.Pod{}, true},
		{"containers that are numbers", `{"spec":{"containers":` + list(20_000, `1`) + `}}`, corev1.Pod{}, true},
		{"pointers", `{"spec":{"containers":` + list(70_000, `{"securityContext":{}}`) + `}}`, corev1.Pod{}, true},
		{"few containers", `{"spec":{"containers":` + list(3000, `{}`) + `}}`, corev1.Pod{}, false},
		{"arguments", `{"spec":{"containers":[{"args":` + list(900_000, `""`) + `}]}}`, corev1.Pod{}, false},
		{"what is not known", `{"spec":{"unknown":` + list(900_000, `{}`) + `}}`, corev1.Pod{}, false},
		{"annotations", `{"metadata":{"annotations":{` + strings.Repeat(`"a":"",`, 400_000) + `"b":""}}}`, corev1.Pod{}, false},
		{"annotations, very many", `{"metadata":{"annotations":{` + strings.Repeat(`"":"",`, 4_000_000) + `"b":""}}}`, corev1.Pod{}, false},
		{"bytes", `{"data":{"a":` + list(1_000_000, `1`) + `}}`, corev1.Secret{}, false},
		{"a string", `{"metadata":{"name":"` + strings.Repeat(`{}[],:`, 100_000) + `"}}`, corev1.Pod{}, false},
		{"schemas", `{"properties":{` + strings.Repeat(`"a":{},`, 40_000) + `"b":{}}}`, apiextensionsv1.JSONSchemaProps{}, true},
		{"schemas of items", `{"properties":{` + strings.Repeat(`"a":{"items":{"items":{}}},`, 20_000) + `"b":{}}}`, apiextensionsv1.JSONSchemaProps{}, true},
		{"schemas of an item each", `{"items":` + list(40_000, `{}`) + `}`, apiextensionsv1.JSONSchemaProps{}, true},
		{"pointers to numbers", `{"properties":{` + strings.Repeat(`"a":{"maxLength":1},`, 4) + `"b":{}}}`, apiextensionsv1.JSONSchemaProps{}, false},
		{"no JSON", strings.Repeat(`{"a":[`, 20_000), corev1.Pod{}, false},
		{"what ends early", strings.Repeat(`}]"`, 20_000), corev1.Pod{}, false},
	} {
		if err := structsize.JSON([]byte(c.text), reflect.TypeOf(c.into)); (err != nil) != c.refused {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestAllocated checks the bound from both sides. A refused text allocates at least a tenth of the bound, and an accepted one at most four
// times the bound.
func TestAllocated(t *testing.T) {
	for _, text := range []string{
		`{"spec":{"containers":` + list(20_000, `{}`) + `}}`,
		`{"spec":{"containers":` + list(8_000, `{"env":[{}]}`) + `}}`,
		`{"spec":{"volumes":` + list(60_000, `{"emptyDir":{}}`) + `}}`,
		`{"spec":{"tolerations":` + list(200_000, `{}`) + `}}`,
		`{"spec":{"tolerations":` + list(200_000, `{"tolerationSeconds":1}`) + `}}`,
		`{"metadata":{"ownerReferences":` + list(100_000, `{"controller":true}`) + `}}`,
		`{"spec":{"containers":[{"args":` + list(300_000, `""`) + `}]}}`,
		`{"spec":{"nodeSelector":{` + strings.Repeat(`"a":"",`, 100_000) + `"b":""}}}`,
	} {
		refused := structsize.JSON([]byte(text), reflect.TypeFor[corev1.Pod]()) != nil
		bound := int64(8<<20 + 32*len(text))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if err := kjson.UnmarshalCaseSensitivePreserveInts([]byte(text), &corev1.Pod{}); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		took := int64(after.TotalAlloc - before.TotalAlloc)
		if refused && took < bound/10 || !refused && took > 4*bound {
			t.Errorf("%.60s: refused %v, and takes %d bytes; the bound is %d", text, refused, took, bound)
		}
	}
}

func TestProtobuf(t *testing.T) {
	quantities := corev1.ResourceList{}
	for i := range 1000 {
		quantities[corev1.ResourceName(strings.Repeat("x", i))] = resource.MustParse("1")
	}
	for _, c := range []struct {
		name    string
		object  corev1.Pod
		refused bool
	}{
		{"containers", corev1.Pod{Spec: corev1.PodSpec{Containers: make([]corev1.Container, 10_000)}}, false},
		{"quantities", corev1.Pod{Spec: corev1.PodSpec{Overhead: quantities}}, false},
		{"owners", corev1.Pod{ObjectMeta: metav1.ObjectMeta{OwnerReferences: make([]metav1.OwnerReference, 200_000)}}, false},
	} {
		message, err := c.object.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		if err := structsize.Protobuf(message, reflect.TypeFor[corev1.Pod]()); (err != nil) != c.refused {
			t.Errorf("%s in %d bytes: %v", c.name, len(message), err)
		}
	}
	empty := protowire.AppendString(protowire.AppendTag(nil, 2, protowire.BytesType), strings.Repeat("\x12\x00", 20_000))
	if err := structsize.Protobuf(empty, reflect.TypeFor[corev1.Pod]()); err == nil {
		t.Errorf("20,000 empty containers in %d bytes are not refused", len(empty))
	}
	if err := structsize.Protobuf([]byte(strings.Repeat("\xff", 100_000)), reflect.TypeFor[corev1.Pod]()); err != nil {
		t.Error(err)
	}
}

// FuzzJSON searches for texts that break the meter.
func FuzzJSON(f *testing.F) {
	f.Add(`{"spec":{"containers":[{"env":[{"name":"a"}]}]}}`)
	f.Add(`{"a":"\"","b":[1,null,true,{}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		long := strings.Repeat(text+" ", 1+10_000/(1+len(text)))
		err := structsize.JSON([]byte(long), reflect.TypeFor[corev1.Pod]())
		if err != nil && json.Valid([]byte(text)) && !strings.ContainsAny(text, "{[") {
			t.Errorf("%q: %v", text, err)
		}
	})
}
