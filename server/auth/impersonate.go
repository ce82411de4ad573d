package auth

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/server/cache"
)

// Headers by which a client asks to impersonate another user.
const (
	impersonateUser  = "Impersonate-User"
	impersonateUID   = "Impersonate-Uid"
	impersonateGroup = "Impersonate-Group"
	impersonateExtra = "Impersonate-Extra-"
)

// Impersonate returns the user as whom a request is carried out: user itself, or the user that the headers name if user may impersonate it.
// It removes the headers. action is what the request does. The error is a 400 for headers that name no user, or a 403.
//
// As in kube-apiserver, there are two kinds of permissions. One is for requests that do the same as this one (verbs impersonate-on:MODE:VERB
// and impersonate:MODE), the other for all requests (verb impersonate). A refusal is that of the first permission that is tried. Releases before
// v1.36 have only the other.
//
// The user is a part of the request for everything after it: admission, managed fields and the audit log see the other user.
func (a *Access) Impersonate(r *http.Request, user User, action Action) (User, error) {
	isOld := a.Minor > 0 && a.Minor < constrainedSince
	wanted, err := wantedUser(r.Header, isOld)
	if wanted == nil || err != nil {
		return user, err
	}
	i := impersonation{a, r.Context(), user, *wanted}
	if isOld {
		as, err := i.forAll(true)
		if err != nil {
			return user, err
		}
		return as, nil
	}
	var first error
	for _, n := range a.modesOf(user) {
		if !modes[n].fits(i) {
			continue
		}
		as, err := modes[n].become(i, action)
		if err == nil {
			a.lastModes.Put(user.Name, n, cache.EntryCost+len(user.Name), modesBudget)
			return as, nil
		}
		first = cmp.Or(first, err)
	}
	return user, first
}

// modesBudget bounds what is known of the last modes of users, in bytes.
const modesBudget = 1 << 20

// modesOf returns the numbers of the modes in the order in which they are tried: the last one by which the user was somebody else comes first.
// As in kube-apiserver, the permission for all requests then gives its refusal to a user who has it, and a node no groups.
func (a *Access) modesOf(user User) (out []int) {
	last, known := a.lastModes.Get(user.Name)
	if known {
		out = append(out, last)
	}
	for n := range modes {
		if !known || n != last {
			out = append(out, n)
		}
	}
	return out
}

// constrainedSince is the minor release since which there is a permission for requests that do the same.
const constrainedSince = 36

// impersonates reports whether a request has headers of impersonation.
func impersonates(h http.Header) bool {
	for name := range h {
		if strings.HasPrefix(name, "Impersonate-") {
			return true
		}
	}
	return false
}

// wantedUser returns the user that the headers of a request name, nil if they name none, and removes these headers. isOld gives refusals the
// words of releases before v1.36.
//
// An impersonated user must have a name. Keys of extra fields are lower case, and may be escaped as in a URL. Headers other than those it
// knows stay.
func wantedUser(h http.Header, isOld bool) (*User, error) {
	if !impersonates(h) {
		return nil, nil
	}
	u := User{Name: h.Get(impersonateUser), UID: h.Get(impersonateUID), Groups: slices.Clone(h[impersonateGroup])}
	for name, values := range h {
		key, isExtra := strings.CutPrefix(name, impersonateExtra)
		if !isExtra {
			continue
		}
		if u.Extra == nil {
			u.Extra = map[string][]string{}
		}
		key = strings.ToLower(key)
		if plain, err := url.PathUnescape(key); err == nil {
			key = plain
		}
		u.Extra[key] = append(u.Extra[key], values...)
	}
	if u.Name == "" {
		switch {
		case u.UID == "" && u.Groups == nil && u.Extra == nil:
			return nil, nil
		case isOld:
			return nil, errors.NewBadRequest(fmt.Sprintf("requested %v without impersonating a user", u.references()))
		default:
			return nil, errors.NewBadRequest(fmt.Sprintf(
				"requested &user.DefaultInfo{Name:%q, UID:%q, Groups:%#v, Extra:%#v} without impersonating a user name",
				u.Name, u.UID, u.Groups, u.Extra))
		}
	}
	for name := range h {
		if name == impersonateUser || name == impersonateUID || name == impersonateGroup || strings.HasPrefix(name, impersonateExtra) {
			h.Del(name)
		}
	}
	return &u, nil
}

