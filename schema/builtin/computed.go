package builtin

import (
	"slices"
	"strings"

	"github.com/deed-project/deed/internal/door"
	"github.com/deed-project/deed/schema/form"
	"github.com/deed-project/deed/value"
)

// functions are the functions for defaults.txt. They see values as clients sent them. A member may be null, or of a
// kind that its type refuses later.
var functions = form.Functions{
	Fill: map[string]func(value.Value) value.Value{
		"serviceAccount":        serviceAccount,
		"gracePeriod":           gracePeriod,
		"requestLimits":         requestLimits,
		"hostPorts":             hostPorts,
		"podIPs":                podIPs,
		"sessionAffinityConfig": sessionAffinityConfig,
		"targetPorts":           targetPorts,
		"ingressModes":          ingressModes,
		"namespaceLabel":        namespaceLabel,
		"containerLimits":       containerLimits,
		"roundQuantities":       roundQuantities,
		"storedVersions":        storedVersions,
		"definitionNames":       definitionNames,
	},
	Is: map[string]func(value.Value) bool{"latest": isLatest, "sourceless": isSourceless},
}

// documents gives access to the functions of package value for objects with many members.
var documents = door.Open(value.Internal{})

// isNothing reports whether v counts as absent.
func isNothing(v value.Value) bool { return v.IsAbsent() || v.IsNull() }

// mayBe reports whether v is absent, null or of this kind. Functions leave other values as they are: reading them fails.
func mayBe(v value.Value, kind value.Kind) bool { return isNothing(v) || v.Kind() == kind }

// within returns v with the result of change for the member at the path names. It returns v itself if a step of the
// path is not an object.
func within(v value.Value, change func(value.Value) value.Value, names ...string) value.Value {
	if len(names) == 0 {
		return change(v)
	}
	if v.Kind() != value.KindObject {
		return v
	}
	member := v.Get(names[0])
	changed := within(member, change, names[1:]...)
	if changed.Same(member) {
		return v
	}
	return v.With(names[0], changed)
}

// eachItem returns v with the result of change for each object in the list at the path names.
func eachItem(v value.Value, change func(value.Value) value.Value, names ...string) value.Value {
	return within(v, func(list value.Value) value.Value { return changedItems(list, change) }, names...)
}

// changedItems returns list with the result of change for each object in it: list itself if none changes, or if it is no list.
func changedItems(list value.Value, change func(value.Value) value.Value) value.Value {
	var items []value.Value // nil as long as no item has changed
	for i := range list.Len() {
		item := list.Item(i)
		if item.Kind() != value.KindObject {
			continue
		}
		changed := change(item)
		if changed.Same(item) {
			continue
		}
		if items == nil {
			items = slices.Collect(list.Items())
		}
		items[i] = changed
	}
	if items == nil {
		return list
	}
	return value.List(items...)
}

// isSourceless reports whether a volume has no source.
func isSourceless(volume value.Value) bool {
	for name, source := range volume.Members() {
		if name != "name" && !source.IsNull() {
			return false
		}
	}
	return true
}

// serviceAccount copies serviceAccountName to serviceAccount, its old name, if either is set.
func serviceAccount(spec value.Value) value.Value {
	name, old := spec.Get("serviceAccountName"), spec.Get("serviceAccount")
	if isNothing(name) && isNothing(old) || !mayBe(old, value.KindString) {
		return spec
	}
	return spec.With("serviceAccount", name)
}

// gracePeriod sets a negative grace period to one second.
func gracePeriod(pod value.Value) value.Value {
	if pod.Get("spec", "terminationGracePeriodSeconds").Float() >= 0 {
		return pod
	}
	return within(pod, func(spec value.Value) value.Value {
		return spec.With("terminationGracePeriodSeconds", value.Int(1))
	}, "spec")
}

// requestLimits sets missing requests of each container of a pod to its limits.
func requestLimits(pod value.Value) value.Value {
	fill := func(container value.Value) value.Value {
		return within(container, func(resources value.Value) value.Value {
			limits := resources.Get("limits")
			if limits.Kind() != value.KindObject {
				return resources
			}
			requests := resources.Get("requests")
			if all := filled(requests, limits); !all.Same(requests) {
				return resources.With("requests", all)
			}
			return resources
		}, "resources")
	}
	pod = eachItem(pod, fill, "spec", "containers")
	return eachItem(pod, fill, "spec", "initContainers")
}

// filled returns object with the members of other that it lacks. If it is neither absent, null nor an object, filled
// returns it unchanged.
func filled(object, other value.Value) value.Value {
	if isNothing(object) {
		object = value.Object()
	}
	if object.Kind() != value.KindObject {
		return object
	}
	var lacking []value.Member
	for name, member := range other.Members() {
		if object.Get(name).IsAbsent() {
			lacking = append(lacking, value.Member{Name: name, Value: member})
		}
	}
	if len(lacking) == 0 {
		return object
	}
	return documents.WithAll(object, value.Object(lacking...))
}

// hostPorts sets missing host ports to the container ports, if the pod uses the network of its host.
func hostPorts(pod value.Value) value.Value {
	if !pod.Get("spec", "hostNetwork").Bool() {
		return pod
	}
	fill := func(container value.Value) value.Value {
		return eachItem(container, func(port value.Value) value.Value {
			if host := port.Get("hostPort"); host.Float() != 0 || !mayBe(host, value.KindInt) {
				return port
			}
			return port.With("hostPort", port.Get("containerPort"))
		}, "ports")
	}
	pod = eachItem(pod, fill, "spec", "containers")
	return eachItem(pod, fill, "spec", "initContainers")
}

