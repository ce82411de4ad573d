package server

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/api/errors"

	"github.com/deed-project/deed/server/api"
)

// permit refuses, with 403, a request that its user may not make. It looks at the request alone and not at what the server has, so
// that the answer does not tell whether there is such a resource or document.
func (s *Server) permit(r *http.Request, c *call) error {
	if c.resource {
		return s.decide(r, actionOn(c.target, c.verb))
	}
	return s.decide(r, Action{Verb: strings.ToLower(r.Method), Path: r.URL.Path})
}

// actionOn returns what a request does with what its path names.
func actionOn(target api.Target, verb string) Action {
	return Action{
		Verb: verb, Group: target.Group, Version: target.Version, Resource: target.Resource, Subresource: target.Subresource,
		Namespace: target.Namespace, Name: target.Name,
	}
}

func (s *Server) decide(r *http.Request, a Action) error {
	if allowed, reason := s.allows(r.Context(), a); !allowed {
		return forbidden(UserOf(r.Context()), a, reason)
	}
	return nil
}

// allows reports whether the user of ctx may do something, and why not.
func (s *Server) allows(ctx context.Context, a Action) (bool, string) {
	return s.allowsUser(ctx, UserOf(ctx), a)
}

// allowsUser reports whether a user may do something, and why not. Members of system:masters may do everything.
func (s *Server) allowsUser(ctx context.Context, user User, a Action) (bool, string) {
	if s.authorize == nil || user.isMaster() {
		return true, ""
	}
	return s.authorize(ctx, user, a)
}

// forbidden is the 403 of a user who may not do something.
func forbidden(u User, a Action, reason string) error {
	text := fmt.Sprintf("User %q cannot %s path %q", u.Name, a.Verb, a.Path)
	resource := api.Target{Group: a.Group, Resource: a.Resource}.GroupResource()
	if a.Path == "" {
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
