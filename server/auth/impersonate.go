package auth

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"

	"github.com/deed-project/deed/server/cache"
)

// Headers by which a client asks to impersonate another user.
const (
	impersonateUser  = "Impersonate-User"
	impersonateUID   = "Impersonate-Uid"
	impersonateGroup = "Impersonate-Group"
	impersonateExtra = "Impersonate-Extra-"
)

// Impersonate returns the user as whom a request is carried out, which the headers name and user may impersonate. It returns nil if the
// headers name none. It removes the headers. constraint is the verb of the permission for requests that do the same, if that is the one that
// user has. action is what the request does. The error is a 400 for headers that name no user, or a 403.
//
// As in kube-apiserver, there are two kinds of permissions. One is for requests that do the same as this one (verbs impersonate-on:MODE:VERB
// and impersonate:MODE), the other for all requests (verb impersonate). A refusal is that of the first permission that is tried. Releases before
// v1.36 have only the other.
//
// The user is a part of the request for everything after it: admission, managed fields and the audit log see the other user.
func (a *Access) Impersonate(r *http.Request, user User, action Action) (as *User, constraint string, err error) {
	wanted, err := a.wantedUser(r.Header)
	if wanted == nil || err != nil {
		return nil, "", err
	}
	i := impersonation{a, r.Context(), user, *wanted}
	last, known := a.lastModes.Get(user.Name)
	var first error
	for _, n := range a.modesAfter(last, known) {
		if !modes[n].fits(i) {
			continue
		}
		other, err := modes[n].become(i, action)
		if err != nil {
			first = cmp.Or(first, err)
			continue
		}
		if !known || n != last {
			a.lastModes.Put(user.Name, n, cache.EntryCost+len(user.Name), modesBudget)
		}
		return &other, modes[n].constraint(), nil
	}
	return nil, "", first
}

// modesBudget bounds the memory of the last modes of users, in bytes.
const modesBudget = 1 << 20

// modesAfter returns the numbers of the modes in the order in which they are tried. The last mode by which the user impersonated comes first, if
// it is known. As in kube-apiserver, its refusal then is the answer, and the permission for all requests gives a node no groups.
func (a *Access) modesAfter(last int, known bool) (out []int) {
	if a.isOld() {
		return []int{len(modes) - 1}
	}
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

// isOld reports whether the server emulates a release that has the permission for all requests alone.
func (a *Access) isOld() bool { return a.Minor > 0 && a.Minor < constrainedSince }

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
func (a *Access) wantedUser(h http.Header) (*User, error) {
	if !impersonates(h) {
		return nil, nil
	}
	u := User{Name: h.Get(impersonateUser), UID: h.Get(impersonateUID), Groups: slices.Clone(h[impersonateGroup])}
	for name, values := range sorted(h) {
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
		case a.isOld():
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

// sorted yields the entries of m by key, so that the first refusal does not depend on the order of a map.
func sorted(m map[string][]string) iter.Seq2[string, []string] {
	return func(yield func(string, []string) bool) {
		for _, key := range slices.Sorted(maps.Keys(m)) {
			if !yield(key, m[key]) {
				return
			}
		}
	}
}

// references returns how releases before v1.36 print what a user without a name has.
func (u *User) references() (out []corev1.ObjectReference) {
	for _, g := range u.Groups {
		out = append(out, corev1.ObjectReference{Kind: "Group", Name: g})
	}
	for key, values := range sorted(u.Extra) {
		for _, v := range values {
			out = append(out, corev1.ObjectReference{Kind: "UserExtra", APIVersion: usersGroup + "/v1", Name: v, FieldPath: key})
		}
	}
	if u.UID != "" {
		out = append(out, corev1.ObjectReference{Kind: "UID", Name: u.UID, APIVersion: usersGroup + "/v1"})
	}
	return out
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
