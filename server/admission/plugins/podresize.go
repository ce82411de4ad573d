package plugins

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

// Resizes is the plugin PodResizeValidator: the resources of a pod on a node change only if the node exists, runs Linux, and has as much CPU
// and memory as the pod requests.
type Resizes struct{ Store store.Store }

// Validate refuses a change of the resources of a pod.
func (p Resizes) Validate(ctx context.Context, r *admission.Request) error {
	if r.Resource.GroupResource() != pods || r.Subresource != "resize" || r.Operation != admission.Update {
		return nil
	}
	pod := r.Object.Content()
	name := pod.Get("spec", "nodeName").Str()
	if name == "" || pod.Get("metadata", "generation").Equal(r.Old.Content().Get("metadata", "generation")) {
		return nil
	}
	node, err := nodeOf(ctx, p.Store, r, name)
	if err != nil {
		return err
	}
	if os := node.Get("metadata", "labels").Get("kubernetes.io/os"); !os.IsAbsent() && os.Str() != "linux" {
		return forbidFor(r, "UnsupportedPlatform", fmt.Errorf("pod resize is only supported on linux nodes, node %q is %q", name, os.Str()))
	}
	if lacks := lacking(pod.Get("spec"), node.Get("status", "allocatable")); len(lacks) > 0 {
		return forbidFor(r, "NodeCapacity", errors.New("node didn't have enough allocatable resources: "+strings.Join(lacks, "; ")))
	}
	return nil
}

// nodeOf returns the node of the pod that a request changes. The error is a 403.
func nodeOf(ctx context.Context, s store.Store, r *admission.Request, name string) (value.Value, error) {
	node, err := object(ctx, s, nodesPrefix+name)
	switch {
	case err != nil:
		return node, forbid(r, fmt.Errorf("failed to get node %q: %w", name, err))
	case node.IsAbsent():
		return node, forbid(r, fmt.Errorf("node %q not found", name))
	}
	return node, nil
}

// lacking returns what a pod requests and a node does not have: CPU in thousandths, and memory.
func lacking(spec, allocatable value.Value) (out []string) {
	wanted, has := PodUsage(spec).Requests, Quantities(allocatable)
	wanted.Add(Quantities(spec.Get("overhead")))
	for _, name := range []string{"cpu", "memory"} {
		q, most := wanted[name], has[name]
		if q.Cmp(most) <= 0 {
			continue
		}
		asked, available := q.Value(), most.Value()
		if name == "cpu" {
			asked, available = q.MilliValue(), most.MilliValue()
		}
		out = append(out, fmt.Sprintf("%s, requested: %d, allocatable: %d", name, asked, available))
	}
	return out
}

// forbidFor refuses a request, with a cause that has a type alone.
func forbidFor(r *admission.Request, cause metav1.CauseType, err error) error {
	refusal := apierrors.NewForbidden(r.Resource.GroupResource(), r.ObjectName(), err)
	refusal.ErrStatus.Details.Causes = append(refusal.ErrStatus.Details.Causes, metav1.StatusCause{Type: cause})
	return refusal
}
