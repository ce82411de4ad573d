package value_test

import (
	"errors"
	"fmt"

	"github.com/deed-project/deed/value"
)

func ExampleParse() {
	v, err := value.Parse([]byte(`{"kind": "Pod", "spec": {"replicas": 2, "paused": null}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(v)
	fmt.Println(v.Get("spec", "replicas").Int(), v.Get("spec", "paused").IsNull(), v.Get("spec", "ports").IsAbsent())
	// Output:
	// {"kind":"Pod","spec":{"paused":null,"replicas":2}}
	// 2 true true
}

func ExampleParse_errors() {
	_, err := value.Parse([]byte(`{"spec": {"ports": [80, 443], "ports": []}}`))
	var at *value.SyntaxError
	if errors.As(err, &at) {
		fmt.Println(at.Offset, at.Path, at.Reason)
	}
	fmt.Println(err)
	// Output:
	// 30 .spec duplicate name "ports"
	// invalid JSON at byte 30, in .spec: duplicate name "ports"
}

func ExampleFromAny() {
	v, err := value.FromAny(map[string]any{
		"spec":  map[string]any{"ports": []any{int64(80), 443.0}},
		"ready": true,
	})
	fmt.Println(v, err)

	_, err = value.FromAny(map[string]any{"spec": map[string]any{"ports": []any{int64(80), []int{443}}}})
	fmt.Println(err)
	// Output:
	// {"ready":true,"spec":{"ports":[80,443]}} <nil>
	// .spec.ports[1]: a value of Go type []int is no JSON value
}

func ExampleCompare() {
	one, pi := value.Int(1), value.Float(3.14)
	fmt.Println(value.Compare(one, pi), value.Compare(one, value.Float(1)), one.Equal(value.Float(1)))
	// Output: -1 0 true
}