// references returns how releases before v1.36 print what a user without a name has.
func (u *User) references() (out []corev1.ObjectReference) {
	for _, g := range u.Groups {
		out = append(out, corev1.ObjectReference{Kind: "Group", Name: g})
	}
	for key, values := range u.Extra {
		for _, v := range values {
			out = append(out, corev1.ObjectReference{Kind: "UserExtra", APIVersion: usersGroup + "/v1", Name: v, FieldPath: key})
		}
	}
	if u.UID != "" {
		out = append(out, corev1.ObjectReference{Kind: "UID", Name: u.UID, APIVersion: usersGroup + "/v1"})
	}
	return out
}

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
		return i.forAll(false)
	}
	return i.constrained(m.name, a)
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
	for _, part := range []struct {
		all    Action // stands for all of them
		check  func(Action) error
		decide []Action
	}{
		{i.action(who, usersGroup, "groups", "", "*"), i.checkGroups, i.groups(who, usersGroup)},
		{i.action(who, usersGroup, "userextras", "*", "*"), i.checkExtra, i.extra(who)},
	} {
		if err := part.check(part.all); err != nil {
			return User{}, err
		}
		if len(part.decide) >= manyParts && i.decide(part.all) == nil {
			continue
		}
		if err := i.decideAll(part.decide); err != nil {
			return User{}, err
		}
	}
	as := i.withGroups()
	if _, is := nodeOf(i.wanted.Name); is {
		as.Groups = []string{"system:nodes", "system:authenticated"}
	}
	return as, nil
}

// manyParts is the number of groups, or of values of extra fields, from which on a permission for all of them is looked for first.
const manyParts = 4

// forAll returns the other user if the user may be that one in every request. The error is a 403 about the first part that the user may not
// take. Releases before v1.36 take the uid last.
func (i impersonation) forAll(isOld bool) (User, error) {
	who := i.who("impersonate", "")
	parts := slices.Concat([]Action{who}, i.uid(who), i.groups(who, ""), i.extra(who))
	if isOld {
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
	for key, values := range i.wanted.Extra {
		for _, v := range values {
			out = append(out, i.action(who, usersGroup, "userextras", key, v))
		}
	}
	return out
}

// checkGroups returns a 403 for groups that nobody may take by a constrained permission.
func (i impersonation) checkGroups(all Action) error {
	all.Name = ""
	if slices.Contains(i.wanted.Groups, "") {
		return forbidden(i.by, all, "impersonating the empty string group is not allowed")
	}
	if slices.Contains(i.wanted.Groups, masters) {
		all.Name = masters
		return forbidden(i.by, all, "impersonating the system:masters group is not allowed")
	}
	return nil
}

// checkExtra returns a 403 for extra fields that nobody may take by a constrained permission.
func (i impersonation) checkExtra(all Action) error {
	all.Name, all.Subresource = "", ""
	for key, values := range i.wanted.Extra {
		reason := ""
		invalid := utilvalidation.IsDomainPrefixedPath(field.NewPath("extra", "key"), key)
		switch {
		case key == "":
			reason = "impersonating the empty string key in extra is not allowed"
		case len(invalid) > 0:
			reason = fmt.Sprintf("impersonating an invalid key in extra is not allowed: %v", invalid.ToAggregate())
		case key != strings.ToLower(key):
			reason = fmt.Sprintf("impersonating a non-lowercase key in extra is not allowed: %q", key)
		case slices.Contains(values, ""):
			reason = "impersonating the empty string value in extra is not allowed"
		default:
			continue
		}
		return forbidden(i.by, all, reason)
	}
	return nil
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

// serviceAccount returns the namespace and the name of the service account that a user is, and whether it is one.
func serviceAccount(user string) (namespace, name string, ok bool) {
	rest, ok := strings.CutPrefix(user, "system:serviceaccount:")
	if !ok {
		return "", "", false
	}
	namespace, name, ok = strings.Cut(rest, ":")
	valid := ok && len(validation.ValidateNamespaceName(namespace, false)) == 0 && len(validation.ValidateServiceAccountName(name, false)) == 0
	return namespace, name, valid
}

// nodeOf returns the name of the node that a user is, and whether it is one.
func nodeOf(user string) (string, bool) {
	name, is := strings.CutPrefix(user, "system:node:")
	return name, is && len(validation.NameIsDNSSubdomain(name, false)) == 0
}
