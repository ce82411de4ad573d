package kinds

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/value"
)

// podWalk is a walk over the spec of a pod, or of the pods that are to be made of a template.
type podWalk struct {
	*report
	spec    place
	name    string // of the pod, if it has one
	forPod  bool   // it is of a pod, and not of a template
	volumes names  // that may be mounted
	devices names  // those of them that may be devices
	running names  // of containers
	claims  names  // of resource claims
	volume  volumeWalk
}

// podSpec validates the spec of a pod. name is the name of the pod; templates have none.
func podSpec(r *report, spec place, forPod bool, name string) {
	w := &podWalk{report: r, spec: spec, name: name, forPod: forPod}
	if grace := spec.at("terminationGracePeriodSeconds"); !grace.is() {
		w.required(grace, "")
	}
	w.volumeList(spec.at("volumes"))
	w.resourceClaims(spec.at("resourceClaims"))
	w.containers(spec.at("containers"))
	w.initContainers(spec.at("initContainers"))
	w.ephemeralContainers(spec.at("ephemeralContainers"))
	w.podResources(spec.at("resources"))
	w.hostNetwork(spec.at("containers"))
	w.among(spec.at("restartPolicy"), "Always", "OnFailure", "Never")
	w.among(spec.at("dnsPolicy"), "ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
	w.labels(spec.at("nodeSelector"))
	w.podSecurity(spec.at("securityContext"))
	if shared := spec.at("shareProcessNamespace"); shared.Bool() && spec.Get("hostPID").Bool() {
		w.invalid(shared, "ShareProcessNamespace and HostPID cannot both be enabled")
	}
	w.affinity(spec.at("affinity"))
	w.dns(spec.at("dnsConfig"), spec.text("dnsPolicy"))
	w.gates()
	w.spread(spec.at("topologySpreadConstraints"))
	w.hostProcess()
	w.hostUsers()
	w.hostnameOverride(spec.at("hostnameOverride"))
	w.optionalSubdomain(spec.at("serviceAccountName"))
	w.optionalSubdomain(spec.at("nodeName"))
	w.within(spec.at("activeDeadlineSeconds"), 1, math.MaxInt32)
	w.optionalLabel(spec.at("hostname"))
	w.optionalLabel(spec.at("subdomain"))
	w.tolerations(spec.at("tolerations"), false)
	w.hostAliases(spec.at("hostAliases"))
	w.optionalSubdomain(spec.at("priorityClassName"))
	if class := spec.at("runtimeClassName"); class.is() {
		w.subdomain(class)
	}
	if policy := spec.at("preemptionPolicy"); policy.is() {
		w.among(policy, "PreemptLowerPriority", "Never")
	}
	if overhead := spec.at("overhead"); overhead.is() {
		w.requirements(overhead.with(value.Object(value.Member{Name: "limits", Value: overhead.Value})), (*report).resource)
	}
	w.system(spec.at("os"))
	w.fileVolumes()
	if forPod {
		w.onlyOfPods()
	}
}

// onlyOfPods validates what templates of pods may have otherwise.
func (w *podWalk) onlyOfPods() {
	if w.spec.text("serviceAccountName") == "" {
		volumes := w.spec.at("volumes")
		for i := range volumes.indexes() {
			volume := volumes.item(i)
			projected := volume.at("projected")
			sources := projected.at("sources")
			for i := range sources.indexes() {
				source := sources.item(i)
				if token := source.at("serviceAccountToken"); token.is() {
					w.forbidden(token, "must not be specified when serviceAccountName is not set")
				}
			}
		}
	}
	w.natural(w.spec.at("terminationGracePeriodSeconds"))
	for _, name := range [...]string{"containers", "initContainers"} {
		list := w.spec.at(name)
		for i := range list.indexes() {
			w.trimmedImage(list.item(i))
		}
	}
}

func (w *podWalk) trimmedImage(c place) {
	if image := c.at("image"); strings.TrimSpace(image.Str()) != image.Str() {
		w.invalid(image, "must not have leading or trailing whitespace")
	}
}

// resourceClaims validates the claims of a pod, and notes their names.
func (w *podWalk) resourceClaims(p place) {
	for i := range p.indexes() {
		if name := p.Item(i).Get("name").Str(); name != "" {
			w.claims.add(name)
		}
	}
	var met names
	for i := range p.indexes() {
		c := p.item(i)
		name, of, template := c.at("name"), c.at("resourceClaimName"), c.at("resourceClaimTemplateName")
		switch {
		case name.Str() == "":
			w.required(name, "")
		case !met.add(name.Str()):
			w.duplicate(name)
		default:
			w.label(name)
		}
		if of.is() && template.is() {
			w.invalid(c, "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified")
		}
		if !of.is() && !template.is() {
			w.invalid(c, "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`")
		}
		for _, named := range [...]place{of, template} {
			if named.is() {
				w.subdomain(named)
			}
		}
	}
}

// gates validates what a pod waits for before it is scheduled, and before it is ready.
func (w *podWalk) gates() {
	ready, scheduled := w.spec.at("readinessGates"), w.spec.at("schedulingGates")
	for i := range ready.indexes() {
		gate := ready.item(i)
		w.labelKey(gate.at("conditionType"))
	}
	var met names
	for i := range scheduled.indexes() {
		gate := scheduled.item(i)
		gate.Value = gate.Get("name")
		if w.labelKey(gate); !met.add(gate.Str()) {
			w.add(field.Duplicate(gate.path(), gate.Str()))
		}
	}
}

func (w *podWalk) hostnameOverride(p place) {
	if !p.is() {
		return
	}
	if w.spec.Get("setHostnameAsFQDN").Bool() {
		w.forbidden(p, "may not be specified when setHostnameAsFQDN is true")
	}
	if w.spec.Get("hostNetwork").Bool() {
		w.forbidden(p, "may not be specified when hostNetwork is true")
	}
	if len(p.Str()) > 64 {
		w.add(field.TooLong(p.path(), "", 64))
	}
	w.invalid(p, validation.IsDNS1123Subdomain(p.Str())...)
}

// fileVolumes refuses variables of files in volumes that are not of the pod, or no emptyDir.
func (w *podWalk) fileVolumes() { w.eachContainer(w.fileVolumesOf) }

func (w *podWalk) fileVolumesOf(c place) {
	env := c.at("env")
	for i := range env.Len() {
		if !isSet(env.Item(i).Get("valueFrom", "fileKeyRef")) {
			continue
		}
		e := env.item(i)
		from := e.at("valueFrom")
		ref := from.at("fileKeyRef")
		name := ref.at("volumeName")
		switch volume := volumeNamed(w.spec.Get("volumes"), name.Str()); {
		case volume.IsAbsent():
			w.add(field.NotFound(name.path(), name.Str()))
		case !isSet(volume.Get("emptyDir")):
			w.invalidAs(name, name.Str(), "referenced volume must be of type emptyDir")
		}
	}
}

// volumeNamed returns the last of the volumes that has a name.
func volumeNamed(volumes value.Value, name string) (out value.Value) {
	for v := range volumes.Items() {
		if v.Get("name").Str() == name {
			out = v
		}
	}
	return out
}

// hostNetwork refuses ports of a pod in the network of its node that are others there.
func (w *podWalk) hostNetwork(containers place) {
	if !w.spec.Get("hostNetwork").Bool() {
		return
	}
	for i := range containers.indexes() {
		c := containers.item(i)
		ports := c.at("ports")
		for i := range ports.indexes() {
			port := ports.item(i)
			on, in := port.at("hostPort"), port.Get("containerPort").Int()
			if (w.forPod || on.Int() != 0) && on.Int() != in {
				w.invalidAs(on, on.Int(), "must match `containerPort` when `hostNetwork` is true")
			}
		}
	}
}

// optionalLabel refuses what is there and is no label of a domain name.
func (w *podWalk) optionalLabel(p place) {
	if p.Str() != "" {
		w.label(p)
	}
}

// dns refuses how names are resolved.
func (w *podWalk) dns(p place, policy string) {
	servers := p.at("nameservers")
	if policy == "None" {
		if !p.is() {
			w.required(p, "must provide `dnsConfig` when `dnsPolicy` is None")
			return
		}
		if servers.Len() == 0 {
			w.required(servers, "must provide at least one DNS nameserver when `dnsPolicy` is None")
			return
		}
	}
	if servers.Len() > 3 {
		w.invalid(servers, "must not have more than 3 nameservers")
	}
	for i := range servers.indexes() {
		w.address(servers.item(i), nil)
	}
	w.searches(p.at("searches"))
	options := p.at("options")
	for i := range options.indexes() {
		if option := options.item(i); option.text("name") == "" {
			w.required(option, "must not be empty")
		}
	}
}

// searches validates the domains in which names are looked for.
func (w *podWalk) searches(p place) {
	if p.Len() > 32 {
		w.invalid(p, "must not have more than 32 search paths")
	}
	length := max(p.Len()-1, 0) // of the spaces between
	for search := range p.Items() {
		length += len(search.Str())
	}
	if length > 2048 {
		w.invalid(p, "must not have more than 2048 characters (including spaces) in the search list")
	}
	for i := range p.indexes() {
		search := p.item(i)
		if text := search.Str(); text != "." {
			text = strings.TrimSuffix(text, ".")
			w.invalidAs(search, text, validation.IsDNS1123SubdomainWithUnderscore(text)...)
		}
	}
}

// hostAliases refuses names of addresses that a pod knows.
func (w *podWalk) hostAliases(p place) {
	for i := range p.indexes() {
		a := p.item(i)
		w.address(a.at("ip"), nil)
		hosts := a.at("hostnames")
		for i := range hosts.indexes() {
			w.subdomain(hosts.item(i))
		}
	}
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

// hugePages begins the names of resources of huge pages, which end with their size.
const hugePages = "hugepages-"

// resources validates what a container wants of a node.
func (w *podWalk) resources(p place) {
	w.requirements(p, (*report).resource)
	w.claimsOf(p.at("claims"))
}

// claimsOf validates references to claims of the pod.
func (w *podWalk) claimsOf(p place) {
	var met names
	for i := range p.indexes() {
		w.claimOf(p.item(i), &met)
	}
}

// requirements validates limits and requests, whose names have a rule.
func (r *report) requirements(p place, rule func(r *report, name place)) {
	limits, requests := p.at("limits"), p.at("requests")
	for i := range limits.indexes() {
		limit := limits.entry(i)
		rule(r, limit)
		r.amount(limit)
		r.hugePages(limit)
	}
	for i := range requests.indexes() {
		request := requests.entry(i)
		rule(r, request)
		r.amount(request)
		limit := limits.Get(request.name())
		switch shared := isShared(request.name()); {
		case !isSet(limit) && !shared:
			r.required(limits, "Limit must be set for non overcommitable resources")
		case !isSet(limit) || limit.Equal(request.Value):
		case !shared && compare(request.Value, limit) != 0:
			r.invalidAs(requests, request.Str(), fmt.Sprintf("must be equal to %s limit of %s", request.name(), limit.Str()))
		case compare(request.Value, limit) > 0:
			r.invalidAs(requests, request.Str(), fmt.Sprintf("must be less than or equal to %s limit of %s", request.name(), limit.Str()))
		}
		r.hugePages(request)
	}
	if anyOf(p.Value, isHugePages) && !anyOf(p.Value, isComputed) {
		r.forbidden(p, "HugePages require cpu or memory")
	}
}

// claimOf validates a reference of a container to a claim of its pod. met has the claims of other references, or their requests.
func (w *podWalk) claimOf(p place, met *names) {
	name, request := p.text("name"), p.at("request")
	if name == "" {
		w.required(p, "")
		return
	}
	if met.has(name) {
		w.add(field.Duplicate(p.path(), name))
	} else {
		key := name
		if request.Str() != "" {
			w.label(request)
			key += "/" + request.Str()
		}
		if met.has(key) {
			w.add(field.Duplicate(p.path(), key))
		} else if request.Str() == "" {
			for other := range met.each() {
				if of, _, ok := strings.Cut(other, "/"); ok && of == name {
					w.add(field.Duplicate(p.path(), name))
				}
			}
		}
		met.add(key)
	}
	if w.claims.has(name) {
		return
	}
	e := field.NotFound(p.path(), name)
	e.Detail = "must be one of the names in pod.spec.resourceClaims which is empty"
	if all := slices.Sorted(w.claims.each()); len(all) > 0 {
		e.Detail = "must be one of the names in pod.spec.resourceClaims: " + strings.Join(all, ", ")
	}
	w.add(e)
}

// isResourceName validates the name of a resource, and reports whether it is valid.
func (r *report) isResourceName(p place) bool {
	name := p.name()
	wrong := validation.IsQualifiedName(name)
	if len(wrong) == 0 && !strings.Contains(name, "/") && !isStandard(name) {
		wrong = []string{"must be a standard resource type or fully qualified"}
	}
	r.invalidAs(p, name, wrong...)
	return len(wrong) == 0
}

// isStandard reports whether Kubernetes knows a resource without a domain.
func isStandard(name string) bool {
	return slices.Contains(containerResources, name) || slices.Contains(otherResources, name) || isHugePages(name) ||
		strings.HasPrefix(name, "requests."+hugePages)
}

// resource validates the name of a resource of a container.
func (r *report) resource(p place) {
	name := p.name()
	if slices.Contains(containerResources, name) {
		return
	}
	r.isResourceName(p)
	switch qualified := strings.Contains(name, "/"); {
	case !qualified && !isHugePages(name):
		r.invalidAs(p, name, "must be a standard resource for containers")
	case qualified && !isNative(name) && !isExtended(name):
		r.invalidAs(p, name, "doesn't follow extended resource name standard")
	}
}

// amount validates a quantity: it is not negative, and whole where parts make no sense.
func (r *report) amount(p place) {
	if strings.HasPrefix(p.Str(), "-") {
		r.invalidAs(p, p.Str(), "must be greater than or equal to 0")
	}
	if isExtended(p.name()) || isWhole(p.name()) {
		if q := quantity(p.Value); q.MilliValue()%1000 != 0 {
			r.invalidAs(p, p.Str(), "must be an integer")
		}
	}
}

// hugePages validates an amount of huge pages: whole ones.
func (r *report) hugePages(p place) {
	if !isHugePages(p.name()) {
		return
	}
	size, err := resource.ParseQuantity(strings.TrimPrefix(p.name(), hugePages))
	if q := quantity(p.Value); err != nil || size.Sign() <= 0 || q.Value()%size.Value() != 0 {
		r.invalidAs(p, p.Str(), fmt.Sprintf("%s is not positive integer multiple of %s", p.Str(), p.name()))
	}
}

// podResources validates the resources of all containers of a pod together.
func (w *podWalk) podResources(p place) {
	switch {
	case !p.is():
		return
	case w.spec.Get("os", "name").Str() == "windows":
		w.forbidden(p, "may not be set for a windows pod")
		return
	}
	if claims := p.at("claims"); claims.is() {
		w.forbidden(claims, "claims may not be set for Resources at pod-level")
	}
	w.requirements(p, func(r *report, p place) {
		if name := p.name(); r.isResourceName(p) && !isComputed(name) && !isHugePages(name) {
			r.onlyNamed(p, "cpu", hugePages, "memory")
		}
	})
	w.claimsOf(p.at("claims"))
	w.containersWithin(p)
}

// onlyNamed refuses a key of a map that is none of some.
func (r *report) onlyNamed(p place, all ...string) {
	r.add(field.NotSupported(p.path(), Enumeration(p.name()), all))
}

// containersWithin refuses containers that need more than their pod has.
func (w *podWalk) containersWithin(p place) {
	requests, limits, containers := p.at("requests"), p.at("limits"), w.spec.at("containers")
	for i := range requests.indexes() {
		r := requests.entry(i)
		if sum, own := w.aggregate("requests", r.name()), quantity(r.Value); sum.Sign() > 0 && sum.Cmp(own) > 0 {
			w.invalid(r, "must be greater than or equal to aggregate container requests of "+sum.String())
		}
	}
	for i := range limits.indexes() {
		l := limits.entry(i)
		if sum, own := w.aggregate("limits", l.name()), quantity(l.Value); isHugePages(l.name()) && sum.Cmp(own) > 0 {
			w.invalid(l, "must be greater than or equal to aggregate container limits of "+sum.String())
		}
	}
	for i := range containers.indexes() {
		for name, limit := range containers.Item(i).Get("resources", "limits").Members() {
			if of := limits.Get(name); isSet(of) && compare(limit, of) > 0 {
				list := p.at("containers")
				item := list.below(limit, "", i)
				named := item.below(limit, name, isKey)
				w.invalid(named.at("limits").with(limit), "must be less than or equal to pod limits of "+of.Str())
			}
		}
	}
}

// aggregate returns what all containers of a pod need of a resource at once: those that run together, or one that runs first beside the
// sidecars before it, whichever is more.
func (w *podWalk) aggregate(list, name string) resource.Quantity {
	var running, sidecars, most resource.Quantity
	for c := range w.spec.Get("containers").Items() {
		running.Add(quantity(c.Get("resources", list, name)))
	}
	for c := range w.spec.Get("initContainers").Items() {
		need := quantity(c.Get("resources", list, name))
		if c.Get("restartPolicy").Str() == "Always" {
			sidecars.Add(need)
			need = sidecars
		} else {
			need.Add(sidecars)
		}
		if need.Cmp(most) > 0 {
			most = need
		}
	}
	if running.Add(sidecars); running.Cmp(most) > 0 {
		return running
	}
	return most
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

// isHugePages reports whether a resource is huge pages of some size.
func isHugePages(name string) bool { return strings.HasPrefix(name, hugePages) }

// isComputed reports whether a resource is CPU or memory.
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
