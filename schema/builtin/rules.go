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

// rules has, by group and kind, what validation refuses. Each was seen with a kube-apiserver, in these words. Of kinds that a
// server knows more of, such as those that run pods, it has what may not change.
var rules = sync.OnceValue(func() map[schema.GVK][]rule {
	out := map[schema.GVK][]rule{
		{Kind: "ConfigMap"}: sealedRules("data", "binaryData", "immutable"),
		{Kind: "Secret"}:    append(sealedRules("data", "immutable"), on("type", fixedValue)),
		{Kind: "Node"}: {
			on("metadata.taints[].effect", required("")), on("spec.providerID", kept),
		},
		{Kind: "PersistentVolume"}: {
			on("spec.accessModes", required("")), on("spec.capacity", required("")), on("spec.hostPath.path", required("")),
		},
		{Kind: "ResourceQuota"}: {on("spec.scopes", fixedValue)},

		{Group: "apps", Kind: "ControllerRevision"}: {
			on("revision", atLeast(0)), on("data", ofNew(missing("data is mandatory"))),
			on("data", ofNew(onlyObject("data must be a valid JSON object"))), on("data", fixedValue),
		},
		{Group: "apps", Kind: "DaemonSet"}:  {on("spec.selector", fixedValue)},
		{Group: "apps", Kind: "Deployment"}: {on("spec.selector", fixedValue)},
		{Group: "apps", Kind: "ReplicaSet"}: {on("spec.selector", fixedValue)},
		{Group: "apps", Kind: "StatefulSet"}: {
			on("spec.selector", fixedValue), on("spec.serviceName", fixedValue), on("spec.podManagementPolicy", fixedValue),
		},

		{Group: "coordination.k8s.io", Kind: "Lease"}: {
			on("spec.leaseDurationSeconds", above(0)), on("spec.leaseTransitions", atLeast(0)),
		},
		{Group: "discovery.k8s.io", Kind: "EndpointSlice"}: {
			on("addressType", fixedAsNull),
		},
		{Group: "flowcontrol.apiserver.k8s.io", Kind: "FlowSchema"}: {
			on("spec.priorityLevelConfiguration.name", required("must reference a priority level")),
			on("spec.rules[].resourceRules[].verbs", required("verbs must contain at least one value")),
		},
		{Group: "networking.k8s.io", Kind: "IngressClass"}: {
			on("spec.controller", required("")), on("spec.controller", fixedText),
			on("spec.parameters.kind", required("")), on("spec.parameters.name", required("")),
		},
		{Group: "rbac.authorization.k8s.io", Kind: "RoleBinding"}:           {on("roleRef", fixedUnshown)},
		{Group: "rbac.authorization.k8s.io", Kind: "ClusterRoleBinding"}:    {on("roleRef", fixedUnshown)},
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
