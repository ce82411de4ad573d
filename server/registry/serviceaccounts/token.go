// Package serviceaccounts answers requests for the tokens of service accounts: POST of a TokenRequest to their subresource token. Package
// auth/accounts signs the tokens.
package serviceaccounts

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/auth/accounts"
	"github.com/deed-project/deed/server/rest"
	"github.com/deed-project/deed/server/rest/read"
	"github.com/deed-project/deed/server/rest/write"
	"github.com/deed-project/deed/value"
	"github.com/deed-project/deed/value/structs"
)

// Resource is the resource of service accounts.
var Resource = kschema.GroupResource{Resource: "serviceaccounts"}

// requests is the kind of the objects that ask for tokens.
var requests = kschema.GroupKind{Group: "authentication.k8s.io", Kind: "TokenRequest"}

const (
	// minExpiration and maxExpiration bound the seconds that a token may hold.
	minExpiration, maxExpiration = 10 * 60, 1 << 32
	// podExpiration is the number of seconds for which the tokens of pods are requested. Such tokens hold for extendedExpiration instead.
	podExpiration      = 60*60 + 7
	extendedExpiration = 365 * 24 * time.Hour
)

// CreateToken carries out POST of a TokenRequest. It comes back with a token. Nothing is stored, and a dry run makes a token, too.
//
//	options   of the query
//	decode    the object
//	own       everything in it is the manager's
//	mutate    what admission makes of it
//	account   exists, with the uid that the request names
//	complete  audiences and metadata
//	validate  the request, then what admission says
//	bind      to the object that it names
//	sign
func CreateToken(w *write.Writer, q *rest.Request, a *accounts.Authority) (*rest.Answer, error) {
	options, err := api.ParseCreateOptions(q.Query)
	if err != nil {
		return nil, err
	}
	asked := *q
	asked.Version = q.Version.Actions[q.Target.Subresource]
	sent, err := write.Decode(&asked, options, &read.Live{})
	if err != nil {
		return nil, err
	}
	if sent.Content, err = api.InNamespace(sent.Content, q.Target.Namespace); err != nil {
		return nil, err
	}
	if sent, err = write.Own(&asked, &read.Live{}, sent, options); err != nil {
		return nil, err
	}
	q.ObjectName = q.Target.Name
	t := &write.Task{Writer: w, Request: q, DryRun: options.DryRun}
	if sent, err = t.Mutate(&read.Live{}, sent); err != nil {
		return nil, err
	}
	r := &request{Authority: a, q: q, task: t, now: a.Now()}
	out, err := r.answer(sent)
	if err != nil {
		return nil, err
	}
	whole, err := out.Value()
	if err != nil {
		return nil, err
	}
	answer := rest.NewDocument(http.StatusCreated, whole)
	answer.Converted = true
	return answer, nil
}

// request is a TokenRequest that is answered.
type request struct {
	*accounts.Authority
	q    *rest.Request
	task *write.Task
	now  time.Time
	spec authenticationv1.TokenRequestSpec
}

// answer returns a TokenRequest with its token.
func (r *request) answer(sent managedfields.Object) (out managedfields.Object, err error) {
	account, out, err := r.complete(sent)
	if err != nil {
		return out, err
	}
	if errs := r.validate(); len(errs) > 0 {
		return out, api.Invalid(requests, "", errs)
	}
	if err := r.task.Admit(managedfields.Object{}, out); err != nil {
		return out, err
	}
	claims := accounts.Claims{Account: account, Audiences: r.spec.Audiences, ID: string(uuid.NewUUID()), Issued: r.now}
	if err := r.bind(&claims); err != nil {
		return out, err
	}
	if limit := int64(r.MaxExpiration / time.Second); limit > 0 && *r.spec.ExpirationSeconds > limit {
		r.q.Warnings.Add(fmt.Sprintf("requested expiration of %d seconds shortened to %d seconds", *r.spec.ExpirationSeconds, limit))
		r.spec.ExpirationSeconds = &limit
	}
	requested := r.now.Add(time.Duration(*r.spec.ExpirationSeconds) * time.Second)
	claims.Expires = requested
	if !r.NoExtension && claims.Pod.Name != "" && *r.spec.ExpirationSeconds == podExpiration && r.isForAPI() {
		claims.Expires, claims.WarnAfter = r.now.Add(extendedExpiration), requested
	}
	token, err := r.Issue(claims)
	if err != nil {
		return out, errors.NewInternalError(fmt.Errorf("failed to generate token: %w", err))
	}
	if r.q.Annotate != nil {
		r.q.Annotate(admission.Annotation{Key: "authentication.kubernetes.io/issued-credential-id", Value: "JTI=" + claims.ID})
	}
	spec, err := structs.From(r.spec)
	if err != nil {
		return out, err
	}
	out.Content = out.Content.With("spec", spec).With("status", value.Object(
		value.Member{Name: "token", Value: value.String(token)},
		value.Member{Name: "expirationTimestamp", Value: value.String(api.Timestamp(requested))},
	))
	return out, nil
}

