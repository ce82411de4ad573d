package certificates_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/controllers/certificates"
	"github.com/deed-project/deed/server/internal/servertest"
	"github.com/deed-project/deed/value"
)

// authority returns an authority that ends after a time.
func authority(t *testing.T, ends time.Duration) certificates.Authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, NotBefore: time.Now(), NotAfter: time.Now().Add(ends),
		KeyUsage: x509.KeyUsageCertSign, BasicConstraintsValid: true, IsCA: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return certificates.Authority{Certificate: certificate, Key: key}
}

// request returns a PKCS#10 request as the API has it.
func request(t *testing.T, r x509.CertificateRequest) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &r, key)
	if err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}))
}

const path = "/apis/certificates.k8s.io/v1/certificatesigningrequests"

// TestSigner approves requests, and reads what becomes of them.
func TestSigner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		of := authority(t, 300*24*time.Hour)
		s := servertest.Start(t, server.Config{Controllers: []string{"csrsigning"}, ClusterSigning: of})
		roots := x509.NewCertPool()
		roots.AddCert(of.Certificate)
		jane := x509.CertificateRequest{Subject: pkix.Name{CommonName: "jane", Organization: []string{"devs"}}}
		node := x509.CertificateRequest{Subject: pkix.Name{CommonName: "system:node:n", Organization: []string{"system:nodes"}}}
		serving := node
		serving.DNSNames = []string{"n.example.org"}
		for i, c := range []struct {
			signer, usages, seconds string
			request                 x509.CertificateRequest
			holds                   time.Duration // of the certificate; 0 for none
			failure                 string        // the message; "" if the signer says nothing
		}{
			{"kube-apiserver-client", `"client auth","digital signature"`, "", jane, 300 * 24 * time.Hour, ""},
			{"kube-apiserver-client", `"client auth"`, "3600", jane, time.Hour, ""},
			{"kube-apiserver-client", `"client auth"`, "600", jane, 10 * time.Minute, ""},
			{"kube-apiserver-client", `"client auth"`, "36000", jane, 10*time.Hour - 5*time.Minute, ""},
			{"kube-apiserver-client", `"server auth"`, "", jane, 0, "invalid usage for client certificate: server auth"},
			{"kube-apiserver-client", `"digital signature"`, "", jane, 0, "missing required usage for client certificate: client auth"},
			{"kube-apiserver-client-kubelet", `"client auth","digital signature"`, "3600", node, time.Hour, ""},
			{"kube-apiserver-client-kubelet", `"client auth","digital signature"`, "", jane, 0, "subject organization is not system:nodes"},
			{"kube-apiserver-client-kubelet", `"client auth"`, "", node, 0,
				"usages did not match [client auth digital signature key encipherment]"},
			{"kube-apiserver-client-kubelet", `"client auth","digital signature"`, "", serving, 0, "DNS subjectAltNames are not allowed"},
			{"kubelet-serving", `"digital signature","key encipherment","server auth"`, "3600", serving, time.Hour, ""},
			{"kubelet-serving", `"digital signature","server auth"`, "", node, 0, "DNS or IP subjectAltName is required"},
			{"other", `"client auth"`, "", jane, 0, ""},
		} {
			name, seconds := fmt.Sprint("r", i), ""
			if c.seconds != "" {
				seconds = `,"expirationSeconds":` + c.seconds
			}
			servertest.Create(t, s, path, fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"signerName":"kubernetes.io/%s","usages":[%s],"request":%q%s}}`,
				name, c.signer, c.usages, request(t, c.request), seconds))
			synctest.Wait()
			if _, unapproved := servertest.Send(t, s, http.MethodGet, path+"/"+name, ""); unapproved.Get("status").Len() > 0 {
				t.Errorf("%s is not approved, and has %v", name, unapproved.Get("status"))
			}
			approval := `{"status":{"conditions":[{"type":"Approved","status":"True","reason":"r"}]}}`
			if code, answer := servertest.Send(t, s, http.MethodPatch, path+"/"+name+"/approval", approval); code != http.StatusOK {
				t.Fatal(answer)
			}
			synctest.Wait()
			_, signed := servertest.Send(t, s, http.MethodGet, path+"/"+name, "")
			compare(t, signed, c.request, roots, c.holds, c.failure)
		}
	})
}

// compare compares the status of a request with what is wanted of it.
func compare(t *testing.T, signed value.Value, asked x509.CertificateRequest, roots *x509.CertPool, holds time.Duration, failure string) {
	t.Helper()
	name := signed.Get("metadata", "name").Str()
	got := ""
	for condition := range signed.Get("status", "conditions").Items() {
		if condition.Get("type").Str() == "Failed" {
			got = condition.Get("message").Str()
			if condition.Get("reason").Str() != "SignerValidationFailure" || condition.Get("lastUpdateTime").IsAbsent() {
				t.Errorf("%s: the condition is %v", name, condition)
			}
		}
	}
	if got != failure {
		t.Errorf("%s failed with %q, want %q", name, got, failure)
	}
	text, err := base64.StdEncoding.DecodeString(signed.Get("status", "certificate").Str())
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(text)
	if block == nil || holds == 0 {
		if block != nil || holds > 0 {
			t.Errorf("%s: the certificate is %q", name, text)
		}
		return
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := certificate.Verify(x509.VerifyOptions{Roots: roots, CurrentTime: time.Now(), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}}); err != nil {
		t.Errorf("%s: %v", name, err)
	}
	if certificate.Subject.String() != asked.Subject.String() || strings.Join(certificate.DNSNames, " ") != strings.Join(asked.DNSNames, " ") {
		t.Errorf("%s is for %v %v", name, certificate.Subject, certificate.DNSNames)
	}
	if begins, ends := time.Since(certificate.NotBefore), time.Until(certificate.NotAfter); begins.Round(time.Second) != 5*time.Minute || ends.Round(time.Second) != holds {
		t.Errorf("%s began %v ago and ends in %v, want %v", name, begins, ends, holds)
	}
	if len(certificate.ExtKeyUsage) != 1 || certificate.IsCA {
		t.Errorf("%s has the usages %v", name, certificate.ExtKeyUsage)
	}
}
