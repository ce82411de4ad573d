package catalog

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Priority orders a version in discovery, by descending numbers: its group among the groups, and the version within the group.
type Priority struct{ Group, Version int32 }

// CustomPriority is the priority of versions that CustomResourceDefinitions define.
var CustomPriority = Priority{1000, 100}

// priorities has the priorities of built-in groups and their versions in kube-apiserver. No APIService registers APIServices themselves: the
// zero Version tells them from the others.
var priorities = map[string]struct {
	group    int32
	versions map[string]int32
}{
	"":                             {18000, map[string]int32{"v1": 1}},
	"apiregistration.k8s.io":       {20000, map[string]int32{"v1": 0}},
	"apps":                         {17800, map[string]int32{"v1": 15}},
	"events.k8s.io":                {17750, map[string]int32{"v1": 15}},
	"authentication.k8s.io":        {17700, map[string]int32{"v1": 15}},
	"authorization.k8s.io":         {17600, map[string]int32{"v1": 15}},
	"autoscaling":                  {17500, map[string]int32{"v1": 15, "v2": 30}},
	"batch":                        {17400, map[string]int32{"v1": 15}},
	"certificates.k8s.io":          {17300, map[string]int32{"v1": 15, "v1beta1": 9}},
	"networking.k8s.io":            {17200, map[string]int32{"v1": 15}},
	"policy":                       {17100, map[string]int32{"v1": 15}},
	"rbac.authorization.k8s.io":    {17000, map[string]int32{"v1": 15}},
	"storage.k8s.io":               {16800, map[string]int32{"v1": 15}},
	"admissionregistration.k8s.io": {16700, map[string]int32{"v1": 15, "v1beta1": 12, "v1alpha1": 9}},
	"apiextensions.k8s.io":         {16700, map[string]int32{"v1": 15}},
	"scheduling.k8s.io":            {16600, map[string]int32{"v1": 15}},
	"coordination.k8s.io":          {16500, map[string]int32{"v1": 15, "v1beta1": 13, "v1alpha2": 12}},
	"node.k8s.io":                  {16300, map[string]int32{"v1": 15}},
	"discovery.k8s.io":             {16200, map[string]int32{"v1": 15}},
	"resource.k8s.io":              {16200, map[string]int32{"v1": 21, "v1beta2": 15, "v1beta1": 9, "v1alpha3": 1}},
	"flowcontrol.apiserver.k8s.io": {16100, map[string]int32{"v1": 21}},
	"internal.apiserver.k8s.io":    {16000, map[string]int32{"v1alpha1": 9}},
	"storagemigration.k8s.io":      {15800, map[string]int32{"v1": 15, "v1beta1": 9}},
}

// PriorityOf returns the priority of a version in discovery.
func PriorityOf(group, version string) Priority {
	g, known := priorities[group]
	if n, is := g.versions[version]; known && is {
		return Priority{g.group, n}
	}
	return CustomPriority
}

// BuiltIn returns the group versions that have built-in kinds, by group.
func (c *Catalog) BuiltIn() (out []schema.GroupVersion) {
	for _, r := range c.ordered {
		for _, v := range r.Versions {
			if gv := (schema.GroupVersion{Group: r.Group, Version: v.Name}); !r.Custom && !slices.Contains(out, gv) {
				out = append(out, gv)
			}
		}
	}
	return out
}
