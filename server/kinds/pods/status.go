package pods

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"

	"github.com/deed-project/deed/server/kinds/walk"
	"github.com/deed-project/deed/value"
)

// ValidateStatus validates the status of a Pod.
func ValidateStatus(r *walk.Report, object walk.Place, live value.Value) {
	status, was, spec := object.At("status"), live.Get("status"), object.Get("spec")
	validateAnnotationsChange(r, object.At("metadata").At("annotations"), live.Get("metadata", "annotations"), spec)
	validatePodConditions(r, status.At("conditions"))
	validateNominated(r, status.At("nominatedNodeName"), live)
	if generation := status.At("observedGeneration"); generation.Int() < 0 {
		r.Invalid(generation, "must be a non-negative integer")
	}
	if class := status.At("qosClass"); class.Str() != "" {
		r.Unchanged(class, was.Get("qosClass"))
	}
	validateRestarts(r, status.At("containerStatuses"), was, spec, spec.Get("containers"))
	validateRestarts(r, status.At("initContainerStatuses"), was, spec, spec.Get("initContainers"))
	validateRestarts(r, status.At("ephemeralContainerStatuses"), was, value.Value{}, value.Value{})
	validateClaimStatuses(r, status.At("resourceClaimStatuses"), spec.Get("resourceClaims"))
	validateExtendedClaim(r, status.At("extendedResourceClaimStatus"), spec)
	validateAddressesOf(r, status, was, "podIP")
	validateAddressesOf(r, status, was, "hostIP")
	for _, name := range containerStatuses {
		validateUsers(r, status.At(name), cmp.Or(spec.Get("os", "name").Str(), "linux"))
	}
	validateResourceStatuses(r, status.At("containerStatuses"), spec.Get("containers"), status.Get("extendedResourceClaimStatus"))
	validateResourceStatuses(r, status.At("initContainerStatuses"), spec.Get("initContainers"), status.Get("extendedResourceClaimStatus"))
	later := status.At("ephemeralContainerStatuses")
	for i := range later.Indexes() {
		if resources := later.Index(i).At("allocatedResourcesStatus"); resources.Len() > 0 {
			r.Forbidden(resources, "must not be specified in container status")
		}
	}
}

// containerStatuses are the members of a status with the states of containers.
var containerStatuses = [...]string{"containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"}

func validatePodConditions(r *walk.Report, p walk.Place) {
	for i := range p.Indexes() {
		c := p.Index(i)
		if generation := c.At("observedGeneration"); generation.Int() < 0 {
			r.Invalid(generation, "must be a non-negative integer")
		}
		switch typ := c.Text("type"); typ {
		case "PodScheduled", "Ready", "Initialized":
		default:
			at := c.Below(c.Get("type"), "Type", walk.IsMember).Path() // with the name that kube-apiserver has for it
			for _, detail := range validation.IsQualifiedName(typ) {
				r.Add(field.Invalid(at, typ, detail))
			}
		}
	}
}

// clearedSince is the minor release since which a pod that runs on a node waits for none.
const clearedSince = 35

// validateNominated validates the node that a pod waits for.
func validateNominated(r *walk.Report, p walk.Place, live value.Value) {
	if p.Str() == "" || p.Str() == live.Get("status", "nominatedNodeName").Str() {
		return
	}
	r.Subdomain(p)
	if live.Get("spec", "nodeName").Str() != "" && !r.Before(clearedSince) {
		r.Forbidden(p, "may not be set on pods that are already bound to a node")
	}
}

// validateRestarts refuses that terminated containers run again if their pod does not restart them. An absent spec, which is for ephemeral
// containers, restarts nothing. There each state of a container is refused, and of others the first.
func validateRestarts(r *walk.Report, p walk.Place, was, spec, containers value.Value) {
	if restartsTogether(spec) {
		return
	}
	old := was.Get(p.Name())
	for i := range old.Len() {
		name, ended := old.Item(i).Get("name").Str(), old.Item(i).Get("state", "terminated")
		if !walk.IsSet(ended) {
			continue
		}
		n := runs(p.Value, name)
		if walk.IsSet(spec) {
			n = min(n, 1)
		}
		if n == 0 || restarted(named(containers, name), spec, ended.Get("exitCode").Int()) {
			continue
		}
		for range n {
			r.Forbidden(p.Below(old.Item(i), "", i).At("state"), "may not be transitioned to non-terminated state")
		}
	}
}

