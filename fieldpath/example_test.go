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
	labels := fieldpath.Path{fieldpath.Field("metadata"), fieldpath.Field("labels")}
	b.Add(labels)
	b.Add(append(labels, fieldpath.Field("app")))
	fmt.Printf("%s\n", b.Set().AppendJSON(nil))
	// Output: {"f:metadata":{"f:labels":{".":{},"f:app":{}}}}
}

func ExampleParsePath() {
	path, err := fieldpath.ParsePath(`.spec.containers[name="web"].image`)
	if err != nil {
		fmt.Println(err)
	}
	for _, e := range path {
		fmt.Println(e.Wire())
	}
	// Output:
	// f:spec
	// f:containers
	// k:{"name":"web"}
	// f:image
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

func ExampleSet_Entries() {
	set := fieldpath.SetOf(fieldpath.Path{fieldpath.Field("a")}, fieldpath.Path{fieldpath.Field("c"), fieldpath.Field("x")})
	for e := range set.Entries() {
		fmt.Printf("%v %v %d\n", e.Element, e.Member, e.Sub.Len())
	}
	// Output:
	// .a true 0
	// .c false 1
}
