package accounts

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"

	"github.com/golang-jwt/jwt/v5"
)

// keys are the keys of an authority.
type keys struct {
	private crypto.Signer
	method  jwt.SigningMethod // of private
	signing publicKey         // of private
	public  []publicKey       // all that are accepted
}

// publicKey is a key that verifies tokens.
type publicKey struct {
	id  string // of the form that kube-apiserver gives keys
	key crypto.PublicKey
	alg string
}

// newKeys returns the keys of a configuration. Without a signing key it makes one.
func newKeys(c Config) (*keys, error) {
	k := &keys{private: c.SigningKey}
	if k.private == nil {
		made, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			return nil, err
		}
		k.private = made
	}
	for _, key := range c.Keys {
		p, err := newPublicKey(key)
		if err != nil {
			return nil, err
		}
		k.public = append(k.public, p)
	}
	var err error
	if k.signing, err = newPublicKey(k.private.Public()); err != nil {
		return nil, err
	}
	k.method = jwt.GetSigningMethod(k.signing.alg)
	if !slices.ContainsFunc(k.public, func(p publicKey) bool { return p.id == k.signing.id }) {
		k.public = append(k.public, k.signing)
	}
	return k, nil
}

// newPublicKey returns a key with its id, a hash, and its algorithm. The error is that service accounts have no keys of this kind.
func newPublicKey(key crypto.PublicKey) (p publicKey, err error) {
	p.key = key
	switch key := key.(type) {
	case *rsa.PublicKey:
		p.alg = "RS256"
	case *ecdsa.PublicKey:
		if p.alg = curveAlgorithms[key.Curve]; p.alg == "" {
			return p, fmt.Errorf("a key of service accounts has the curve %s, and may have P-256, P-384 and P-521", key.Params().Name)
		}
	default:
		return p, fmt.Errorf("a key of service accounts is a %T, and may be an RSA or ECDSA key", key)
	}
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return p, err
	}
	sum := sha256.Sum256(der)
	p.id = base64.RawURLEncoding.EncodeToString(sum[:])
	return p, nil
}

// curveAlgorithms are the signature algorithms by curve.
var curveAlgorithms = map[elliptic.Curve]string{elliptic.P256(): "ES256", elliptic.P384(): "ES384", elliptic.P521(): "ES512"}

// withID returns the keys with an id; all if it is empty.
func (k *keys) withID(id string) []publicKey {
	if id == "" {
		return k.public
	}
	var out []publicKey
	for _, p := range k.public {
		if p.id == id {
			out = append(out, p)
		}
	}
	return out
}

// jwk is a public key as a JSON Web Key.
type jwk struct {
	Use       string `json:"use"`
	Type      string `json:"kty"`
	ID        string `json:"kid"`
	Curve     string `json:"crv,omitempty"`
	Algorithm string `json:"alg"`
	N         string `json:"n,omitempty"`
	E         string `json:"e,omitempty"`
	X         string `json:"x,omitempty"`
	Y         string `json:"y,omitempty"`
}

// jwk returns the key as a JSON Web Key.
func (p publicKey) jwk() (jwk, error) {
	out, encode := jwk{Use: "sig", ID: p.id, Algorithm: p.alg}, base64.RawURLEncoding.EncodeToString
	if key, is := p.key.(*rsa.PublicKey); is {
		exponent := binary.BigEndian.AppendUint64(nil, uint64(key.E))
		for exponent[0] == 0 {
			exponent = exponent[1:]
		}
		out.Type, out.N, out.E = "RSA", encode(key.N.Bytes()), encode(exponent)
		return out, nil
	}
	key := p.key.(*ecdsa.PublicKey)
	point, err := key.Bytes() // 4, and the coordinates
	if err != nil {
		return out, err
	}
	size := (len(point) - 1) / 2
	out.Type, out.Curve, out.X, out.Y = "EC", key.Params().Name, encode(point[1:1+size]), encode(point[1+size:])
	return out, nil
}

// Paths of the documents by which others verify tokens.
const (
	DiscoveryPath = "/.well-known/openid-configuration"
	KeysPath      = "/openid/v1/jwks"
)

// HasDocuments reports whether relying parties get documents: the issuer must be an https URL without query and fragment.
func (a *Authority) HasDocuments() bool {
	u, err := url.Parse(a.issuers()[0])
	if err != nil || u.Scheme != "https" || u.RawQuery != "" || u.Fragment != "" {
		return false
	}
	at, err := url.Parse(a.JWKSURI)
	return err == nil && (a.JWKSURI == "" || at.Scheme == "https")
}

// Discovery returns the document of OpenID Connect discovery. host is the address at which the client reaches the server.
func (a *Authority) Discovery(host string) ([]byte, error) {
	k, err := a.ready()
	if err != nil {
		return nil, err
	}
	document := struct {
		Issuer        string   `json:"issuer"`
		JWKSURI       string   `json:"jwks_uri"`
		ResponseTypes []string `json:"response_types_supported"`
		SubjectTypes  []string `json:"subject_types_supported"`
		Algorithms    []string `json:"id_token_signing_alg_values_supported"`
	}{a.issuers()[0], a.JWKSURI, []string{"id_token"}, []string{"public"}, nil}
	if document.JWKSURI == "" {
		document.JWKSURI = (&url.URL{Scheme: "https", Host: host, Path: KeysPath}).String()
	}
	for _, p := range k.public {
		document.Algorithms = append(document.Algorithms, p.alg)
	}
	slices.Sort(document.Algorithms)
	document.Algorithms = slices.Compact(document.Algorithms)
	return json.Marshal(document)
}

// KeySet returns the public keys, as a JSON Web Key Set.
func (a *Authority) KeySet() ([]byte, error) {
	k, err := a.ready()
	if err != nil {
		return nil, err
	}
	var set struct {
		Keys []jwk `json:"keys"`
	}
	for _, p := range k.public {
		key, err := p.jwk()
		if err != nil {
			return nil, err
		}
		set.Keys = append(set.Keys, key)
	}
	return json.Marshal(set)
}
