package kinds

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"net/mail"
	"slices"
	"strings"
	"time"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/server/kinds/pods"
	"github.com/deed-project/deed/server/kinds/walk"
	"github.com/deed-project/deed/value"
)

// keyUsages are what a certificate may be used for.
var keyUsages = []string{
	"any", "cert sign", "client auth", "code signing", "content commitment", "crl sign", "data encipherment", "decipher only",
	"digital signature", "email protection", "encipher only", "ipsec end system", "ipsec tunnel", "ipsec user", "key agreement",
	"key encipherment", "microsoft sgc", "netscape sgc", "ocsp signing", "s/mime", "server auth", "signing", "timestamping",
}

// validateSigning validates a new request for a certificate. An update changes nothing of it but the metadata.
func validateSigning(r *walk.Report, object walk.Place, live value.Value) {
	if !live.IsAbsent() {
		return
	}
	spec := object.At("spec")
	request := spec.At("request")
	if err := checkSigningRequest(decoded(request)); err != nil {
		r.Invalid(request, err.Error())
	}
	usages := spec.At("usages")
	if usages.Len() == 0 {
		r.Required(usages, "")
	}
	for i := range usages.Indexes() {
		r.OnlyAmong(usages.Index(i), keyUsages...)
	}
	var seen walk.Names
	for i := range usages.Indexes() {
		if usage := usages.Index(i); !seen.Add(usage.Str()) {
			r.Duplicate(usage)
		}
	}
	if signer := spec.At("signerName"); signer.Str() == "kubernetes.io/legacy-unknown" {
		r.Invalid(signer, "the legacy signerName is not allowed via this API version")
	} else {
		r.SignerName(signer)
	}
	if seconds := spec.At("expirationSeconds"); seconds.IsSet() && seconds.Int() < 600 {
		r.Invalid(seconds, "may not specify a duration less than 600 seconds (10 minutes)")
	}
}

// decoded returns the bytes of a text in base64.
func decoded(p walk.Place) []byte {
	text, _ := base64.StdEncoding.DecodeString(p.Str()) // it was decoded before
	return text
}

// checkSigningRequest returns what is wrong with a request in PEM, or with its signature.
func checkSigningRequest(text []byte) error {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != "CERTIFICATE REQUEST" {
		return errors.New("PEM block type must be CERTIFICATE REQUEST")
	}
	request, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		return err
	}
	return request.CheckSignature()
}

// checkCertificates returns what is wrong with certificates in PEM.
func checkCertificates(text []byte) error {
	blocks := 0
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			return fmt.Errorf("only CERTIFICATE PEM blocks are allowed, found %q", block.Type)
		}
		if len(block.Headers) > 0 {
			return errors.New("no PEM block headers are permitted")
		}
		certificates, err := x509.ParseCertificates(block.Bytes)
		if err != nil {
			return err
		}
		if len(certificates) == 0 {
			return errors.New("found CERTIFICATE PEM block containing 0 certificates")
		}
		blocks++
	}
	if blocks == 0 && len(text) > 0 {
		return errors.New("must contain at least one CERTIFICATE PEM block")
	}
	return nil
}

// validateApproval validates the conditions that approve or deny a request for a certificate.
func validateApproval(r *walk.Report, object walk.Place, live value.Value) {
	conditions := object.At("status").At("conditions")
	validateSigningConditions(r, conditions)
	validateKeptConditions(r, conditions, live)
}

// validateSigningStatus validates the certificate of a request and its conditions. The status decides nothing about the request.
func validateSigningStatus(r *walk.Report, object walk.Place, live value.Value) {
	status := object.At("status")
	conditions, certificate := status.At("conditions"), status.At("certificate")
	was := live.Get("status", "certificate")
	changed := certificate.Str() != was.Str()
	validateSigningConditions(r, conditions)
	if err := checkCertificates(decoded(certificate)); changed && err != nil {
		r.InvalidAs(certificate, "<certificate data>", err.Error())
	}
	validateKeptConditions(r, conditions, live)
	for _, typ := range []string{"Approved", "Denied"} {
		if countOf(conditions.Value, typ) > countOf(live.Get("status", "conditions"), typ) {
			r.Forbidden(conditions, fmt.Sprintf("updates may not add a condition of type %q", typ))
		}
	}
	if changed && was.Str() != "" {
		r.Forbidden(certificate, "updates may not modify existing certificate content")
	}
}

