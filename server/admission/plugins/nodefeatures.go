package plugins

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/version"
	features "k8s.io/component-helpers/nodedeclaredfeatures"

	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
	"github.com/deed-project/deed/value/structs"
)

// NodeFeatures is the plugin NodeDeclaredFeatureValidator: a change of a pod on a node that needs a feature of the kubelet is refused unless the
// status of the node declares the feature. The library of Kubernetes knows which changes need which features.
type NodeFeatures struct{ Store store.Store }

// featuresOf is the release whose features a change may need.
var featuresOf = version.MustParse("1.37")

// Validate refuses a change of a pod, by an update or a resize.
func (p NodeFeatures) Validate(ctx context.Context, r *admission.Request) error {
	if r.Resource.GroupResource() != pods || r.Subresource != "" && r.Subresource != "resize" || r.Operation != admission.Update {
		return nil
	}
	pod, old := r.Object.Content(), r.Old.Content()
	name := pod.Get("spec", "nodeName").Str()
	if name == "" || pod.Get("metadata", "generation").Equal(old.Get("metadata", "generation")) {
		return nil
	}
	before, err := podInfo(old)
	if err != nil {
		return err
	}
	after, err := podInfo(pod)
	if err != nil {
		return err
	}
	needed, err := features.DefaultFramework.InferForPodUpdate(before, after, featuresOf)
	if err != nil {
		return forbid(r, fmt.Errorf("failed to infer pod capability requirements: %w", err))
	}
	if needed.IsEmpty() {
		return nil
	}
	node, err := nodeOf(ctx, p.Store, r, name)
	if err != nil {
		return err
	}
	declares := new(corev1.Node)
	if err := structs.Into(node.Get("status"), &declares.Status); err != nil {
		return err
	}
	match, err := features.DefaultFramework.MatchNode(needed, declares)
	switch {
	case err != nil:
		return forbid(r, fmt.Errorf("failed to match pod requirements against node %q: %w", name, err))
	case !match.IsMatch:
		lacks := strings.Join(match.UnsatisfiedRequirements, ", ")
		return forbid(r, fmt.Errorf("pod update requires features %s which are not available on node %q", lacks, name))
	}
	return nil
}

// podInfo returns a pod as the library reads it.
func podInfo(pod value.Value) (*features.PodInfo, error) {
	info := &features.PodInfo{Spec: new(corev1.PodSpec), Status: new(corev1.PodStatus)}
	if err := structs.Into(pod.Get("spec"), info.Spec); err != nil {
		return nil, err
	}
	return info, structs.Into(pod.Get("status"), info.Status)
}
