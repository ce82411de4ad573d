package builtin

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// on is a rule about what a path leads to, such as spec.containers[].name.
func on(path string, check func(place) (Refusal, bool)) rule {
	return rule{path: strings.Split(strings.ReplaceAll(path, "[]", ".[]"), "."), check: check}
}

// rules has, by group and kind, what validation refuses. Each was seen with a kube-apiserver, in these words.
var rules = sync.OnceValue(func() map[schema.GVK][]rule {
	out := map[schema.GVK][]rule{
		{Kind: "ConfigMap"}: sealedRules("data", "binaryData", "immutable"),
		{Kind: "Secret"}:    append(sealedRules("data", "immutable"), on("type", fixedValue)),
		{Kind: "Endpoints"}: {on("subsets[]", unaddressed)},
		{Kind: "Node"}: {
			on("metadata.taints[].effect", required("")), on("spec.providerID", kept),
		},
		{Kind: "PersistentVolume"}: {
			on("spec.accessModes", required("")), on("spec.capacity", required("")), on("spec.hostPath.path", required("")),
		},
		{Kind: "PersistentVolumeClaim"}: {
			on("spec.accessModes", required("at least 1 access mode is required")),
			on("spec.accessModes", allAmong("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")),
			on("spec.resources", storageless),
		},
		{Kind: "Pod"}:                   append(podRules("spec"), on("spec", sameCount), on("spec.ephemeralContainers", onlyLater)),
		{Kind: "PodTemplate"}:           podRules("template.spec"),
		{Kind: "ReplicationController"}: append(podRules("spec.template.spec"), on("spec.selector", required(""))),
		{Kind: "ResourceQuota"}:         {on("spec.scopes", fixedValue)},
		{Kind: "Service"}: {
			on("spec.ports", portless), on("spec.ports[].name", nameless), on("spec.ports[].port", port),
		},

		{Group: "apps", Kind: "DaemonSet"}:  workloadRules("daemonset"),
		{Group: "apps", Kind: "Deployment"}: append(workloadRules("deployment"), on("spec.strategy.rollingUpdate", rollingRecreate)),
		{Group: "apps", Kind: "ReplicaSet"}: workloadRules("deployment"),
		{Group: "apps", Kind: "StatefulSet"}: append(workloadRules("statefulset"), on("spec.serviceName", fixedValue),
			on("spec.podManagementPolicy", fixedValue)),
		{Group: "batch", Kind: "CronJob"}: append(podRules("spec.jobTemplate.spec.template.spec"),
			on("spec.schedule", required("")), on("spec.jobTemplate.spec.template.spec.restartPolicy", endless)),
		{Group: "batch", Kind: "Job"}: append(podRules("spec.template.spec"), on("spec.template.spec.restartPolicy", endless)),

		{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"}: {
			on("spec.minReplicas", atLeast(0)), on("spec.maxReplicas", belowMinimum), on("spec.maxReplicas", required("")),
			on("spec.maxReplicas", negative),
			on("spec.scaleTargetRef.kind", required("")), on("spec.scaleTargetRef.name", required("")),
			on("spec.behavior.scaleDown.policies", required("must specify at least one Policy")),
			on("spec.metrics[].type", required("must specify a metric source type")),
			on("spec.metrics[].type", among("ContainerResource", "External", "Object", "Pods", "Resource")),
			on("spec.metrics[].resource.name", required("must specify a resource name")),
			on("spec.metrics[].pods.metric.name", required("must specify a metric name")),
		},
		{Group: "coordination.k8s.io", Kind: "Lease"}: {
			on("spec.leaseDurationSeconds", above(0)), on("spec.leaseTransitions", atLeast(0)),
		},
		{Group: "discovery.k8s.io", Kind: "EndpointSlice"}: {
			on("addressType", required("")), on("addressType", fixedAsNull), on("endpoints[].addresses", required("")),
		},
		{Group: "flowcontrol.apiserver.k8s.io", Kind: "FlowSchema"}: {
			on("spec.priorityLevelConfiguration.name", required("must reference a priority level")),
			on("spec.rules[].resourceRules[].verbs", required("verbs must contain at least one value")),
		},
		{Group: "networking.k8s.io", Kind: "Ingress"}: {
			on("spec.rules[].http.paths", required("")), on("spec.rules[].http.paths[].pathType",
				among("Exact", "ImplementationSpecific", "Prefix")),
		},
		{Group: "networking.k8s.io", Kind: "IngressClass"}: {
			on("spec.controller", required("")), on("spec.controller", fixedText),
			on("spec.parameters.kind", required("")), on("spec.parameters.name", required("")),
		},
		{Group: "networking.k8s.io", Kind: "NetworkPolicy"}: {
			on("spec.egress[].to[]", required("must specify a peer")), on("spec.ingress[].from[]", required("must specify a peer")),
			on("spec.egress[].to[].ipBlock.cidr", required("")), on("spec.ingress[].from[].ipBlock.cidr", required("")),
		},
		{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole"}: append(roleRules(), on("aggregationRule.clusterRoleSelectors",
			required("at least one clusterRoleSelector required if aggregationRule is non-nil"))),
		{Group: "rbac.authorization.k8s.io", Kind: "Role"}:                  roleRules(),
		{Group: "rbac.authorization.k8s.io", Kind: "RoleBinding"}:           bindingRules("Role", "ClusterRole"),
		{Group: "rbac.authorization.k8s.io", Kind: "ClusterRoleBinding"}:    bindingRules("ClusterRole"),
		{Group: "resource.k8s.io", Kind: "ResourceClaim"}:                   {on("spec", fixedUnshown)},
		{Group: "resource.k8s.io", Kind: "ResourceClaimTemplate"}:           {on("spec", fixedUnshown)},
		{Group: "storagemigration.k8s.io", Kind: "StorageVersionMigration"}: {on("spec", fixedUnshown)},
		{Group: "storage.k8s.io", Kind: "CSIDriver"}: {
			on("spec.attachRequired", fixedUnshown), on("spec.volumeLifecycleModes", fixedValue),
		},
		{Group: "scheduling.k8s.io", Kind: "PriorityClass"}: {on("value", unchangeable("may not be changed in an update."))},
		{Group: "storage.k8s.io", Kind: "StorageClass"}: {
			on("provisioner", required("")), on("parameters", fixedAsNull), on("provisioner", fixedAsNull),
			on("reclaimPolicy", fixedUnshown), on("volumeBindingMode", fixedUnshown),
		},
	}
	return out
})

