// Package nodes has the admission plugin TaintNodesByCondition.
package nodes

import (
	"context"
	"slices"

	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/value"
)

var nodes = kschema.GroupResource{Resource: "nodes"}

// notReady is the taint of a node that has not reported its condition yet.
var notReady = value.Object(
	value.Member{Name: "effect", Value: value.String("NoSchedule")},
	value.Member{Name: "key", Value: value.String("node.kubernetes.io/not-ready")},
)

// Taint marks a new node as not ready, as TaintNodesByCondition of kube-apiserver does.
//
// A node that comes with the taint stays as it is. As no controller of nodes runs here, nothing removes the taint later.
func Taint(_ context.Context, r *admission.Request) error {
	if r.Resource.GroupResource() != nodes || r.Subresource != "" || r.Operation != admission.Create {
		return nil
	}
	node := r.Object.Content()
	spec := node.Get("spec")
	taints := slices.Collect(spec.Get("taints").Items())
	for _, taint := range taints {
		if taint.Get("key").Equal(notReady.Get("key")) && taint.Get("effect").Equal(notReady.Get("effect")) {
			return nil
		}
	}
	if spec.Kind() != value.KindObject {
		spec = value.Object()
	}
	r.Object = r.Object.With(node.With("spec", spec.With("taints", value.List(append(taints, notReady)...))))
	return nil
}
