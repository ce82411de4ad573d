package auth

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"log/slog"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/deed-project/deed/server/logs"
)

// issuer is an authority of client certificates.
type issuer struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// newIssuer returns an authority.
func newIssuer(t *testing.T, name string) *issuer {
	t.Helper()
	i := &issuer{}
	i.certificate, i.key = i.issue(t, &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, KeyUsage: x509.KeyUsageCertSign, BasicConstraintsValid: true, IsCA: true,
	})
	return i
}

// issue returns a certificate of the authority, or the certificate of the authority itself.
func (i *issuer) issue(t *testing.T, template *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template.SerialNumber, template.NotBefore, template.NotAfter = big.NewInt(1), time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	parent, signer := i.certificate, i.key
	if parent == nil {
		parent, signer = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return certificate, key
}

// client returns the certificate of a client.
func (i *issuer) client(t *testing.T, name string, groups ...string) *x509.Certificate {
	t.Helper()
	c, _ := i.issue(t, &x509.Certificate{
		Subject: pkix.Name{CommonName: name, Organization: groups}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	return c
}

// pem returns the certificate of the authority in PEM.
func (i *issuer) pem() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: i.certificate.Raw})
}

// TestCertificates sends requests with certificates of users and of front proxies, and headers that name users.
func TestCertificates(t *testing.T) {
	users, proxies, others := newIssuer(t, "users"), newIssuer(t, "proxies"), newIssuer(t, "others")
	tokens := &Tokens{}
	tokens.Add("good", User{Name: "by-token"})
	a := &Access{Authenticator: tokens.Authenticate, Now: time.Now, Log: logs.New(slog.New(slog.DiscardHandler))}
	err := a.UseCertificates(Certificates{ClientCA: users.pem(), Proxies: Proxies{
		CA: proxies.pem(), AllowedNames: []string{"front", "back"}, UsernameHeaders: []string{"X-Remote-User", "X-User"},
		UIDHeaders: []string{"X-Remote-Uid"}, GroupHeaders: []string{"X-Remote-Group"}, ExtraHeaderPrefixes: []string{"X-Remote-Extra-"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	jane, front := users.client(t, "jane", "devs"), proxies.client(t, "front")
	for _, c := range []struct {
		name        string
		certificate *x509.Certificate
		headers     string
		want        string // "" for 401
	}{
		{"no credentials", nil, "", "system:anonymous [system:unauthenticated]"},
		{"a user", jane, "", "jane [devs system:authenticated]"},
		{"a user with headers", jane, "X-Remote-User=root", "jane [devs system:authenticated]"},
		{"headers alone", nil, "X-Remote-User=root", "system:anonymous [system:unauthenticated]"},
		{"a proxy", front, "X-Remote-User=joe X-Remote-Uid=7 X-Remote-Group=a X-Remote-Group=b X-Remote-Extra-Scope=read",
			"joe [a b system:authenticated] 7 map[scope:[read]]"},
		{"a proxy with another header", front, "X-User=joe", "joe [system:authenticated]"},
		{"a proxy that adds the group", front, "X-Remote-User=joe X-Remote-Group=system:authenticated", "joe [system:authenticated]"},
		{"a proxy for nobody", front, "X-Remote-User=system:anonymous X-Remote-Group=system:unauthenticated", "system:anonymous [system:unauthenticated]"},
		{"a proxy without headers", front, "", ""},
		{"a proxy with a token", front, "Authorization=good", "by-token [system:authenticated]"},
		{"an unknown proxy", proxies.client(t, "other"), "X-Remote-User=joe", ""},
		{"another authority", others.client(t, "front"), "X-Remote-User=joe", ""},
		{"another authority with a token", others.client(t, "jane"), "Authorization=good", "by-token [system:authenticated]"},
		{"a user with a bad token", jane, "Authorization=bad", "jane [devs system:authenticated]"},
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.TLS = &tls.ConnectionState{}
		if c.certificate != nil {
			r.TLS.PeerCertificates = []*x509.Certificate{c.certificate}
		}
		for header := range strings.FieldsSeq(c.headers) {
			name, text, _ := strings.Cut(header, "=")
			if name == "Authorization" {
				text = "Bearer " + text
			}
			r.Header.Add(name, text)
		}
		u, err := a.Authenticate(r)
		got := fmt.Sprint(u.Name, " ", u.Groups)
		if u.UID != "" {
			got += fmt.Sprint(" ", u.UID, " ", u.Extra)
		}
		if err != nil {
			got = ""
		}
		if got != c.want {
			t.Errorf("%s: %q, %v, want %q", c.name, got, err, c.want)
		}
		if strings.HasPrefix(c.want, "jane") && !strings.HasPrefix(fmt.Sprint(u.Extra), "map[authentication.kubernetes.io/credential-id:[X509SHA256=") {
			t.Errorf("%s: the extra fields are %v", c.name, u.Extra)
		}
	}
	for _, wrong := range []Certificates{
		{ClientCA: []byte("PEM")}, {Proxies: Proxies{CA: []byte("PEM"), UsernameHeaders: []string{"X"}}}, {Proxies: Proxies{CA: proxies.pem()}},
	} {
		if err := new(Access).UseCertificates(wrong); err == nil {
			t.Errorf("%+v is accepted", wrong)
		}
	}
}