// podRules are the rules for the spec of a pod, which a path leads to.
func podRules(path string) []rule {
	at := func(path2 string, check func(place) (Refusal, bool)) rule { return on(path+"."+path2, check) }
	return []rule{
		at("containers", required("")), at("containers[].name", required("")), at("containers[].image", required("")),
		at("containers[].env[].name", required("")), at("containers[].envFrom[].secretRef.name", required("")),
		at("initContainers[].name", required("")), at("initContainers[].image", required("")),
		at("securityContext.sysctls[].name", required("")), at("volumes[].configMap.name", required("")),
		at("topologySpreadConstraints[].maxSkew", positive), at("topologySpreadConstraints[].topologyKey", required("can not be empty")),
		at("topologySpreadConstraints[].whenUnsatisfiable", among("DoNotSchedule", "ScheduleAnyway")),
	}
}

// workloadRules are the rules for kinds that make pods of a template and find them by a selector, in the order of validation.
func workloadRules(called string) []rule {
	empty, labels := on("spec.selector", selectsAll(called)), on("spec.template.metadata.labels", selected)
	out := []rule{on("spec.replicas", atLeast(0)), on("spec.selector", absent), empty, labels}
	if called == "daemonset" {
		out = []rule{labels, empty} // which has no replicas; without a selector, it is the labels that are wrong
	}
	out = append(out, podRules("spec.template.spec")...)
	return append(out, on("spec.selector", fixedValue))
}

