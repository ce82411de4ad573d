package command

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/spf13/pflag"

	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/logs"
)

// tlsOptions are the flags about TLS.
type tlsOptions struct {
	certificate, key string // files
	folder           string // of the certificate and the key, if no files are named
	minVersion       string
	suites           []string
	curves           []int32
	off              bool // plain HTTP
}

// addTo defines the flags in f.
func (o *tlsOptions) addTo(f *pflag.FlagSet) {
	f.StringVar(&o.certificate, "tls-cert-file", "", "PEM file with the server's certificate, which is read again when it changes; default is one of its own")
	f.StringVar(&o.key, "tls-private-key-file", "", "PEM file with the key of the certificate")
	f.StringVar(&o.folder, "cert-dir", "", "folder with the certificate in apiserver.crt and the key in apiserver.key; they are made if they are absent")
	f.StringVar(&o.minVersion, "tls-min-version", "VersionTLS12", "lowest version of TLS, VersionTLS10 to VersionTLS13")
	f.StringSliceVar(&o.suites, "tls-cipher-suites", nil, "cipher suites of TLS 1.2 by their names in Go; default is Go's choice")
	f.Int32SliceVar(&o.curves, "tls-curve-preferences", nil, "key exchange mechanisms by the numbers of Go's tls.CurveID; default is Go's choice")
	f.BoolVar(&o.off, "insecure-http", false, "serve HTTP without TLS; clients send no credentials then")
}

// check refuses flags that do not go together.
func (o *tlsOptions) check() error {
	switch {
	case (o.certificate == "") != (o.key == ""):
		return errors.New("--tls-cert-file and --tls-private-key-file go together")
	case o.off && (o.certificate != "" || o.folder != ""):
		return errors.New("--insecure-http goes with neither --tls-cert-file nor --cert-dir")
	}
	return o.limit(&tls.Config{})
}

// config returns how the server at host speaks TLS, nil without, and the certificate that clients must trust, if it is one of its own.
func (o *tlsOptions) config(host string, log logs.Logger) (*tls.Config, []byte, error) {
	if o.off {
		return nil, nil, nil
	}
	c := &tls.Config{NextProtos: []string{"h2", "http/1.1"}}
	if err := o.limit(c); err != nil {
		return nil, nil, err
	}
	var trusted []byte
	var certificate tls.Certificate
	var err error
	switch hosts := []string{"localhost", "127.0.0.1", "::1", host}; {
	case o.certificate != "":
		files := &keyPair{certificate: o.certificate, key: o.key, log: log}
		if err := files.read(); err != nil {
			return nil, nil, err
		}
		c.GetCertificate = files.get
		return c, nil, nil
	case o.folder != "":
		certificate, trusted, err = keptCertificate(o.folder, hosts)
	default:
		certificate, trusted, err = server.SelfSigned(time.Now(), hosts...)
	}
	c.Certificates = []tls.Certificate{certificate}
	return c, trusted, err
}

// tlsVersions are the versions of TLS, by the names that kube-apiserver knows.
var tlsVersions = map[string]uint16{
	"": tls.VersionTLS12, "VersionTLS10": tls.VersionTLS10, "VersionTLS11": tls.VersionTLS11, "VersionTLS12": tls.VersionTLS12, "VersionTLS13": tls.VersionTLS13,
}

// limit sets the versions, cipher suites and curves that the flags name.
func (o *tlsOptions) limit(c *tls.Config) error {
	known := false
	if c.MinVersion, known = tlsVersions[o.minVersion]; !known {
		return fmt.Errorf("--tls-min-version: %q is none of VersionTLS10, VersionTLS11, VersionTLS12 and VersionTLS13", o.minVersion)
	}
	suites := slices.Concat(tls.CipherSuites(), tls.InsecureCipherSuites())
	for _, name := range o.suites {
		i := slices.IndexFunc(suites, func(s *tls.CipherSuite) bool { return s.Name == name })
		if i < 0 {
			return fmt.Errorf("--tls-cipher-suites: %q is not known", name)
		}
		c.CipherSuites = append(c.CipherSuites, suites[i].ID)
	}
	for _, id := range o.curves {
		if id <= 0 || id > math.MaxUint16 {
			return fmt.Errorf("--tls-curve-preferences: %d is no tls.CurveID", id)
		}
		c.CurvePreferences = append(c.CurvePreferences, tls.CurveID(id))
	}
	return nil
}

// keyPair is a certificate with its key in files. It follows the files, so that a certificate can be renewed while the server runs.
type keyPair struct {
	certificate, key string // files
	log              logs.Logger

	mu      sync.Mutex
	looked  time.Time    // at the files
	changed [2]time.Time // the times of the files that current is from
	current *tls.Certificate
}

// lookEvery is how often the files are looked at, at most.
const lookEvery = time.Second

// get returns the certificate. It is the last one that could be read if the files are faulty, for example while they are being written.
func (p *keyPair) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.looked) >= lookEvery {
		if err := p.read(); err != nil {
			p.log.Error("the certificate cannot be read again", logs.Fault(err))
		}
	}
	return p.current, nil
}

// read reads the files if they have changed.
func (p *keyPair) read() error {
	p.looked = time.Now()
	var changed [2]time.Time
	for i, name := range []string{p.certificate, p.key} {
		info, err := os.Stat(name)
		if err != nil {
			return err
		}
		changed[i] = info.ModTime()
	}
	if p.current != nil && changed == p.changed {
		return nil
	}
	certificate, err := tls.LoadX509KeyPair(p.certificate, p.key)
	if err == nil {
		p.current, p.changed = &certificate, changed
	}
	return err
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
