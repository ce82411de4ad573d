package builtin

import (
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/value"
)

var pod = schema.GVK{Version: "v1", Kind: "Pod"}

// podGrace returns how many seconds a pod has to end: those that the request gives it, or else its own; and none if it is on no node,
// or has ended.
func podGrace(p value.Value, asked *int64) int64 {
	phase := p.Get("status", "phase").Str()
	if p.Get("spec", "nodeName").Str() == "" || phase == "Failed" || phase == "Succeeded" {
		return 0
	}
	if asked != nil {
		return *asked
	}
	if own := p.Get("spec", "terminationGracePeriodSeconds").Int(); own >= 0 {
		return own
	}
	return 1
}

// addPodSubresource adds a subresource of pods to their version, unless it is one that needs a kubelet.
func addPodSubresource(v *catalog.Version, kind *builtin.Kind, name string) (err error) {
	if v.Parts == nil {
		v.Parts, v.Actions = map[string]*managedfields.FieldManager{}, map[string]*catalog.Version{}
	}
	switch name {
	case "ephemeralcontainers", "resize":
		v.Parts[name], err = managerOf(kind, name)
	case "binding":
		v.Actions[name] = Bindings().Versions[0]
	case "eviction":
		eviction := review("policy", "Eviction", func() any { return &policyv1.Eviction{} }).Versions[0]
		eviction.Takes = []string{"policy/v1beta1"}
		v.Actions[name] = eviction
	}
	return err
}

// Bindings returns the resource bindings, which does what the subresource binding of pods does. It can be created, and nothing else.
func Bindings() *catalog.Resource {
	return namespaced(review("", "Binding", func() any { return &corev1.Binding{} }))
}