// complete returns the account of a TokenRequest, and the request with the names of the account and the audiences of the server.
func (r *request) complete(sent managedfields.Object) (accounts.Account, managedfields.Object, error) {
	name, namespace := r.q.Target.Name, r.q.Target.Namespace
	account := accounts.Account{Namespace: namespace, Name: name}
	if named := api.Meta(sent.Content, "name"); named != "" && named != name {
		return account, sent, api.Invalid(requests, name, field.ErrorList{field.Invalid(
			field.NewPath("metadata", "name"), named, "must match the service account name if specified")})
	}
	stored, err := r.object("serviceaccounts", namespace, name)
	if err != nil {
		return account, sent, err
	}
	account.UID = api.Meta(stored, "uid")
	if uid := api.Meta(sent.Content, "uid"); uid != "" && uid != account.UID {
		return account, sent, errors.NewConflict(kschema.GroupResource{Group: requests.Group, Resource: requests.Kind}, name,
			fmt.Errorf("the UID in the token request (%s) does not match the UID of the service account (%s)", uid, account.UID))
	}
	if err := structs.Into(sent.Content.Get("spec"), &r.spec); err != nil {
		return account, sent, errors.NewBadRequest(err.Error())
	}
	r.spec.ExpirationSeconds = cmp.Or(r.spec.ExpirationSeconds, new(int64(0)))
	if len(r.spec.Audiences) == 0 {
		r.spec.Audiences = r.APIAudiences()
	}
	spec, err := structs.From(r.spec)
	if err != nil {
		return account, sent, err
	}
	for name, text := range map[string]string{"name": name, "uid": account.UID, "creationTimestamp": api.Timestamp(r.now)} {
		sent.Content = api.WithMetadata(sent.Content, name, value.String(text))
	}
	empty, err := structs.From(authenticationv1.TokenRequestStatus{})
	sent.Content = sent.Content.With("spec", spec).With("status", empty)
	return account, sent, err
}

// validate returns what is wrong with the request.
func (r *request) validate() (errs field.ErrorList) {
	path, seconds := field.NewPath("spec"), *r.spec.ExpirationSeconds
	if seconds < minExpiration {
		errs = append(errs, field.Invalid(path.Child("expirationSeconds"), seconds, "may not specify a duration less than 10 minutes"))
	}
	if seconds > maxExpiration {
		errs = append(errs, field.Invalid(path.Child("expirationSeconds"), seconds, "may not specify a duration larger than 2^32 seconds"))
	}
	switch {
	case r.isForWebhooks():
		if len(r.spec.Audiences) != 1 {
			errs = append(errs, field.Invalid(path.Child("audiences"), r.spec.Audiences, "must be length 1 when bound to a webhook config"))
		}
		errs = append(errs, checkAttestations(r.spec.Attestations, path.Child("attestations"))...)
	case len(r.spec.Attestations) > 0:
		return field.ErrorList{field.Invalid(path.Child("attestations"), r.spec.Attestations,
			"attestations may only be specified with a webhook bound object reference")}
	}
	return errs
}

// apiGroups is the only attestation there is: the group of the resources in admission reviews.
const apiGroups = "admissionReviewAPIGroups"