func roleRules() []rule {
	return []rule{
		on("rules[].verbs", required("")),
		on("rules[].apiGroups", ofResources("resource rules must supply at least one api group")),
		on("rules[].resources", ofResources("resource rules must supply at least one resource")),
	}
}

func bindingRules(roles ...string) []rule {
	return []rule{
		on("roleRef", fixedUnshown), on("roleRef.kind", among(roles...)), on("roleRef.name", required("")),
		on("subjects[].kind", among("ServiceAccount", "User", "Group")), on("subjects[].name", required("")),
	}
}

func sealedRules(names ...string) []rule {
	var out []rule
	for _, name := range names {
		out = append(out, on(name, func(p place) (Refusal, bool) {
			if !p.live.Get("immutable").Bool() {
				return Refusal{}, false
			}
			return unchangeable("field is immutable when `immutable` is set")(p)
		}))
	}
	return out
}

// isEmpty reports whether nothing is said by v.
func isEmpty(v value.Value) bool {
	switch v.Kind() {
	case value.KindString:
		return v.Str() == ""
	case value.KindInt:
		return v.Int() == 0
	case value.KindList, value.KindObject:
		return v.Len() == 0
	}
	return v.IsAbsent() || v.IsNull()
}

func required(detail string) func(place) (Refusal, bool) {
	return func(p place) (Refusal, bool) { return Refusal{Reason: Required, Detail: detail}, isEmpty(p.value) }
}

// absent refuses what is not there, but not what is empty.
func absent(p place) (Refusal, bool) {
	return Refusal{Reason: Required}, p.value.IsAbsent() || p.value.IsNull()
}

func among(values ...string) func(place) (Refusal, bool) {
	return func(p place) (Refusal, bool) {
		return Refusal{Reason: Unsupported, Value: value.String(p.value.Str()), Values: values}, !slices.Contains(values, p.value.Str())
	}
}

// allAmong refuses a list with an item that is not among values.
func allAmong(values ...string) func(place) (Refusal, bool) {
	return func(p place) (Refusal, bool) {
		for item := range p.value.Items() {
			if !slices.Contains(values, item.Str()) {
				return Refusal{Reason: Unsupported, Value: value.String(item.Str()), Values: values}, true
			}
		}
		return Refusal{}, false
	}
}

func invalid(p place, detail string) Refusal {
	return Refusal{Reason: Invalid, Value: p.value, Detail: detail}
}

// changed reports whether an object that exists has another value.
func changed(p place) bool { return !p.live.IsAbsent() && !same(p.value, p.was()) }

// same reports whether two values say the same: nothing is not told apart.
func same(a, b value.Value) bool { return a.Equal(b) || isNothing(a) && isNothing(b) }

// fixedValue refuses another value.
func fixedValue(p place) (Refusal, bool) {
	return Refusal{Reason: Invalid, Value: p.value, Detail: "field is immutable", Change: true}, changed(p)
}

// fixedAsNull is fixedValue where null is shown, whatever the value is.
func fixedAsNull(p place) (Refusal, bool) {
	return Refusal{Reason: Invalid, Detail: "field is immutable", Change: true}, changed(p)
}

// fixedText is fixedValue for a text, which is empty if it is not there.
func fixedText(p place) (Refusal, bool) {
	return Refusal{Reason: Invalid, Value: value.String(p.value.Str()), Detail: "field is immutable", Change: true}, changed(p)
}

// fixedUnshown is fixedValue for what a server shows as it has it inside, which is not known here.
func fixedUnshown(p place) (Refusal, bool) {
	return Refusal{Reason: Invalid, Detail: "field is immutable", Change: true, Unshown: true}, changed(p)
}

func unchangeable(detail string) func(place) (Refusal, bool) {
	return func(p place) (Refusal, bool) {
		return Refusal{Reason: Forbidden, Detail: detail, Change: true}, changed(p)
	}
}

