package kinds

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"fmt"
	"strings"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/value"
)

// Bounds of the requests that nodes make for pods.
const (
	mostOfUID     = 128
	mostOfKey     = 10 << 10
	fewestOfHours = 60 * 60
	mostOfSigners = 91 * 24 * 60 * 60
	mostOfOwn     = 24 * 60 * 60 // for the signers of Kubernetes
)

// validatePodCertificate validates a PodCertificateRequest. Its spec cannot change.
func validatePodCertificate(r *report, object place, live value.Value) {
	spec := object.at("spec")
	if isSet(live) {
		if !same(spec.Value, live.Get("spec")) {
			r.invalid(spec, "field is immutable")
		}
		return
	}
	r.signerName(spec.at("signerName"))
	if annotations := spec.at("unverifiedUserAnnotations"); annotations.is() {
		r.userAnnotations(annotations)
	}
	r.subjectOf(spec, "pod", apivalidation.NameIsDNSSubdomain)
	r.subjectOf(spec, "serviceAccount", apivalidation.NameIsDNSSubdomain)
	r.subjectOf(spec, "node", apivalidation.NameIsDNSSubdomain)
	seconds := spec.at("maxExpirationSeconds")
	if !seconds.is() {
		r.required(seconds, "must be set")
		return
	}
	most := int64(mostOfSigners)
	if host, _, _ := strings.Cut(spec.text("signerName"), "/"); host == "kubernetes.io" || strings.HasSuffix(host, ".kubernetes.io") {
		most = mostOfOwn
	}
	if n := seconds.Int(); n < fewestOfHours || n > most {
		r.invalid(seconds, fmt.Sprintf("must be in the range [%d, %d]", fewestOfHours, most))
	}
	r.proof(spec)
}

// subjectOf validates the name and the UID of a pod, its account or its node.
func (r *report) subjectOf(spec place, what string, rule apivalidation.ValidateNameFunc) {
	name, uid := spec.at(what+"Name"), spec.at(what+"UID")
	r.invalidAs(name, name.Str(), rule(name.Str(), false)...)
	if uid.Str() == "" {
		r.invalidAs(uid, "", "must not be empty")
	}
	if len(uid.Str()) > mostOfUID {
		r.add(field.TooLong(uid.path(), uid.Str(), mostOfUID))
	}
}

// proof validates the key of a request, and that whoever made the request has it.
func (r *report) proof(spec place) {
	stub, key, signature := spec.at("stubPKCS10Request"), spec.at("pkixPublicKey"), spec.at("proofOfPossession")
	switch hasKey, hasSignature := key.Str() != "", signature.Str() != ""; {
	case stub.Str() != "" && !hasKey && !hasSignature:
		r.stub(stub)
	case stub.Str() == "" && hasKey && hasSignature:
		r.possession(key, signature, spec.text("podUID"))
	default:
		r.invalidAs(spec, field.OmitValueType{}, "exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set")
	}
}

// stub validates an empty request for a certificate, whose signature proves who has its key.
func (r *report) stub(p place) {
	text := decoded(p)
	if len(text) > mostOfKey {
		r.add(field.TooLong(p.path(), text, mostOfKey))
		return
	}
	request, err := x509.ParseCertificateRequest(text)
	if err != nil {
		r.invalidAs(p, field.OmitValueType{}, "must be a valid PKCS#10 CSR")
		return
	}
	switch shown, wrong := weakness(request.PublicKey, "P256, P384, or P521"); {
	case wrong == unknownKey:
		r.invalidAs(p, field.OmitValueType{}, wrong)
	case wrong != "":
		r.invalidAs(p, shown, wrong)
	case request.CheckSignature() != nil:
		r.invalidAs(p, field.OmitValueType{}, "invalid signature")
	}
}

