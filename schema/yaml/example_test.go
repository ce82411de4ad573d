package yaml_test

import (
	"fmt"
	"log"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/yaml"
	"github.com/deed-project/deed/typed"
	"github.com/deed-project/deed/value"
)

// A schema that a program brings with it, and a value that has one member too many.
func ExampleParse() {
	document, err := yaml.Parse([]byte(`
types:
- name: service
  map:
    fields:
    - name: replicas
      type: {scalar: numeric}
    - name: ports
      type:
        list:
          elementType: {namedType: port}
          elementRelationship: associative
          keys: [port]
- name: port
  map:
    fields:
    - name: port
      type: {scalar: numeric}
    - name: name
      type: {scalar: string}
`))
	if err != nil {
		log.Fatal(err)
	}
	types, err := schema.Compile(document)
	if err != nil {
		log.Fatal(err)
	}
	v, err := value.Parse([]byte(`{"ports":[{"port":80,"title":"http"}],"replicas":1}`))
	if err != nil {
		log.Fatal(err)
	}
	_, err = typed.New(v, types["service"])
	fmt.Println(err)
	// Output:
	// .ports[port=80].title: field not declared in schema
}
