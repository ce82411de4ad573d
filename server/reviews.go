package server

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/rest"
	"github.com/deed-project/deed/value"
	"github.com/deed-project/deed/value/structs"
)

// review answers a question about who a client is and what it may do.
func (s *Server) review(q *rest.Request) (*rest.Answer, error) {
	ctx := q.HTTP.Context()
	return q.Review(func(question value.Value) (value.Value, error) {
		switch q.Version.Kind {
		case "SelfSubjectReview":
			return s.whoAmI(ctx, question)
		case "SelfSubjectAccessReview":
			return s.mayI(ctx, q, question)
		case "SubjectAccessReview", "LocalSubjectAccessReview":
			return s.mayThey(ctx, q, question, q.Version.Namespaced)
		case "TokenReview":
			return s.whose(ctx, question)
		default:
			return s.whatMayI(question.With("metadata", value.Object()))
		}
	})
}

// whoAmI tells a client who it is.
func (s *Server) whoAmI(ctx context.Context, question value.Value) (value.Value, error) {
	status, err := structs.From(authenticationv1.SelfSubjectReviewStatus{UserInfo: infoOf(UserOf(ctx))})
	metadata := value.Object(value.Member{
		Name: "creationTimestamp", Value: value.String(s.now().UTC().Format(time.RFC3339)),
	})
	return question.With("metadata", metadata).With("status", status), err
}

// mayI tells a client whether it may do something.
func (s *Server) mayI(ctx context.Context, q *rest.Request, question value.Value) (value.Value, error) {
	var spec authorizationv1.SelfSubjectAccessReviewSpec
	if err := into(question.Get("spec"), &spec); err != nil {
		return question, err
	}
	errs := checkAsked(spec.ResourceAttributes, spec.NonResourceAttributes)
	if errs = append(errs, checkBare(question)...); len(errs) > 0 {
		return question, invalidReview(q, errs)
	}
	return s.decided(ctx, question, UserOf(ctx), actionAsked(spec.ResourceAttributes, spec.NonResourceAttributes))
}

// invalidReview refuses a question, in the words of kube-apiserver, which name no kind.
func invalidReview(q *rest.Request, errs field.ErrorList) error {
	return api.Invalid(kschema.GroupKind{Group: q.Version.Group}, "", errs)
}

// mayThey tells a client whether somebody may do something: in a namespace only, if local.
func (s *Server) mayThey(ctx context.Context, q *rest.Request, question value.Value, local bool) (value.Value, error) {
	var spec authorizationv1.SubjectAccessReviewSpec
	if err := into(question.Get("spec"), &spec); err != nil {
		return question, err
	}
	path, inside := field.NewPath("spec"), q.Target.Namespace
	errs := checkAsked(spec.ResourceAttributes, spec.NonResourceAttributes)
	if spec.User == "" && len(spec.Groups) == 0 {
		errs = append(errs, field.Invalid(path.Child("user"), spec.User, "at least one of user or group must be specified"))
	}
	if errs = append(errs, checkBare(question)...); local {
		if r := spec.ResourceAttributes; r != nil && r.Namespace != inside {
			errs = append(errs, field.Invalid(path.Child("resourceAttributes", "namespace"), r.Namespace, "must match metadata.namespace"))
		}
		if n := spec.NonResourceAttributes; n != nil {
			errs = append(errs, field.Invalid(path.Child("nonResourceAttributes"), shownPath(n), "disallowed on this kind of request"))
		}
	}
	if len(errs) > 0 {
		return question, invalidReview(q, errs)
	}
	who := User{Name: spec.User, UID: spec.UID, Groups: spec.Groups}
	return s.decided(ctx, question, who, actionAsked(spec.ResourceAttributes, spec.NonResourceAttributes))
}

// into fills a Go structure with a part of a question, which may lack it. The error is a 400.
func into(v value.Value, target any) error {
	if v.Kind() != value.KindObject {
		return nil
	}
	if err := structs.Into(v, target); err != nil {
		return errors.NewBadRequest(err.Error())
	}
	return nil
}

// checkBare returns what is wrong with the metadata of a question, which has none but a namespace.
func checkBare(question value.Value) field.ErrorList {
	metadata := question.Get("metadata")
	for name := range metadata.Members() {
		if name == "managedFields" || name == "namespace" {
			continue
		}
		var shown metav1.ObjectMeta
		if err := json.Unmarshal(metadata.AppendJSON(nil), &shown); err != nil {
			return field.ErrorList{field.InternalError(field.NewPath("metadata"), err)}
		}
		return field.ErrorList{field.Invalid(field.NewPath("metadata"), shown, "must be empty")}
	}
	return nil
}

