package walk

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/deed-project/deed/value"
)

// Requirements validates limits and requests, whose names have a rule.
func (r *Report) Requirements(p Place, rule func(r *Report, name Place)) {
	limits, requests := p.At("limits"), p.At("requests")
	for i := range limits.Indexes() {
		limit := limits.Entry(i)
		rule(r, limit)
		r.amount(limit)
		r.hugePages(limit)
	}
	for i := range requests.Indexes() {
		request := requests.Entry(i)
		rule(r, request)
		r.amount(request)
		limit := limits.Get(request.Name())
		switch shared := IsShared(request.Name()); {
		case !IsSet(limit) && !shared:
			r.Required(limits, "Limit must be set for non overcommitable resources")
		case !IsSet(limit) || limit.Equal(request.Value):
		case !shared && Compare(request.Value, limit) != 0:
			r.InvalidAs(requests, request.Str(), fmt.Sprintf("must be equal to %s limit of %s", request.Name(), limit.Str()))
		case Compare(request.Value, limit) > 0:
			r.InvalidAs(requests, request.Str(), fmt.Sprintf("must be less than or equal to %s limit of %s", request.Name(), limit.Str()))
		}
		r.hugePages(request)
	}
	if anyOf(p.Value, IsHugePages) && !anyOf(p.Value, IsComputed) {
		r.Forbidden(p, "HugePages require cpu or memory")
	}
}

// ResourceName validates the name of a resource, and reports whether it is valid. Names of resources have a type of their own, so refusals
// show them as JSON.
func (r *Report) ResourceName(p Place) bool {
	name := p.Name()
	wrong := validation.IsQualifiedName(name)
	if len(wrong) == 0 && !strings.Contains(name, "/") && !isStandard(name) {
		wrong = []string{"must be a standard resource type or fully qualified"}
	}
	r.InvalidAs(p, Enumeration(name), wrong...)
	return len(wrong) == 0
}

// ContainerResource validates the name of a resource of a container.
func (r *Report) ContainerResource(p Place) {
	name := p.Name()
	if slices.Contains(containerResources, name) {
		return
	}
	r.ResourceName(p)
	switch qualified := strings.Contains(name, "/"); {
	case !qualified && !IsHugePages(name):
		r.InvalidAs(p, Enumeration(name), "must be a standard resource for containers")
	case qualified && !IsNative(name) && !IsExtended(name):
		r.InvalidAs(p, Enumeration(name), "doesn't follow extended resource name standard")
	}
}

// amount validates a quantity: it is not negative, and whole where parts make no sense.
func (r *Report) amount(p Place) {
	if strings.HasPrefix(p.Str(), "-") {
		r.InvalidAs(p, p.Str(), "must be greater than or equal to 0")
	}
	if IsExtended(p.Name()) || IsWhole(p.Name()) {
		if q := Quantity(p.Value); q.MilliValue()%1000 != 0 {
			r.InvalidAs(p, p.Str(), "must be an integer")
		}
	}
}

// hugePages validates an amount of huge pages: whole ones.
func (r *Report) hugePages(p Place) {
	if !IsHugePages(p.Name()) {
		return
	}
	size, err := resource.ParseQuantity(strings.TrimPrefix(p.Name(), HugePages))
	if q := Quantity(p.Value); err != nil || size.Sign() <= 0 || q.Value()%size.Value() != 0 {
		r.InvalidAs(p, p.Str(), fmt.Sprintf("%s is not positive integer multiple of %s", p.Str(), p.Name()))
	}
}

// isStandard reports whether Kubernetes knows a resource without a domain.
func isStandard(name string) bool {
	return slices.Contains(containerResources, name) || slices.Contains(otherResources, name) || IsHugePages(name) ||
		strings.HasPrefix(name, "requests."+HugePages)
}

// Resources without a domain: those that containers have, and those that are counted elsewhere.
var (
	containerResources = []string{"cpu", "memory", "ephemeral-storage"}
	otherResources     = []string{
		"requests.cpu", "requests.memory", "requests.ephemeral-storage", "limits.cpu", "limits.memory", "limits.ephemeral-storage",
		"pods", "resourcequotas", "services", "replicationcontrollers", "secrets", "configmaps", "persistentvolumeclaims", "storage",
		"requests.storage", "services.nodeports", "services.loadbalancers",
	}
)

// HugePages begins the names of resources of huge pages, which end with their size.
const HugePages = "hugepages-"

// IsHugePages reports whether a resource is huge pages of some size.
func IsHugePages(name string) bool { return strings.HasPrefix(name, HugePages) }

// IsComputed reports whether a resource is CPU or memory.
func IsComputed(name string) bool { return name == "cpu" || name == "memory" }

// IsNative reports whether a resource is one of Kubernetes itself.
func IsNative(name string) bool {
	return !strings.Contains(name, "/") || strings.Contains(name, "kubernetes.io/")
}

// IsExtended reports whether a resource is an extended resource: one with a domain other than those of Kubernetes, counted in whole numbers.
func IsExtended(name string) bool {
	return !IsNative(name) && !strings.HasPrefix(name, "requests.") && len(validation.IsQualifiedName("requests."+name)) == 0
}

// IsShared reports whether more of a resource may be used than was asked for.
func IsShared(name string) bool { return IsNative(name) && !IsHugePages(name) }

// IsWhole reports whether a resource is counted: parts of it make no sense.
func IsWhole(name string) bool { return whole[name] }

var whole = map[string]bool{
	"pods": true, "resourcequotas": true, "services": true, "replicationcontrollers": true, "secrets": true, "configmaps": true,
	"persistentvolumeclaims": true, "services.nodeports": true, "services.loadbalancers": true,
}

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

// Quantity returns the quantity that a text is; objects of built-in kinds have no others.
func Quantity(v value.Value) resource.Quantity {
	q, _ := resource.ParseQuantity(v.Str())
	return q
}

// Compare compares two quantities.
func Compare(a, b value.Value) int {
	q := Quantity(a)
	return q.Cmp(Quantity(b))
}
