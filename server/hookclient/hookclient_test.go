package hookclient

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	remote "k8s.io/apiserver/pkg/util/webhook"
)

// TestLimit reads answers within the limit, and one beyond it.
func TestLimit(t *testing.T) {
	for text, want := range map[string]error{"": nil, "ab": nil, "abc": nil, "abcd": errTooLong} {
		read, err := io.ReadAll(&limitedBody{io.NopCloser(strings.NewReader(text)), 3})
		if string(read) != text || err != want {
			t.Errorf("%q is read as %q: %v, want %v", text, read, err, want)
		}
	}
}

// service is a resolver that always returns one server.
type service struct{ *httptest.Server }

// ResolveEndpoint returns the address of the server.
func (s service) ResolveEndpoint(string, string, int32) (*url.URL, error) { return url.Parse(s.URL) }

// certificate returns a certificate for the service hook.system and for this machine.
func certificate(t *testing.T) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signed := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"hook.system.svc"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	raw, err := x509.CreateCertificate(rand.Reader, signed, signed, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key}
}

// TestEndlessAnswers calls webhooks with endless answers, by URL and by service, and checks the credentials that they receive.
func TestEndlessAnswers(t *testing.T) {
	const most = 64 << 20
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer secret" {
			http.Error(w, "who is it?", http.StatusUnauthorized)
			return
		}
		text := make([]byte, 1<<20)
		for {
			if _, err := w.Write(text); err != nil {
				return
			}
		}
	}))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{certificate(t)}}
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	credentials := filepath.Join(t.TempDir(), "kubeconfig")
	config := `{"apiVersion":"v1","kind":"Config","users":[{"name":"*","user":{"token":"secret"}}]}`
	if err := os.WriteFile(credentials, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	clients, err := New(Config{
		Versions: []kschema.GroupVersion{apiextensionsv1.SchemeGroupVersion}, Add: []func(*runtime.Scheme) error{apiextensionsv1.AddToScheme},
		Services: service{server}, Credentials: credentials,
	})
	if err != nil {
		t.Fatal(err)
	}
	bundle := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	for _, at := range []remote.ClientConfig{
		{Name: "url", URL: server.URL, CABundle: bundle},
		{Name: "service", Service: &remote.ClientConfigService{Name: "hook", Namespace: "system", Port: 443}, CABundle: bundle},
	} {
		client, err := clients.HookClient(at)
		if err != nil {
			t.Fatal(err)
		}
		body, err := client.Post().Stream(t.Context())
		if err != nil {
			t.Fatalf("%s: %v", at.Name, err)
		}
		n, err := io.Copy(io.Discard, body)
		if body.Close(); !errors.Is(err, errTooLong) || n < most || n > most+1<<20 {
			t.Errorf("%s: %d bytes are read: %v", at.Name, n, err)
		}
	}
}

// TestRefusedConfigs makes clients of incomplete configurations.
func TestRefusedConfigs(t *testing.T) {
	versions, add := []kschema.GroupVersion{apiextensionsv1.SchemeGroupVersion}, []func(*runtime.Scheme) error{apiextensionsv1.AddToScheme}
	fails := func(*runtime.Scheme) error { return errors.New("no types") }
	for want, c := range map[string]Config{
		"no types":                   {Versions: versions, Add: []func(*runtime.Scheme) error{fails}, Services: service{}},
		"no such file":               {Versions: versions, Add: add, Services: service{}, Credentials: filepath.Join(t.TempDir(), "none")},
		"requires a serviceResolver": {Versions: versions, Add: add},
	} {
		if _, err := New(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
