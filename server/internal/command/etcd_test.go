package command

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// TestSecureEtcd keeps objects in an etcd that wants a certificate and a password, and lets nobody in without. The user is allowed
// what is under the prefix, and nothing else. DEED_ETCD names the program, if it is not the one that is installed.
func TestSecureEtcd(t *testing.T) {
	program := os.Getenv("DEED_ETCD")
	if program == "" {
		var err error
		if program, err = exec.LookPath("etcd"); err != nil {
			t.Skip("DEED_ETCD names no etcd, and none is installed")
		}
	}
	dir := t.TempDir()
	ours, others := newAuthority(t, filepath.Join(dir, "ca")), newAuthority(t, filepath.Join(dir, "other"))
	ours.issue(t, filepath.Join(dir, "etcd"))
	ours.issue(t, filepath.Join(dir, "deed"))
	ours.issue(t, filepath.Join(dir, "guest"))
	others.issue(t, filepath.Join(dir, "stranger"))
	if err := os.WriteFile(filepath.Join(dir, "password"), []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "wrong"), []byte("guess\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	url := startEtcd(t, program, "https", "--client-cert-auth", "--trusted-ca-file", filepath.Join(dir, "ca.crt"),
		"--cert-file", filepath.Join(dir, "etcd.crt"), "--key-file", filepath.Join(dir, "etcd.key"))
	askForPassword(t, url, dir)

	t.Run("served", func(t *testing.T) {
		for _, c := range []struct{ name, flags, want string }{
			{"as it should be", "--etcd-cafile DIR/ca.crt --etcd-certfile DIR/deed.crt --etcd-keyfile DIR/deed.key --etcd-user deed --etcd-password-file DIR/password", ""},
			{"a wrong password", "--etcd-cafile DIR/ca.crt --etcd-certfile DIR/deed.crt --etcd-keyfile DIR/deed.key --etcd-user deed --etcd-password-file DIR/wrong", "authentication failed"},
			{"the name in the certificate", "--etcd-cafile DIR/ca.crt --etcd-certfile DIR/deed.crt --etcd-keyfile DIR/deed.key", ""},
			{"another name in it", "--etcd-cafile DIR/ca.crt --etcd-certfile DIR/guest.crt --etcd-keyfile DIR/guest.key", "etcdserver: permission denied"},
			{"another authority", "--etcd-cafile DIR/other.crt --etcd-certfile DIR/deed.crt --etcd-keyfile DIR/deed.key --etcd-user deed --etcd-password-file DIR/password", "certificate"},
			{"no certificate", "--etcd-cafile DIR/ca.crt --etcd-user deed --etcd-password-file DIR/password", "certificate"},
			{"a certificate of others", "--etcd-cafile DIR/ca.crt --etcd-certfile DIR/stranger.crt --etcd-keyfile DIR/stranger.key --etcd-user deed --etcd-password-file DIR/password", "certificate"},
		} {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				got := runUntilServing(t, strings.ReplaceAll(c.flags, "DIR", dir)+" --etcd-servers "+url)
				if !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
					t.Errorf("%q, want %q", got, c.want)
				}
			})
		}
	})
}

// TestSilentEtcd starts with two addresses that do not answer: a closed port, and a listener that sends nothing.
// The server says so of both, and goes on trying until it is stopped.
//
// The closed port is the client's end of a connection. So no other listener can get it.
func TestSilentEtcd(t *testing.T) {
	mute, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer mute.Close()
	held, err := net.Dial("tcp", mute.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	closed := held.LocalAddr()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var out, errOut output
	errOut.on, errOut.do = "tried again", cancel
	flags := "--listen 127.0.0.1:0 --etcd-servers http://" + closed.String() + ",http://" + mute.Addr().String()
	if code := Run(ctx, Name, strings.Fields(flags), &out, &errOut); code == 0 {
		t.Error("the server ends without an error")
	}
	for _, want := range []string{
		"etcd at http://" + closed.String() + " does not answer: dial tcp",
		"etcd at http://" + mute.Addr().String() + " does not answer: it takes connections",
	} {
		if !strings.Contains(errOut.String(), want) {
			t.Errorf("the server does not say %q, but\n%s", want, errOut.String())
		}
	}
}

// runUntilServing runs the program until it serves something from etcd, and returns what it says on its standard error.
func runUntilServing(t *testing.T, flags string) string {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var out, errOut output
	out.on, out.do = "Objects are kept in etcd", cancel
	Run(ctx, Name, strings.Fields(flags+" --log-format text --listen 127.0.0.1:0 --crd ../../apitest/testdata/widgets.yaml"), &out, &errOut)
	return errOut.String()
}

// output is what a program prints. It does something once a text is there.
type output struct {
	mu   sync.Mutex
	text strings.Builder
	on   string
	do   func()
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text.Write(b)
	if o.do != nil && strings.Contains(o.text.String(), o.on) {
		o.do()
	}
	return len(b), nil
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// askForPassword makes an etcd ask for passwords, and adds the user deed.
func askForPassword(t *testing.T, url, dir string) {
	t.Helper()
	files := transport.TLSInfo{
		CertFile: filepath.Join(dir, "deed.crt"), KeyFile: filepath.Join(dir, "deed.key"), TrustedCAFile: filepath.Join(dir, "ca.crt"),
	}
	tls, err := files.ClientConfig()
	if err != nil {
		t.Fatal(err)
	}
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{url}, TLS: tls, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	must := func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(client.RoleAdd(ctx, "objects"))
	must(client.RoleGrantPermission(ctx, "objects", "/registry/", clientv3.GetPrefixRangeEnd("/registry/"), clientv3.PermissionType(clientv3.PermReadWrite)))
	must(client.UserAdd(ctx, "deed", "secret"))
	must(client.UserGrantRole(ctx, "deed", "objects"))
	must(client.RoleAdd(ctx, "root"))
	must(client.UserAdd(ctx, "root", "other"))
	must(client.UserGrantRole(ctx, "root", "root"))
	must(client.AuthEnable(ctx))
}

// authority issues certificates.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// newAuthority returns an authority whose certificate is in a file.
func newAuthority(t *testing.T, file string) *authority {
	t.Helper()
	a := &authority{certificate: &x509.Certificate{
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign, Subject: pkix.Name{CommonName: file},
	}}
	a.key = a.write(t, file, a.certificate)
	return a
}

// issue writes a certificate for loopback addresses, as a server and as a client, and its key.
func (a *authority) issue(t *testing.T, file string) {
	t.Helper()
	a.write(t, file, &x509.Certificate{
		Subject:     pkix.Name{CommonName: filepath.Base(file)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), ownLoopback()},
	})
}

// write signs a certificate, with its own key if there is no other, and writes it and its key.
func (a *authority) write(t *testing.T, file string, c *x509.Certificate) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer := a.key
	if signer == nil {
		signer = key
	}
	c.SerialNumber, c.NotBefore, c.NotAfter = big.NewInt(time.Now().UnixNano()), time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	der, err := x509.CreateCertificate(rand.Reader, c, a.certificate, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{".crt": {Type: "CERTIFICATE", Bytes: der}, ".key": {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(file+name, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return key
}
