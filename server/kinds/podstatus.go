package kinds

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"

	"github.com/deed-project/deed/value"
)

// validatePodStatus validates the status of a Pod.
func validatePodStatus(r *report, object place, live value.Value) {
	status, was, spec := object.at("status"), live.Get("status"), object.Get("spec")
	r.podConditions(status.at("conditions"))
	r.nominated(status.at("nominatedNodeName"), live)
	if generation := status.at("observedGeneration"); generation.Int() < 0 {
		r.invalid(generation, "must be a non-negative integer")
	}
	if class := status.at("qosClass"); class.Str() != "" {
		r.unchanged(class, was.Get("qosClass"))
	}
	r.restarts(status.at("containerStatuses"), was, spec, spec.Get("containers"))
	r.restarts(status.at("initContainerStatuses"), was, spec, spec.Get("initContainers"))
	r.restarts(status.at("ephemeralContainerStatuses"), was, value.Value{}, value.Value{})
	r.claimStatuses(status.at("resourceClaimStatuses"), spec.Get("resourceClaims"))
	r.extendedClaim(status.at("extendedResourceClaimStatus"), spec)
	r.addressesOf(status, was, "podIP")
	r.addressesOf(status, was, "hostIP")
	for _, name := range containerStatuses {
		r.users(status.at(name), cmp.Or(spec.Get("os", "name").Str(), "linux"))
	}
	r.resourceStatuses(status.at("containerStatuses"), spec.Get("containers"), was)
	r.resourceStatuses(status.at("initContainerStatuses"), spec.Get("initContainers"), was)
	later := status.at("ephemeralContainerStatuses")
	for i := range later.indexes() {
		if resources := later.item(i).at("allocatedResourcesStatus"); resources.Len() > 0 {
			r.forbidden(resources, "must not be specified in container status")
		}
	}
}

// containerStatuses are the members of a status with the states of containers.
var containerStatuses = [...]string{"containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"}

func (r *report) podConditions(p place) {
	for i := range p.indexes() {
		c := p.item(i)
		if generation := c.at("observedGeneration"); generation.Int() < 0 {
			r.invalid(generation, "must be a non-negative integer")
		}
		switch typ := c.text("type"); typ {
		case "PodScheduled", "Ready", "Initialized":
		default:
			r.labelKey(c.below(c.Get("type"), "Type", isMember)) // with the name that kube-apiserver has for it
		}
	}
}

// nominated validates the node that a pod waits for. A pod that runs on a node waits for none.
func (r *report) nominated(p place, live value.Value) {
	if p.Str() == "" || p.Str() == live.Get("status", "nominatedNodeName").Str() {
		return
	}
	r.subdomain(p)
	if live.Get("spec", "nodeName").Str() != "" {
		r.forbidden(p, "may not be set on pods that are already bound to a node")
	}
}

// restarts refuses that terminated containers run again if their pod does not restart them. An absent spec restarts nothing.
func (r *report) restarts(p place, was, spec, containers value.Value) {
	if restartsTogether(spec) {
		return
	}
	old := was.Get(p.name())
	for i := range old.Len() {
		name, ended := old.Item(i).Get("name").Str(), old.Item(i).Get("state", "terminated")
		now := named(p.Value, name)
		if !isSet(ended) || !isSet(now) || isSet(now.Get("state", "terminated")) {
			continue
		}
		if !restarted(named(containers, name), spec, ended.Get("exitCode").Int()) {
			r.forbidden(p.below(old.Item(i), "", i).at("state"), "may not be transitioned to non-terminated state")
		}
	}
}

// named returns the item of a list that has a name.
func named(list value.Value, name string) value.Value {
	for item := range list.Items() {
		if item.Get("name").Str() == name {
			return item
		}
	}
	return value.Value{}
}

// restartsTogether reports whether a container of a pod can restart all containers.
func restartsTogether(spec value.Value) bool {
	for _, list := range [...]string{"initContainers", "containers"} {
		for c := range spec.Get(list).Items() {
			for rule := range c.Get("restartPolicyRules").Items() {
				if rule.Get("action").Str() == "RestartAllContainers" {
					return true
				}
			}
		}
	}
	return false
}

// restarted reports whether a container of a pod runs again after it ended with a code.
func restarted(container, spec value.Value, code int64) bool {
	policy := spec.Get("restartPolicy").Str()
	if !isSet(container) {
		return false
	}
	if own := container.Get("restartPolicy").Str(); own != "" {
		policy = own
		for rule := range container.Get("restartPolicyRules").Items() {
			in := slices.ContainsFunc(slices.Collect(rule.Get("exitCodes", "values").Items()), func(v value.Value) bool { return v.Int() == code })
			if in == (rule.Get("exitCodes", "operator").Str() == "In") {
				return true
			}
		}
	}
	return policy == "Always" || policy == "OnFailure" && code != 0
}

// claimStatuses validates which ResourceClaims were made for a pod.
func (r *report) claimStatuses(p place, claims value.Value) {
	var met names
	for i := range p.indexes() {
		s := p.item(i)
		name, claim := s.at("name"), s.at("resourceClaimName")
		if !isSet(named(claims, name.Str())) {
			r.invalidAs(name, name.Str(), "must match the name of an entry in `spec.resourceClaims`")
		}
		if !met.add(name.Str()) {
			r.duplicate(name)
		}
		if claim.is() && !isLabel(claim.Str()) {
			r.invalidPointer(claim, validation.IsDNS1123Subdomain(claim.Str())...)
		}
	}
}

