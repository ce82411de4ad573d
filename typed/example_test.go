package typed_test

import (
	"fmt"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/typed"
	"github.com/deed-project/deed/value"
)

// exampleOf parses two documents of a type whose members are numbers.
func exampleOf(first, second string) (a, b typed.Value, err error) {
	text := `{"types":[{"name":"root","map":{"elementType":{"scalar":"numeric"}}}]}`
	v, err := value.Parse([]byte(text))
	if err != nil {
		return a, b, err
	}
	d, err := schema.ParseDocument(v)
	if err != nil {
		return a, b, err
	}
	compiled, err := schema.Compile(d)
	if err != nil {
		return a, b, err
	}
	root := compiled["root"]
	for text, to := range map[string]*typed.Value{first: &a, second: &b} {
		v, err := value.Parse([]byte(text))
		if err != nil {
			return a, b, err
		}
		if *to, err = typed.New(v, root); err != nil {
			return a, b, err
		}
	}
	return a, b, nil
}

func ExampleWalk() {
	live, wanted, err := exampleOf(`{"replicas": 1, "weight": 5}`, `{"replicas": 3}`)
	if err != nil {
		fmt.Println(err)
		return
	}
	owners := []fieldpath.Set{wanted.Fields(), live.Fields()}
	for step := range typed.Walk(live.Fields(), []typed.Value{live, wanted}, owners...) {
		fmt.Println(step.Path, step.Values[0], step.Values[1].Kind(), step.Sets)
	}
	// Output:
	// .replicas 1 int [0 1]
	// .weight 5 absent [1]
}

func ExampleUntyped() {
	v, err := value.Parse([]byte(`{"containers": [{"name": "web", "image": "nginx"}]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	path, err := fieldpath.ParsePath(`.containers[name="web"].image`)
	if err != nil {
		fmt.Println(err)
		return
	}
	for step := range typed.Walk(fieldpath.SetOf(path), []typed.Value{typed.Untyped(v)}) {
		fmt.Println(step.Path, step.Values[0])
	}
	// Output: .containers[name="web"].image "nginx"
}
