package kinds

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"

	"github.com/deed-project/deed/value"
)

// keyUsages are what a certificate may be used for.
var keyUsages = []string{
	"any", "cert sign", "client auth", "code signing", "content commitment", "crl sign", "data encipherment", "decipher only",
	"digital signature", "email protection", "encipher only", "ipsec end system", "ipsec tunnel", "ipsec user", "key agreement",
	"key encipherment", "microsoft sgc", "netscape sgc", "ocsp signing", "s/mime", "server auth", "signing", "timestamping",
}

// validateSigning validates a new request for a certificate. An update changes nothing of it but the metadata.
func validateSigning(r *report, object place, live value.Value) {
	if !live.IsAbsent() {
		return
	}
	spec := object.at("spec")
	request := spec.at("request")
	if err := checkSigningRequest(decoded(request)); err != nil {
		r.invalid(request, err.Error())
	}
	usages := spec.at("usages")
	if usages.Len() == 0 {
		r.required(usages, "")
	}
	for i := range usages.indexes() {
		r.onlyAmong(usages.item(i), keyUsages...)
	}
	var seen names
	for i := range usages.indexes() {
		if usage := usages.item(i); !seen.add(usage.Str()) {
			r.duplicate(usage)
		}
	}
	if signer := spec.at("signerName"); signer.Str() == "kubernetes.io/legacy-unknown" {
		r.invalid(signer, "the legacy signerName is not allowed via this API version")
	} else {
		r.signerName(signer)
	}
	if seconds := spec.at("expirationSeconds"); seconds.is() && seconds.Int() < 600 {
		r.invalid(seconds, "may not specify a duration less than 600 seconds (10 minutes)")
	}
}

// decoded returns the bytes of a text in base64.
func decoded(p place) []byte {
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
func validateApproval(r *report, object place, live value.Value) {
	conditions := object.at("status").at("conditions")
	r.signingConditions(conditions)
	r.keptConditions(conditions, live)
}

// validateSigningStatus validates the certificate of a request and its conditions. The status decides nothing about the request.
func validateSigningStatus(r *report, object place, live value.Value) {
	status := object.at("status")
	conditions, certificate := status.at("conditions"), status.at("certificate")
	was := live.Get("status", "certificate")
	changed := certificate.Str() != was.Str()
	r.signingConditions(conditions)
	if err := checkCertificates(decoded(certificate)); changed && err != nil {
		r.invalidAs(certificate, "<certificate data>", err.Error())
	}
	r.keptConditions(conditions, live)
	for _, typ := range []string{"Approved", "Denied"} {
		if countOf(conditions.Value, typ) > countOf(live.Get("status", "conditions"), typ) {
			r.forbidden(conditions, fmt.Sprintf("updates may not add a condition of type %q", typ))
		}
	}
	if changed && was.Str() != "" {
		r.forbidden(certificate, "updates may not modify existing certificate content")
	}
}

// signingConditions validates the conditions of a request for a certificate, each alone and together.
func (r *report) signingConditions(conditions place) {
	var seen names
	for i := range conditions.indexes() {
		typ, status := conditions.item(i).at("type"), conditions.item(i).at("status")
		r.present(typ)
		if slices.Contains([]string{"Approved", "Denied", "Failed"}, typ.Str()) {
			r.among(status, "True")
		} else {
			r.among(status, "False", "True", "Unknown")
		}
		if !seen.add(typ.Str()) {
			r.duplicate(typ)
		}
	}
	if seen.has("Approved") && seen.has("Denied") {
		const approved, denied = `conditions[{"type": "Approved"}]`, `conditions[{"type": "Denied"}]`
		r.laterInvalid(conditions, fmt.Sprintf("{%s, %s}", approved, denied),
			fmt.Sprintf("must specify at most one of: `%s`, `%s`", approved, denied))
	}
}

// keptConditions refuses that a condition goes with which a request is decided.
func (r *report) keptConditions(conditions place, live value.Value) {
	for _, typ := range []string{"Approved", "Denied", "Failed"} {
		if countOf(conditions.Value, typ) < countOf(live.Get("status", "conditions"), typ) {
			r.forbidden(conditions, fmt.Sprintf("updates may not remove a condition of type %q", typ))
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
