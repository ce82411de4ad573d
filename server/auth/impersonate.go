package auth

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/errors"
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
// As in kube-apiserver, there are two permissions. One is for requests that do the same as this one (verbs impersonate-on:MODE:VERB and
// impersonate:MODE), the other for all requests (verb impersonate). A refusal is that of the first permission.
//
// The user is a part of the request for everything after it: admission, managed fields and the audit log see the other user.
func (a *Access) Impersonate(r *http.Request, user User, action Action) (User, error) {
	wanted, err := wantedUser(r.Header)
	if wanted == nil || err != nil {
		return user, err
	}
	i := impersonation{a, r.Context(), user, *wanted}
	first := i.constrained(action)
	if first == nil {
		return i.withGroups(), nil
	}
	if err := i.allow("impersonate", ""); err != nil {
		return user, first
	}
	return i.withGroups(), nil
}

// impersonates reports whether a request has headers of impersonation.
func impersonates(h http.Header) bool {
	for name := range h {
		if strings.HasPrefix(name, "Impersonate-") {
			return true
		}
	}
	return false
}

// wantedUser returns the user that the headers of a request name, nil if they name none, and removes these headers.
//
// An impersonated user must have a name. Keys of extra fields are lower case, and may be escaped as in a URL. Headers other than those it
// knows stay.
func wantedUser(h http.Header) (*User, error) {
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
		if u.UID != "" || u.Groups != nil || u.Extra != nil {
			return nil, errors.NewBadRequest(fmt.Sprintf(
				"requested &user.DefaultInfo{Name:%q, UID:%q, Groups:%#v, Extra:%#v} without impersonating a user name",
				u.Name, u.UID, u.Groups, u.Extra))
		}
		return nil, nil
	}
	for name := range h {
		if name == impersonateUser || name == impersonateUID || name == impersonateGroup || strings.HasPrefix(name, impersonateExtra) {
			h.Del(name)
		}
	}
	return &u, nil
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

// constrained returns a 403 unless the user may be the other one in a request that does what a says.
//
// The mode follows from the name:
//
//	system:node:NAME                      arbitrary-node
//	system:serviceaccount:NAMESPACE:NAME  serviceaccount
//	any other                             user-info
//
// The first two exist for a bare name only, since its groups follow from it.
func (i impersonation) constrained(a Action) error {
	mode := "user-info"
	_, _, ofAccount := serviceAccount(i.wanted.Name)
	ofNode := strings.HasPrefix(i.wanted.Name, "system:node:")
	onlyName := i.wanted.UID == "" && len(i.wanted.Groups) == 0 && len(i.wanted.Extra) == 0
	switch {
	case (ofNode || ofAccount) && !onlyName:
		return i.allow("impersonate", "") // only one way is left
	case ofNode:
		mode = "arbitrary-node"
	case ofAccount:
		mode = "serviceaccount"
	}
	a.Verb = "impersonate-on:" + mode + ":" + a.Verb
	if err := i.decide(a); err != nil {
		return err
	}
	return i.allow("impersonate:"+mode, "authentication.k8s.io")
}

// allow returns a 403 unless the user may do verb to every part of the other one: name, uid, groups and extra fields.
//
// The refusal is about the first part that the user may not take: name, then uid, groups and extra fields. Service accounts are resources
// of their own, and nodes are only for the constrained permission.
func (i impersonation) allow(verb, group string) error {
	who := Action{Verb: verb, Group: group, Version: "v1", Resource: "users", Name: i.wanted.Name}
	if namespace, name, ok := serviceAccount(i.wanted.Name); ok {
		who.Resource, who.Namespace, who.Name = "serviceaccounts", namespace, name
	} else if node, ok := strings.CutPrefix(i.wanted.Name, "system:node:"); ok && group != "" {
		who.Resource, who.Name = "nodes", node
	}
	all := []Action{who}
	const uids = "authentication.k8s.io"
	if i.wanted.UID != "" {
		all = append(all, Action{Verb: verb, Group: uids, Version: "v1", Resource: "uids", Name: i.wanted.UID})
	}
	for _, g := range i.wanted.Groups {
		all = append(all, Action{Verb: verb, Group: group, Version: "v1", Resource: "groups", Name: g})
	}
	for key, values := range i.wanted.Extra {
		for _, v := range values {
			all = append(all, Action{Verb: verb, Group: uids, Version: "v1", Resource: "userextras", Subresource: key, Name: v})
		}
	}
	for _, a := range all {
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
	return namespace, name, ok && namespace != "" && name != "" && !strings.Contains(name, ":")
}
