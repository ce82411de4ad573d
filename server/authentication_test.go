package server_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/auth"
	"github.com/deed-project/deed/server/internal/servertest"
)

// TestAuthenticationIsKept changes and deletes what the server publishes about the certificates that it accepts. A kube-apiserver answered the
// same.
func TestAuthenticationIsKept(t *testing.T) {
	bundle := clientAuthority(t)
	synctest.Test(t, func(t *testing.T) {
		s := servertest.Start(t, server.Config{Certificates: auth.Certificates{ClientCA: []byte(bundle)}})
		const path = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication"
		shows := func(when, ca, other string) {
			t.Helper()
			_, v := servertest.Send(t, s, http.MethodGet, path, "")
			if v.Get("data", "client-ca-file").Str() != ca || v.Get("data", "other").Str() != other {
				t.Errorf("%s: %v", when, v)
			}
		}
		synctest.Wait() // the ConfigMap is looked at once more when the server has started
		shows("in the beginning", bundle, "")
		servertest.Send(t, s, http.MethodPatch, path, `{"data":{"client-ca-file":null,"other":"x"}}`)
		time.Sleep(time.Second)
		shows("a second after a change", "", "x")
		time.Sleep(time.Minute)
		shows("a minute after a change", bundle, "")
		servertest.Send(t, s, http.MethodDelete, path, "")
		synctest.Wait()
		shows("after a deletion", bundle, "")
	})
}

// clientAuthority returns a new certificate of an authority, in PEM.
func clientAuthority(t *testing.T) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "clients"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}
