package builtin

import (
	"strings"
	"sync"

	"github.com/deed-project/deed/schema"
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

		{Group: "apps", Kind: "ControllerRevision"}: {
			on("revision", atLeast(0)), on("data", ofNew(required("data is mandatory"))),
			on("data", ofNew(onlyObject("data must be a valid JSON object"))), on("data", fixedValue),
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
		at("containers[]", repeated), at("initContainers[]", repeated),
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
