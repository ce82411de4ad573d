package kinds_test

import (
	"crypto/ed25519"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
	"github.com/deed-project/deed/server/kinds"
	"github.com/deed-project/deed/value"
)

// TestIssuedCertificates validates the chain and the times of an issued PodCertificateRequest. A certificate has to be new, so that each run
// makes its own. The texts are those of a kube-apiserver.
func TestIssuedCertificates(t *testing.T) {
	key, other := ed25519.NewKeyFromSeed(make([]byte, 32)), ed25519.NewKeyFromSeed([]byte(strings.Repeat("a", 32)))
	now := time.Now().UTC().Truncate(time.Second)
	certificate := func(key ed25519.PrivateKey, from time.Time, lifetime time.Duration, names ...string) string {
		c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "a"}, NotBefore: from, NotAfter: from.Add(lifetime), DNSNames: names}
		der, err := x509.CreateCertificate(nil, c, c, key.Public(), key)
		if err != nil {
			t.Fatal(err)
		}
		return encoded("CERTIFICATE", der)
	}
	at := func(after time.Duration) string { return now.Add(after).Format(time.RFC3339) }
	const day = 24 * time.Hour
	good := certificate(key, now, 2*time.Hour)
	for _, c := range []struct{ chain, from, until, refresh, want string }{
		{good, at(0), at(2 * time.Hour), at(time.Hour), ""},
		{good + good, at(0), at(2 * time.Hour), at(time.Hour), ""},
		{"a", at(0), at(2 * time.Hour), at(time.Hour), "issued certificate chain must contain at least one certificate"},
		{encoded("A", nil), at(0), at(2 * time.Hour), at(time.Hour), "issued certificate chain must consist entirely of CERTIFICATE PEM blocks"},
		{encoded("CERTIFICATE", nil), at(0), at(2 * time.Hour), at(time.Hour), "leaf certificate does not parse as valid X.509"},
		{good + encoded("A", nil), at(0), at(2 * time.Hour), at(time.Hour), "issued certificate chain must consist entirely of CERTFICATE PEM blocks"},
		{good + encoded("CERTIFICATE", nil), at(0), at(2 * time.Hour), at(time.Hour), "intermediate certificate does not parse as valid X.509"},
		{certificate(other, now, 2*time.Hour), at(0), at(2 * time.Hour), at(time.Hour), "leaf certificate was not issued to the requested public key"},
		{certificate(key, now, 2*time.Hour, "a."), at(0), at(2 * time.Hour), at(time.Hour), "leaf certificate's DNSName should not start or end with '.'"},
		{good, "", at(2 * time.Hour), at(time.Hour), "must be present and consistent with the issued certificate"},
		{good, at(time.Second), at(2 * time.Hour), at(time.Hour), "must be set to the NotBefore time encoded in the leaf certificate"},
		{good, at(0), at(time.Hour), at(time.Hour), "must be set to the NotAfter time encoded in the leaf certificate"},
		{certificate(key, now.Add(-time.Hour), 2*time.Hour), at(-time.Hour), at(time.Hour), at(0), "must be set to within 5 minutes of kube-apiserver's current time"},
		{certificate(key, now, time.Minute), at(0), at(time.Minute), at(0), "leaf certificate lifetime must be >= 1 hour"},
		{certificate(key, now, 2*day), at(0), at(2 * day), at(time.Hour), "leaf certificate lifetime must be <= spec.maxExpirationSeconds (86400)"},
		{good, at(0), at(2 * time.Hour), at(0), "must be at least 10 minutes after status.notBefore"},
		{good, at(0), at(2 * time.Hour), at(2 * time.Hour), "must be at least 10 minutes before status.notAfter"},
	} {
		if got := issuedErrors(t, key, c.chain, c.from, c.until, c.refresh); got != c.want {
			t.Errorf("%q, want %q for %+v", got, c.want, c)
		}
	}
}

func encoded(typ string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: typ, Bytes: der}))
}

// issuedErrors returns the details of the errors in the status of a request for a certificate of a key.
func issuedErrors(t *testing.T, key ed25519.PrivateKey, chain, from, until, refresh string) string {
	t.Helper()
	request, err := x509.CreateCertificateRequest(nil, &x509.CertificateRequest{}, key)
	if err != nil {
		t.Fatal(err)
	}
	kind, known := builtin.Lookup(schema.ParseGVK("certificates.k8s.io/v1", "PodCertificateRequest"))
	if !known {
		t.Fatal("PodCertificateRequest is not known")
	}
	text := func(name, s string) value.Member { return value.Member{Name: name, Value: value.String(s)} }
	spec := value.Member{Name: "spec", Value: value.Object(text("stubPKCS10Request", base64.StdEncoding.EncodeToString(request)),
		value.Member{Name: "maxExpirationSeconds", Value: value.Int(86400)})}
	status := value.Object(text("certificateChain", chain), value.Member{Name: "conditions", Value: value.List(value.Object(
		text("type", "Issued"), text("status", "True"), text("reason", "A"), text("message", ""), text("lastTransitionTime", until)))})
	for name, at := range map[string]string{"notBefore": from, "notAfter": until, "beginRefreshAt": refresh} {
		if at != "" {
			status = status.With(name, value.String(at))
		}
	}
	object := value.Object(spec, value.Member{Name: "status", Value: status})
	var details []string
	for _, err := range kinds.Of(kind).ValidateUpdate(t.Context(), object, value.Object(spec), "status") {
		details = append(details, err.Detail)
	}
	return strings.Join(details, "; ")
}
