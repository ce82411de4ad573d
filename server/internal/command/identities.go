package command

import (
	"crypto"
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/client-go/util/keyutil"

	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/auth"
	"github.com/deed-project/deed/server/auth/accounts"
	"github.com/deed-project/deed/server/controllers/certificates"
)

// accountOptions are the flags about service accounts and their tokens.
type accountOptions struct {
	issuers       []string
	keys          []string // files
	signingKey    string   // file
	jwksURI       string
	audiences     []string
	maxExpiration time.Duration
	extend        bool
	rootCA        string // file
}

// addTo defines the flags in f.
func (o *accountOptions) addTo(f *pflag.FlagSet) {
	f.StringArrayVar(&o.issuers, "service-account-issuer", []string{accounts.DefaultIssuer},
		"issuer of tokens of service accounts; of several, the first one issues and all are accepted")
	f.StringArrayVar(&o.keys, "service-account-key-file", nil, "PEM file with keys that verify tokens of service accounts; may be repeated")
	f.StringVar(&o.signingKey, "service-account-signing-key-file", "", "PEM file with the private key that signs tokens; default is a key of this run")
	f.StringVar(&o.jwksURI, "service-account-jwks-uri", "", "address of the public keys in the discovery document; default is this server")
	f.StringSliceVar(&o.audiences, "api-audiences", nil, "names of this server as an audience of tokens; default is the issuers")
	f.DurationVar(&o.maxExpiration, "service-account-max-token-expiration", 0, "the longest time that a token may hold; default is any")
	f.BoolVar(&o.extend, "service-account-extend-token-expiration", true, "let tokens that pods mount hold for a year")
	f.StringVar(&o.rootCA, "root-ca-file", "", "PEM file that kube-root-ca.crt publishes; default is the server's certificate")
}

// config returns the configuration that the flags describe.
func (o *accountOptions) config() (c accounts.Config, err error) {
	c = accounts.Config{
		Issuers: o.issuers, Audiences: o.audiences, MaxExpiration: o.maxExpiration, NoExtension: !o.extend, JWKSURI: o.jwksURI,
	}
	for _, name := range o.keys {
		keys, err := keyutil.PublicKeysFromFile(name)
		if err != nil {
			return c, fmt.Errorf("--service-account-key-file: %w", err)
		}
		for _, key := range keys {
			c.Keys = append(c.Keys, crypto.PublicKey(key))
		}
	}
	if o.signingKey == "" {
		return c, nil
	}
	key, err := keyutil.PrivateKeyFromFile(o.signingKey)
	if err != nil {
		return c, fmt.Errorf("--service-account-signing-key-file: %w", err)
	}
	signer, is := key.(crypto.Signer)
	if !is {
		return c, fmt.Errorf("--service-account-signing-key-file: %s has no key that signs", o.signingKey)
	}
	c.SigningKey = signer
	return c, nil
}

// proxyOptions are the flags about front proxies, and about the server as the front proxy of other API servers.
type proxyOptions struct {
	ca                                       string // file
	allowed, usernames, uids, groups, extras []string
	certificate, key                         string // files
}

// addTo defines the flags in f.
func (o *proxyOptions) addTo(f *pflag.FlagSet) {
	f.StringVar(&o.ca, "requestheader-client-ca-file", "", "PEM file with the authorities of front proxies, which name users in headers")
	f.StringSliceVar(&o.allowed, "requestheader-allowed-names", nil, "common names of front proxies; default is all that the authorities certify")
	f.StringSliceVar(&o.usernames, "requestheader-username-headers", nil, "headers with the name of a user, such as X-Remote-User")
	f.StringSliceVar(&o.uids, "requestheader-uid-headers", nil, "headers with the UID of a user, such as X-Remote-Uid")
	f.StringSliceVar(&o.groups, "requestheader-group-headers", nil, "headers with the groups of a user, such as X-Remote-Group")
	f.StringSliceVar(&o.extras, "requestheader-extra-headers-prefix", nil, "prefixes of headers with extra fields of a user, such as X-Remote-Extra-")
	f.StringVar(&o.certificate, "proxy-client-cert-file", "", "PEM file with the certificate that the server shows to API servers that APIServices name")
	f.StringVar(&o.key, "proxy-client-key-file", "", "PEM file with the key of that certificate")
}

// check refuses flags that do not go together.
func (o *proxyOptions) check() error {
	lists := [][]string{o.allowed, o.usernames, o.uids, o.groups, o.extras}
	switch {
	case o.ca == "" && len(slices.Concat(lists...)) > 0:
		return errors.New("flags about request headers need --requestheader-client-ca-file")
	case o.ca != "" && len(o.usernames) == 0:
		return errors.New("--requestheader-client-ca-file needs --requestheader-username-headers")
	case (o.certificate == "") != (o.key == ""):
		return errors.New("--proxy-client-cert-file and --proxy-client-key-file go together")
	case slices.Contains(slices.Concat(lists...), ""):
		return errors.New("flags about request headers have an empty value")
	}
	return nil
}

// signingOptions are the flags about the signer of certificates.
type signingOptions struct {
	certificate, key string // files
	duration         time.Duration
}

// addTo defines the flags in f.
func (o *signingOptions) addTo(f *pflag.FlagSet) {
	f.StringVar(&o.certificate, "cluster-signing-cert-file", "",
		"PEM file with the authority that signs approved requests for certificates, with the controller certificatesigningrequest-signing-controller")
	f.StringVar(&o.key, "cluster-signing-key-file", "", "PEM file with the key of that authority")
	f.DurationVar(&o.duration, "cluster-signing-duration", certificates.DefaultDuration, "the longest time that signed certificates hold")
}

// authority returns the authority that the flags name. The zero Authority is none.
func (o *signingOptions) authority() (a certificates.Authority, err error) {
	if o.certificate == "" {
		return a, nil
	}
	pair, err := tls.LoadX509KeyPair(o.certificate, o.key)
	if err != nil {
		return a, fmt.Errorf("--cluster-signing-cert-file: %w", err)
	}
	signer, is := pair.PrivateKey.(crypto.Signer)
	if !is {
		return a, fmt.Errorf("--cluster-signing-key-file: %s has no key that signs", o.key)
	}
	return certificates.Authority{Certificate: pair.Leaf, Key: signer, Duration: o.duration}, nil
}

// identify sets who the clients of the server are, apart from bearer tokens, and what they must trust. trusted is the certificate of the
// server if the server makes one.
func (o *options) identify(c *server.Config, trusted []byte) (err error) {
	if c.ServiceAccounts, err = o.accounts.config(); err != nil {
		return err
	}
	if c.ClusterSigning, err = o.signing.authority(); err != nil {
		return err
	}
	c.RootCA = trusted
	p := o.proxies
	c.Certificates.Proxies = auth.Proxies{
		AllowedNames: p.allowed, UsernameHeaders: p.usernames, UIDHeaders: p.uids, GroupHeaders: p.groups, ExtraHeaderPrefixes: p.extras,
	}
	rootCA := o.accounts.rootCA
	if rootCA == "" {
		rootCA = o.tls.certificate
	}
	for _, file := range []struct {
		name string
		into *[]byte
	}{
		{o.clientCA, &c.Certificates.ClientCA}, {p.ca, &c.Certificates.Proxies.CA}, {rootCA, &c.RootCA},
		{p.certificate, &c.Aggregation.ProxyCertificate}, {p.key, &c.Aggregation.ProxyKey},
	} {
		if file.name == "" {
			continue
		}
		if *file.into, err = os.ReadFile(file.name); err != nil {
			return err
		}
	}
	return nil
}