// checkAttestations returns what is wrong with the attestations of a token for webhooks.
func checkAttestations(of map[string]authenticationv1.AttestationValue, path *field.Path) (errs field.ErrorList) {
	if len(of) != 1 {
		return field.ErrorList{field.Invalid(path, of, "webhook bound requests require exactly one admissionReviewAPIGroups attestation")}
	}
	for key, groups := range of {
		at := path.Key(key)
		switch {
		case key != apiGroups:
			errs = append(errs, field.NotSupported(at, key, []string{apiGroups}))
		case len(groups) != 1:
			errs = append(errs, field.Invalid(at, groups, "must specify a single value"))
		case groups[0] == "":
			errs = append(errs, field.Invalid(at.Index(0), groups[0], "may not be an empty string"))
		case groups[0] != "*":
			for _, wrong := range validation.IsDNS1123Subdomain(groups[0]) {
				errs = append(errs, field.Invalid(at.Index(0), groups[0], "must specify a valid API Group: "+wrong))
			}
		}
	}
	return errs
}

// isForWebhooks reports whether the token is to be bound to a configuration of webhooks. kube-apiserver does that behind a feature gate.
func (r *request) isForWebhooks() bool {
	ref := r.spec.BoundObjectRef
	return ref != nil && ref.APIVersion == "admissionregistration.k8s.io/v1" &&
		(ref.Kind == "ValidatingWebhookConfiguration" || ref.Kind == "MutatingWebhookConfiguration")
}

// bind binds a token to the object that the request names, if it names one.
func (r *request) bind(c *accounts.Claims) error {
	ref := r.spec.BoundObjectRef
	if ref == nil {
		return nil
	}
	gvk := kschema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind)
	plural, namespace := "", c.Namespace
	var to *accounts.Ref
	switch {
	case r.isForWebhooks():
		return errors.NewBadRequest(fmt.Sprintf("cannot bind token to object of type %s (feature gate APIServerWebhookAuthenticationToken is disabled)", gvk))
	case gvk.Group == "" && gvk.Kind == "Pod":
		plural, to = "pods", &c.Pod
	case gvk.Group == "" && gvk.Kind == "Secret":
		plural, to = "secrets", &c.Secret
	case gvk.Group == "" && gvk.Kind == "Node":
		plural, to, namespace = "nodes", &c.Node, ""
	default:
		return errors.NewBadRequest(fmt.Sprintf("cannot bind token to object of type %s", gvk))
	}
	object, err := r.object(plural, namespace, ref.Name)
	if err != nil {
		return err
	}
	if gvk.Kind == "Pod" {
		if object.Get("spec", "serviceAccountName").Str() != c.Name {
			return errors.NewBadRequest(fmt.Sprintf("cannot bind token for serviceaccount %q to pod running with different serviceaccount name.", c.Name))
		}
		if c.Node.Name = object.Get("spec", "nodeName").Str(); c.Node.Name != "" {
			node, err := r.Object(r.q.Context(), "nodes", "", c.Node.Name)
			if err != nil {
				return errors.NewInternalError(err)
			}
			c.Node.UID = api.Meta(node, "uid") // "" if the node does not exist
		}
	}
	*to = accounts.Ref{Name: ref.Name, UID: api.Meta(object, "uid")}
	if ref.UID != "" && string(ref.UID) != to.UID {
		return errors.NewConflict(kschema.GroupResource{Group: gvk.Group, Resource: gvk.Kind}, ref.Name, fmt.Errorf(
			"the UID in the bound object reference (%s) does not match the UID in record. The object might have been deleted and then recreated", ref.UID))
	}
	return nil
}

// object returns an object of the core group. The error is a 404 if there is none, and a 400 if no object can have the name.
func (r *request) object(plural, namespace, name string) (value.Value, error) {
	named := *r.q
	named.ObjectName = name
	if err := named.CheckKey(); err != nil {
		return value.Value{}, err
	}
	object, err := r.Object(r.q.Context(), plural, namespace, name)
	if err == nil && object.IsAbsent() {
		err = errors.NewNotFound(kschema.GroupResource{Resource: plural}, name)
	}
	return object, err
}

// isForAPI reports whether the API server is all that the token is for.
func (r *request) isForAPI() bool {
	own := r.APIAudiences()
	return !slices.ContainsFunc(r.spec.Audiences, func(one string) bool { return !slices.Contains(own, one) })
}
