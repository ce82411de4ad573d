package plugins

import (
	"iter"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/deed-project/deed/value"
)

// Amounts are quantities by resource.
type Amounts map[string]resource.Quantity

// Quantities returns the quantities of a map of an object.
func Quantities(m value.Value) Amounts {
	out := Amounts{}
	for name, q := range m.Members() {
		out[name] = Quantity(q)
	}
	return out
}

// Text returns the text of a quantity.
func (a Amounts) Text(name string) string {
	q := a[name]
	return q.String()
}

// Add adds other to a.
func (a Amounts) Add(other Amounts) {
	for name, q := range other {
		sum := a[name].DeepCopy()
		sum.Add(q)
		a[name] = sum
	}
}

// raise makes each quantity of a at least that of other.
func (a Amounts) raise(other Amounts) {
	for name, q := range other {
		if has, is := a[name]; !is || q.Cmp(has) > 0 {
			a[name] = q
		}
	}
}

// Usage is the requests and limits of a container or pod.
type Usage struct{ Requests, Limits Amounts }

// UsageOf returns the usage that resources say.
func UsageOf(resources value.Value) Usage {
	return Usage{Quantities(resources.Get("requests")), Quantities(resources.Get("limits"))}
}

// Containers yields the containers of a pod, and then its init containers.
func Containers(spec value.Value) iter.Seq[value.Value] {
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

// PodUsage returns the usage of a pod as a whole.
func PodUsage(spec value.Value) Usage {
	return Usage{podAmounts(spec, "requests"), podAmounts(spec, "limits")}
}

// podAmounts returns the requests or the limits of a pod: the sum of those of all containers that run at a time, at its largest.
//
//	init containers run one after the other, each with the sidecars before it
//	containers run together, with all sidecars
//
// CPU and memory that the pod states as a whole replace the sums.
func podAmounts(spec value.Value, list string) Amounts {
	all, sidecars, most := Amounts{}, Amounts{}, Amounts{}
	for c := range spec.Get("containers").Items() {
		all.Add(Quantities(c.Get("resources", list)))
	}
	for c := range spec.Get("initContainers").Items() {
		of := Quantities(c.Get("resources", list))
		if c.Get("restartPolicy").Str() == "Always" {
			all.Add(of)
			sidecars.Add(of)
			most.raise(sidecars)
			continue
		}
		of.Add(sidecars)
		most.raise(of)
	}
	all.raise(most)
	for name, q := range Quantities(spec.Get("resources", list)) {
		if name == "cpu" || name == "memory" {
			all[name] = q
		}
	}
	return all
}

// Names returns the names of the amounts, sorted.
func (a Amounts) Names() []string { return slices.Sorted(maps.Keys(a)) }

// Only returns the amounts that is reports true for.
func (a Amounts) Only(is func(name string) bool) Amounts {
	out := Amounts{}
	for name, q := range a {
		if is(name) {
			out[name] = q
		}
	}
	return out
}

// Less returns a without what other has, and nothing below zero.
func (a Amounts) Less(other Amounts) Amounts {
	out := Amounts{}
	for name, q := range a {
		left := q.DeepCopy()
		if left.Sub(other[name]); left.Sign() < 0 {
			left = Zero()
		}
		out[name] = left
	}
	return out
}

// Equal reports whether a and other have the same names and equal quantities.
func (a Amounts) Equal(other Amounts) bool {
	return maps.EqualFunc(a, other, func(x, y resource.Quantity) bool { return x.Cmp(y) == 0 })
}

// Value returns the amounts as objects have them.
func (a Amounts) Value() value.Value {
	out := value.Object()
	for name := range a {
		out = out.With(name, value.String(a.Text(name)))
	}
	return out
}

// Zero returns nothing of a resource.
func Zero() resource.Quantity { return resource.Quantity{Format: resource.DecimalSI} }
