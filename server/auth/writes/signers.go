package writes

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/server/auth"
	"github.com/deed-project/deed/value"
)

const certificates = "certificates.k8s.io"

var (
	requests = kschema.GroupResource{Group: certificates, Resource: "certificatesigningrequests"}
	bundles  = kschema.GroupResource{Group: certificates, Resource: "clustertrustbundles"}
)

// Signers is the plugins CertificateApproval, CertificateSigning and ClusterTrustBundleAttest: what a user does in the name of a signer needs
// a permission for the signer.
type Signers struct{ Allows auth.Authorizer }

// Approve refuses a user who may not approve or deny requests for the signer of a request.
func (s Signers) Approve(ctx context.Context, r *admission.Request) error {
	if r.Resource.GroupResource() != requests || r.Subresource != "approval" || r.Operation != admission.Update {
		return nil
	}
	return s.check(ctx, r, r.Old.Content(), "approve", "approve requests with signerName")
}

// Sign refuses a user who may not sign for the signer of a request, and who writes its certificate or its conditions.
func (s Signers) Sign(ctx context.Context, r *admission.Request) error {
	if r.Resource.GroupResource() != requests || r.Subresource != "status" || r.Operation != admission.Update {
		return nil
	}
	is, was := r.Object.Content().Get("status"), r.Old.Content().Get("status")
	conditions := func(v value.Value) value.Value { return value.List(slices.Collect(v.Get("conditions").Items())...) } // absent ones are none
	if is.Get("certificate").Str() == was.Get("certificate").Str() && conditions(is).Equal(conditions(was)) {
		return nil
	}
	return s.check(ctx, r, r.Old.Content(), "sign", "sign requests with signerName")
}

// Attest refuses a user who may not attest for the signer of a bundle. A bundle of no signer needs no permission, and neither does a write
// that a garbage collector makes.
func (s Signers) Attest(ctx context.Context, r *admission.Request) error {
	isWrite := r.Operation == admission.Create || r.Operation == admission.Update
	if r.Resource.GroupResource() != bundles || !isWrite || r.Object.Content().Get("spec", "signerName").Str() == "" ||
		admission.OnlyCollected(&r.Object, &r.Old) {
		return nil
	}
	return s.check(ctx, r, r.Object.Content(), "attest", "attest for signerName")
}

// check refuses a request unless its user has a verb for the signer of an object. what names the verb in the refusal.
func (s Signers) check(ctx context.Context, r *admission.Request, object value.Value, verb, what string) error {
	signer := object.Get("spec", "signerName").Str()
	if allowsSigner(ctx, s.Allows, auth.User(r.User), verb, signer) {
		return nil
	}
	return apierrors.NewForbidden(r.Resource.GroupResource(), r.ObjectName(), fmt.Errorf("user not permitted to %s %q", what, signer))
}

// allowsSigner reports whether a user has a verb for a signer, or for all signers of its domain.
func allowsSigner(ctx context.Context, allows auth.Authorizer, user auth.User, verb, signer string) bool {
	domain, _, _ := strings.Cut(signer, "/")
	for _, name := range []string{signer, domain + "/*"} {
		action := auth.Action{Verb: verb, Group: certificates, Version: "*", Resource: "signers", Name: name}
		if allowed, _ := allows(ctx, user, action); allowed {
			return true
		}
	}
	return false
}
