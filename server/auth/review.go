package auth

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/value"
	"github.com/deed-project/deed/value/structs"
)

// Reviews: questions about users and permissions that a client sends as objects. The answer is the object with a status, and nothing is
// stored.

// Review answers an object of a virtual resource of the groups authentication.k8s.io and authorization.k8s.io: it returns the object with
// its status. namespace is the one in the path of the request. The error is a 400 or 422.
//
// Each kind checks its spec itself. The authorizer that answers is the one that decides about requests.
func (a *Access) Review(ctx context.Context, v *catalog.Version, namespace string, review value.Value) (value.Value, error) {
	switch v.Kind {
	case "SelfSubjectReview":
		return a.selfSubjectReview(ctx, review)
	case "SelfSubjectAccessReview":
		return a.selfSubjectAccessReview(ctx, v, review)
	case "SubjectAccessReview", "LocalSubjectAccessReview":
		return a.subjectAccessReview(ctx, v, namespace, review)
	case "TokenReview":
		return a.tokenReview(ctx, review)
	default:
		return a.selfSubjectRulesReview(ctx, review.With("metadata", value.Object()))
	}
}

// selfSubjectReview tells the user its name and groups.
//
// After impersonation that is the other user.
func (a *Access) selfSubjectReview(ctx context.Context, review value.Value) (value.Value, error) {
	status, err := structs.From(authenticationv1.SelfSubjectReviewStatus{UserInfo: UserOf(ctx).Info()})
	metadata := value.Object(value.Member{
		Name: "creationTimestamp", Value: value.String(a.Now().UTC().Format(time.RFC3339)),
	})
	return review.With("metadata", metadata).With("status", status), err
}

// selfSubjectAccessReview tells the user whether it may do something.
func (a *Access) selfSubjectAccessReview(ctx context.Context, v *catalog.Version, review value.Value) (value.Value, error) {
	var spec authorizationv1.SelfSubjectAccessReviewSpec
	if err := into(review.Get("spec"), &spec); err != nil {
		return review, err
	}
	errs := checkAttributes(spec.ResourceAttributes, spec.NonResourceAttributes)
	errs = append(errs, checkSelectors(spec.ResourceAttributes)...)
	if errs = append(errs, checkBare(v, review)...); len(errs) > 0 {
		return review, invalidReview(v, errs)
	}
	action, unread := actionOf(spec.ResourceAttributes, spec.NonResourceAttributes)
	return a.decided(ctx, review, UserOf(ctx), action, unread)
}

// invalidReview returns the 422 of a review, which names no kind, as in kube-apiserver.
func invalidReview(v *catalog.Version, errs field.ErrorList) error {
	return api.Invalid(kschema.GroupKind{Group: v.Group}, "", errs)
}

// subjectAccessReview tells the user whether another user may do something. The review of a namespaced kind must be about that namespace.
func (a *Access) subjectAccessReview(ctx context.Context, v *catalog.Version, namespace string, review value.Value) (value.Value, error) {
	var spec authorizationv1.SubjectAccessReviewSpec
	if err := into(review.Get("spec"), &spec); err != nil {
		return review, err
	}
	path := field.NewPath("spec")
	errs := checkAttributes(spec.ResourceAttributes, spec.NonResourceAttributes)
	if spec.User == "" && len(spec.Groups) == 0 {
		errs = append(errs, field.Invalid(path.Child("user"), spec.User, "at least one of user or group must be specified"))
	}
	errs = append(errs, checkSelectors(spec.ResourceAttributes)...)
	if errs = append(errs, checkBare(v, review)...); v.Namespaced {
		if r := spec.ResourceAttributes; r != nil && r.Namespace != namespace {
			errs = append(errs, field.Invalid(path.Child("resourceAttributes", "namespace"), r.Namespace, "must match metadata.namespace"))
		}
		if n := spec.NonResourceAttributes; n != nil {
			errs = append(errs, field.Invalid(path.Child("nonResourceAttributes"), shownPath(n), "disallowed on this kind of request"))
		}
	}
	if len(errs) > 0 {
		return review, invalidReview(v, errs)
	}
	subject := User{Name: spec.User, UID: spec.UID, Groups: spec.Groups}
	action, unread := actionOf(spec.ResourceAttributes, spec.NonResourceAttributes)
	return a.decided(ctx, review, subject, action, unread)
}

