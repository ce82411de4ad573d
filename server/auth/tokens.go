package auth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/csv"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/request/websocket"

	"github.com/deed-project/deed/server/logs"
)

// Tokens is a set of bearer tokens with a user for each. It keeps hashes and no tokens. The zero Tokens is empty.
//
// It is safe for concurrent use once all tokens are added.
type Tokens struct{ known []token }

// token is the hash of a token, and its user.
type token struct {
	hash [sha256.Size]byte
	user User
}

// NewToken returns a random token of 192 bits.
func NewToken() string {
	b := make([]byte, 24)
	rand.Read(b) // never fails, see package crypto/rand
	return hex.EncodeToString(b)
}

// Add adds a token for a user, who becomes a member of system:authenticated.
func (t *Tokens) Add(text string, u User) {
	t.known = append(t.known, token{sha256.Sum256([]byte(text)), authenticated(u)})
}

// ReadTokens reads tokens in the format of kube-apiserver: lines of token,user,uid and, in quotes, the groups, separated by commas.
func ReadTokens(r io.Reader) (*Tokens, error) {
	lines := csv.NewReader(r)
	lines.FieldsPerRecord, lines.Comment, lines.TrimLeadingSpace = -1, '#', true
	records, err := lines.ReadAll()
	if err != nil {
		return nil, err
	}
	t := &Tokens{}
	for i, record := range records {
		if len(record) < 3 || record[0] == "" || record[1] == "" {
			return nil, fmt.Errorf("record %d: a token needs token, user and uid", i+1)
		}
		u := User{Name: record[1], UID: record[2]}
		if len(record) > 3 {
			u.Groups = strings.Split(record[3], ",")
		}
		t.Add(record[0], u)
	}
	return t, nil
}

// user returns the user of a token. It compares every token, in constant time.
//
// Neither the time of a comparison nor the number of comparisons depends on the token.
func (t *Tokens) user(text string) (User, bool) {
	hash, found, user := sha256.Sum256([]byte(text)), false, User{}
	for _, known := range t.known {
		if subtle.ConstantTimeCompare(hash[:], known.hash[:]) == 1 {
			found, user = true, known.user
		}
	}
	return user, found
}

// Authenticate returns the user that sends a request. It is an [Authenticator].
//
// The user is the one that the client certificate names, which the TLS layer has verified. Otherwise it is the user of the bearer token, in
// the header Authorization or in a subprotocol of a websocket. A request without either is from [Anonymous]. An unknown token is an error.
func (t *Tokens) Authenticate(r *http.Request) (User, error) {
	if r.TLS != nil && len(r.TLS.VerifiedChains) > 0 {
		subject := r.TLS.VerifiedChains[0][0].Subject
		return authenticated(User{Name: subject.CommonName, Groups: subject.Organization}), nil
	}
	text, ok := bearer(r)
	if !ok {
		return t.ofSocket(r)
	}
	u, ok := t.user(text)
	if !ok {
		return User{}, errUnknownToken
	}
	return u, nil
}

// bearer returns the bearer token in the header Authorization, and whether there is one.
//
// One space separates the token from the scheme. A second space begins another part, which does not count.
func bearer(r *http.Request) (string, bool) {
	scheme, rest, _ := strings.Cut(strings.TrimSpace(r.Header.Get("Authorization")), " ")
	text, _, _ := strings.Cut(rest, " ")
	return text, text != "" && strings.EqualFold(scheme, "Bearer")
}

// AdviseOnToken returns the warning about a bearer token that did not count, "" for none. user is the user of the request without it.
func AdviseOnToken(r *http.Request, user User) string {
	scheme, rest, _ := strings.Cut(strings.TrimSpace(r.Header.Get("Authorization")), " ")
	if user.Name != Anonymous.Name && user.Name != "" || !strings.EqualFold(scheme, "Bearer") || !strings.HasPrefix(rest, " ") {
		return ""
	}
	return "the provided Authorization header contains extra space before the bearer token, and is ignored"
}

// accountToken returns the token of a service account that a request has, "" for none. A client certificate comes first. It removes the
// token from the subprotocols of a websocket.
func (a *Access) accountToken(r *http.Request) string {
	if a.Accounts == nil || r.TLS != nil && len(r.TLS.VerifiedChains) > 0 {
		return ""
	}
	if text, ok := bearer(r); ok {
		if a.Accounts.Owns(text) {
			return text
		}
		return ""
	}
	if r.Header.Get("Sec-WebSocket-Protocol") == "" {
		return ""
	}
	found := ""
	look := authenticator.TokenFunc(func(_ context.Context, text string) (*authenticator.Response, bool, error) {
		if !a.Accounts.Owns(text) {
			return nil, false, nil
		}
		found = text
		return &authenticator.Response{}, true, nil
	})
	if _, _, err := websocket.NewProtocolAuthenticator(look).AuthenticateRequest(r); err != nil {
		return "" // the authenticator refuses the protocols
	}
	return found
}

var errUnknownToken = logs.NewError("the bearer token is not known")

// ofSocket returns the user of the bearer token in a subprotocol of a websocket, or Anonymous. Web pages send tokens there, because they
// cannot set headers. It removes the token from the request.
func (t *Tokens) ofSocket(r *http.Request) (User, error) {
	if r.Header.Get("Sec-WebSocket-Protocol") == "" {
		return Anonymous, nil
	}
	found := Anonymous
	look := authenticator.TokenFunc(func(_ context.Context, text string) (*authenticator.Response, bool, error) {
		u, ok := t.user(text)
		if !ok {
			return nil, false, errUnknownToken
		}
		found = u
		return &authenticator.Response{}, true, nil
	})
	_, _, err := websocket.NewProtocolAuthenticator(look).AuthenticateRequest(r)
	return found, err
}

// authenticated returns u as a member of system:authenticated, unless its name or its groups say already whether it is authenticated.
//
// The groups of u are copied.
func authenticated(u User) User {
	says := func(g string) bool { return g == "system:authenticated" || g == "system:unauthenticated" }
	if u.Name == Anonymous.Name || slices.ContainsFunc(u.Groups, says) {
		return u
	}
	u.Groups = append(u.Groups[:len(u.Groups):len(u.Groups)], "system:authenticated")
	return u
}
