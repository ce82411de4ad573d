package fieldpath_test

import (
	"fmt"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/value"
)

func ExampleParseSet() {
	set, err := fieldpath.ParseSet([]byte(`{"f:spec":{"f:replicas":{},"f:ports":{"k:{\"port\":80}":{".":{},"f:port":{}}}}}`))
	if err != nil {
		fmt.Println(err)
	}
	for path := range set.All() {
		fmt.Println(path)
	}
	// Output:
	// .spec.replicas
	// .spec.ports[port=80]
	// .spec.ports[port=80].port
}

func ExampleSet_Minus() {
	spec, image := fieldpath.Field("spec"), fieldpath.Field("image")
	owned := fieldpath.SetOf(fieldpath.Path{spec}, fieldpath.Path{spec, image})
	parent := fieldpath.SetOf(fieldpath.Path{spec})
	fmt.Println("minus:  ", owned.Minus(parent))
	fmt.Println("without:", owned.Without(parent))
	// Output:
	// minus:   .spec.image
	// without:
}

func ExampleBuilder() {
	var b fieldpath.Builder
	b.Enter(fieldpath.Field("metadata"))
	b.Enter(fieldpath.Field("labels"))
	b.Leaf(fieldpath.Field("app"))
	b.Leave(true) // .metadata.labels is a member too
	b.Leave(false)
	fmt.Printf("%s\n", b.Set().AppendJSON(nil))
	// Output: {"f:metadata":{"f:labels":{".":{},"f:app":{}}}}
}

func ExampleParsePath() {
	path, err := fieldpath.ParsePath(`.spec.containers[name="web"].image`)
	if err != nil {
		fmt.Println(err)
	}
	for _, e := range path {
		fmt.Println(e.Kind(), e.Wire())
	}
	// Output:
	// field f:spec
	// field f:containers
	// key k:{"name":"web"}
	// field f:image
}

func ExamplePath_Text() {
	path := fieldpath.Path{fieldpath.Field("annotations"), fieldpath.Field("example.com/owner")}
	fmt.Println(path.String())
	fmt.Println(path.Text())
	// Output:
	// .annotations.example.com/owner
	// .annotations."example.com/owner"
}

func ExampleKey() {
	key := fieldpath.Key(
		fieldpath.KeyField{Name: "protocol", Value: value.String("TCP")},
		fieldpath.KeyField{Name: "port", Value: value.Int(80)})
	fmt.Println(key)
	// Output: [port=80,protocol="TCP"]
}

func ExamplePatternOf() {
	resources := fieldpath.PatternOf(fieldpath.Prefix{
		fieldpath.Field("spec"), fieldpath.Field("containers"), fieldpath.Any(), fieldpath.Field("resources")})
	set, err := fieldpath.ParseSet([]byte(`{"f:spec":{"f:containers":{"k:{\"name\":\"a\"}":{".":{},"f:image":{},"f:resources":{"f:limits":{}}}}}}`))
	if err != nil {
		fmt.Println(err)
	}
	fmt.Println(set.Filter(resources))
	// Output:
	// .spec.containers[name="a"]
	// .spec.containers[name="a"].resources.limits
}

func ExampleSet_Branches() {
	set := fieldpath.SetOf(fieldpath.Path{fieldpath.Field("a")}, fieldpath.Path{fieldpath.Field("c"), fieldpath.Field("x")})
	for e := range set.Branches() {
		fmt.Println(e.Element, e.Member, e.Sub)
	}
	// Output:
	// .c false .x
}
