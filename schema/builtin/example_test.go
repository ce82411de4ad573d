package builtin_test

import (
	"fmt"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
)

// What kubectl create deployment web --image=nginx --dry-run=client prints is applied, and comes to what a server stores, without what
// only a server can know.
func ExampleConfig() {
	config, err := builtin.Config(schema.GVK{Group: "apps", Version: "v1", Kind: "Deployment"})
	if err != nil {
		panic(err)
	}
	manager, err := managedfields.New(config)
	if err != nil {
		panic(err)
	}
	sent, err := managedfields.ParseObject([]byte(`{"apiVersion":"apps/v1","kind":"Deployment",
		"metadata":{"creationTimestamp":null,"labels":{"app":"web"},"name":"web"},
		"spec":{"replicas":1,"selector":{"matchLabels":{"app":"web"}},"strategy":{},
			"template":{"metadata":{"creationTimestamp":null,"labels":{"app":"web"}},
				"spec":{"containers":[{"image":"nginx","name":"nginx","resources":{}}]}}},
		"status":{}}`))
	if err != nil {
		panic(err)
	}
	stored, err := manager.Apply(managedfields.Object{}, sent, "kubectl", false)
	if err != nil {
		panic(err)
	}
	fmt.Println(stored.Content.Get("metadata"))
	spec := stored.Content.Get("spec")
	for _, name := range []string{"progressDeadlineSeconds", "revisionHistoryLimit", "strategy"} {
		fmt.Println(name, spec.Get(name))
	}
	for name, member := range spec.Get("template", "spec").Members() {
		fmt.Println(name, member)
	}
	// Output:
	// {"generation":1,"labels":{"app":"web"},"name":"web"}
	// progressDeadlineSeconds 600
	// revisionHistoryLimit 10
	// strategy {"rollingUpdate":{"maxSurge":"25%","maxUnavailable":"25%"},"type":"RollingUpdate"}
	// containers [{"image":"nginx","imagePullPolicy":"Always","name":"nginx","resources":{},"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File"}]
	// dnsPolicy "ClusterFirst"
	// restartPolicy "Always"
	// schedulerName "default-scheduler"
	// securityContext {}
	// terminationGracePeriodSeconds 30
}