// into decodes a part of a review, which may be absent, into a Go struct. The error is a 400.
//
// A spec of another kind than an object is left out, which the checks after it find.
func into(v value.Value, target any) error {
	if v.Kind() != value.KindObject {
		return nil
	}
	if err := structs.Into(v, target); err != nil {
		return errors.NewBadRequest(err.Error())
	}
	return nil
}

// checkBare returns an error if a review has metadata other than a namespace. Only a namespaced kind says that it may have one.
func checkBare(v *catalog.Version, review value.Value) field.ErrorList {
	metadata, demand := review.Get("metadata"), "must be empty"
	if v.Namespaced {
		demand += " except for namespace"
	}
	for name := range metadata.Members() {
		if name == "managedFields" || name == "namespace" {
			continue
		}
		var shown metav1.ObjectMeta
		if err := json.Unmarshal(metadata.AppendJSON(nil), &shown); err != nil {
			return field.ErrorList{field.InternalError(field.NewPath("metadata"), err)}
		}
		return field.ErrorList{field.Invalid(field.NewPath("metadata"), shown, demand)}
	}
	return nil
}

// shownPath returns the attributes of a path as messages of kube-apiserver show them.
func shownPath(n *authorizationv1.NonResourceAttributes) any {
	if n == nil {
		return nil
	}
	return struct{ Path, Verb string }{n.Path, n.Verb}
}

// checkAttributes returns an error unless a review is about a resource or a path, and not both.
func checkAttributes(r *authorizationv1.ResourceAttributes, n *authorizationv1.NonResourceAttributes) field.ErrorList {
	if (r == nil) != (n == nil) {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("spec"), shownPath(n),
		"exactly one of nonResourceAttributes or resourceAttributes must be specified")}
}

// actionOf returns the action that a review is about. unread says which parts of the review it leaves out; it is empty if it reads all.
func actionOf(r *authorizationv1.ResourceAttributes, n *authorizationv1.NonResourceAttributes) (a Action, unread string) {
	if n != nil {
		return Action{Verb: n.Verb, Path: n.Path}, ""
	}
	selector, byFields := selectedFields(r.FieldSelector)
	left := slices.Concat(byFields.missing("fieldSelector"), selectedLabels(r.LabelSelector).missing("labelSelector"))
	return Action{
		Verb: r.Verb, Group: r.Group, Version: cmp.Or(r.Version, "*"), Resource: r.Resource, Subresource: r.Subresource,
		Namespace: r.Namespace, Name: r.Name, FieldSelector: selector,
	}, strings.Join(left, "; ")
}

// decided returns a review with its status: whether user may do something, and unread, the part of the review that actionOf left out.
func (a *Access) decided(ctx context.Context, review value.Value, user User, action Action, unread string) (value.Value, error) {
	allowed, reason := a.Allows(ctx, user, action)
	status, err := structs.From(authorizationv1.SubjectAccessReviewStatus{Allowed: allowed, Reason: reason, EvaluationError: unread})
	return review.With("status", status), err
}

// audience is the audience of the server unless its service accounts have others.
const audience = "https://kubernetes.default.svc"

// audiences returns the audiences of the server.
func (a *Access) audiences() []string {
	if a.Accounts == nil {
		return []string{audience}
	}
	return a.Accounts.APIAudiences()
}