// shownPath shows a path that is asked about as texts about it do.
func shownPath(n *authorizationv1.NonResourceAttributes) any {
	if n == nil {
		return nil
	}
	return struct{ Path, Verb string }{n.Path, n.Verb}
}

// checkAsked returns what is wrong with what is asked about, which is a resource or a path.
func checkAsked(r *authorizationv1.ResourceAttributes, n *authorizationv1.NonResourceAttributes) field.ErrorList {
	if (r == nil) != (n == nil) {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("spec"), shownPath(n),
		"exactly one of nonResourceAttributes or resourceAttributes must be specified")}
}

// actionAsked returns what is asked about, one of the two.
func actionAsked(r *authorizationv1.ResourceAttributes, n *authorizationv1.NonResourceAttributes) Action {
	if n != nil {
		return Action{Verb: n.Verb, Path: n.Path}
	}
	return Action{
		Verb: r.Verb, Group: r.Group, Version: r.Version, Resource: r.Resource, Subresource: r.Subresource,
		Namespace: r.Namespace, Name: r.Name,
	}
}

// decided returns a question with whether who may do something.
func (s *Server) decided(ctx context.Context, question value.Value, who User, a Action) (value.Value, error) {
	allowed, reason := s.allowsUser(ctx, who, a)
	status, err := structs.From(authorizationv1.SubjectAccessReviewStatus{Allowed: allowed, Reason: reason})
	return question.With("status", status), err
}

// audience is whom the tokens are for that the server takes.
const audience = "https://kubernetes.default.svc"

// whose tells a client whom a token stands for.
func (s *Server) whose(ctx context.Context, question value.Value) (value.Value, error) {
	var spec authenticationv1.TokenReviewSpec
	if err := into(question.Get("spec"), &spec); err != nil {
		return question, err
	}
	if spec.Token == "" {
		return question, errors.NewBadRequest("token is required for TokenReview in authentication")
	}
	status := authenticationv1.TokenReviewStatus{Error: "invalid bearer token"}
	forUs := len(spec.Audiences) == 0 || slices.Contains(spec.Audiences, audience)
	if u, ok := s.ofToken(ctx, spec.Token); ok && forUs {
		status = authenticationv1.TokenReviewStatus{Authenticated: true, User: infoOf(u), Audiences: []string{audience}}
	}
	out, err := structs.From(status)
	return question.With("status", out), err
}

// ofToken returns whom a bearer token stands for, and whether it is known.
func (s *Server) ofToken(ctx context.Context, token string) (User, bool) {
	if s.authenticate == nil {
		return User{}, false
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "/", nil)
	if err != nil {
		return User{}, false // neither method nor path are wrong
	}
	r.Header.Set("Authorization", "Bearer "+token)
	u, err := s.authenticate(r)
	return u, err == nil && !slices.Contains(u.Groups, "system:unauthenticated")
}

// infoOf returns a user as reviews tell of it.
func infoOf(u User) authenticationv1.UserInfo {
	info := authenticationv1.UserInfo{Username: u.Name, UID: u.UID, Groups: u.Groups}
	for name, texts := range u.Extra {
		if info.Extra == nil {
			info.Extra = map[string]authenticationv1.ExtraValue{}
		}
		info.Extra[name] = texts
	}
	return info
}

// whatMayI tells a client everything that it may do. A server without an authorizer allows everything; what another one allows
// cannot be listed.
func (s *Server) whatMayI(question value.Value) (value.Value, error) {
	if question.Get("spec", "namespace").Str() == "" {
		return question, errors.NewBadRequest("no namespace on request")
	}
	question = question.With("spec", value.Object())
	all := []string{"*"}
	rules := authorizationv1.SubjectRulesReviewStatus{
		ResourceRules: []authorizationv1.ResourceRule{}, NonResourceRules: []authorizationv1.NonResourceRule{},
	}
	if s.authorize == nil {
		rules.ResourceRules = append(rules.ResourceRules, authorizationv1.ResourceRule{Verbs: all, APIGroups: all, Resources: all})
		rules.NonResourceRules = append(rules.NonResourceRules, authorizationv1.NonResourceRule{Verbs: all, NonResourceURLs: all})
	} else {
		rules.Incomplete, rules.EvaluationError = true, "the authorizer does not list its rules"
	}
	status, err := structs.From(rules)
	return question.With("status", status), err
}