// validateSigningConditions validates the conditions of a request for a certificate, each alone and together.
func validateSigningConditions(r *walk.Report, conditions walk.Place) {
	var seen walk.Names
	for i := range conditions.Indexes() {
		typ, status := conditions.Index(i).At("type"), conditions.Index(i).At("status")
		r.Present(typ)
		if slices.Contains([]string{"Approved", "Denied", "Failed"}, typ.Str()) {
			r.Among(status, "True")
		} else {
			r.Among(status, "False", "True", "Unknown")
		}
		if !seen.Add(typ.Str()) {
			r.Duplicate(typ)
		}
	}
	if seen.Has("Approved") && seen.Has("Denied") {
		const approved, denied = `conditions[{"type": "Approved"}]`, `conditions[{"type": "Denied"}]`
		r.InvalidLater(conditions, fmt.Sprintf("{%s, %s}", approved, denied),
			fmt.Sprintf("must specify at most one of: `%s`, `%s`", approved, denied))
	}
}

// validateKeptConditions refuses that a condition goes with which a request is decided.
func validateKeptConditions(r *walk.Report, conditions walk.Place, live value.Value) {
	for _, typ := range []string{"Approved", "Denied", "Failed"} {
		if countOf(conditions.Value, typ) < countOf(live.Get("status", "conditions"), typ) {
			r.Forbidden(conditions, fmt.Sprintf("updates may not remove a condition of type %q", typ))
		}
	}
}

// countOf returns how many conditions have a type.
func countOf(conditions value.Value, typ string) (n int) {
	for c := range conditions.Items() {
		if c.Get("type").Str() == typ {
			n++
		}
	}
	return n
}

// Bounds of the requests that nodes make for pods.
const (
	mostOfUID     = 128
	mostOfKey     = 10 << 10
	fewestOfHours = 60 * 60
	mostOfSigners = 91 * 24 * 60 * 60
	mostOfOwn     = 24 * 60 * 60 // for the signers of Kubernetes
)

// validatePodCertificate validates a PodCertificateRequest. Its spec cannot change.
func validatePodCertificate(r *walk.Report, object walk.Place, live value.Value) {
	spec := object.At("spec")
	if walk.IsSet(live) {
		if !r.Same(spec, live.Get("spec")) {
			r.Invalid(spec, "field is immutable")
		}
		return
	}
	r.SignerName(spec.At("signerName"))
	if annotations := spec.At("unverifiedUserAnnotations"); annotations.IsSet() {
		pods.ValidateUserAnnotations(r, annotations)
	}
	validateSubjectOf(r, spec, "pod", apivalidation.NameIsDNSSubdomain)
	validateSubjectOf(r, spec, "serviceAccount", apivalidation.NameIsDNSSubdomain)
	validateSubjectOf(r, spec, "node", apivalidation.NameIsDNSSubdomain)
	seconds := spec.At("maxExpirationSeconds")
	if !seconds.IsSet() {
		r.Required(seconds, "must be set")
		return
	}
	most := int64(mostOfSigners)
	if host, _, _ := strings.Cut(spec.Text("signerName"), "/"); host == "kubernetes.io" || strings.HasSuffix(host, ".kubernetes.io") {
		most = mostOfOwn
	}
	if n := seconds.Int(); n < fewestOfHours || n > most {
		r.Invalid(seconds, fmt.Sprintf("must be in the range [%d, %d]", fewestOfHours, most))
	}
	validateProof(r, spec)
}

// validateSubjectOf validates the name and the UID of a pod, its account or its node.
func validateSubjectOf(r *walk.Report, spec walk.Place, what string, rule apivalidation.ValidateNameFunc) {
	name, uid := spec.At(what+"Name"), spec.At(what+"UID")
	r.InvalidAs(name, name.Str(), rule(name.Str(), false)...)
	if uid.Str() == "" {
		r.InvalidAs(uid, "", "must not be empty")
	}
	if len(uid.Str()) > mostOfUID {
		r.Add(field.TooLong(uid.Path(), uid.Str(), mostOfUID))
	}
}

