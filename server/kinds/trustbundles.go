package kinds

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/value"
)

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
