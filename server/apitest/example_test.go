package apitest_test

import (
	"context"
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/deed-project/deed/server/apitest"
)

// ExampleStart shows the test of a controller: it starts a server with the definitions of its kinds, and gives the controller a client.
func ExampleStart() {
	TestController := func(t *testing.T) {
		s := apitest.Start(t, apitest.CRDs("testdata/widgets.yaml"))
		s.Apply(`{apiVersion: example.org/v1, kind: Widget, metadata: {name: web}, spec: {color: red}}`)

		client := dynamic.NewForConfigOrDie(s.RESTConfig())
		widgets := client.Resource(schema.GroupVersionResource{Group: "example.org", Version: "v1", Resource: "widgets"})
		web, err := widgets.Namespace("default").Get(context.Background(), "web", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println(web.Object["spec"])
	}
	all := func(string, string) (bool, error) { return true, nil }
	testing.RunTests(all, []testing.InternalTest{{Name: "Controller", F: TestController}})
	// Output: map[color:red replicas:1]
}