// validateProof validates the key of a request, and the proof that the client has the private key.
func validateProof(r *walk.Report, spec walk.Place) {
	stub, key, signature := spec.At("stubPKCS10Request"), spec.At("pkixPublicKey"), spec.At("proofOfPossession")
	switch hasKey, hasSignature := key.Str() != "", signature.Str() != ""; {
	case stub.Str() != "" && !hasKey && !hasSignature:
		validateStub(r, stub)
	case stub.Str() == "" && hasKey && hasSignature:
		validatePossession(r, key, signature, spec.Text("podUID"))
	default:
		r.InvalidAs(spec, field.OmitValueType{}, "exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set")
	}
}

// validateStub validates an empty request for a certificate, whose signature proves who has its key.
func validateStub(r *walk.Report, p walk.Place) {
	text := decoded(p)
	if len(text) > mostOfKey {
		r.Add(field.TooLong(p.Path(), text, mostOfKey))
		return
	}
	request, err := x509.ParseCertificateRequest(text)
	if err != nil {
		r.InvalidAs(p, field.OmitValueType{}, "must be a valid PKCS#10 CSR")
		return
	}
	switch shown, wrong := weakness(request.PublicKey, "P256, P384, or P521"); {
	case wrong == unknownKey:
		r.InvalidAs(p, field.OmitValueType{}, wrong)
	case wrong != "":
		r.InvalidAs(p, shown, wrong)
	case request.CheckSignature() != nil:
		r.InvalidAs(p, field.OmitValueType{}, "invalid signature")
	}
}

// validatePossession validates a key, and a signature of a UID with the key.
func validatePossession(r *walk.Report, key, signature walk.Place, uid string) {
	der, signed := decoded(key), decoded(signature)
	if len(der) > mostOfKey {
		r.Add(field.TooLong(key.Path(), der, mostOfKey))
		return
	}
	if len(signed) > mostOfKey {
		r.Add(field.TooLong(signature.Path(), signed, mostOfKey))
		return
	}
	public, err := x509.ParsePKIXPublicKey(der)
	if err != nil {
		r.InvalidAs(key, key.Str(), "must be a valid PKIX-serialized public key")
		return
	}
	switch shown, wrong := weakness(public, "P256 or P384"); {
	case wrong == unknownKey:
		r.InvalidAs(key, key.Str(), wrong)
	case wrong != "":
		r.InvalidAs(key, shown, wrong)
	case !verified(public, uid, signed):
		r.InvalidAs(signature, field.OmitValueType{}, "could not verify proof-of-possession signature")
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
func validatePodCertificateStatus(r *walk.Report, object walk.Place, live value.Value) {
	status, was := object.At("status"), live.Get("status")
	conditions := status.At("conditions")
	ends := ""
	for i := range conditions.Indexes() {
		c := conditions.Below(conditions.Item(i), fmt.Sprintf("[%d]", i), walk.IsMember) // as kube-apiserver writes the index
		typ, state := c.At("type"), c.At("status")
		switch typ.Str() {
		case "Issued", "Denied", "Failed":
			if ends != "" {
				r.Invalid(typ, `There may be at most one condition with type "Issued", "Denied", or "Failed"`)
			}
			ends = typ.Str()
			if state.Str() != "True" {
				r.OnlyAmong(state, "True")
			}
		default:
			r.NotOneOf(typ, "Issued", "Denied", "Failed")
		}
	}
	walk.ValidateConditions(r, object, live)
	const immutable = `status is immutable unless transitioning to "Issued", "Denied", or "Failed"`
	switch had := endOf(was); {
	case len(r.Errs) > 0:
	case had != "":
		sameStatus(r, status, was, "immutable after PodCertificateRequest is issued, denied, or failed")
	case ends == "Denied" || ends == "Failed":
		sameStatus(r, status, value.Object(value.Member{Name: "conditions", Value: conditions.Value}),
			"non-condition status fields must be empty when denying or failing the PodCertificateRequest")
	case ends == "":
		sameStatus(r, status, was, immutable)
	default:
		validateIssued(r, status, object.At("spec"))
	}
}

// mostOfChain is how many bytes an issued chain of certificates may have.
const mostOfChain = 100 * 1024

// validateIssued validates the chain of certificates that a request for the certificate of a pod got, and its times. The first error ends the
// validation, but for those of the names in the certificate and for times that are missing.
func validateIssued(r *walk.Report, status, spec walk.Place) {
	chain := status.At("certificateChain")
	if len(chain.Str()) > mostOfChain {
		r.Add(field.TooLong(chain.Path(), chain.Str(), mostOfChain))
		return
	}
	block, rest := pem.Decode([]byte(chain.Str()))
	switch {
	case block == nil:
		r.InvalidAs(chain, chain.Str(), "issued certificate chain must contain at least one certificate")
		return
	case block.Type != "CERTIFICATE":
		r.InvalidAs(chain, chain.Str(), "issued certificate chain must consist entirely of CERTIFICATE PEM blocks")
		return
	}
	leaf, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		r.InvalidAs(chain, chain.Str(), "leaf certificate does not parse as valid X.509")
		return
	}
	validateLeafNames(r, chain, leaf)
	if wanted, ok := wantedKey(spec).(interface{ Equal(crypto.PublicKey) bool }); ok && !wanted.Equal(leaf.PublicKey) {
		r.InvalidAs(chain, chain.Str(), "leaf certificate was not issued to the requested public key")
		return
	}
	if !leafTimes(r, status, leaf, spec.Get("maxExpirationSeconds").Int()) {
		return
	}
	for block, rest = pem.Decode(rest); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			r.InvalidAs(chain, chain.Str(), "issued certificate chain must consist entirely of CERTFICATE PEM blocks") // sic
			return
		}
		if _, err := x509.ParseCertificate(block.Bytes); err != nil {
			r.InvalidAs(chain, chain.Str(), "intermediate certificate does not parse as valid X.509")
			return
		}
	}
}

