package validation

import (
	"math"

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