// podIPs makes podIP and podIPs of a pod consistent. podIP wins.
func podIPs(status value.Value) value.Value {
	first, ips := status.Get("podIP"), status.Get("podIPs")
	switch ip := first.Str(); {
	case !mayBe(first, value.KindString) || !mayBe(ips, value.KindList):
	case ip == "" && ips.Len() > 0:
		return status.With("podIP", ips.Item(0).Get("ip"))
	case ip != "" && (ips.Len() == 0 || ips.Item(0).Get("ip").Str() != ip):
		return status.With("podIPs", value.List(value.Object(value.Member{Name: "ip", Value: value.String(ip)})))
	}
	return status
}

// sessionAffinityConfig sets the missing timeout of sessions of a service to three hours. It removes the
// configuration of a service without sessions.
func sessionAffinityConfig(service value.Value) value.Value {
	return within(service, func(spec value.Value) value.Value {
		config := spec.Get("sessionAffinityConfig")
		client, timeout := config.Get("clientIP"), config.Get("clientIP", "timeoutSeconds")
		if !mayBe(timeout, value.KindInt) || !mayBe(client, value.KindObject) || !mayBe(config, value.KindObject) {
			return spec
		}
		switch spec.Get("sessionAffinity").Str() {
		case "None":
			return spec.With("sessionAffinityConfig", value.Value{})
		case "ClientIP":
			if isNothing(timeout) {
				timeout = value.Object(value.Member{Name: "timeoutSeconds", Value: value.Int(10800)})
				return spec.With("sessionAffinityConfig", value.Object(value.Member{Name: "clientIP", Value: timeout}))
			}
		}
		return spec
	}, "spec")
}

// targetPorts sets missing target ports of a service to its ports.
func targetPorts(service value.Value) value.Value {
	return eachItem(service, func(port value.Value) value.Value {
		target := port.Get("targetPort")
		if zero := target.Equal(value.Int(0)) || target.Equal(value.String("")); !isNothing(target) && !zero {
			return port
		}
		number := port.Get("port")
		if isNothing(number) {
			number = value.Int(0)
		}
		return port.With("targetPort", number)
	}, "spec", "ports")
}

// ingressModes sets the missing ipMode of the addresses of a load balancer.
func ingressModes(service value.Value) value.Value {
	if service.Get("spec", "type").Str() != "LoadBalancer" {
		return service
	}
	return eachItem(service, func(ingress value.Value) value.Value {
		if ingress.Get("ip").Str() == "" || !isNothing(ingress.Get("ipMode")) {
			return ingress
		}
		return ingress.With("ipMode", value.String("VIP"))
	}, "status", "loadBalancer", "ingress")
}

// namespaceLabel labels a namespace with its name.
func namespaceLabel(namespace value.Value) value.Value {
	name := namespace.Get("metadata", "name")
	if name.Str() == "" {
		return namespace
	}
	return within(namespace, func(metadata value.Value) value.Value {
		labels := metadata.Get("labels")
		if isNothing(labels) {
			labels = value.Object()
		}
		if labels.Kind() != value.KindObject {
			return metadata
		}
		return metadata.With("labels", labels.With("kubernetes.io/metadata.name", name))
	}, "metadata")
}

// containerLimits fills in the missing defaults of a limit range for containers. The default limit is the maximum.
// The default request is the limit, or else the minimum.
func containerLimits(item value.Value) value.Value {
	if item.Get("type").Str() != "Container" {
		return item
	}
	limits := filled(item.Get("default"), item.Get("max"))
	requests := filled(filled(item.Get("defaultRequest"), limits), item.Get("min"))
	return item.With("default", limits).With("defaultRequest", requests)
}

// roundQuantities rounds the quantities of a list of resources up to a thousandth.
func roundQuantities(resources value.Value) value.Value {
	var changed []value.Member
	for name, amount := range resources.Members() {
		text := amount.Str()
		if amount.Kind() == value.KindFloat {
			text = amount.String()
		}
		if rounded := form.RoundQuantity(text); rounded != text {
			changed = append(changed, value.Member{Name: name, Value: value.String(rounded)})
		}
	}
	if changed == nil {
		return resources
	}
	return documents.WithAll(resources, value.Object(changed...))
}

// storedVersions records the version in which a definition stores objects, unless one is recorded already.
func storedVersions(definition value.Value) value.Value {
	status := definition.Get("status")
	stored := status.Get("storedVersions")
	if stored.Len() > 0 || !mayBe(stored, value.KindList) || !mayBe(status, value.KindObject) {
		return definition
	}
	for version := range definition.Get("spec", "versions").Items() {
		if version.Get("storage").Bool() {
			if isNothing(status) {
				status = value.Object()
			}
			name := version.Get("name")
			if isNothing(name) {
				name = value.String("")
			}
			return definition.With("status", status.With("storedVersions", value.List(name)))
		}
	}
	return definition
}

// definitionNames derives the names of a custom resource from its kind.
func definitionNames(spec value.Value) value.Value {
	names := spec.Get("names")
	kind := names.Get("kind").Str()
	if kind == "" {
		return spec
	}
	fill := func(name, text string) {
		if v := names.Get(name); v.Str() == "" && mayBe(v, value.KindString) {
			names = names.With(name, value.String(text))
		}
	}
	fill("singular", strings.ToLower(kind))
	fill("listKind", kind+"List")
	return spec.With("names", names)
}
