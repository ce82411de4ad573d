package validation

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/deed-project/deed/value"
)

// Resources without a domain: those that containers have, and those that are counted elsewhere.
var (
	containerResources = []string{"cpu", "memory", "ephemeral-storage"}
	otherResources     = []string{
		"requests.cpu", "requests.memory", "requests.ephemeral-storage", "limits.cpu", "limits.memory", "limits.ephemeral-storage",
		"pods", "resourcequotas", "services", "replicationcontrollers", "secrets", "configmaps", "persistentvolumeclaims", "storage",
		"requests.storage", "services.nodeports", "services.loadbalancers",
	}
)

const hugePages = "hugepages-"

// resources refuses what a container wants of a node.
func (w *podWalk) resources(p place) {
	limits, requests := p.at("limits"), p.at("requests")
	for i := range limits.indexes() {
		w.resource(limits.entry(i))
	}
	for i := range requests.indexes() {
		r := requests.entry(i)
		w.resource(r)
		limit := limits.Get(r.name())
		switch shared := isShared(r.name()); {
		case !isSet(limit) && !shared:
			w.required(limits, "Limit must be set for non overcommitable resources")
		case !isSet(limit) || limit.Equal(r.Value):
		case !shared && compare(r.Value, limit) != 0:
			w.invalidAs(requests, r.Str(), fmt.Sprintf("must be equal to %s limit of %s", r.name(), limit.Str()))
		case compare(r.Value, limit) > 0:
			w.invalidAs(requests, r.Str(), fmt.Sprintf("must be less than or equal to %s limit of %s", r.name(), limit.Str()))
		}
	}
	if anyOf(p.Value, isHugePages) && !anyOf(p.Value, isComputed) {
		w.forbidden(p, "HugePages require cpu or memory")
	}
}

// resource refuses the name of a resource of a container, and how much of it there is.
func (w *podWalk) resource(p place) {
	name := p.name()
	if slices.Contains(containerResources, name) {
		w.amount(p)
		return
	}
	wrong := validation.IsQualifiedName(name)
	w.invalidAs(p, name, wrong...)
	if !strings.Contains(name, "/") && !isHugePages(name) {
		if len(wrong) == 0 && !slices.Contains(otherResources, name) && !strings.HasPrefix(name, "requests."+hugePages) {
			w.invalidAs(p, name, "must be a standard resource type or fully qualified")
		}
		w.invalidAs(p, name, "must be a standard resource for containers")
	} else if strings.Contains(name, "/") && !isNative(name) && !isExtended(name) {
		w.invalidAs(p, name, "doesn't follow extended resource name standard")
	}
	w.amount(p)
}

// amount refuses a quantity below zero, and a part of what comes in whole.
func (w *podWalk) amount(p place) {
	if strings.HasPrefix(p.Str(), "-") {
		w.invalidAs(p, p.Str(), "must be greater than or equal to 0")
	}
	if isExtended(p.name()) {
		if q := quantity(p.Value); q.MilliValue()%1000 != 0 {
			w.invalidAs(p, p.Str(), "must be an integer")
		}
	}
}

// quantity returns the quantity that a text is; objects of built-in kinds have no others.
func quantity(v value.Value) resource.Quantity {
	q, _ := resource.ParseQuantity(v.Str())
	return q
}

// compare compares two quantities.
func compare(a, b value.Value) int {
	q := quantity(a)
	return q.Cmp(quantity(b))
}

func isHugePages(name string) bool { return strings.HasPrefix(name, hugePages) }

func isComputed(name string) bool { return name == "cpu" || name == "memory" }

// isNative reports whether a resource is one of Kubernetes itself.
func isNative(name string) bool {
	return !strings.Contains(name, "/") || strings.Contains(name, "kubernetes.io/")
}

// isExtended reports whether a resource is one of somebody else, which is counted.
func isExtended(name string) bool {
	return !isNative(name) && !strings.HasPrefix(name, "requests.") && len(validation.IsQualifiedName("requests."+name)) == 0
}

// isShared reports whether more of a resource may be used than was asked for.
func isShared(name string) bool { return isNative(name) && !isHugePages(name) }

// anyOf reports whether limits or requests have a resource of some kind.
func anyOf(resources value.Value, is func(string) bool) bool {
	for _, list := range [...]string{"limits", "requests"} {
		for name := range resources.Get(list).Members() {
			if is(name) {
				return true
			}
		}
	}
	return false
}
