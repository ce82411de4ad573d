package kinds

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/value"
)

// usages are what a certificate may be for.
var usages = []string{
	"any", "cert sign", "client auth", "code signing", "content commitment", "crl sign", "data encipherment", "decipher only", "digital signature",
	"email protection", "encipher only", "ipsec end system", "ipsec tunnel", "ipsec user", "key agreement", "key encipherment", "microsoft sgc",
	"netscape sgc", "ocsp signing", "s/mime", "server auth", "signing", "timestamping",
}

// fewestSeconds is how long a certificate is requested for at least.
const fewestSeconds = 600

// validateSigning validates a CertificateSigningRequest. Its spec and its status cannot change here.
func validateSigning(r *report, object place, live value.Value) {
	spec, was := object.at("spec"), live.Get("spec")
	request := spec.at("request")
	if wrong := whyUnsigned(decoded(request.Value)); wrong != "" {
		r.invalid(request, wrong)
	}
	r.usages(spec.at("usages"), was.Get("usages"))
	const legacy = "kubernetes.io/legacy-unknown"
	if signer := spec.at("signerName"); signer.Str() == legacy && was.Get("signerName").Str() != legacy {
		r.invalid(signer, "the legacy signerName is not allowed via this API version")
	} else {
		r.signerName(signer)
	}
	if seconds := spec.at("expirationSeconds"); seconds.is() && seconds.Int() < fewestSeconds {
		r.invalid(seconds, fmt.Sprintf("may not specify a duration less than %d seconds (10 minutes)", fewestSeconds))
	}
	status := object.at("status")
	r.signingConditions(status.at("conditions"), live.Get("status", "conditions"))
	r.issued(status.at("certificate"), live)
}

// validateSigningStatus validates the status of a CertificateSigningRequest, which may not approve or deny it.
func validateSigningStatus(r *report, object place, live value.Value) {
	validateSigning(r, object, live)
	status := object.at("status")
	conditions, certificate := status.at("conditions"), status.at("certificate")
	had, has := typeCounts(live.Get("status", "conditions")), typeCounts(conditions.Value)
	for _, typ := range [...]string{"Approved", "Denied", "Failed"} {
		if has[typ] < had[typ] {
			r.forbidden(conditions, fmt.Sprintf("updates may not remove a condition of type %q", typ))
		}
	}
	for _, typ := range [...]string{"Approved", "Denied"} {
		if has[typ] > had[typ] {
			r.forbidden(conditions, fmt.Sprintf("updates may not add a condition of type %q", typ))
		}
	}
	if was := live.Get("status", "certificate"); was.Str() != "" && was.Str() != certificate.Str() {
		r.forbidden(certificate, "updates may not modify existing certificate content")
	}
}

// usages validates what a certificate is for. A request that had unknown or duplicate usages may keep such usages.
func (r *report) usages(p place, was value.Value) {
	if p.Len() == 0 {
		r.required(p, "")
	}
	unknown := func(v value.Value) bool { return !slices.Contains(usages, v.Str()) }
	if !slices.ContainsFunc(slices.Collect(was.Items()), unknown) {
		for i := range p.indexes() {
			r.onlyAmong(p.item(i), usages...)
		}
	}
	if hasTwice(was, value.Value.Str) {
		return
	}
	var met names
	for i := range p.indexes() {
		if usage := p.item(i); !met.add(usage.Str()) {
			r.add(field.Duplicate(usage.path(), Enumeration(usage.Str())))
		}
	}
}

// signingConditions validates what was decided about a request. Faults that the live object has may stay.
func (r *report) signingConditions(p place, was value.Value) {
	typeOf := func(c value.Value) string { return c.Get("type").Str() }
	nameless := slices.ContainsFunc(slices.Collect(was.Items()), func(c value.Value) bool { return typeOf(c) == "" })
	twice := hasTwice(was, typeOf)
	var met names
	for i := range p.indexes() {
		c := p.item(i)
		typ, status := c.at("type"), c.at("status")
		if typ.Str() == "" && !nameless {
			r.required(typ, "")
		}
		switch typ.Str() {
		case "Approved", "Denied", "Failed":
			r.among(status, "True")
		default:
			r.among(status, "False", "True", "Unknown")
		}
		if !met.add(typ.Str()) && !twice {
			r.add(field.Duplicate(typ.path(), Enumeration(typ.Str())))
		}
	}
}

