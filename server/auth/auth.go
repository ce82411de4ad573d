// Package auth decides which user sends a request, and what that user may do.
//
// [Access] holds the two decisions. Its methods follow the order in which a request meets them: [Access.Authenticate] finds the user by token
// or client certificate, [Access.Impersonate] replaces the user if the headers ask for that, [Access.CheckOrigin] refuses requests that a
// web page of another site may have caused, and [Access.Authorize] compares the request with the policy. [Access.Review] answers the
// virtual resources by which clients ask the same questions: SelfSubjectReview, SubjectAccessReview, TokenReview and their kin.
//
// [Tokens] and [Policy] are the authenticator and the authorizer that deed-apiserver makes of the files of --token-auth-file and
// --authorization. Packages accounts, rbac and nodes below have others.
package auth

import (
	"context"
	"net/http"
	"slices"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/authentication/authenticator"

	"github.com/deed-project/deed/server/cache"
	"github.com/deed-project/deed/server/logs"
)

// User is a user with the groups and extra fields that authorization looks at.
//
// Its slices and maps are shared and must not be modified.
type User struct {
	Name, UID string
	Groups    []string
	Extra     map[string][]string
}

// Authenticator returns the user that sends a request. An error refuses the request with 401.
type Authenticator func(*http.Request) (User, error)

// RefuseAnonymous returns an authenticator that refuses the requests for which next returns [Anonymous]: those without credentials. It does not
// refuse requests for the given paths.
func RefuseAnonymous(next Authenticator, but ...string) Authenticator {
	return func(r *http.Request) (User, error) {
		user, err := next(r)
		if err == nil && user.isAnonymous() && !slices.Contains(but, r.URL.Path) {
			err = errNoCredentials
		}
		return user, err
	}
}

var errNoCredentials = logs.NewError("the request has no credentials")

// Action is what a request does, as an authorizer sees it.
//
// It is either about a resource or about a path, see [Action.IsPath].
type Action struct {
	Verb                                  string
	Group, Version, Resource, Subresource string // a resource has a version, which may be *
	Namespace, Name                       string
	FieldSelector                         string // of a list, a watch or a deletecollection, as sent
	Path                                  string // of a request for no resource; then only Verb is set beside it
}

// IsPath reports whether an action is about a path, which may be empty in a review, and not about a resource.
func (a Action) IsPath() bool { return a.Path != "" || a.Version == "" && a.Resource == "" }

// Rules are what a user may do in a namespace, as far as authorizers can list it.
type Rules struct {
	Resources  []authorizationv1.ResourceRule
	Paths      []authorizationv1.NonResourceRule
	Incomplete bool   // there may be more
	Error      string // what went wrong; the rules hold nevertheless
}

// RuleResolver returns what a user may do in a namespace.
type RuleResolver func(ctx context.Context, u User, namespace string) Rules

// Authorizer reports whether a user may do something. The reason explains a refusal, and may be empty.
type Authorizer func(ctx context.Context, u User, a Action) (allowed bool, reason string)

var (
	// System is the user of requests that the server sends to itself, and of all requests if there is no authenticator.
	// System may do everything, because it is a master.
	System = User{Name: "system:apiserver", Groups: []string{"system:authenticated", "system:masters"}}
	// Anonymous is the user of requests without credentials.
	Anonymous = User{Name: "system:anonymous", Groups: []string{"system:unauthenticated"}}
)

// ContextKey is the key under which the context of a request holds a pointer to its [User].
type ContextKey struct{}

// UserOf returns the user that sends the request of ctx. Outside of a request it returns the zero User.
func UserOf(ctx context.Context) User {
	if u, ok := ctx.Value(ContextKey{}).(*User); ok {
		return *u
	}
	return User{}
}

// IsMaster reports whether u is a member of system:masters, to whom no limit and no policy applies.
func (u User) IsMaster() bool { return slices.Contains(u.Groups, masters) }

// masters is the group whose members may do everything.
const masters = "system:masters"

// isAnonymous reports whether u is [Anonymous]. A user with credentials may have its name, or its group.
func (u User) isAnonymous() bool {
	return u.Name == Anonymous.Name && slices.Equal(u.Groups, Anonymous.Groups)
}

// Access decides who sends a request and whether the request is allowed. Its fields do not change once it is in use; then it is safe for
// concurrent use.
//
// Authentication, impersonation, the check of the origin and authorization follow in this order, in filters of their own.
type Access struct {
	Authenticator Authenticator // nil takes every client for System
	Accounts      Accounts      // tells the users of tokens of service accounts, before Authenticator; nil knows none
	Authorizer    Authorizer    // nil allows everything
	Rules         RuleResolver  // nil if the authorizer cannot list its rules
	Hosts         []string      // names of the server beside localhost and addresses, see CheckOrigin
	Minor         int           // the minor release of Kubernetes that the server emulates; 0 is the current one
	Now           func() time.Time
	Log           logs.Logger

	certificates []authenticator.Request  // in order
	lastModes    cache.Cache[string, int] // see modesOf
}

// Accounts authenticates the tokens of service accounts. It must be safe for concurrent use.
type Accounts interface {
	// Owns reports whether a token claims to be one of a service account.
	Owns(token string) bool
	// Authenticate returns the user of a token, and those of the audiences that the token is for. No audiences are APIAudiences. The error
	// says why the token does not hold.
	Authenticate(ctx context.Context, token string, audiences []string) (User, []string, error)
	// APIAudiences returns the audiences of the server.
	APIAudiences() []string
}

// ErrUnauthorized refuses a request whose credentials are not valid: 401.
var ErrUnauthorized = errors.NewUnauthorized("Unauthorized")

// Authenticate returns the user that sends a request, or [ErrUnauthorized]. The log has the reason.
//
// The client gets the same refusal for all reasons, so that it learns nothing about tokens.
func (a *Access) Authenticate(r *http.Request) (User, error) {
	user, err := a.authenticate(r)
	if err != nil {
		a.Log.Info("not authenticated", logs.Path(r.URL.Path), logs.Fault(err))
		return user, ErrUnauthorized
	}
	return user, nil
}

// authenticate returns the user that sends a request. In this order it asks front proxies, client certificates, tokens of service
// accounts, and the configured authenticator for all other tokens. An invalid certificate is an error only if none of these names the user.
func (a *Access) authenticate(r *http.Request) (User, error) {
	user, ok, invalid := a.ofCertificate(r)
	if ok {
		return user, nil
	}
	if token := a.accountToken(r); token != "" {
		user, _, err := a.Accounts.Authenticate(r.Context(), token, nil)
		return authenticated(user), err
	}
	if a.Authenticator == nil {
		return System, invalid
	}
	user, err := a.Authenticator(r)
	if err == nil && user.isAnonymous() {
		err = invalid
	}
	return user, err
}

// Authorize returns a 403 if the user of ctx may not do something. It looks at the action alone and not at what the server has, so that the
// answer does not tell whether a resource or document exists.
func (a *Access) Authorize(ctx context.Context, action Action) (reason string, err error) {
	user := UserOf(ctx)
	allowed, reason := a.Allows(ctx, user, action)
	if !allowed {
		err = forbidden(user, action, reason)
	}
	return reason, err
}

// Allows reports whether a user may do something, and why not. Members of system:masters may do everything.
func (a *Access) Allows(ctx context.Context, user User, action Action) (allowed bool, reason string) {
	if a.Authorizer == nil || user.IsMaster() {
		return true, ""
	}
	return a.Authorizer(ctx, user, action)
}
