package yaml_test

import (
	"fmt"
	"log"

	"github.com/deed-project/deed/internal/yaml"
)

func ExampleParse() {
	docs, err := yaml.Parse("deploy.yaml", []byte("kind: Deployment\nspec:\n  replicas: 03\n---\nenabled: yes\n"))
	if err != nil {
		log.Fatal(err)
	}
	for _, d := range docs {
		fmt.Println(d.Line, d.Value)
	}
	fmt.Println(docs[0].Position("spec", "replicas"))

	_, err = yaml.Parse("deploy.yaml", []byte("spec:\n  replicas: 3\n  replicas: 4\n"))
	fmt.Println(err)
	// Output:
	// 1 {"kind":"Deployment","spec":{"replicas":3}}
	// 5 {"enabled":true}
	// 3 13
	// deploy.yaml:3:3: key "replicas" is already set in line 2
}

func ExampleAppend() {
	docs, err := yaml.Parse("", []byte(`{"version": "1.10", "args": ["-v", "a: b"], "script": "set -e\nrun\n"}`))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(string(yaml.Append(nil, docs[0].Value)))
	// Output:
	// args:
	// - -v
	// - 'a: b'
	// script: |
	//   set -e
	//   run
	// version: "1.10"
}
