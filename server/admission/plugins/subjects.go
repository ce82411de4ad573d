package plugins

import (
	"context"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"

	"github.com/deed-project/deed/server/admission"
)

// clientSigner signs certificates of clients of the API server.
const clientSigner = "kubernetes.io/kube-apiserver-client"

// RestrictSubjects is the plugin CertificateSubjectRestriction: it refuses certificates of members of system:masters.
func RestrictSubjects(_ context.Context, r *admission.Request) error {
	if !isFor(r, requests, admission.Create) {
		return nil
	}
	spec := r.Object.Content().Get("spec")
	if spec.Get("signerName").Str() != clientSigner {
		return nil
	}
	parsed, err := parseRequest(spec.Get("request").Str())
	if err != nil {
		return forbid(r, fmt.Errorf("failed to parse CSR: %v", err))
	}
	if slices.Contains(parsed.Subject.Organization, "system:masters") {
		return forbid(r, fmt.Errorf("use of %s signer with system:masters group is not allowed", clientSigner))
	}
	return nil
}

// parseRequest returns the certificate request in a text in base64.
func parseRequest(text string) (*x509.CertificateRequest, error) {
	decoded, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(decoded)
	if block == nil || block.Type != "CERTIFICATE REQUEST" {
		return nil, errors.New("PEM block type must be CERTIFICATE REQUEST")
	}
	return x509.ParseCertificateRequest(block.Bytes)
}