// issued validates the certificate of a request. A certificate that is unchanged, or that replaces an unreadable one, may be anything.
func (r *report) issued(p place, live value.Value) {
	was := live.Get("status", "certificate")
	if isSet(live) && (p.Str() == was.Str() || certificates(decoded(was)) != nil) {
		return
	}
	if err := certificates(decoded(p.Value)); err != nil {
		r.invalidAs(p, "<certificate data>", err.Error())
	}
}

// hasTwice reports whether two items of a list have the same name.
func hasTwice(list value.Value, nameOf func(value.Value) string) bool {
	var met names
	for item := range list.Items() {
		if !met.add(nameOf(item)) {
			return true
		}
	}
	return false
}

// typeCounts returns how many conditions there are of each type.
func typeCounts(conditions value.Value) map[string]int {
	out := map[string]int{}
	for c := range conditions.Items() {
		out[c.Get("type").Str()]++
	}
	return out
}

// decoded returns bytes, which objects have in base64.
func decoded(v value.Value) []byte {
	out, err := base64.StdEncoding.DecodeString(v.Str())
	if err != nil {
		return nil // the schema has refused them
	}
	return out
}

// whyUnsigned returns what is wrong with a request for a certificate, in PEM; "" for nothing.
func whyUnsigned(text []byte) string {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != "CERTIFICATE REQUEST" {
		return "PEM block type must be CERTIFICATE REQUEST"
	}
	request, err := x509.ParseCertificateRequest(block.Bytes)
	if err == nil {
		err = request.CheckSignature()
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// certificates returns what is wrong with certificates in PEM. No text at all is right.
func certificates(text []byte) error {
	if len(text) == 0 {
		return nil
	}
	found := false
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		found = true
		switch all, err := x509.ParseCertificates(block.Bytes); {
		case block.Type != "CERTIFICATE":
			return fmt.Errorf("only CERTIFICATE PEM blocks are allowed, found %q", block.Type)
		case len(block.Headers) != 0:
			return errors.New("no PEM block headers are permitted")
		case err != nil:
			return err
		case len(all) == 0:
			return errors.New("found CERTIFICATE PEM block containing 0 certificates")
		}
	}
	if !found {
		return errors.New("must contain at least one CERTIFICATE PEM block")
	}
	return nil
}

// mostOfBundle is how long the text of a trust bundle may be.
const mostOfBundle = 1 << 20

// validateBundle validates a ClusterTrustBundle. A text that does not change is not read.
func validateBundle(r *report, object place, live value.Value) {
	metadata, spec := object.at("metadata"), object.at("spec")
	signer, text := spec.at("signerName"), spec.at("trustBundle")
	if name := metadata.at("name"); isSet(live) {
		r.invalid(name, trustBundleNameFor(signer.Str())(name.Str(), false)...)
	}
	if signer.Str() != "" {
		r.signerName(signer)
	}
	if !isSet(live) || live.Get("spec", "trustBundle").Str() != text.Str() {
		r.anchors(text)
	}
	if isSet(live) && live.Get("spec", "signerName").Str() != signer.Str() {
		r.laterInvalid(signer, signer.Str(), "field is immutable")
	}
}

// anchors validates the certificates of a trust bundle.
func (r *report) anchors(p place) {
	if len(p.Str()) > mostOfBundle {
		r.add(field.TooLong(p.path(), "", mostOfBundle))
		return
	}
	before, at, order := len(r.errs), map[string][]int{}, []string{}
	i := 0
	for block, rest := pem.Decode([]byte(p.Str())); block != nil; block, rest = pem.Decode(rest) {
		if wrong := whyNoAnchor(block); wrong != "" {
			r.invalidAs(p, "<value omitted>", fmt.Sprintf("entry %d %s", i, wrong))
		} else {
			der := string(block.Bytes)
			if len(at[der]) == 0 {
				order = append(order, der)
			}
			at[der] = append(at[der], i)
		}
		i++
	}
	if len(r.errs) > before {
		return
	}
	if len(order) == 0 {
		r.invalidAs(p, "<value omitted>", "at least one trust anchor must be provided")
	}
	for _, der := range order {
		if len(at[der]) > 1 {
			r.invalidAs(p, "<value omitted>", fmt.Sprintf("duplicate trust anchor (indices %v)", at[der]))
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
