package builtin

import (
	"time"

	"github.com/deed-project/deed/value"
)

// preparedPod has a pod begin as pending, and keep what old clients drop. Of the other subresources, each writes its part alone.
func preparedPod(k *Kind, subresource string, live, pod value.Value) value.Value {
	if live.IsAbsent() {
		status := object(member("phase", value.String("Pending")), member("qosClass", value.String(serviceClass(pod))))
		if pod.Get("spec", "schedulingGates").Len() > 0 {
			now := value.String(k.clock()().UTC().Format(time.RFC3339))
			status = status.With("conditions", value.List(gated.With("lastTransitionTime", now)))
		}
		return pod.With("status", status)
	}
	switch subresource {
	case "status":
		status := keepMissing(pod.Get("status"), live.Get("status"), "observedGeneration",
			"qosClass", "resourceClaimStatuses", "extendedResourceClaimStatus", "nodeAllocatableResourceClaimStatuses")
		return pod.With("status", keepObserved(status, live.Get("status")))
	case "ephemeralcontainers":
		return onlySpec(live, pod, live.Get("spec").With("ephemeralContainers", pod.Get("spec", "ephemeralContainers")))
	case "resize":
		return resizedPod(live, pod)
	}
	return pod.With("spec", keepMissing(pod.Get("spec"), live.Get("spec"), "resources"))
}

// gated is what a pod begins with that may not be scheduled yet.
var gated = object(
	member("type", value.String("PodScheduled")), member("status", value.String("False")),
	member("lastProbeTime", value.Null()),
	member("reason", value.String("SchedulingGated")),
	member("message", value.String("Scheduling is blocked due to non-empty scheduling gates")),
)

// keepObserved returns status with the observedGeneration of its conditions as the conditions of
// former have it, where they have none.
func keepObserved(status, former value.Value) value.Value {
	had := map[string][]value.Value{}
	for c := range former.Get("conditions").Items() {
		typ := c.Get("type").Str()
		had[typ] = append(had[typ], c)
	}
	return eachItem(status, func(c value.Value) value.Value {
		typ := c.Get("type").Str()
		if len(had[typ]) == 0 {
			return c
		}
		first := had[typ][0]
		had[typ] = had[typ][1:]
		return keepMissing(c, first, "observedGeneration")
	}, "conditions")
}

// onlySpec returns live with another spec, and with what of pod names it and says who manages it.
func onlySpec(live, pod, spec value.Value) value.Value {
	metadata := pod.Get("metadata")
	for _, name := range []string{"labels", "annotations", "finalizers", "ownerReferences"} {
		metadata = metadata.With(name, live.Get("metadata", name))
	}
	return live.With("metadata", metadata).With("spec", spec)
}

// resizedPod returns live with the resources of the containers of pod. A pod with other containers stays what it is, and is refused.
func resizedPod(live, pod value.Value) value.Value {
	spec := keepMissing(live.Get("spec").With("resources", pod.Get("spec", "resources")), live.Get("spec"), "resources")
	for _, list := range []string{"containers", "initContainers"} {
		was, is := live.Get("spec", list), pod.Get("spec", list)
		if was.Len() != is.Len() {
			return pod
		}
		var resized []value.Value
		for i := range was.Len() {
			container := was.Item(i)
			if container.Get("name").Equal(is.Item(i).Get("name")) {
				container = container.With("resources", is.Item(i).Get("resources")).With("resizePolicy", is.Item(i).Get("resizePolicy"))
			} else {
				container = is.Item(i)
			}
			resized = append(resized, container)
		}
		if len(resized) > 0 {
			spec = spec.With(list, value.List(resized...))
		}
	}
	return onlySpec(live, pod, spec)
}

// keepMissing returns object with those of the named members that it lacks as former has them.
func keepMissing(object, former value.Value, names ...string) value.Value {
	for _, name := range names {
		if v := former.Get(name); object.Get(name).IsAbsent() && !v.IsAbsent() {
			object = object.With(name, v)
		}
	}
	return object
}

// serviceClass returns how a pod ranks when its node runs short: Guaranteed if every container has limits for CPU
// and memory and requests no less, BestEffort if none has or requests any, and Burstable otherwise.
func serviceClass(pod value.Value) string {
	guaranteed, any := true, false
	for _, list := range []string{"containers", "initContainers"} {
		for container := range pod.Get("spec", list).Items() {
			resources := container.Get("resources")
			for _, name := range []string{"cpu", "memory"} {
				limit, request := amount(resources, "limits", name), amount(resources, "requests", name)
				any = any || limit != "" || request != ""
				guaranteed = guaranteed && limit != "" && (request == "" || request == limit)
			}
		}
	}
	switch {
	case !any:
		return "BestEffort"
	case guaranteed:
		return "Guaranteed"
	}
	return "Burstable"
}

// amount returns the quantity of a resource, and "" where there is none or it is 0.
func amount(resources value.Value, list, name string) string {
	if text := resources.Get(list, name).Str(); text != "0" {
		return text
	}
	return ""
}
