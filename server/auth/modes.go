package auth

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// This file has the permissions to impersonate: for which user each is, and what a user needs for it.

// impersonation is the wish of a user to be another user in one request.
//
// It lasts as long as the call of Impersonate.
type impersonation struct {
	*Access
	ctx    context.Context
	by     User
	wanted User
}

// mode is a kind of permission.
type mode struct {
	name string // empty for the permission for all requests
	fits func(impersonation) bool
}

// become returns the other user if the user may be that one. The error is a 403.
func (m mode) become(i impersonation, a Action) (User, error) {
	if m.name == "" {
		return i.forAll()
	}
	return i.constrained(m.name, a)
}

// constraint returns the verb of the permission, and nothing for the permission for all requests.
func (m mode) constraint() string {
	if m.name == "" {
		return ""
	}
	return "impersonate:" + m.name
}

// modes are all kinds of permissions, in the order in which they are tried. The first three are for a bare name, since the groups of nodes and
// accounts follow from it.
var modes = []mode{
	{associatedNode, func(i impersonation) bool {
		node, is := nodeOf(i.wanted.Name)
		_, _, byAccount := serviceAccount(i.by.Name)
		return is && i.isBare() && byAccount && slices.Equal(i.by.Extra[nodeKey], []string{node})
	}},
	{"arbitrary-node", func(i impersonation) bool {
		_, is := nodeOf(i.wanted.Name)
		return is && i.isBare()
	}},
	{"serviceaccount", func(i impersonation) bool {
		_, _, is := serviceAccount(i.wanted.Name)
		return is && i.isBare()
	}},
	{"user-info", func(i impersonation) bool {
		_, isNode := nodeOf(i.wanted.Name)
		_, _, isAccount := serviceAccount(i.wanted.Name)
		return !isNode && !isAccount
	}},
	{"", func(impersonation) bool { return true }},
}

// associatedNode is the mode in which a service account of a pod impersonates the node of the pod. Its permission is one for all nodes, and
// does not depend on what else is known of the account.
const associatedNode = "associated-node"

const (
	usersGroup = "authentication.k8s.io"
	// nodeKey is the extra field that names the node of the pod that a token of a service account is bound to.
	nodeKey = "authentication.kubernetes.io/node-name"
	// associatedKeys is the extra field that stands for all of them in the mode associated-node: it has their keys.
	associatedKeys = "authentication.kubernetes.io/associated-node-keys"
)

// isBare reports whether nothing but a name is wanted.
func (i impersonation) isBare() bool {
	return i.wanted.UID == "" && len(i.wanted.Groups) == 0 && len(i.wanted.Extra) == 0
}

// constrained returns the other user if the user may be that one in a request that does what a says, by a mode that fits. The error is a 403.
//
// Beside permissions, it refuses what no user should become: a member of system:masters, and groups and extra fields that are not well formed.
func (i impersonation) constrained(mode string, a Action) (User, error) {
	who := i.who("impersonate:"+mode, usersGroup)
	if node, is := nodeOf(i.wanted.Name); is {
		who.Resource, who.Name = "nodes", node
	}
	if mode == associatedNode {
		who.Name = "*"
		i.by.Extra = map[string][]string{associatedKeys: slices.Sorted(maps.Keys(i.by.Extra))}
	}
	a.Verb = "impersonate-on:" + mode + ":" + a.Verb
	if err := i.decideAll(slices.Concat([]Action{a, who}, i.uid(who))); err != nil {
		return User{}, err
	}
	if err := i.takeGroups(who); err != nil {
		return User{}, err
	}
	if err := i.takeExtra(who); err != nil {
		return User{}, err
	}
	as := i.withGroups()
	if who.Resource == "nodes" {
		as.Groups = []string{"system:nodes", "system:authenticated"}
	}
	return as, nil
}

// manyParts is the number of groups, or of values of extra fields, from which on a permission for all of them is looked for first.
const manyParts = 4

// forAll returns the other user if the user may be that one in every request. The error is a 403 about the first part that the user may not
// take. Releases before v1.36 take the uid last.
func (i impersonation) forAll() (User, error) {
	who := i.who("impersonate", "")
	parts := slices.Concat([]Action{who}, i.uid(who), i.groups(who, ""), i.extra(who))
	if i.isOld() {
		parts = slices.Concat([]Action{who}, i.groups(who, ""), i.extra(who), i.uid(who))
	}
	if err := i.decideAll(parts); err != nil {
		return User{}, err
	}
	return i.withGroups(), nil
}

