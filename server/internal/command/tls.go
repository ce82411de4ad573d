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

// keptCertificate returns the certificate in the named folder, where kube-apiserver looks for it, and what clients must trust. It makes a
// certificate and a key if there are none. A key without a certificate is an error, because the key may have another use.
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
	if err := create(keyName, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}), 0o600); err != nil {
		return certificate, nil, err
	}
	if err := create(name, trusted, 0o644); err != nil {
		return certificate, nil, errors.Join(err, os.Remove(keyName)) // which would stand in the way of the next run
	}
	return certificate, trusted, nil
}

// create writes text to a new file. It is an error if there is a file or a symbolic link of that name.
func create(name string, text []byte, mode fs.FileMode) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(name))
	}
	return nil
}
