package auth

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/errors"

	"github.com/deed-project/deed/server/api"
)

// forbidden returns the 403 that refuses an action to a user, in the words of kube-apiserver.
//
// A resource is named with its subresource and where it is, and a path by itself. The Status has the group and the resource.
func forbidden(u User, a Action, reason string) error {
	text := fmt.Sprintf("User %q cannot %s path %q", u.Name, a.Verb, a.Path)
	resource := api.Target{Group: a.Group, Resource: a.Resource}.GroupResource()
	if !a.IsPath() {
		named := a.Resource
		if a.Subresource != "" {
			named += "/" + a.Subresource
		}
		where := "at the cluster scope"
		if a.Namespace != "" {
			where = fmt.Sprintf("in the namespace %q", a.Namespace)
		}
		text = fmt.Sprintf("User %q cannot %s resource %q in API group %q %s", u.Name, a.Verb, named, a.Group, where)
	}
	if reason != "" {
		text += ": " + reason
	}
	return errors.NewForbidden(resource, a.Name, fmt.Errorf("%s", text))
}

// Forbidden returns the 403 that refuses an action to a user, for texts that quote it.
func Forbidden(u User, a Action, reason string) error { return forbidden(u, a, reason) }
