package command

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/deed-project/deed/server"
)

// tls returns how the server speaks TLS, nil without, and the certificate that clients must trust, if it is one of its own.
func (o *options) tls() (*tls.Config, []byte, error) {
	if o.insecure {
		return nil, nil, nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}}
	var trusted []byte
	var certificate tls.Certificate
	var err error
	switch hosts := []string{"localhost", "127.0.0.1", "::1", o.host}; {
	case o.tlsCert != "":
		certificate, err = tls.LoadX509KeyPair(o.tlsCert, o.tlsKey)
	case o.certDir != "":
		certificate, trusted, err = keptCertificate(o.certDir, hosts)
	default:
		certificate, trusted, err = server.SelfSigned(time.Now(), hosts...)
	}
	if err != nil {
		return nil, nil, err
	}
	c.Certificates = []tls.Certificate{certificate}
	return c, trusted, nil
}

// keptCertificate returns the certificate in the named folder, where kube-apiserver looks for it, and what clients must trust. It makes one
// if there is none.
func keptCertificate(dir string, hosts []string) (tls.Certificate, []byte, error) {
	name, keyName := filepath.Join(dir, "apiserver.crt"), filepath.Join(dir, "apiserver.key")
	trusted, err := os.ReadFile(name)
	if err == nil {
		certificate, err := tls.LoadX509KeyPair(name, keyName)
		return certificate, trusted, err
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return tls.Certificate{}, nil, err
	}
	certificate, trusted, err := server.SelfSigned(time.Now(), hosts...)
	if err != nil {
		return certificate, nil, err
	}
	key, err := x509.MarshalPKCS8PrivateKey(certificate.PrivateKey)
	if err != nil {
		return certificate, nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return certificate, nil, err
	}
	// The key goes first: a certificate without its key would stand in the way of the next run.
	if err := os.WriteFile(keyName, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}), 0o600); err != nil {
		return certificate, nil, err
	}
	return certificate, trusted, os.WriteFile(name, trusted, 0o644)
}