// wantedKey returns the public key that a certificate is requested for. The key was validated when the request was created.
func wantedKey(spec walk.Place) any {
	if der := decoded(spec.At("stubPKCS10Request")); len(der) > 0 {
		if request, err := x509.ParseCertificateRequest(der); err == nil {
			return request.PublicKey
		}
		return nil
	}
	key, err := x509.ParsePKIXPublicKey(decoded(spec.At("pkixPublicKey")))
	if err != nil {
		return nil
	}
	return key
}

// validateLeafNames validates the names that an issued certificate is for.
func validateLeafNames(r *walk.Report, chain walk.Place, leaf *x509.Certificate) {
	for _, name := range leaf.DNSNames {
		if name == "" {
			r.InvalidAs(chain, name, "leaf certificate should not contain empty DNSName")
		}
		if strings.Contains(name, "..") {
			r.InvalidAs(chain, name, "leaf certificate's DNSName should not contain '..'")
		}
		if strings.HasPrefix(name, ".") || strings.HasSuffix(name, ".") {
			r.InvalidAs(chain, name, "leaf certificate's DNSName should not start or end with '.'")
		}
	}
	for _, address := range leaf.EmailAddresses {
		if _, err := mail.ParseAddress(address); err != nil {
			r.InvalidAs(chain, address, "leaf certificate should not contain invalid EmailAddress")
		}
	}
}

