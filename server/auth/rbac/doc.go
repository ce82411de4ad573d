// Package rbac decides by the stored roles and bindings what a user may do, as kube-apiserver does with --authorization-mode RBAC.
//
//	[Authorizer]            compares a request with the rules that bindings grant to its user and groups
//	[Authorizer.Bootstrap]  writes the roles and bindings that a cluster begins with
//	[Escalation]            refuses roles and bindings that grant more than their writer may do
//
// An Authorizer keeps a compiled policy. A write of a role or binding only counts up; the next request that asks compiles what changed.
// Rules are indexed by subject and resource, so the cost of a decision does not grow with the number of roles.
package rbac

import rbacv1 "k8s.io/api/rbac/v1"

// Group is the API group of roles and bindings.
const Group = rbacv1.GroupName

// Plurals of the resources.
const (
	clusterRoles        = "clusterroles"
	clusterRoleBindings = "clusterrolebindings"
	roles               = "roles"
	roleBindings        = "rolebindings"
)

// Resources are the plural names of the resources that an [Authorizer] reads.
var Resources = []string{clusterRoles, clusterRoleBindings, roles, roleBindings}