// who returns the action of taking the name of the other user. Service accounts are resources of their own.
func (i impersonation) who(verb, group string) Action {
	who := Action{Verb: verb, Group: group, Version: "v1", Resource: "users", Name: i.wanted.Name}
	if namespace, name, ok := serviceAccount(i.wanted.Name); ok {
		who.Resource, who.Namespace, who.Name = "serviceaccounts", namespace, name
	}
	return who
}

// action returns the action of taking another part of the other user.
func (i impersonation) action(who Action, group, resource, subresource, name string) Action {
	return Action{Verb: who.Verb, Group: group, Version: "v1", Resource: resource, Subresource: subresource, Name: name}
}

// uid returns the action of taking the uid, if there is one.
func (i impersonation) uid(who Action) []Action {
	if i.wanted.UID == "" {
		return nil
	}
	return []Action{i.action(who, usersGroup, "uids", "", i.wanted.UID)}
}

// groups returns the actions of taking each group.
func (i impersonation) groups(who Action, group string) (out []Action) {
	for _, g := range i.wanted.Groups {
		out = append(out, i.action(who, group, "groups", "", g))
	}
	return out
}

// extra returns the actions of taking each value of an extra field.
func (i impersonation) extra(who Action) (out []Action) {
	for key, values := range sorted(i.wanted.Extra) {
		for _, v := range values {
			out = append(out, i.action(who, usersGroup, "userextras", key, v))
		}
	}
	return out
}

// takeGroups returns a 403 unless the user may take all groups by a constrained permission, which gives no user some of them.
func (i impersonation) takeGroups(who Action) error {
	all := i.action(who, usersGroup, "groups", "", "")
	switch {
	case slices.Contains(i.wanted.Groups, ""):
		return forbidden(i.by, all, "impersonating the empty string group is not allowed")
	case slices.Contains(i.wanted.Groups, masters):
		all.Name = masters
		return forbidden(i.by, all, "impersonating the system:masters group is not allowed")
	}
	all.Name = "*"
	return i.decideMany(all, i.groups(who, usersGroup))
}

// takeExtra is takeGroups for extra fields.
func (i impersonation) takeExtra(who Action) error {
	all := i.action(who, usersGroup, "userextras", "", "")
	for key, values := range sorted(i.wanted.Extra) {
		if reason := improper(key, values); reason != "" {
			return forbidden(i.by, all, reason)
		}
	}
	all.Subresource, all.Name = "*", "*"
	return i.decideMany(all, i.extra(who))
}

// improper returns why no user gets an extra field by a constrained permission, empty if a user may.
func improper(key string, values []string) string {
	invalid := utilvalidation.IsDomainPrefixedPath(field.NewPath("extra", "key"), key)
	switch {
	case key == "":
		return "impersonating the empty string key in extra is not allowed"
	case len(invalid) > 0:
		return fmt.Sprintf("impersonating an invalid key in extra is not allowed: %v", invalid.ToAggregate())
	case key != strings.ToLower(key):
		return fmt.Sprintf("impersonating a non-lowercase key in extra is not allowed: %q", key)
	case slices.Contains(values, ""):
		return "impersonating the empty string value in extra is not allowed"
	}
	return ""
}

// decideMany is decideAll, but all, which stands for all of many actions, may allow them together.
func (i impersonation) decideMany(all Action, each []Action) error {
	if len(each) >= manyParts && i.decide(all) == nil {
		return nil
	}
	return i.decideAll(each)
}

// decideAll returns the first 403 of several actions.
func (i impersonation) decideAll(actions []Action) error {
	for _, a := range actions {
		if err := i.decide(a); err != nil {
			return err
		}
	}
	return nil
}

// decide returns a 403 unless the user may do what a says.
func (i impersonation) decide(a Action) error {
	allowed, reason := i.Allows(i.ctx, i.by, a)
	if allowed {
		return nil
	}
	return forbidden(i.by, a, reason)
}

// withGroups returns the other user with the groups that its name implies.
//
// A service account without groups has those of all service accounts and of its namespace. Every user is either authenticated or not.
func (i impersonation) withGroups() User {
	u := i.wanted
	if namespace, _, ok := serviceAccount(u.Name); ok && len(u.Groups) == 0 {
		u.Groups = []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace}
	}
	switch {
	case u.Name == Anonymous.Name && !slices.Contains(u.Groups, "system:unauthenticated"):
		u.Groups = append(u.Groups, "system:unauthenticated")
	case u.Name != Anonymous.Name && !slices.Contains(u.Groups, "system:unauthenticated") &&
		!slices.Contains(u.Groups, "system:authenticated"):
		u.Groups = append(u.Groups, "system:authenticated")
	}
	return u
}
