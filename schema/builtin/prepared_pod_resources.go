package builtin

import (
	"strings"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/form"
	"github.com/deed-project/deed/value"
)

// Resources of pods. A pod may set resources as a whole, beside those of its containers. Missing ones follow from the containers:
//
//	pod          limits {cpu: 2}
//	containers   requests {cpu: 500m, memory: 1Gi} and {cpu: 250m}
//	outcome      limits {cpu: 2}, requests {cpu: 750m, memory: 1Gi}

// podResourcesSince is the first release in which new and resized pods get these resources after all admission. Updates without resources
// keep them. In earlier releases, a pod gets the resources when it is read, so that its manager owns them. Limits of CPU and memory do not
// follow then, and requests follow only for a pod with limits.
const podResourcesSince = "v1.37"

// podResourcesFirst is the first release in which pods have resources as a whole.
const podResourcesFirst = "v1.34"

// readPodResources returns held, a pod that a server read, with its resources in releases before podResourcesSince.
func (k *Kind) readPodResources(held value.Value) value.Value {
	if k.release == nil || k.GVK != (schema.GVK{Version: "v1", Kind: "Pod"}) || k.Minor() >= minorOf(podResourcesSince) || k.Minor() < minorOf(podResourcesFirst) {
		return held
	}
	return withPodResources(held, false)
}

// preparePodResources returns a new or resized pod with its resources, since podResourcesSince.
func (k *Kind) preparePodResources(pod value.Value) value.Value {
	if k.Minor() < minorOf(podResourcesSince) {
		return pod
	}
	return withPodResources(pod, true)
}

// withPodResources adds resources to the pod's own that follow from its containers. These are limits of huge pages, requests of CPU and
// memory, and limits of resources that all containers limit. A pod without resources of its own stays unchanged. Without withLimits, limits
// of the last kind do not follow, and requests follow only for a pod with limits.
func withPodResources(pod value.Value, withLimits bool) value.Value {
	resources := pod.Get("spec", "resources")
	limits, requests := quantities(resources.Get("limits")), quantities(resources.Get("requests"))
	// The pod has no resources of its own.
	if len(limits) == 0 && len(requests) == 0 {
		return pod
	}
	limited, everywhere := aggregate(pod.Get("spec"), "limits")
	for name, q := range limited {
		if _, requested := requests[name]; isHugePages(name) && !requested {
			addMissing(limits, name, q)
		}
	}
	requested, _ := aggregate(pod.Get("spec"), "requests")
	if !withLimits && len(limits) == 0 {
		return pod
	}
	for name, q := range requested {
		if name == "cpu" || name == "memory" {
			addMissing(requests, name, q)
		}
	}
	// A limit without a request is also the request.
	for name, q := range limits {
		if ofPod(name) {
			addMissing(requests, name, q)
		}
	}
	for name, q := range requests {
		if limit, ok := limited[name]; ok && withLimits && ofPod(name) && everywhere[name] {
			// A limit must not be below the request.
			if form.CompareQuantities(q, limit) < 0 {
				q = limit
			}
			addMissing(limits, name, q)
		}
	}
	resources = withQuantities(withQuantities(resources, "limits", limits), "requests", requests)
	return pod.With("spec", pod.Get("spec").With("resources", resources))
}

// isHugePages reports whether a resource is memory in huge pages. The name includes the page size.
func isHugePages(name string) bool { return strings.HasPrefix(name, "hugepages-") }

// ofPod reports whether a pod may set the resource called name as a whole.
func ofPod(name string) bool { return name == "cpu" || name == "memory" || isHugePages(name) }

// quantities returns the quantities of a list of limits or requests by name. It leaves out an invalid quantity, which validation refuses.
func quantities(list value.Value) map[string]string {
	out := map[string]string{}
	for name, text := range list.Members() {
		if q, err := form.Quantity(text.Str()); err == nil {
			out[name] = q
		}
	}
	return out
}

// addMissing adds a quantity unless there is one already.
func addMissing(to map[string]string, name, q string) {
	if _, ok := to[name]; !ok {
		to[name] = q
	}
}

// withQuantities returns resources with the quantities in all that its list lacks.
func withQuantities(resources value.Value, list string, all map[string]string) value.Value {
	of := resources.Get(list)
	for name, q := range all {
		if of.Get(name).IsAbsent() {
			of = of.With(name, value.String(q))
		}
	}
	if of.IsAbsent() {
		return resources
	}
	return resources.With(list, of)
}

// aggregate returns the quantities in a list, limits or requests, that the containers of a pod use together. everywhere has the resources
// that all containers list. Init containers run one after the other, beside the sidecars before them.
//
// The sum is the maximum of two phases. One phase is the containers with all sidecars. The other is the most that any init container uses,
// with the sidecars before it.
func aggregate(spec value.Value, list string) (sum map[string]string, everywhere map[string]bool) {
	sum, everywhere = map[string]string{}, map[string]bool{}
	sidecars, most := map[string]string{}, map[string]string{}
	count, containers := map[string]int{}, 0
	each := func(name string, visit func(container value.Value, of map[string]string)) {
		for container := range spec.Get(name).Items() {
			containers++
			of := quantities(container.Get("resources", list))
			for name := range of {
				count[name]++
			}
			visit(container, of)
		}
	}
	each("containers", func(_ value.Value, of map[string]string) { addTo(sum, of) })
	each("initContainers", func(container value.Value, of map[string]string) {
		// A sidecar runs beside everything after it.
		if container.Get("restartPolicy").Str() == "Always" {
			addTo(sum, of)
			addTo(sidecars, of)
			of = sidecars
		} else {
			addTo(of, sidecars)
		}
		raiseTo(most, of)
	})
	raiseTo(sum, most)
	for name, n := range count {
		everywhere[name] = n == containers
	}
	return sum, everywhere
}

// addTo adds quantities to a sum.
func addTo(sum, of map[string]string) {
	for name, q := range of {
		if was, ok := sum[name]; ok {
			q = form.AddQuantities(was, q)
		}
		sum[name] = q
	}
}

// raiseTo raises each quantity in most to that in of, if the latter is larger.
func raiseTo(most, of map[string]string) {
	for name, q := range of {
		if was, ok := most[name]; !ok || form.CompareQuantities(q, was) > 0 {
			most[name] = q
		}
	}
}
