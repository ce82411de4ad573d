// Package nodes decides what kubelets may do, as kube-apiserver does with --authorization-mode Node.
//
// A kubelet is a user system:node:NAME of the group system:nodes. It may read its Node, the pods that are bound to it, and the secrets,
// configmaps, claims, volumes and service accounts that these pods use. It may write what the admission plugin NodeRestriction leaves it.
// For all other resources the rules of the ClusterRole system:node hold, whether it is stored or not.
//
// The [Authorizer] follows pods and volumes in the store. A decision takes all writes into account that were stored before it.
package nodes

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/fields"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/deed-project/deed/server/auth"
	"github.com/deed-project/deed/server/logs"
)

const (
	userPrefix     = "system:node:"
	group          = "system:nodes"
	leaseNamespace = "kube-node-lease"
)

// Identity returns the name of the node that a user is, and whether the user is a node. The name may be empty.
func Identity(name string, groups []string) (node string, isNode bool) {
	node, isNode = strings.CutPrefix(name, userPrefix)
	if !isNode || !slices.Contains(groups, group) {
		return "", false
	}
	return node, true
}

// Authorize reports whether a user may do something because it is a node. The reason says why not, as kube-apiserver does. It is an
// [auth.Authorizer].
func (a *Authorizer) Authorize(ctx context.Context, u auth.User, action auth.Action) (allowed bool, reason string) {
	allowed, reason = a.decide(ctx, u, action)
	if reason != "" {
		reason = "node: " + reason // the name of the authorizer
	}
	return allowed, reason
}

func (a *Authorizer) decide(ctx context.Context, u auth.User, action auth.Action) (allowed bool, reason string) {
	node, isNode := Identity(u.Name, u.Groups)
	switch {
	case !isNode:
		return false, ""
	case node == "":
		return false, fmt.Sprintf("unknown node for user %q", u.Name)
	}
	if !action.IsPath() {
		if decide := decisions[kschema.GroupResource{Group: action.Group, Resource: action.Resource}]; decide != nil {
			return decide(&decision{a, ctx, node, action})
		}
	}
	return a.Role(action), ""
}

// Rules reports that the rules of a node are incomplete, because they cannot be listed. It is an [auth.RuleResolver].
func (a *Authorizer) Rules(_ context.Context, u auth.User, _ string) auth.Rules {
	if _, isNode := Identity(u.Name, u.Groups); !isNode {
		return auth.Rules{}
	}
	return auth.Rules{Incomplete: true, Error: "node authorizer does not support user rule resolution"}
}

// decision is an action of a node that is to be decided.
type decision struct {
	*Authorizer
	ctx    context.Context
	node   string
	action auth.Action
}

// decisions lists the resources whose objects are not the same for all nodes. A function reports whether the action is allowed, and why not.
var decisions = map[kschema.GroupResource]func(*decision) (bool, string){
	{Resource: secrets}:    (*decision).read,
	{Resource: configMaps}: (*decision).read,
	{Resource: claims}:     (*decision).claim,
	{Resource: volumes}:    (*decision).get,
	{Group: "resource.k8s.io", Resource: resourceClaims}:                (*decision).get,
	{Group: "storage.k8s.io", Resource: attachments}:                    (*decision).get,
	{Resource: accounts}:                                                (*decision).account,
	{Group: "coordination.k8s.io", Resource: "leases"}:                  (*decision).lease,
	{Group: "storage.k8s.io", Resource: "csinodes"}:                     (*decision).csiNode,
	{Group: "resource.k8s.io", Resource: slicesOfNodes}:                 (*decision).slice,
	{Resource: "nodes"}:                                                 (*decision).self,
	{Resource: pods}:                                                    (*decision).pod,
	{Group: "certificates.k8s.io", Resource: certificateRequestsOfPods}: (*decision).certificate,
}

// related allows an action on an object that belongs to the node, or that its pods use.
func (d *decision) related() (bool, string) {
	if d.action.Name == "" {
		return false, "No Object name found"
	}
	return d.uses(fmt.Sprintf("no relationship found between node '%s' and this object", d.node))
}

// uses allows an action on an object that belongs to the node, or that its pods use. A refusal has the given reason.
func (d *decision) uses(reason string) (bool, string) {
	is, err := d.isRelated(d.ctx, d.node, object{d.action.Resource, d.action.Namespace, d.action.Name})
	if err != nil {
		d.Log.Error("what pods use cannot be read", logs.Fault(err))
	}
	if err != nil || !is {
		return false, reason
	}
	return true, ""
}

func (d *decision) get() (bool, string) {
	switch {
	case d.action.Verb != "get":
		return false, "can only get individual resources of this type"
	case d.action.Subresource != "":
		return false, "cannot get subresource"
	}
	return d.related()
}

func (d *decision) read() (bool, string) {
	switch {
	case !d.is("get", "list", "watch"):
		return false, "can only read resources of this type"
	case d.action.Subresource != "":
		return false, "cannot read subresource"
	case d.action.Namespace == "":
		return false, "can only read namespaced object of this type"
	}
	return d.related()
}

