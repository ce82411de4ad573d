package plugins

import (
	"context"

	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

// Topology is the plugin PodTopologyLabels: a pod that is created or put on a node gets the labels that say where the node is. They replace
// labels of the pod with the same names. A node that does not exist has none.
type Topology struct{ Store store.Store }

// topologyLabels are the labels that pods get from their nodes.
var topologyLabels = []string{"topology.kubernetes.io/region", "topology.kubernetes.io/zone"}

// Mutate labels a new pod, or a Binding: the pod gets the labels of its Binding.
func (p Topology) Mutate(ctx context.Context, r *admission.Request) error {
	if r.Resource.GroupResource() != pods || r.Operation != admission.Create {
		return nil
	}
	sent, node := r.Object.Content(), ""
	switch target := sent.Get("target"); {
	case r.Subresource == "":
		node = sent.Get("spec", "nodeName").Str()
	case r.Subresource == "binding" && target.Get("kind").Str() == "Node":
		node = target.Get("name").Str()
	}
	if node == "" {
		return nil
	}
	of, err := object(ctx, p.Store, nodesPrefix+node)
	if err != nil {
		return err
	}
	metadata := sent.Get("metadata")
	labels := metadata.Get("labels")
	for _, name := range topologyLabels {
		label := of.Get("metadata", "labels", name)
		if label.IsAbsent() {
			continue
		}
		if labels.Kind() != value.KindObject {
			labels = value.Object()
		}
		labels = labels.With(name, label)
	}
	if !labels.Equal(metadata.Get("labels")) {
		r.Object = r.Object.With(sent.With("metadata", metadata.With("labels", labels)))
	}
	return nil
}
