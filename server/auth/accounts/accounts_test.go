package accounts_test

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/deed-project/deed/server/auth/accounts"
	"github.com/deed-project/deed/value"
)

// objects returns a function that returns objects by resource and name, all with the uid 1.
func objects(names ...string) func(context.Context, string, string, string) (value.Value, error) {
	return func(_ context.Context, plural, _, name string) (value.Value, error) {
		for _, known := range names {
			if known == plural+"/"+name {
				return value.Parse([]byte(`{"metadata":{"uid":"1"}}`))
			}
		}
		return value.Value{}, nil
	}
}

// began is the time at which the tokens of the tests are issued.
var began = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// robot are the claims of a token for an hour.
func robot() accounts.Claims {
	return accounts.Claims{
		Account: accounts.Account{Namespace: "default", Name: "robot", UID: "1"}, Audiences: []string{accounts.DefaultIssuer}, ID: "id",
		Issued: began, Expires: began.Add(time.Hour),
	}
}

// keyOf returns a private key on a curve, or an RSA key.
func keyOf(t *testing.T, curve elliptic.Curve) crypto.Signer {
	t.Helper()
	if curve == nil {
		key, err := rsa.GenerateKey(rand.Reader, 2048)
		if err != nil {
			t.Fatal(err)
		}
		return key
	}
	key, err := ecdsa.GenerateKey(curve, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// TestTime uses a token before, while and after it holds. Clocks may be a minute apart.
func TestTime(t *testing.T) {
	now := began
	a := &accounts.Authority{Object: objects("serviceaccounts/robot"), Now: func() time.Time { return now }}
	token, err := a.Issue(robot())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		after time.Duration
		want  string
	}{
		{0, "<nil>"}, {-time.Minute, "<nil>"}, {-time.Minute - time.Second, "service account token is not valid yet"},
		{time.Hour + time.Minute, "<nil>"}, {time.Hour + time.Minute + time.Second, "service account token has expired"},
	} {
		now = began.Add(c.after)
		if _, _, err := a.Authenticate(t.Context(), token, nil); fmt.Sprint(err) != c.want {
			t.Errorf("%v after it was issued: %v, want %s", c.after, err, c.want)
		}
	}
}

// TestKeys signs with a key of each kind, and verifies with other keys, issuers and algorithms.
func TestKeys(t *testing.T) {
	now := func() time.Time { return began }
	for name, curve := range map[string]elliptic.Curve{"RS256": nil, "ES256": elliptic.P256(), "ES384": elliptic.P384(), "ES512": elliptic.P521()} {
		key := keyOf(t, curve)
		a := &accounts.Authority{Config: accounts.Config{SigningKey: key}, Object: objects("serviceaccounts/robot"), Now: now}
		token, err := a.Issue(robot())
		if err != nil {
			t.Fatal(err)
		}
		header, rest, _ := strings.Cut(token, ".")
		if text, err := base64.RawURLEncoding.DecodeString(header); err != nil || !strings.HasPrefix(string(text), `{"alg":"`+name+`","kid":"`) {
			t.Errorf("%s: the header is %s, %v", name, text, err)
		}
		verifier := &accounts.Authority{Config: accounts.Config{Keys: []crypto.PublicKey{key.Public()}}, Object: a.Object, Now: now}
		other := &accounts.Authority{Object: a.Object, Now: now}
		foreign := &accounts.Authority{Config: accounts.Config{SigningKey: key, Issuers: []string{"https://other"}}, Object: a.Object, Now: now}
		none := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none"}`)) + "." + rest
		for _, c := range []struct {
			by    *accounts.Authority
			token string
			want  string
		}{
			{a, token, "<nil>"}, {a, token, "<nil>"}, {verifier, token, "<nil>"}, {other, token, "invalid signature, no keys found"},
			{foreign, token, "invalid bearer token"}, {a, none, "go-jose/go-jose: error in cryptographic primitive"},
			{a, token[:len(token)-8] + "AAAAAAAA", "go-jose/go-jose: error in cryptographic primitive"},
		} {
			u, _, err := c.by.Authenticate(t.Context(), c.token, nil)
			if fmt.Sprint(err) != c.want || err == nil && u.Name != "system:serviceaccount:default:robot" {
				t.Errorf("%s: %q, %v, want %s", name, u.Name, err, c.want)
			}
		}
		if keys, err := a.KeySet(); err != nil || !strings.Contains(string(keys), `"alg":"`+name+`"`) {
			t.Errorf("%s: the keys are %s, %v", name, keys, err)
		}
	}
	if err := (accounts.Config{SigningKey: keyOf(t, elliptic.P224())}).Check(); err == nil {
		t.Error("a key on P-224 is accepted")
	}
	if err := (accounts.Config{MaxExpiration: time.Minute}).Check(); err == nil {
		t.Error("tokens for a minute are accepted")
	}
}

// TestKeySet compares the document of an RSA key with that of a kube-apiserver.
func TestKeySet(t *testing.T) {
	const modulus = "nU0oR2BuMdXlTxggZJE2eHiEeQnUwJ01TlQxOR5HTUPzxqbDemWgZShvFEk1ZszmMsDsdeSf4WFPKbf3czpD0sPnFVxa4iiK05CZ7FnY8lALWUi36YbOgUbkX9qoi" +
		"a5RJ19Sg--Jsp2tQQN0o6kg_-X13d8hf4gUJ9jREostrUyl8hkK0-g5AoavRkNUNj78IBbK39_9Jfzz_enTCEtWV9zY0q6ljgYLP3nz2Q8AUwa51qNlpkqOAyYxG6TayZ3bhB2S1" +
		"y7lHaAMXETRi5kQ9F48Mlvx1g9sb_V0DR9tsXS1Tm10Amv2NcSfb7DTvTUfddjjeHnjAnBSmArhCzilmQ"
	n, err := base64.RawURLEncoding.DecodeString(modulus)
	if err != nil {
		t.Fatal(err)
	}
	public := &rsa.PublicKey{N: new(big.Int).SetBytes(n), E: 65537}
	a := &accounts.Authority{Config: accounts.Config{Keys: []crypto.PublicKey{public}}}
	want := `{"keys":[{"use":"sig","kty":"RSA","kid":"H42tkSwQ95q_q6ep_nJ5RAnG_PsSiGvl4qR1oR3G4P0","alg":"RS256","n":"` + modulus + `","e":"AQAB"},`
	if got, err := a.KeySet(); err != nil || !strings.HasPrefix(string(got), want) {
		t.Errorf("the keys are %s, %v\nwant %s", got, err, want)
	}
}

// TestDocuments publishes documents for issuers that are addresses.
func TestDocuments(t *testing.T) {
	for issuer, want := range map[string]bool{"": true, "https://a": true, "http://a": false, "https://a?b": false, "https://a#b": false, "a": false} {
		c := accounts.Config{}
		if issuer != "" {
			c.Issuers = []string{issuer}
		}
		if got := (&accounts.Authority{Config: c}).HasDocuments(); got != want {
			t.Errorf("%q: %t", issuer, got)
		}
	}
	a := &accounts.Authority{Config: accounts.Config{JWKSURI: "https://keys"}}
	if text, err := a.Discovery("host"); err != nil || !strings.Contains(string(text), `"jwks_uri":"https://keys"`) {
		t.Errorf("%s %v", text, err)
	}
}