// possession validates a key, and a signature of a UID with the key.
func (r *report) possession(key, signature place, uid string) {
	der, signed := decoded(key), decoded(signature)
	if len(der) > mostOfKey {
		r.add(field.TooLong(key.path(), der, mostOfKey))
		return
	}
	if len(signed) > mostOfKey {
		r.add(field.TooLong(signature.path(), signed, mostOfKey))
		return
	}
	public, err := x509.ParsePKIXPublicKey(der)
	if err != nil {
		r.invalidAs(key, key.Str(), "must be a valid PKIX-serialized public key")
		return
	}
	switch shown, wrong := weakness(public, "P256 or P384"); {
	case wrong == unknownKey:
		r.invalidAs(key, key.Str(), wrong)
	case wrong != "":
		r.invalidAs(key, shown, wrong)
	case !verified(public, uid, signed):
		r.invalidAs(signature, field.OmitValueType{}, "could not verify proof-of-possession signature")
	}
}

const unknownKey = "unknown public key type; supported types are Ed25519, ECDSA, and RSA"

// weakness returns what is wrong with a key, and what an error shows of it. curves is what the error calls the curves that are right.
func weakness(public any, curves string) (shown, wrong string) {
	switch key := public.(type) {
	case ed25519.PublicKey:
	case *ecdsa.PublicKey:
		if key.Curve != elliptic.P256() && key.Curve != elliptic.P384() && key.Curve != elliptic.P521() {
			return "curve " + key.Curve.Params().Name, "elliptic public keys must use curve " + curves
		}
	case *rsa.PublicKey:
		if bits := key.Size() * 8; bits != 3072 && bits != 4096 {
			return fmt.Sprintf("%d-bit modulus", bits), "RSA keys must have modulus size 3072 or 4096"
		}
	default:
		return "", unknownKey
	}
	return "", ""
}

// verified reports whether a text is signed with a key.
func verified(public any, text string, signature []byte) bool {
	digest := sha256.Sum256([]byte(text))
	switch key := public.(type) {
	case ed25519.PublicKey:
		return ed25519.Verify(key, []byte(text), signature)
	case *ecdsa.PublicKey:
		return ecdsa.VerifyASN1(key, digest[:], signature)
	case *rsa.PublicKey:
		return rsa.VerifyPSS(key, crypto.SHA256, digest[:], signature, nil) == nil
	}
	return false
}

// validatePodCertificateStatus validates the status of a PodCertificateRequest, which changes once: with the condition that ends the request.
func validatePodCertificateStatus(r *report, object place, live value.Value) {
	status, was := object.at("status"), live.Get("status")
	conditions := status.at("conditions")
	ends := ""
	for i := range conditions.indexes() {
		c := conditions.below(conditions.Item(i), fmt.Sprintf("[%d]", i), isMember) // as kube-apiserver writes the index
		typ, state := c.at("type"), c.at("status")
		switch typ.Str() {
		case "Issued", "Denied", "Failed":
			if ends != "" {
				r.invalid(typ, `There may be at most one condition with type "Issued", "Denied", or "Failed"`)
			}
			ends = typ.Str()
			if state.Str() != "True" {
				r.onlyAmong(state, "True")
			}
		default:
			r.notOneOf(typ, "Issued", "Denied", "Failed")
		}
	}
	validateConditions(r, object, live)
	const immutable = `status is immutable unless transitioning to "Issued", "Denied", or "Failed"`
	switch had := endOf(was); {
	case len(r.errs) > 0:
	case had != "":
		r.sameStatus(status, was, "immutable after PodCertificateRequest is issued, denied, or failed")
	case ends == "Denied" || ends == "Failed":
		r.sameStatus(status, value.Object(value.Member{Name: "conditions", Value: conditions.Value}),
			"non-condition status fields must be empty when denying or failing the PodCertificateRequest")
	case ends == "":
		r.sameStatus(status, was, immutable)
	}
}

// endOf returns the type of the condition that ended a request.
func endOf(status value.Value) string {
	for c := range status.Get("conditions").Items() {
		switch typ := c.Get("type").Str(); typ {
		case "Issued", "Denied", "Failed":
			return typ
		}
	}
	return ""
}

func (r *report) sameStatus(p place, want value.Value, detail string) {
	if !same(p.Value, want) {
		r.invalidAs(p, field.OmitValueType{}, detail)
	}
}
