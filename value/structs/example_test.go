package structs_test

import (
	"fmt"

	"github.com/deed-project/deed/value"
	"github.com/deed-project/deed/value/structs"
)

func ExampleFrom() {
	type Port struct {
		Name string `json:"name,omitempty"`
		Port int32  `json:"port"`
	}
	type Service struct {
		Labels map[string]string `json:"labels"`
		Ports  []Port            `json:"ports"`
	}
	v, err := structs.From(&Service{Ports: []Port{{"http", 80}, {Port: 443}}})
	fmt.Println(v, err)
	// Output: {"labels":null,"ports":[{"name":"http","port":80},{"port":443}]} <nil>
}

func ExampleInto() {
	type Port struct {
		Name string `json:"name,omitempty"`
		Port int32  `json:"port"`
	}
	service := struct {
		Name  string `json:"name"`
		Ports []Port `json:"ports"`
	}{Name: "web"}

	v := value.Object(value.Member{Name: "ports", Value: value.List(value.Object(
		value.Member{Name: "port", Value: value.Int(80)},
	))})
	fmt.Println(structs.Into(v, &service), service)

	v = value.Object(value.Member{Name: "ports", Value: value.List(value.Object(
		value.Member{Name: "port", Value: value.String("http")},
	))})
	fmt.Println(structs.Into(v, &service))
	// Output:
	// <nil> {web [{ 80}]}
	// .ports[0].port: string does not fit Go type int32
}