// tokenReview tells the user of a token.
//
// An unknown token is an answer and no error. Tokens that are not of service accounts are for all audiences of the server.
func (a *Access) tokenReview(ctx context.Context, review value.Value) (value.Value, error) {
	var spec authenticationv1.TokenReviewSpec
	if err := into(review.Get("spec"), &spec); err != nil {
		return review, err
	}
	if spec.Token == "" {
		return review, errors.NewBadRequest("token is required for TokenReview in authentication")
	}
	status := authenticationv1.TokenReviewStatus{Error: "invalid bearer token"}
	u, audiences, err := a.ofToken(ctx, spec.Token, spec.Audiences)
	switch {
	case err != nil && err.Error() != status.Error:
		status.Error = "[" + status.Error + ", " + err.Error() + "]"
	case len(audiences) > 0:
		status = authenticationv1.TokenReviewStatus{Authenticated: true, User: u.Info(), Audiences: audiences}
	}
	out, err := structs.From(status)
	return review.With("status", out), err
}

// ofToken returns the user of a bearer token, and those of the audiences that the token is for: none if the token is not known.
//
// It asks about a request that has nothing but the token. So a text that is no token, such as one that begins with a space, stands for the
// user of requests without credentials, whatever the audiences are.
func (a *Access) ofToken(ctx context.Context, token string, audiences []string) (User, []string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "/", nil)
	if err != nil {
		return User{}, nil, err // neither method nor path are wrong
	}
	r.Header.Set("Authorization", "Bearer "+token)
	if text := a.accountToken(r); text != "" {
		u, both, err := a.Accounts.Authenticate(ctx, text, audiences)
		return authenticated(u), both, err
	}
	if a.Authenticator == nil {
		return User{}, nil, nil
	}
	_, isToken := bearer(r)
	u, err := a.Authenticator(r)
	isAnonymous, both := u.isAnonymous(), a.audiences()
	switch {
	case err != nil || isAnonymous && isToken:
		return User{}, nil, nil
	case isAnonymous && len(audiences) > 0:
		both = audiences
	case len(audiences) > 0:
		both = slices.DeleteFunc(slices.Clone(both), func(one string) bool { return !slices.Contains(audiences, one) })
	}
	return u, both, nil
}

// Info returns a user as reviews and events of the audit log have it.
func (u User) Info() authenticationv1.UserInfo {
	info := authenticationv1.UserInfo{Username: u.Name, UID: u.UID, Groups: u.Groups}
	for name, texts := range u.Extra {
		if info.Extra == nil {
			info.Extra = map[string]authenticationv1.ExtraValue{}
		}
		info.Extra[name] = texts
	}
	return info
}

// selfSubjectRulesReview lists what the user may do. Without an authorizer that is everything. If the authorizer cannot list its rules, the
// review says so.
func (a *Access) selfSubjectRulesReview(ctx context.Context, review value.Value) (value.Value, error) {
	namespace := review.Get("spec", "namespace").Str()
	if namespace == "" {
		return review, errors.NewBadRequest("no namespace on request")
	}
	rules, all := Rules{Incomplete: true, Error: "the authorizer does not list its rules"}, []string{"*"}
	switch {
	case a.Authorizer == nil:
		rules = Rules{
			Resources: []authorizationv1.ResourceRule{{Verbs: all, APIGroups: all, Resources: all}},
			Paths:     []authorizationv1.NonResourceRule{{Verbs: all, NonResourceURLs: all}},
		}
	case a.Rules != nil:
		rules = a.Rules(ctx, UserOf(ctx), namespace)
	}
	status, err := structs.From(authorizationv1.SubjectRulesReviewStatus{
		ResourceRules:    append([]authorizationv1.ResourceRule{}, rules.Resources...), // not null
		NonResourceRules: append([]authorizationv1.NonResourceRule{}, rules.Paths...),
		Incomplete:       rules.Incomplete, EvaluationError: rules.Error,
	})
	return review.With("spec", value.Object()).With("status", status), err
}
