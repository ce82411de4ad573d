package builtin

import (
	"slices"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/form"
	"github.com/deed-project/deed/value"
)

// Findings returns what a server's validation refuses of object, which is to be stored instead of live, as far as
// schemas declare it or it is in the table of what may not change; an absent live is an object that does not exist
// yet. It is not merging that refuses these.
//
// Validation knows more than that: an object without findings may be refused all the same. In order: what is wrong
// with object, then what may not change.
func (k *Kind) Findings(live, object value.Value) []form.Finding {
	found := k.Form().Findings(object.With("status", value.Value{})) // which servers hardly validate
	found = slices.DeleteFunc(found, func(f form.Finding) bool { return mayBeEmpty[k.GVK.Kind+f.Path.String()] })
	if live.IsAbsent() {
		return found
	}
	for _, rule := range immutable[schema.GVK{Group: k.GVK.Group, Kind: k.GVK.Kind}] {
		if rule.when != nil && !rule.when(live) || live.Get(rule.path...).Equal(object.Get(rule.path...)) {
			continue
		}
		var path fieldpath.Path
		for _, name := range rule.path {
			path = append(path, fieldpath.Field(name))
		}
		found = append(found, form.Finding{Path: path, Reason: rule.reason})
	}
	return found
}

// mayBeEmpty are texts that schemas declare required and servers take when they are empty: the group of core kinds has no name.
var mayBeEmpty = map[string]bool{"StorageVersionMigration.spec.resource.group": true}

// fixed is a member that may not change.
type fixed struct {
	path   []string
	reason string
	when   func(live value.Value) bool // nil for always
}

// The reasons of the server.
const (
	isFixed     = "Invalid value: field is immutable"
	isForbidden = "Forbidden: may not be changed in an update."
	isSealed    = "Forbidden: field is immutable when `immutable` is set"
)

func sealed(live value.Value) bool { return live.Get("immutable").Bool() }

// immutable has, by group and kind, what may not change.
var immutable = map[schema.GVK][]fixed{
	{Kind: "ConfigMap"}: {
		{[]string{"data"}, isSealed, sealed}, {[]string{"binaryData"}, isSealed, sealed}, {[]string{"immutable"}, isSealed, sealed},
	},
	{Kind: "Secret"}: {
		{[]string{"type"}, isFixed, nil}, {[]string{"data"}, isSealed, sealed}, {[]string{"immutable"}, isSealed, sealed},
	},
	{Kind: "ResourceQuota"}:             {{[]string{"spec", "scopes"}, isFixed, nil}},
	{Group: "apps", Kind: "DaemonSet"}:  {{[]string{"spec", "selector"}, isFixed, nil}},
	{Group: "apps", Kind: "Deployment"}: {{[]string{"spec", "selector"}, isFixed, nil}},
	{Group: "apps", Kind: "ReplicaSet"}: {{[]string{"spec", "selector"}, isFixed, nil}},
	{Group: "apps", Kind: "StatefulSet"}: {
		{[]string{"spec", "selector"}, isFixed, nil}, {[]string{"spec", "serviceName"}, isFixed, nil},
		{[]string{"spec", "podManagementPolicy"}, isFixed, nil},
	},
	{Group: "discovery.k8s.io", Kind: "EndpointSlice"}:               {{[]string{"addressType"}, isFixed, nil}},
	{Group: "networking.k8s.io", Kind: "IngressClass"}:               {{[]string{"spec", "controller"}, isFixed, nil}},
	{Group: "rbac.authorization.k8s.io", Kind: "RoleBinding"}:        {{[]string{"roleRef"}, isFixed, nil}},
	{Group: "rbac.authorization.k8s.io", Kind: "ClusterRoleBinding"}: {{[]string{"roleRef"}, isFixed, nil}},
	{Group: "resource.k8s.io", Kind: "ResourceClaim"}:                {{[]string{"spec"}, isFixed, nil}},
	{Group: "resource.k8s.io", Kind: "ResourceClaimTemplate"}:        {{[]string{"spec"}, isFixed, nil}},
	{Group: "scheduling.k8s.io", Kind: "PriorityClass"}:              {{[]string{"value"}, isForbidden, nil}},
	{Group: "storage.k8s.io", Kind: "CSIDriver"}: {
		{[]string{"spec", "attachRequired"}, isFixed, nil}, {[]string{"spec", "volumeLifecycleModes"}, isFixed, nil},
	},
	{Group: "storage.k8s.io", Kind: "StorageClass"}: {
		{[]string{"parameters"}, isFixed, nil}, {[]string{"provisioner"}, isFixed, nil}, {[]string{"reclaimPolicy"}, isFixed, nil},
		{[]string{"volumeBindingMode"}, isFixed, nil},
	},
	{Group: "storagemigration.k8s.io", Kind: "StorageVersionMigration"}: {{[]string{"spec"}, isFixed, nil}},
}
