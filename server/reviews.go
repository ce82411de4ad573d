package server

import (
	"context"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"

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
		default:
			return s.whatMayI(question)
		}
	})
}

// whoAmI tells a client who it is.
func (s *Server) whoAmI(ctx context.Context, question value.Value) (value.Value, error) {
	u := UserOf(ctx)
	info := authenticationv1.UserInfo{Username: u.Name, UID: u.UID, Groups: u.Groups}
	for name, texts := range u.Extra {
		if info.Extra == nil {
			info.Extra = map[string]authenticationv1.ExtraValue{}
		}
		info.Extra[name] = texts
	}
	status, err := structs.From(authenticationv1.SelfSubjectReviewStatus{UserInfo: info})
	metadata := value.Object(value.Member{
		Name: "creationTimestamp", Value: value.String(s.now().UTC().Format(time.RFC3339)),
	})
	return question.With("metadata", metadata).With("status", status), err
}

// mayI tells a client whether it may do something.
func (s *Server) mayI(ctx context.Context, q *rest.Request, question value.Value) (value.Value, error) {
	var spec authorizationv1.SelfSubjectAccessReviewSpec
	if v := question.Get("spec"); v.Kind() == value.KindObject {
		if err := structs.Into(v, &spec); err != nil {
			return question, errors.NewBadRequest(err.Error())
		}
	}
	if (spec.ResourceAttributes == nil) == (spec.NonResourceAttributes == nil) {
		return question, errors.NewInvalid(q.Version.GroupKind(), "", field.ErrorList{field.Invalid(field.NewPath("spec"), nil,
			"exactly one of nonResourceAttributes or resourceAttributes must be specified")})
	}
	var a Action
	if p := spec.NonResourceAttributes; p != nil {
		a = Action{Verb: p.Verb, Path: p.Path}
	} else {
		r := spec.ResourceAttributes
		a = Action{
			Verb: r.Verb, Group: r.Group, Version: r.Version, Resource: r.Resource, Subresource: r.Subresource,
			Namespace: r.Namespace, Name: r.Name,
		}
	}
	allowed, reason := s.allows(ctx, a)
	status, err := structs.From(authorizationv1.SubjectAccessReviewStatus{Allowed: allowed, Reason: reason})
	return question.With("status", status), err
}

// whatMayI tells a client everything that it may do. A server without an authorizer allows everything; what another one allows
// cannot be listed.
func (s *Server) whatMayI(question value.Value) (value.Value, error) {
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