// kept refuses to take away what was there.
func kept(p place) (Refusal, bool) {
	return invalid(p, "field cannot be cleared once set"), isEmpty(p.value) && changed(p) && !isEmpty(p.was())
}

// atLeast refuses a number below least, which may be left out.
func atLeast(least int64) func(place) (Refusal, bool) {
	return func(p place) (Refusal, bool) {
		return invalid(p, fmt.Sprintf("must be greater than or equal to %d", least)), p.value.Kind() == value.KindInt && p.value.Int() < least
	}
}

// above refuses a number that is not above bound, which may be left out.
func above(bound int64) func(place) (Refusal, bool) {
	return func(p place) (Refusal, bool) {
		return invalid(p, fmt.Sprintf("must be greater than %d", bound)), p.value.Kind() == value.KindInt && p.value.Int() <= bound
	}
}

// belowMinimum refuses a maximum of replicas that is below their minimum.
func belowMinimum(p place) (Refusal, bool) {
	refused := Refusal{Reason: Invalid, Value: value.Int(p.value.Int()), Detail: "must be greater than or equal to `minReplicas`"}
	return refused, p.value.Int() < p.parent.Get("minReplicas").Int()
}

// negative refuses a number below zero: none is another matter.
func negative(p place) (Refusal, bool) {
	return invalid(p, "must be greater than or equal to 1"), p.value.Int() < 0
}

func positive(p place) (Refusal, bool) {
	return invalid(p, "must be greater than zero"), p.value.Int() <= 0
}

func port(p place) (Refusal, bool) {
	n := p.value.Int()
	return invalid(p, "must be between 1 and 65535, inclusive"), n < 1 || n > 65535
}

// portless refuses a service that has an address and no port.
func portless(p place) (Refusal, bool) {
	typ, ip := p.parent.Get("type").Str(), p.parent.Get("clusterIP").Str()
	return Refusal{Reason: Required}, p.value.Len() == 0 && typ != "ExternalName" && ip != "None"
}

// nameless refuses a port without a name beside others.
func nameless(p place) (Refusal, bool) {
	return Refusal{Reason: Required}, isEmpty(p.value) && p.object.Get("spec", "ports").Len() > 1
}

// unaddressed refuses endpoints without an address.
func unaddressed(p place) (Refusal, bool) {
	return Refusal{Reason: Required, Detail: "must specify `addresses` or `notReadyAddresses`"},
		p.value.Get("addresses").Len() == 0 && p.value.Get("notReadyAddresses").Len() == 0
}

// storageless refuses a claim that does not say how much it wants.
func storageless(p place) (Refusal, bool) {
	return Refusal{Reason: Required, Key: "storage"}, p.value.Get("requests", "storage").IsAbsent()
}

// rollingRecreate refuses how a Deployment rolls that does not.
func rollingRecreate(p place) (Refusal, bool) {
	return Refusal{Reason: Forbidden, Detail: "may not be specified when strategy `type` is 'Recreate'"},
		!isNothing(p.value) && p.parent.Get("type").Str() == "Recreate"
}

// endless refuses pods of a job that begin again for ever.
func endless(p place) (Refusal, bool) {
	policy := p.value.Str()
	return Refusal{Reason: Required, Detail: `valid values: "OnFailure", "Never"`}, policy != "OnFailure" && policy != "Never"
}

// sameCount refuses to add or remove containers of a pod.
func sameCount(p place) (Refusal, bool) {
	for _, list := range []string{"containers", "initContainers"} {
		if !p.live.IsAbsent() && p.value.Get(list).Len() != p.was().Get(list).Len() {
			return Refusal{below: list, Reason: Forbidden, Detail: "pod updates may not add or remove containers"}, true
		}
	}
	return Refusal{}, false
}

