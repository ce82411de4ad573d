package kube_test

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/deed-project/deed/kube"
)

// labels is a map type of its own, as generated code has them.
type labels map[string]string

// TestObjectOf reads objects in every form that programs have, and what they hold by mistake.
func TestObjectOf(t *testing.T) {
	var cycle = map[string]any{}
	cycle["self"] = cycle
	at := time.Date(2026, 11, 24, 1, 2, 3, 0, time.UTC)
	for name, c := range map[string]struct {
		in   any
		want string // JSON, or empty for an error
	}{
		"nil":               {nil, "null"},
		"nil map":           {map[string]any(nil), "null"},
		"nil pointer":       {(*unstructured.Unstructured)(nil), "null"},
		"nil struct":        {(*metav1.PartialObjectMetadata)(nil), "null"},
		"empty":             {&unstructured.Unstructured{}, "null"},
		"integers":          {map[string]any{"a": 1, "b": int8(2), "c": uint32(3), "d": uint64(4)}, `{"a":1,"b":2,"c":3,"d":4}`},
		"float32":           {map[string]any{"a": float32(0.1)}, `{"a":0.1}`},
		"json.Number":       {map[string]any{"a": json.Number("12"), "b": json.Number("1.5")}, `{"a":12,"b":1.5}`},
		"wrong json.Number": {map[string]any{"a": json.Number("twelve")}, ""},
		"time":              {map[string]any{"a": at, "b": metav1.NewTime(at)}, `{"a":"2026-11-24T01:02:03Z","b":"2026-11-24T01:02:03Z"}`},
		"types of its own":  {map[string]any{"a": labels{"b": "c"}, "l": []string{"x"}}, `{"a":{"b":"c"},"l":["x"]}`},
		"nil slice":         {map[string]any{"a": []any(nil)}, `{"a":[]}`},
		"struct":            {metav1.ObjectMeta{Name: "web"}, `{"name":"web"}`},
		"text":              {[]byte(`{"a":1}`), `{"a":1}`},
		"no text":           {[]byte(`{"a":`), ""},
		"a list":            {[]string{"a"}, ""},
		"a scalar":          {7, ""},
		"channel":           {map[string]any{"a": make(chan int)}, ""},
		"NaN":               {map[string]any{"a": math.NaN()}, ""},
		"cycle":             {cycle, ""},
		"wrong entries":     {map[string]any{"metadata": map[string]any{"managedFields": "none"}}, ""},
	} {
		object, err := kube.ObjectOf(c.in)
		if got := string(object.AppendJSON(nil)); c.want != "" && (err != nil || got != c.want) || c.want == "" && err == nil {
			t.Errorf("%s: got %s, %v, want %s", name, got, err, c.want)
		}
	}
}

// TestInto fills each kind of target, and refuses what is none.
func TestInto(t *testing.T) {
	const text = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"managedFields":[{"apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{}},"manager":"a","operation":"Update"}],"name":"web"}}`
	object, err := kube.ObjectOf([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	content := map[string]any{}
	for _, target := range []any{&unstructured.Unstructured{}, &metav1.PartialObjectMetadata{}, &content} {
		if err := kube.Into(object, target); err != nil {
			t.Fatalf("%T: %v", target, err)
		}
		back, err := kube.ObjectOf(target)
		if m, ok := target.(*map[string]any); ok {
			back, err = kube.ObjectOf(*m)
		}
		if got := string(back.AppendJSON(nil)); err != nil || got != text {
			t.Errorf("%T: got %s, %v", target, got, err)
		}
	}
	for _, target := range []any{nil, 7, content, metav1.ObjectMeta{}, (*metav1.ObjectMeta)(nil)} {
		if err := kube.Into(object, target); err == nil {
			t.Errorf("%T is filled", target)
		}
	}
}

func TestSet(t *testing.T) {
	for _, c := range []struct {
		in    string
		v     any
		names []string
		want  string // empty for an error
	}{
		{`{}`, "blue", []string{"metadata", "labels", "color"}, `{"metadata":{"labels":{"color":"blue"}}}`},
		{`{"metadata":{"labels":{"a":"b"}}}`, "d", []string{"metadata", "labels", "c"}, `{"metadata":{"labels":{"a":"b","c":"d"}}}`},
		{`{"metadata":{"labels":{"a":"b","c":"d"}}}`, nil, []string{"metadata", "labels", "a"}, `{"metadata":{"labels":{"c":"d"}}}`},
		{`{"kind":"A"}`, nil, []string{"metadata", "labels", "a"}, `{"kind":"A"}`},
		{`{"metadata":null}`, []string{"f"}, []string{"metadata", "finalizers"}, `{"metadata":{"finalizers":["f"]}}`},
		{`{"metadata":7}`, "a", []string{"metadata", "name"}, ``},
		{`{}`, make(chan int), []string{"metadata", "name"}, ``},
		{`{}`, "a", nil, ``},
		{`{}`, []any{}, []string{"metadata", "managedFields"}, ``},
		{`{}`, metav1.ObjectMeta{Name: "a"}, []string{"metadata"}, `{"metadata":{"name":"a"}}`},
		{`{}`, metav1.ObjectMeta{ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "a"}}}, []string{"metadata"}, ``},
	} {
		object, err := kube.ObjectOf([]byte(c.in))
		if err != nil {
			t.Fatal(err)
		}
		object, err = kube.Set(object, c.v, c.names...)
		if got := string(object.AppendJSON(nil)); c.want != "" && (err != nil || got != c.want) || c.want == "" && err == nil {
			t.Errorf("%s %v: got %s, %v", c.in, c.names, got, err)
		}
	}
}

// FuzzObjectOf checks that what one form reads, every other form holds as well.
func FuzzObjectOf(f *testing.F) {
	f.Add([]byte(`{"metadata":{"name":"a","managedFields":[{"manager":"a","operation":"Apply","fieldsV1":{"f:a":{}}}]},"n":1.5,"l":[null]}`))
	f.Add([]byte(`{"metadata":null}`))
	f.Add([]byte(`{"metadata":{"managedFields":[{"time":"x"}]}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		object, err := kube.ObjectOf(text)
		if err != nil {
			return
		}
		want := string(object.AppendJSON(nil))
		u := &unstructured.Unstructured{}
		if err := kube.Into(object, u); err != nil {
			return // a fieldsV1 that is no JSON
		}
		again, err := kube.ObjectOf(u)
		if got := string(again.AppendJSON(nil)); len(u.Object) > 0 && (err != nil || got != want) {
			t.Errorf("got %s, %v, want %s", got, err, want)
		}
		_ = kube.Into(object, &metav1.PartialObjectMetadata{}) // may not fit, and must not panic
	})
}