// leafTimes validates the times of an issued certificate against those in the status, and reports whether they are right.
func leafTimes(r *walk.Report, status walk.Place, leaf *x509.Certificate, seconds int64) bool {
	chain := status.At("certificateChain")
	from, until, refresh := status.At("notBefore"), status.At("notAfter"), status.At("beginRefreshAt")
	for _, p := range [...]walk.Place{from, until} {
		if p.IsAbsent() { // a time of zero is null
			r.Required(p, "must be present and consistent with the issued certificate")
		}
	}
	if refresh.IsAbsent() {
		r.Required(refresh, "must be present and in the range [notbefore+10min, notafter-10min]")
	}
	if len(r.Errs) > 0 {
		return false
	}
	const skew, margin = 5 * time.Minute, 10 * time.Minute
	lifetime, begin := leaf.NotAfter.Sub(leaf.NotBefore), walk.TimeOf(refresh.Value)
	switch {
	case !walk.TimeOf(from.Value).Equal(leaf.NotBefore):
		wrongTime(r, from, "must be set to the NotBefore time encoded in the leaf certificate")
	case time.Since(leaf.NotBefore).Abs() > skew:
		wrongTime(r, from, "must be set to within 5 minutes of kube-apiserver's current time")
	case !walk.TimeOf(until.Value).Equal(leaf.NotAfter):
		wrongTime(r, until, "must be set to the NotAfter time encoded in the leaf certificate")
	case lifetime < time.Hour:
		r.InvalidAs(chain, lifetime, "leaf certificate lifetime must be >= 1 hour")
	case lifetime > time.Duration(seconds)*time.Second:
		r.InvalidAs(chain, lifetime, fmt.Sprintf("leaf certificate lifetime must be <= spec.maxExpirationSeconds (%v)", seconds))
	case begin.Before(leaf.NotBefore.Add(margin)):
		wrongTime(r, refresh, "must be at least 10 minutes after status.notBefore")
	case begin.After(leaf.NotAfter.Add(-margin)):
		wrongTime(r, refresh, "must be at least 10 minutes before status.notAfter")
	default:
		return true
	}
	return false
}

// wrongTime refuses a time.
func wrongTime(r *walk.Report, p walk.Place, detail string) {
	r.InvalidAs(p, walk.TimeOf(p.Value), detail)
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

func sameStatus(r *walk.Report, p walk.Place, want value.Value, detail string) {
	if !r.Same(p, want) {
		r.InvalidAs(p, field.OmitValueType{}, detail)
	}
}

// mostOfBundle is how long the text of a trust bundle may be.
const mostOfBundle = 1 << 20

// validateBundle validates a ClusterTrustBundle. A text that does not change is not read.
func validateBundle(r *walk.Report, object walk.Place, live value.Value) {
	spec := object.At("spec")
	signer, text := spec.At("signerName"), spec.At("trustBundle")
	if signer.Str() != "" {
		r.SignerName(signer)
	}
	if !walk.IsSet(live) || live.Get("spec", "trustBundle").Str() != text.Str() {
		validateAnchors(r, text)
	}
	if walk.IsSet(live) && live.Get("spec", "signerName").Str() != signer.Str() {
		r.InvalidLater(signer, signer.Str(), "field is immutable")
	}
}

// validateAnchors validates the certificates of a trust bundle.
func validateAnchors(r *walk.Report, p walk.Place) {
	if len(p.Str()) > mostOfBundle {
		r.Add(field.TooLong(p.Path(), "", mostOfBundle))
		return
	}
	before, at, order := len(r.Errs), map[string][]int{}, []string{}
	i := 0
	for block, rest := pem.Decode([]byte(p.Str())); block != nil; block, rest = pem.Decode(rest) {
		if wrong := whyNoAnchor(block); wrong != "" {
			r.InvalidAs(p, "<value omitted>", fmt.Sprintf("entry %d %s", i, wrong))
		} else {
			der := string(block.Bytes)
			if len(at[der]) == 0 {
				order = append(order, der)
			}
			at[der] = append(at[der], i)
		}
		i++
	}
	if len(r.Errs) > before {
		return
	}
	if len(order) == 0 {
		r.InvalidAs(p, "<value omitted>", "at least one trust anchor must be provided")
	}
	for _, der := range order {
		if len(at[der]) > 1 {
			r.InvalidAs(p, "<value omitted>", fmt.Sprintf("duplicate trust anchor (indices %v)", at[der]))
		}
	}
}

// whyNoAnchor returns why a block is not the certificate of an authority; "" if it is.
func whyNoAnchor(block *pem.Block) string {
	if block.Type != "CERTIFICATE" {
		return "has bad block type: " + block.Type
	}
	if len(block.Headers) != 0 {
		return "has PEM block headers"
	}
	switch certificate, err := x509.ParseCertificate(block.Bytes); {
	case err != nil:
		return "does not parse as X.509"
	case !certificate.IsCA:
		return "does not have the CA bit set"
	case !certificate.BasicConstraintsValid:
		return "has invalid basic constraints"
	}
	return ""
}