// onlyLater refuses what only pods that exist may have.
func onlyLater(p place) (Refusal, bool) {
	return Refusal{Reason: Forbidden, Detail: "cannot be set on create"}, p.live.IsAbsent() && p.value.Len() > 0
}

// part is a subresource that writes a part of the objects of a kind.
type part struct {
	kind        schema.GVK // without a version
	subresource string
}

// partRules has what is refused there.
var partRules = map[part][]rule{
	{schema.GVK{Kind: "Namespace"}, "status"}:        {on("status", wrongPhase)},
	{schema.GVK{Kind: "Pod"}, "ephemeralcontainers"}: {on("spec.ephemeralContainers", noneRemoved)},
	{schema.GVK{Kind: "Pod"}, "resize"}:              {on("spec.containers", sameNumber)},
}

// wrongPhase has a namespace be active as long as it is not deleted. The field is called as kube-apiserver calls it.
func wrongPhase(p place) (Refusal, bool) {
	want, detail := "Active", "may only be 'Active' if `deletionTimestamp` is empty"
	if !p.object.Get("metadata", "deletionTimestamp").IsAbsent() {
		want, detail = "Terminating", "may only be 'Terminating' if `deletionTimestamp` is not empty"
	}
	phase := p.value.Get("phase").Str()
	return Refusal{below: "Phase", Reason: Invalid, Value: value.String(phase), Detail: detail}, phase != want
}

// noneRemoved refuses to remove ephemeral containers.
func noneRemoved(p place) (Refusal, bool) {
	for had := range p.was().Items() {
		found := false
		for has := range p.value.Items() {
			found = found || has.Get("name").Equal(had.Get("name"))
		}
		if !found {
			detail := fmt.Sprintf("existing ephemeral containers %q may not be removed\n", had.Get("name").Str())
			return Refusal{Reason: Forbidden, Detail: detail}, true
		}
	}
	return Refusal{}, false
}

// sameNumber refuses to resize a pod to other containers.
func sameNumber(p place) (Refusal, bool) {
	return Refusal{Reason: Forbidden, Detail: "containers may not be added or removed on resize"}, p.value.Len() != p.was().Len()
}

// ofResources refuses a rule without something, unless it is about paths.
func ofResources(detail string) func(place) (Refusal, bool) {
	return func(p place) (Refusal, bool) {
		return Refusal{Reason: Required, Detail: detail}, p.value.Len() == 0 && p.parent.Get("nonResourceURLs").Len() == 0
	}
}

func selectsAll(called string) func(place) (Refusal, bool) {
	return func(p place) (Refusal, bool) {
		return invalid(p, "empty selector is invalid for "+called), p.value.Kind() == value.KindObject && !selects(p.value)
	}
}

// selects reports whether a selector asks for anything.
func selects(selector value.Value) bool {
	return selector.Get("matchLabels").Len() > 0 || selector.Get("matchExpressions").Len() > 0
}

// selected refuses labels of a template that the selector does not find.
func selected(p place) (Refusal, bool) {
	selector := p.object.Get("spec", "selector")
	found := !isNothing(selector) && (!selects(selector) || matches(selector, p.value))
	return invalid(p, "`selector` does not match template `labels`"), !found
}

// matches reports whether labels are as a selector asks for. What it cannot ask for is taken for granted.
func matches(selector, labels value.Value) bool {
	for name, text := range selector.Get("matchLabels").Members() {
		if !labels.Get(name).Equal(text) {
			return false
		}
	}
	for e := range selector.Get("matchExpressions").Items() {
		has := labels.Get(e.Get("key").Str())
		in := false
		for v := range e.Get("values").Items() {
			in = in || !has.IsAbsent() && v.Equal(has)
		}
		switch e.Get("operator").Str() {
		case "In":
			if !in {
				return false
			}
		case "NotIn":
			if in {
				return false
			}
		case "Exists":
			if has.IsAbsent() {
				return false
			}
		case "DoesNotExist":
			if !has.IsAbsent() {
				return false
			}
		}
	}
	return true
}