// extendedClaim validates the ResourceClaim that stands for the extended resources of a pod.
func (r *report) extendedClaim(p place, spec value.Value) {
	if !p.is() {
		return
	}
	mappings, claim := p.at("requestMappings"), p.at("resourceClaimName")
	if mappings.Len() == 0 {
		r.required(mappings, "at least one request mapping is required")
	}
	var met names
	for i := range mappings.indexes() {
		m := mappings.item(i)
		container, resource, request := m.at("containerName"), m.at("resourceName"), m.at("requestName")
		const entry = "an entry in spec.initContainers"
		c := named(spec.Get("containers"), container.Str())
		if !isSet(c) {
			c = named(spec.Get("initContainers"), container.Str())
		}
		switch {
		case !isSet(c):
			r.invalidAs(container, container.Str(), "must match the name of "+entry+".name or spec.containers.name")
		case c.Get("resources", "requests", resource.Str()).IsAbsent():
			r.invalidAs(resource, resource.Str(), "must match the extended resource name of "+entry+".resources.requests or spec.containers.resources.requests")
		}
		r.invalidAs(p.at("requestName"), request.Str(), validation.IsDNS1123Label(request.Str())...)
		if !met.add(container.Str() + " " + resource.Str() + " " + request.Str()) {
			for _, twice := range [...]place{container, resource, request} {
				r.duplicate(twice)
			}
		}
	}
	if r.present(claim) {
		r.subdomain(claim)
	}
}

// addressesOf validates the addresses of a pod, or of its node. name is the member with the first address.
func (r *report) addressesOf(status place, was value.Value, name string) {
	list, first := status.at(name+"s"), status.text(name)
	same := list.Len() == 0 || list.Item(0).Get("ip").Str() == first
	refuse := func() {
		r.invalidAs(list.item(0).at("ip"), list.Item(0).Get("ip").Str(), "must be equal to `"+name+"`")
	}
	if name == "hostIP" && !same {
		refuse()
	}
	var had names
	for ip := range was.Get(name + "s").Items() {
		had.add(ip.Get("ip").Str())
	}
	shown := make([]struct{ IP string }, list.Len())
	for i := range list.indexes() {
		text := list.Item(i).Get("ip")
		r.address(list.item(i).with(text), &had)
		shown[i].IP = text.Str()
	}
	if list.Len() > 1 {
		dual, err := netutils.IsDualStackIPStrings(namesIn(list.Value, "ip"))
		if err != nil {
			r.add(field.InternalError(list.path(), fmt.Errorf("failed to check for dual stack with error:%w", err)))
		}
		if !dual || list.Len() > 2 {
			r.invalidAs(list, shown, "may specify no more than one IP for each IP family")
		}
	}
	switch {
	case name == "hostIP":
	case (first != "") != (list.Len() > 0):
		r.invalidAs(list, shown, "podIP and podIPs must either both be set or both be unset")
	case !same:
		refuse()
	}
}

// users validates as whom containers run.
func (r *report) users(p place, system string) {
	for i := range p.indexes() {
		user := p.item(i).at("user")
		linux := user.at("linux")
		switch {
		case !linux.is():
		case system == "windows":
			r.forbidden(linux, "cannot be set for a windows pod")
		case system == "linux":
			if uid := linux.at("uid"); uid.Int() < 0 || uid.Int() > math.MaxUint32 {
				r.invalidAs(uid, uid.Int(), fmt.Sprintf("must be between 0 and %d, inclusive", int64(math.MaxUint32)))
			}
			gid, groups := linux.at("gid"), linux.at("supplementalGroups")
			r.invalidAs(gid, gid.Int(), validation.IsValidGroupID(gid.Int())...)
			for j := range groups.indexes() {
				r.invalid(groups.item(j), validation.IsValidGroupID(groups.Item(j).Int())...)
			}
		}
	}
}

// longestHealth is how long the message about the health of a resource may be.
const longestHealth = 1024

// resourceStatuses validates the state of the resources that containers have. Containers that a pod does not have are skipped.
func (r *report) resourceStatuses(p place, containers, was value.Value) {
	for i := range p.indexes() {
		all := p.item(i).at("allocatedResourcesStatus")
		container := named(containers, p.Item(i).Get("name").Str())
		for j := range all.indexes() {
			name, resources := all.item(j).at("name"), all.item(j).at("resources")
			if isSet(container) {
				r.resourceOf(name, container, was)
			}
			var met names
			for k := range resources.indexes() {
				resource := resources.item(k)
				r.health(resource)
				if id := resource.at("resourceID"); !met.add(id.Str()) {
					r.add(field.Duplicate(id.path(), id.Str()))
				}
			}
		}
	}
}

// resourceOf validates that a container asks for a resource, by its name or by a claim.
func (r *report) resourceOf(name place, container, was value.Value) {
	const prefix = "claim:"
	if !strings.HasPrefix(name.Str(), prefix) {
		if container.Get("resources", "requests", name.Str()).IsAbsent() {
			r.invalidAs(name, name.Str(), "must match one of the container's resource requests")
		}
		return
	}
	for claim := range container.Get("resources", "claims").Items() {
		of := prefix + claim.Get("name").Str()
		if request := claim.Get("request").Str(); request != "" {
			of += "/" + request
		}
		if of == name.Str() {
			return
		}
	}
	if isSet(was.Get("extendedResourceClaimStatus")) {
		return // which may stand for the claim
	}
	r.invalidAs(name, name.Str(), "must match one of the container's resource claims as 'claim:<claimName>/<requestName>' "+
		"when container.resources.claims[*].request is set or 'claim:<claimName>' when it is empty")
}

func (r *report) health(p place) {
	r.onlyAmong(p.at("health"), "Healthy", "Unhealthy", "Unknown")
	switch message := p.at("message"); {
	case !message.is():
	case message.Str() == "":
		r.required(message, "must be non-empty if specified")
	case len(message.Str()) > longestHealth:
		r.add(field.TooLong(message.path(), message.Str(), longestHealth))
	}
}
