package connect

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	gvkschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"

	"github.com/deed-project/deed/cmd/internal/selection"
	"github.com/deed-project/deed/kube/cluster"
	"github.com/deed-project/deed/schema/builtin"
)

// Resolve returns the resource that a name on a command line stands for: NAME, NAME.GROUP or NAME.VERSION.GROUP, where NAME is the kind, the
// resource, its singular or a short name, in any case. Kinds that Kubernetes itself has come first, and take no request. Of several groups, the
// first in alphabetical order counts, so that events are those of the core.
func (c *Cluster) Resolve(ctx context.Context, text string) (cluster.Resource, error) {
	name, wanted, group, qualified := selection.ParseName(strings.ToLower(text))
	var found []cluster.Resource
	for k := range builtin.Kinds() {
		names := append([]string{strings.ToLower(k.GVK.Kind), k.Resource, k.Singular}, k.ShortNames...)
		switch {
		case k.Resource == "" || k.Served == builtin.NotServed || !slices.Contains(names, name):
		case qualified && k.GVK.Group != group || wanted != "" && k.GVK.Version != wanted:
		default:
			found = append(found, cluster.Resource{GVK: gvkschema.GroupVersionKind(k.GVK), Name: k.Resource, Namespaced: k.Namespaced})
		}
	}
	if len(found) == 0 {
		sought := name
		if group != "" {
			sought += "." + group
		}
		var err error
		if found, err = c.Named(ctx, sought); err != nil {
			return cluster.Resource{}, err
		}
	}
	if len(found) == 0 {
		return cluster.Resource{}, fmt.Errorf("the cluster has no kind called %q", text)
	}
	best := slices.MinFunc(found, func(a, b cluster.Resource) int {
		return cmp.Or(cmp.Compare(a.GVK.Group, b.GVK.Group), -version.CompareKubeAwareVersionStrings(a.GVK.Version, b.GVK.Version))
	})
	if wanted != "" {
		best.GVK.Version = wanted
	}
	return best, nil
}
