package webhook

import (
	"encoding/json"
	"fmt"

	reviewv1 "k8s.io/api/admission/v1"
	reviewv1beta1 "k8s.io/api/admission/v1beta1"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/value"
)

// Reviews: what a hook is sent, and what its response must look like. The request and the response share a uid, which is new for each call.

// review is an AdmissionReview request, and the target that its response is decoded into.
type review struct {
	uid      types.UID
	question runtime.Object
	answer   runtime.Object
}

// verdict is the decoded response of a hook.
type verdict struct {
	Allowed          bool
	Status           *metav1.Status
	Patch            []byte
	PatchType        reviewv1.PatchType
	AuditAnnotations map[string]string
	Warnings         []string
}

// newReview returns a review of the request, in the first AdmissionReview version of the hook that is supported. It fails if none is.
//
// The order of preference is the hook's, as its configuration lists versions.
func newReview(h *Hook, q *admission.Request, current *state) (*review, error) {
	for _, version := range h.reviews {
		switch version {
		case reviewv1.SchemeGroupVersion.Version:
			asked := askedOf(q, current)
			return &review{asked.UID, &reviewv1.AdmissionReview{Request: asked}, &reviewv1.AdmissionReview{}}, nil
		case reviewv1beta1.SchemeGroupVersion.Version:
			asked, err := askedBeta(askedOf(q, current))
			if err != nil {
				return nil, err
			}
			return &review{asked.UID, &reviewv1beta1.AdmissionReview{Request: asked}, &reviewv1beta1.AdmissionReview{}}, nil
		}
	}
	return nil, fmt.Errorf("webhook does not accept known AdmissionReview versions (v1, v1beta1)")
}

// askedOf returns the AdmissionRequest that describes a request.
//
// Kind and resource are those that the hook sees, and RequestKind and RequestResource those that the client wrote to.
func askedOf(q *admission.Request, current *state) *reviewv1.AdmissionRequest {
	asked := &reviewv1.AdmissionRequest{
		UID:  types.UID(api.NewUID()),
		Kind: metav1.GroupVersionKind(current.at.Kind), Resource: metav1.GroupVersionResource(current.at.Resource),
		SubResource: q.Subresource, RequestSubResource: q.Subresource,
		Name: q.Name, Namespace: q.Namespace, Operation: reviewv1.Operation(q.Operation), DryRun: &q.DryRun,
		UserInfo: authenticationv1.UserInfo{Username: q.User.Name, UID: q.User.UID, Groups: q.User.Groups},
		Object:   raw(current.object), OldObject: raw(current.old), Options: raw(q.Scope.Options()),
	}
	kind, resource := metav1.GroupVersionKind(q.Kind), metav1.GroupVersionResource(q.Resource)
	asked.RequestKind, asked.RequestResource = &kind, &resource
	for name, texts := range q.User.Extra {
		if asked.UserInfo.Extra == nil {
			asked.UserInfo.Extra = map[string]authenticationv1.ExtraValue{}
		}
		asked.UserInfo.Extra[name] = texts
	}
	return asked
}

// raw returns a value as JSON; an absent value is null in a review.
func raw(v value.Value) runtime.RawExtension {
	if v.IsAbsent() {
		return runtime.RawExtension{}
	}
	return runtime.RawExtension{Raw: v.AppendJSON(nil)}
}

// askedBeta returns the AdmissionRequest in v1beta1, which has the same fields.
func askedBeta(asked *reviewv1.AdmissionRequest) (*reviewv1beta1.AdmissionRequest, error) {
	text, err := json.Marshal(asked)
	if err != nil {
		return nil, err
	}
	out := &reviewv1beta1.AdmissionRequest{}
	return out, json.Unmarshal(text, out)
}

// verdict returns the content of the response. It fails if the response is invalid.
//
// A v1 response must have the uid and the kind of the request. A mutating hook must name the type of its patch, and a validating hook must
// not send a patch. A v1beta1 review only needs a response.
func (r *review) verdict(mutating bool) (*verdict, error) {
	switch answer := r.answer.(type) {
	case *reviewv1.AdmissionReview:
		if err := r.check(answer); err != nil {
			return nil, err
		}
		return verdictOf(answer.Response, mutating)
	case *reviewv1beta1.AdmissionReview:
		return verdictBeta(answer.Response, mutating)
	}
	return nil, fmt.Errorf("unexpected response type %T", r.answer)
}

// check checks the envelope of a response in v1.
func (r *review) check(answer *reviewv1.AdmissionReview) error {
	want := reviewv1.SchemeGroupVersion.WithKind("AdmissionReview")
	switch {
	case answer.Response == nil:
		return fmt.Errorf("webhook response was absent")
	case answer.Response.UID != r.uid:
		return fmt.Errorf("expected response.uid=%q, got %q", r.uid, answer.Response.UID)
	case answer.GroupVersionKind() != want:
		return fmt.Errorf("expected webhook response of %v, got %v", want, answer.GroupVersionKind())
	}
	return nil
}

// verdictOf checks the content of a response in v1. The first fault in kube-apiserver's order is the error.
func verdictOf(r *reviewv1.AdmissionResponse, mutating bool) (*verdict, error) {
	out := &verdict{Allowed: r.Allowed, Status: r.Result, AuditAnnotations: r.AuditAnnotations, Warnings: r.Warnings}
	switch {
	case !mutating && len(r.Patch) > 0:
		return nil, fmt.Errorf("validating webhook may not return response.patch")
	case !mutating && r.PatchType != nil:
		return nil, fmt.Errorf("validating webhook may not return response.patchType")
	case len(r.Patch) > 0 && r.PatchType == nil:
		return nil, fmt.Errorf("webhook returned response.patch but not response.patchType")
	case len(r.Patch) == 0 && r.PatchType != nil:
		return nil, fmt.Errorf("webhook returned response.patchType but not response.patch")
	case r.PatchType != nil && *r.PatchType == "":
		return nil, fmt.Errorf("webhook returned invalid response.patchType of %q", *r.PatchType)
	case r.PatchType != nil:
		out.Patch, out.PatchType = r.Patch, *r.PatchType
	}
	return out, nil
}

// verdictBeta checks the content of a response in v1beta1, which names no type of patch. A validating hook's patch is ignored.
func verdictBeta(r *reviewv1beta1.AdmissionResponse, mutating bool) (*verdict, error) {
	if r == nil {
		return nil, fmt.Errorf("webhook response was absent")
	}
	out := &verdict{Allowed: r.Allowed, Status: r.Result, AuditAnnotations: r.AuditAnnotations, Warnings: r.Warnings}
	if mutating && len(r.Patch) > 0 {
		out.Patch, out.PatchType = r.Patch, reviewv1.PatchTypeJSONPatch
	}
	return out, nil
}