// runs returns how many statuses of a container say that it is not terminated.
func runs(statuses value.Value, name string) (n int) {
	for s := range statuses.Items() {
		if s.Get("name").Str() == name && !walk.IsSet(s.Get("state", "terminated")) {
			n++
		}
	}
	return n
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
	if !walk.IsSet(container) {
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

// validateClaimStatuses validates which ResourceClaims were made for a pod.
func validateClaimStatuses(r *walk.Report, p walk.Place, claims value.Value) {
	var met walk.Names
	for i := range p.Indexes() {
		s := p.Index(i)
		name, claim := s.At("name"), s.At("resourceClaimName")
		if !walk.IsSet(named(claims, name.Str())) {
			r.InvalidAs(name, name.Str(), "must match the name of an entry in `spec.resourceClaims`")
		}
		if !met.Add(name.Str()) {
			r.Duplicate(name)
		}
		if claim.IsSet() && !walk.IsLabel(claim.Str()) {
			r.InvalidPointer(claim, validation.IsDNS1123Subdomain(claim.Str())...)
		}
	}
}

// validateExtendedClaim validates the ResourceClaim that stands for the extended resources of a pod.
func validateExtendedClaim(r *walk.Report, p walk.Place, spec value.Value) {
	if !p.IsSet() {
		return
	}
	mappings, claim := p.At("requestMappings"), p.At("resourceClaimName")
	if mappings.Len() == 0 {
		r.Required(mappings, "at least one request mapping is required")
	}
	var met walk.Names
	for i := range mappings.Indexes() {
		m := mappings.Index(i)
		container, resource, request := m.At("containerName"), m.At("resourceName"), m.At("requestName")
		const entry = "an entry in spec.initContainers"
		c := named(spec.Get("containers"), container.Str())
		if !walk.IsSet(c) {
			c = named(spec.Get("initContainers"), container.Str())
		}
		switch {
		case !walk.IsSet(c):
			r.InvalidAs(container, container.Str(), "must match the name of "+entry+".name or spec.containers.name")
		case c.Get("resources", "requests", resource.Str()).IsAbsent():
			r.InvalidAs(resource, resource.Str(), "must match the extended resource name of "+entry+".resources.requests or spec.containers.resources.requests")
		}
		r.InvalidAs(p.At("requestName"), request.Str(), validation.IsDNS1123Label(request.Str())...)
		if !met.Add(container.Str() + " " + resource.Str() + " " + request.Str()) {
			for _, twice := range [...]walk.Place{container, resource, request} {
				r.Duplicate(twice)
			}
		}
	}
	if r.Present(claim) {
		r.Subdomain(claim)
	}
}

// validateAddressesOf validates the addresses of a pod, or of its node. name is the member with the first address.
func validateAddressesOf(r *walk.Report, status walk.Place, was value.Value, name string) {
	list, first := status.At(name+"s"), status.Text(name)
	same := list.Len() == 0 || list.Item(0).Get("ip").Str() == first
	refuse := func() {
		r.InvalidAs(list.Index(0).At("ip"), list.Item(0).Get("ip").Str(), "must be equal to `"+name+"`")
	}
	if name == "hostIP" && !same {
		refuse()
	}
	var had walk.Names
	for ip := range was.Get(name + "s").Items() {
		had.Add(ip.Get("ip").Str())
	}
	shown := make([]struct{ IP string }, list.Len())
	for i := range list.Indexes() {
		text := list.Item(i).Get("ip")
		r.Address(list.Index(i).WithValue(text), &had)
		shown[i].IP = text.Str()
	}
	if list.Len() > 1 {
		dual, err := netutils.IsDualStackIPStrings(walk.NamesIn(list.Value, "ip"))
		if err != nil {
			r.Add(field.InternalError(list.Path(), fmt.Errorf("failed to check for dual stack with error:%w", err)))
		}
		if !dual || list.Len() > 2 {
			r.InvalidAs(list, shown, "may specify no more than one IP for each IP family")
		}
	}
	switch {
	case name == "hostIP":
	case (first != "") != (list.Len() > 0):
		r.InvalidAs(list, shown, "podIP and podIPs must either both be set or both be unset")
	case !same:
		refuse()
	}
}

// validateUsers validates as whom containers run.
func validateUsers(r *walk.Report, p walk.Place, system string) {
	for i := range p.Indexes() {
		user := p.Index(i).At("user")
		linux := user.At("linux")
		switch {
		case !linux.IsSet():
		case system == "windows":
			r.Forbidden(linux, "cannot be set for a windows pod")
		case system == "linux":
			if uid := linux.At("uid"); uid.Int() < 0 || uid.Int() > math.MaxUint32 {
				r.InvalidAs(uid, uid.Int(), fmt.Sprintf("must be between 0 and %d, inclusive", int64(math.MaxUint32)))
			}
			gid, groups := linux.At("gid"), linux.At("supplementalGroups")
			r.InvalidAs(gid, gid.Int(), validation.IsValidGroupID(gid.Int())...)
			for j := range groups.Indexes() {
				r.Invalid(groups.Index(j), validation.IsValidGroupID(groups.Item(j).Int())...)
			}
		}
	}
}

// longestHealth is how long the message about the health of a resource may be.
const longestHealth = 1024

// validateResourceStatuses validates the state of the resources that containers have. Containers that a pod does not have are skipped.
// extended is the status of the claim for extended resources.
func validateResourceStatuses(r *walk.Report, p walk.Place, containers, extended value.Value) {
	for i := range p.Indexes() {
		all := p.Index(i).At("allocatedResourcesStatus")
		container := named(containers, p.Item(i).Get("name").Str())
		for j := range all.Indexes() {
			name, resources := all.Index(j).At("name"), all.Index(j).At("resources")
			if walk.IsSet(container) {
				validateResourceOf(r, name, container, extended)
			}
			var met walk.Names
			for k := range resources.Indexes() {
				resource := resources.Index(k)
				validateHealth(r, resource)
				if id := resource.At("resourceID"); !met.Add(id.Str()) {
					r.Add(field.Duplicate(id.Path(), id.Str()))
				}
			}
		}
	}
}

// validateResourceOf validates that a container asks for a resource, by its name or by a claim.
func validateResourceOf(r *walk.Report, name walk.Place, container, extended value.Value) {
	const prefix = "claim:"
	if !strings.HasPrefix(name.Str(), prefix) {
		if container.Get("resources", "requests", name.Str()).IsAbsent() {
			r.InvalidAs(name, name.Str(), "must match one of the container's resource requests")
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
	if isExtendedClaim(strings.TrimPrefix(name.Str(), prefix), container, extended) {
		return
	}
	r.InvalidAs(name, name.Str(), "must match one of the container's resource claims as 'claim:<claimName>/<requestName>' "+
		"when container.resources.claims[*].request is set or 'claim:<claimName>' when it is empty")
}

// isExtendedClaim reports whether a claim with its request, as in claim/request, stands for an extended resource that a container asks for.
func isExtendedClaim(text string, container, extended value.Value) bool {
	claim, request, _ := strings.Cut(text, "/")
	if claim == "" || request == "" || claim != extended.Get("resourceClaimName").Str() {
		return false
	}
	for m := range extended.Get("requestMappings").Items() {
		if m.Get("containerName").Equal(container.Get("name")) && m.Get("requestName").Str() == request {
			of := container.Get("resources", "requests", m.Get("resourceName").Str())
			if q := walk.Quantity(of); walk.IsSet(of) && !q.IsZero() {
				return true
			}
		}
	}
	return false
}

func validateHealth(r *walk.Report, p walk.Place) {
	r.OnlyAmong(p.At("health"), "Healthy", "Unhealthy", "Unknown")
	switch message := p.At("message"); {
	case !message.IsSet():
	case message.Str() == "":
		r.Required(message, "must be non-empty if specified")
	case len(message.Str()) > longestHealth:
		r.Add(field.TooLong(message.Path(), message.Str(), longestHealth))
	}
}
