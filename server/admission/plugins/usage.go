package plugins

import (
	"iter"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/deed-project/deed/value"
)

// amounts are quantities by resource.
type amounts map[string]resource.Quantity

// quantities returns the quantities of a map of an object.
func quantities(m value.Value) amounts {
	out := amounts{}
	for name, q := range m.Members() {
		out[name] = quantity(q)
	}
	return out
}

// text returns the text of a quantity.
func (a amounts) text(name string) string {
	q := a[name]
	return q.String()
}

// add adds other to a.
func (a amounts) add(other amounts) {
	for name, q := range other {
		sum := a[name].DeepCopy()
		sum.Add(q)
		a[name] = sum
	}
}

// raise makes each quantity of a at least that of other.
func (a amounts) raise(other amounts) {
	for name, q := range other {
		if has, is := a[name]; !is || q.Cmp(has) > 0 {
			a[name] = q
		}
	}
}

// usage is the requests and limits of a container or pod.
type usage struct{ requests, limits amounts }

// usageOf returns the usage that resources say.
func usageOf(resources value.Value) usage {
	return usage{quantities(resources.Get("requests")), quantities(resources.Get("limits"))}
}

// containersOf yields the containers of a pod, and then its init containers.
func containersOf(spec value.Value) iter.Seq[value.Value] {
	return func(yield func(value.Value) bool) {
		for _, list := range []string{"containers", "initContainers"} {
			for c := range spec.Get(list).Items() {
				if !yield(c) {
					return
				}
			}
		}
	}
}

// podUsage returns the usage of a pod as a whole.
func podUsage(spec value.Value) usage {
	return usage{podAmounts(spec, "requests"), podAmounts(spec, "limits")}
}

// podAmounts returns the requests or the limits of a pod: the sum of those of all containers that run at a time, at its largest.
//
//	init containers run one after the other, each with the sidecars before it
//	containers run together, with all sidecars
//
// CPU and memory that the pod states as a whole replace the sums.
func podAmounts(spec value.Value, list string) amounts {
	all, sidecars, most := amounts{}, amounts{}, amounts{}
	for c := range spec.Get("containers").Items() {
		all.add(quantities(c.Get("resources", list)))
	}
	for c := range spec.Get("initContainers").Items() {
		of := quantities(c.Get("resources", list))
		if c.Get("restartPolicy").Str() == "Always" {
			all.add(of)
			sidecars.add(of)
			most.raise(sidecars)
			continue
		}
		of.add(sidecars)
		most.raise(of)
	}
	all.raise(most)
	for name, q := range quantities(spec.Get("resources", list)) {
		if name == "cpu" || name == "memory" {
			all[name] = q
		}
	}
	return all
}
