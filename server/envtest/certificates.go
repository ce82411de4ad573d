package envtest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"time"

	certutil "k8s.io/client-go/util/cert"
)

// authority signs certificates.
type authority struct {
	signer      *x509.Certificate
	key         crypto.Signer
	certificate []byte // in PEM
}

func newAuthority() (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	signer, err := certutil.NewSelfSignedCACert(certutil.Config{CommonName: "deed-envtest"}, key)
	if err != nil {
		return nil, err
	}
	return &authority{signer, key, pemOf("CERTIFICATE", signer.Raw)}, nil
}

// client returns a certificate that tells who a user is, and its key.
func (a *authority) client(user User) (certificate, key []byte, err error) {
	return a.issue(&x509.Certificate{
		Subject:     pkix.Name{CommonName: user.Name, Organization: user.Groups},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
}

// server returns a certificate for what is reached under some names and addresses, and its key.
func (a *authority) server(hosts ...string) (certificate, key []byte, err error) {
	template := &x509.Certificate{Subject: pkix.Name{CommonName: hosts[0]}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	return a.issue(template)
}

// issue signs a certificate for a new key, for a week.
func (a *authority) issue(template *x509.Certificate) (certificate, key []byte, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	if template.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120)); err != nil {
		return nil, nil, err
	}
	now := time.Now()
	template.NotBefore, template.NotAfter = now.Add(-time.Hour), now.AddDate(0, 0, 7)
	template.KeyUsage = x509.KeyUsageDigitalSignature
	signed, err := x509.CreateCertificate(rand.Reader, template, a.signer, &private.PublicKey, a.key)
	if err != nil {
		return nil, nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	return pemOf("CERTIFICATE", signed), pemOf("PRIVATE KEY", der), err
}

func pemOf(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}