func (d *decision) claim() (bool, string) {
	switch {
	case d.action.Subresource != "status":
		return d.get()
	case !d.is("update", "patch"):
		return false, "can only get/update/patch this type"
	}
	return d.related()
}

// account allows to get the accounts of pods, and to create tokens of them.
func (d *decision) account() (bool, string) {
	switch {
	case d.action.Verb == "get" && d.action.Subresource == "":
		return d.read()
	case d.action.Verb != "create" || d.action.Name == "":
		return false, "can only create tokens for individual service accounts"
	case d.action.Subresource != "token":
		return false, "can only create token subresource of serviceaccount"
	}
	return d.uses(fmt.Sprintf("no relationship found between node '%s' and this object", d.node))
}

// lease allows everything with the lease of the node. The name of a new one is left to NodeRestriction, as the name is in the body.
func (d *decision) lease() (bool, string) {
	switch {
	case !d.is("get", "create", "update", "patch", "delete"):
		return false, "can only get, create, update, patch, or delete a node lease"
	case d.action.Namespace != leaseNamespace:
		return false, fmt.Sprintf("can only access leases in the %q system namespace", leaseNamespace)
	case d.action.Verb != "create" && d.action.Name != d.node:
		return false, "can only access node lease with the same name as the requesting node"
	}
	return true, ""
}

func (d *decision) csiNode() (bool, string) {
	switch {
	case d.action.Subresource == "status": // is behind a feature gate that is off
		return false, "CSINode status access requires CSIVolumeHealth feature"
	case d.action.Subresource != "":
		return false, "cannot authorize CSINode subresources"
	case !d.is("get", "create", "update", "patch", "delete"):
		return false, "can only get, create, update, patch, or delete a CSINode"
	case d.action.Verb != "create" && d.action.Name != d.node:
		return false, "can only access CSINode with the same name as the requesting node"
	}
	return true, ""
}

// slice leaves the node of a new ResourceSlice to NodeRestriction.
func (d *decision) slice() (bool, string) {
	switch {
	case d.action.Subresource != "":
		return false, "cannot authorize ResourceSlice subresources"
	case d.action.Verb == "create":
		return true, ""
	case d.is("get", "update", "patch", "delete"):
		return d.related()
	case !d.is("watch", "list", "deletecollection"):
		return false, "only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, patch, delete, deletecollection"
	case !d.selectsNode():
		return false, "can only list/watch/deletecollection resourceslices with nodeName field selector"
	}
	return true, ""
}

func (d *decision) certificate() (bool, string) {
	switch {
	case d.action.Subresource != "":
		return false, "nodes may not access the status subresource of PodCertificateRequests"
	case d.action.Verb == "create":
		return true, ""
	case d.action.Verb == "get":
		return d.related()
	case !d.is("list", "watch"):
		return false, fmt.Sprintf("nodes may not %s podcertificaterequests", d.action.Verb)
	case !d.selectsNode():
		return false, "can only list/watch podcertificaterequests with nodeName field selector"
	}
	return true, ""
}

// self allows to write nodes, because NodeRestriction refuses others than its own. A node may read its Node before it exists.
func (d *decision) self() (bool, string) {
	switch {
	case d.action.Subresource == "" && d.is("create", "update", "patch"), d.action.Subresource == "status" && d.is("update", "patch"):
		return true, ""
	case d.action.Subresource != "" || !d.is("get", "list", "watch"):
		return false, ""
	case d.action.Name == "":
		return false, fmt.Sprintf("node '%s' cannot read all nodes, only its own Node object", d.node)
	case d.action.Name != d.node:
		return false, fmt.Sprintf("node '%s' cannot read '%s', only its own Node object", d.node, d.action.Name)
	}
	return true, ""
}

// pod allows to write pods, because NodeRestriction refuses others than those of the node.
func (d *decision) pod() (bool, string) {
	switch d.action.Subresource {
	case "":
		switch {
		case d.is("create", "delete"):
			return true, ""
		case d.action.Verb == "get":
			return d.get()
		case !d.is("list", "watch"):
			return false, ""
		case d.selectsNode():
			return true, ""
		case d.action.Name != "":
			return d.related()
		}
		return false, "can only list/watch pods with spec.nodeName field selector"
	case "status":
		return d.is("update", "patch"), ""
	case "eviction":
		return d.is("create"), ""
	}
	return false, ""
}

// is reports whether the verb is one of some.
func (d *decision) is(verbs ...string) bool { return slices.Contains(verbs, d.action.Verb) }

// selectsNode reports whether the action is about nothing but objects of the node.
func (d *decision) selectsNode() bool {
	selector, err := fields.ParseSelector(d.action.FieldSelector)
	return err == nil && slices.ContainsFunc(selector.Requirements(), func(r fields.Requirement) bool {
		return r.Field == "spec.nodeName" && (r.Operator == selection.Equals || r.Operator == selection.DoubleEquals) && r.Value == d.node
	})
}
