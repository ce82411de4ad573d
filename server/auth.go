package server

import (
	"context"
	"net/http"
	"slices"

	"k8s.io/apimachinery/pkg/api/errors"
)

// User is who sends a request.
type User struct {
	Name, UID string
	Groups    []string
	Extra     map[string][]string
}

// Authenticator tells who sends a request. The error refuses it, with 401.
type Authenticator func(*http.Request) (User, error)

// Action is what a request does, as an authorizer decides about it.
type Action struct {
	Verb                                  string
	Group, Version, Resource, Subresource string
	Namespace, Name                       string
	Path                                  string // of a request for what is no resource; then only Verb is set beside it
}

// Authorizer tells whether a user may do something, and why not.
type Authorizer func(ctx context.Context, u User, a Action) (allowed bool, reason string)

var (
	master    = User{Name: "system:apiserver", Groups: []string{"system:masters", "system:authenticated"}}
	anonymous = User{Name: "system:anonymous", Groups: []string{"system:unauthenticated"}}
)

// withUser returns a context of requests that a user sends, which may take for ever.
func withUser(ctx context.Context, u User) context.Context {
	return &requestContext{Context: ctx, user: u}
}

// UserOf returns who sends the request of ctx, and the zero User outside of one.
func UserOf(ctx context.Context) User {
	if u, ok := ctx.Value(userKey{}).(*User); ok {
		return *u
	}
	return User{}
}

// isMaster reports whether u may do everything.
func (u User) isMaster() bool { return slices.Contains(u.Groups, "system:masters") }

var errUnauthorized = errors.NewUnauthorized("Unauthorized")
