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
	forPod  bool  // it is of a pod, and not of a template
	volumes names // that may be mounted
	running names // of containers
}

// podSpec refuses the spec of a pod.
func podSpec(r *report, spec place, forPod bool) {
	w := &podWalk{report: r, spec: spec, forPod: forPod}
	w.volumeList(spec.at("volumes"))
	w.containers(spec.at("containers"))
	w.initContainers(spec.at("initContainers"))
	w.hostNetwork(spec.at("containers"))
	w.among(spec.at("restartPolicy"), "Always", "OnFailure", "Never")
	w.among(spec.at("dnsPolicy"), "ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
	w.labels(spec.at("nodeSelector"))
	w.podSecurity(spec.at("securityContext"))
	w.dns(spec.at("dnsConfig"), spec.text("dnsPolicy"))
	w.spread(spec.at("topologySpreadConstraints"))
	w.optionalSubdomain(spec.at("serviceAccountName"))
	w.optionalSubdomain(spec.at("nodeName"))
	w.within(spec.at("activeDeadlineSeconds"), 1, math.MaxInt32)
	w.optionalLabel(spec.at("hostname"))
	w.optionalLabel(spec.at("subdomain"))
	w.tolerations(spec.at("tolerations"))
	w.hostAliases(spec.at("hostAliases"))
	w.optionalSubdomain(spec.at("priorityClassName"))
	w.optionalSubdomain(spec.at("runtimeClassName"))
	if policy := spec.at("preemptionPolicy"); policy.is() {
		w.among(policy, "PreemptLowerPriority", "Never")
	}
	if forPod {
		w.natural(spec.at("terminationGracePeriodSeconds"))
	}
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
	options := p.at("options")
	for i := range options.indexes() {
		if option := options.item(i); option.text("name") == "" {
			w.required(option, "must not be empty")
		}
	}
}

// spread refuses how pods are spread over nodes.
func (w *podWalk) spread(p place) {
	last := map[[2]string]int{} // where each key with an action stands last
	for i := range p.indexes() {
		last[spreadBy(p.Item(i))] = i
	}
	for i := range p.indexes() {
		c := p.item(i)
		if skew := c.at("maxSkew"); skew.Int() <= 0 {
			w.invalidAs(skew, skew.Int(), "must be greater than zero")
		}
		key := c.at("topologyKey")
		if key.Str() == "" {
			w.required(key, "can not be empty")
		}
		action := c.at("whenUnsatisfiable")
		w.onlyAmong(action, "DoNotSchedule", "ScheduleAnyway")
		if last[spreadBy(c.Value)] > i {
			c := c.at("{topologyKey, whenUnsatisfiable}")
			w.add(field.Duplicate(c.path(), "{"+key.Str()+", "+action.Str()+"}"))
		}
		if selector := c.at("labelSelector"); selector.is() {
			w.selector(selector)
		}
	}
}

// spreadBy returns what no two constraints may have in common: the key, and what is done where they are not met.
func spreadBy(constraint value.Value) [2]string {
	return [2]string{constraint.Get("topologyKey").Str(), constraint.Get("whenUnsatisfiable").Str()}
}

// tolerations refuses which taints of nodes a pod takes.
func (w *podWalk) tolerations(p place) {
	for i := range p.indexes() {
		t := p.item(i)
		key, operator, effect := t.at("key"), t.at("operator"), t.at("effect")
		if key.Str() != "" {
			w.invalid(key, validation.IsQualifiedName(key.Str())...)
		} else if operator.Str() != "Exists" {
			w.invalidAs(operator, operator.Str(), "operator must be Exists when `key` is empty, which means \"match all values and all keys\"")
		}
		if isSet(t.Get("tolerationSeconds")) && effect.Str() != "NoExecute" {
			w.invalidAs(effect, effect.Str(), "effect must be 'NoExecute' when `tolerationSeconds` is set")
		}
		w.tolerated(operator, t.text("value"))
		if effect.Str() != "" {
			w.onlyAmong(effect, "NoSchedule", "PreferNoSchedule", "NoExecute")
		}
	}
}

// tolerated refuses what a toleration compares with.
func (w *podWalk) tolerated(operator place, text string) {
	switch operator.Str() {
	case "Equal", "":
		for _, wrong := range validation.IsValidLabelValue(text) {
			w.invalidAs(operator, text, wrong)
		}
	case "Exists":
		if text != "" {
			w.invalidAs(operator, text, "value must be empty when `operator` is 'Exists'")
		}
	case "Lt", "Gt":
	default:
		w.onlyAmong(operator, "Equal", "Exists")
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

// containerSecurity refuses as what a container runs.
func (w *podWalk) containerSecurity(p place) {
	if !p.is() {
		return
	}
	w.ids(p, "runAsUser", "runAsGroup")
	w.seccomp(p.at("seccompProfile"))
	if raised := p.Get("allowPrivilegeEscalation"); isSet(raised) && !raised.Bool() {
		if p.Get("privileged").Bool() {
			w.invalid(p, "cannot set `allowPrivilegeEscalation` to false and `privileged` to true")
		}
	}
}

// podSecurity refuses as what all containers of a pod run.
func (w *podWalk) podSecurity(p place) {
	if !p.is() || p.Len() == 0 {
		return
	}
	w.ids(p, "fsGroup", "runAsUser", "runAsGroup")
	groups := p.at("supplementalGroups")
	for i := range groups.indexes() {
		w.within(groups.item(i), 0, math.MaxInt32)
	}
	sysctls := p.at("sysctls")
	var met names
	for i := range sysctls.indexes() {
		s := sysctls.item(i)
		if name := s.at("name"); w.present(name) && !met.add(name.Str()) {
			w.duplicate(name)
		}
	}
	if policy := p.at("fsGroupChangePolicy"); policy.is() {
		w.onlyAmong(policy, "Always", "OnRootMismatch")
	}
	w.seccomp(p.at("seccompProfile"))
}

func (w *podWalk) ids(p place, members ...string) {
	for _, name := range members {
		w.within(p.at(name), 0, math.MaxInt32)
	}
}

// seccomp refuses a profile of system calls.
func (w *podWalk) seccomp(p place) {
	if !p.is() {
		return
	}
	if typ := p.at("type"); typ.Str() == "" {
		w.required(typ, "type is required when seccompProfile is set")
	} else {
		w.onlyAmong(typ, "Localhost", "RuntimeDefault", "Unconfined")
	}
	file := p.at("localhostProfile")
	switch local := p.text("type") == "Localhost"; {
	case local && !file.is():
		w.required(file, "must be set when seccomp type is Localhost")
	case local:
		w.descending(file, file)
	case file.is():
		w.invalidAs(file, p.ToAny(), "can only be set when seccomp type is Localhost")
	}
}
