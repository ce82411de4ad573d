// Package accounts makes the tokens of service accounts, and finds the account of a token, as kube-apiserver does.
//
//	[Authority]  signs tokens, authenticates their bearers, and publishes its public keys
//	[Claims]     say for whom a token is, and which object it is bound to
//
// A token is a JWT. Its signature says that the authority made it. Whether it still holds is read from the store at each use: the account
// must exist with the uid of the token, and so must the object that the token is bound to.
package accounts

import (
	"context"
	"crypto"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/deed-project/deed/server/cache"
	"github.com/deed-project/deed/value"
)

// DefaultIssuer is the issuer of tokens unless the configuration names another.
const DefaultIssuer = "https://kubernetes.default.svc"

// Config says how tokens are signed, and which are accepted. The zero Config is an authority of [DefaultIssuer] with a key of its own.
type Config struct {
	// SigningKey signs tokens: an RSA or ECDSA private key. Nil makes an ECDSA key at the first use, which ends with the process.
	SigningKey crypto.Signer
	// Keys are public keys of tokens that are accepted beside those of SigningKey.
	Keys []crypto.PublicKey
	// Issuers are the issuers of tokens that are accepted. The first one issues tokens. Nil is [DefaultIssuer].
	Issuers []string
	// Audiences are the names of the API server: a token for another audience does not authenticate. Nil is Issuers.
	Audiences []string
	// MaxExpiration is how long a token may hold; 0 is as long as the client asks for.
	MaxExpiration time.Duration
	// NoExtension keeps the tokens of pods as short as they are requested. Otherwise a token for the API server that is requested for the 3607
	// seconds of pods holds for a year, for clients that do not read it again.
	NoExtension bool
	// JWKSURI is where relying parties find the public keys. "" is the address at which they ask for the discovery document.
	JWKSURI string
}

// Authority signs and checks tokens. Its exported fields are set before it is used; then it is safe for concurrent use.
type Authority struct {
	Config
	// Object returns a stored object of the core group, by the plural of its resource. It is absent if there is none.
	Object func(ctx context.Context, plural, namespace, name string) (value.Value, error)
	Now    func() time.Time

	once   sync.Once
	keys   *keys
	keyErr error

	verified cache.Cache[[sha256.Size]byte, *token] // tokens whose signatures are valid, by their hashes
}

// issuers returns the issuers of tokens that are accepted.
func (a *Authority) issuers() []string {
	if len(a.Issuers) == 0 {
		return []string{DefaultIssuer}
	}
	return a.Issuers
}

// APIAudiences returns the audiences of the API server.
func (a *Authority) APIAudiences() []string {
	if len(a.Audiences) == 0 {
		return a.issuers()
	}
	return a.Audiences
}

// Owns reports whether a token claims to be one of the authority. It does not check the signature.
func (a *Authority) Owns(text string) bool {
	issuer, ok := issuerOf(text)
	return ok && (issuer == legacyIssuer || slices.Contains(a.issuers(), issuer))
}

// issuerOf returns the issuer that a token claims, and whether the text has the form of a token.
func issuerOf(text string) (string, bool) {
	parts := strings.Split(text, ".")
	if len(parts) != 3 || strings.HasPrefix(strings.TrimSpace(text), "{") {
		return "", false
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return "", false
	}
	var claims struct {
		Issuer string `json:"iss"`
	}
	err = json.Unmarshal(payload, &claims)
	return claims.Issuer, err == nil
}

// Issue signs the token of claims.
func (a *Authority) Issue(c Claims) (string, error) {
	return a.sign(c.members(a.issuers()[0]))
}

// IssueLegacy signs the token that a Secret holds. It has no expiration, and no audience.
func (a *Authority) IssueLegacy(account Account, secret string) (string, error) {
	return a.sign(jwt.MapClaims{
		"iss": legacyIssuer, "sub": account.Username(),
		legacyPrefix + "namespace": account.Namespace, legacyPrefix + "secret.name": secret,
		legacyPrefix + "service-account.name": account.Name, legacyPrefix + "service-account.uid": account.UID,
	})
}

// sign returns the token of claims.
func (a *Authority) sign(claims jwt.MapClaims) (string, error) {
	k, err := a.ready()
	if err != nil {
		return "", err
	}
	t := jwt.NewWithClaims(k.method, claims)
	delete(t.Header, "typ")
	t.Header["kid"] = k.signing.id
	return t.SignedString(k.private)
}

// ready returns the keys, which it makes at the first call.
func (a *Authority) ready() (*keys, error) {
	a.once.Do(func() { a.keys, a.keyErr = newKeys(a.Config) })
	return a.keys, a.keyErr
}

// Check returns what is wrong with the configuration. It makes no key.
func (c Config) Check() error {
	if c.MaxExpiration != 0 && (c.MaxExpiration < time.Hour || c.MaxExpiration > 1<<32*time.Second) {
		return errors.New("the service-account-max-token-expiration must be between 1 hour and 2^32 seconds")
	}
	if c.SigningKey == nil && len(c.Keys) == 0 {
		return nil
	}
	_, err := newKeys(c)
	return err
}
