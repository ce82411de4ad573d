package builtin

import "github.com/deed-project/deed/value"

// preparedPod has a pod begin as pending, and keep what old clients drop.
func preparedPod(k *Kind, subresource string, live, pod value.Value) value.Value {
	switch {
	case live.IsAbsent():
		status := object(member("phase", value.String("Pending")), member("qosClass", value.String(serviceClass(pod))))
		return pod.With("status", status)
	case subresource == "status":
		return pod.With("status", keepMissing(pod.Get("status"), live.Get("status"),
			"qosClass", "resourceClaimStatuses", "extendedResourceClaimStatus", "nodeAllocatableResourceClaimStatuses"))
	}
	return pod.With("spec", keepMissing(pod.Get("spec"), live.Get("spec"), "resources"))
}

// keepMissing returns object with those of the named members of was that it lacks.
func keepMissing(object, was value.Value, names ...string) value.Value {
	for _, name := range names {
		if v := was.Get(name); object.Get(name).IsAbsent() && !v.IsAbsent() {
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
