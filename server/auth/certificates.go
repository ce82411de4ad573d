package auth

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"

	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/request/headerrequest"
	x509request "k8s.io/apiserver/pkg/authentication/request/x509"
)

// Certificates says which client certificates stand for users. The zero Certificates are none.
//
// The TLS layer asks clients for certificates, and does not verify them: see [Certificates.AskIn]. Each request verifies its certificate by
// the authorities of what the certificate is used for.
type Certificates struct {
	// ClientCA are the authorities of users, in PEM. The common name of a certificate is the user, and organizations are groups.
	ClientCA []byte
	// Proxies are clients that say in headers for which users they send requests.
	Proxies Proxies
}

// Proxies are front proxies, which authenticate users by themselves.
type Proxies struct {
	CA           []byte   // the authorities of proxies, in PEM; none trusts no headers
	AllowedNames []string // the common names of proxies; none allows all that the authorities certify
	// The headers of a user. The first one of a name or a UID counts, and all of groups. The rest of a header with a prefix is the name of an
	// extra field.
	UsernameHeaders, UIDHeaders, GroupHeaders, ExtraHeaderPrefixes []string
}

// pool returns the certificates in a PEM text. what names the text in the error.
func pool(text []byte, what string) (*x509.CertPool, error) {
	p := x509.NewCertPool()
	if !p.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("the authorities of %s contain no certificate", what)
	}
	return p, nil
}

// AskIn makes a TLS configuration ask clients for certificates, if some stand for users.
func (c Certificates) AskIn(config *tls.Config) {
	if len(c.ClientCA) == 0 && len(c.Proxies.CA) == 0 {
		return
	}
	config.ClientAuth, config.ClientCAs = tls.RequestClientCert, x509.NewCertPool()
	for _, text := range [][]byte{c.ClientCA, c.Proxies.CA} {
		config.ClientCAs.AppendCertsFromPEM(text) // a hint for clients with several certificates
	}
}

// UseCertificates makes Access authenticate client certificates. The error says what is wrong with them. It is to be called before Access is
// in use.
func (a *Access) UseCertificates(c Certificates) error {
	if len(c.Proxies.CA) > 0 {
		roots, err := pool(c.Proxies.CA, "front proxies")
		if err != nil {
			return err
		}
		if len(c.Proxies.UsernameHeaders) == 0 {
			return errors.New("front proxies need a header for the names of users")
		}
		p, fixed := c.Proxies, func(list []string) headerrequest.StringSliceProvider { return headerrequest.StaticStringSlice(list) }
		a.certificates = append(a.certificates, headerrequest.NewDynamicVerifyOptionsSecure(verifiedBy(roots),
			fixed(p.AllowedNames), fixed(p.UsernameHeaders), fixed(p.UIDHeaders), fixed(p.GroupHeaders), fixed(p.ExtraHeaderPrefixes)))
	}
	if len(c.ClientCA) > 0 {
		roots, err := pool(c.ClientCA, "client certificates")
		if err != nil {
			return err
		}
		a.certificates = append(a.certificates, x509request.NewDynamic(verifiedBy(roots), x509request.CommonNameUserConversion))
	}
	return nil
}

// verifiedBy returns how certificates of clients are verified.
func verifiedBy(roots *x509.CertPool) x509request.VerifyOptionFunc {
	options := x509request.DefaultVerifyOptions()
	options.Roots = roots
	return func() (x509.VerifyOptions, bool) { return options, true }
}

// ofCertificate returns the user of a client certificate, or the user that a front proxy names, and whether there is one. The error is that
// a certificate is not valid for any of these.
func (a *Access) ofCertificate(r *http.Request) (User, bool, error) {
	var errs []error
	for _, c := range a.certificates {
		answer, ok, err := c.AuthenticateRequest(r)
		if ok {
			return userOf(answer), true, nil
		}
		errs = append(errs, err)
	}
	return User{}, false, errors.Join(errs...)
}

// userOf returns the user that an authenticator of the library found, as a member of system:authenticated.
func userOf(answer *authenticator.Response) User {
	found := answer.User
	u := User{Name: found.GetName(), UID: found.GetUID(), Groups: found.GetGroups(), Extra: found.GetExtra()}
	return authenticated(u)
}
