package server

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
	"strings"

	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/request/websocket"

	"github.com/deed-project/deed/server/logs"
)

// Tokens are bearer tokens and whom they stand for. The zero Tokens are none. They keep no token, only what it hashes to.
type Tokens struct{ known []token }

type token struct {
	hash [sha256.Size]byte
	user User
}

// NewToken returns a token that nobody can guess.
func NewToken() string {
	b := make([]byte, 24)
	rand.Read(b) // never fails, see package crypto/rand
	return hex.EncodeToString(b)
}

// Add makes a token stand for a user.
func (t *Tokens) Add(text string, u User) {
	t.known = append(t.known, token{sha256.Sum256([]byte(text)), authenticated(u)})
}

// ReadTokens reads tokens in the format of kube-apiserver: lines of token,user,uid and, in quotes, the groups with commas
// between them.
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
		if len(record) > 3 && record[3] != "" {
			u.Groups = strings.Split(record[3], ",")
		}
		t.Add(record[0], u)
	}
	return t, nil
}

// user returns whom a token stands for. Every token is compared in constant time.
func (t *Tokens) user(text string) (User, bool) {
	hash, found, user := sha256.Sum256([]byte(text)), false, User{}
	for _, known := range t.known {
		if subtle.ConstantTimeCompare(hash[:], known.hash[:]) == 1 {
			found, user = true, known.user
		}
	}
	return user, found
}

// Authenticate tells who sends a request: whom its client certificate names, which the TLS layer has verified; whom its bearer
// token stands for, in the header Authorization or in a subprotocol of a websocket; and without either, nobody known. A token that is
// not known is an error. It is an [Authenticator].
func (t *Tokens) Authenticate(r *http.Request) (User, error) {
	if r.TLS != nil && len(r.TLS.VerifiedChains) > 0 {
		subject := r.TLS.VerifiedChains[0][0].Subject
		return authenticated(User{Name: subject.CommonName, Groups: subject.Organization}), nil
	}
	scheme, text, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return t.ofSocket(r)
	}
	u, ok := t.user(strings.TrimSpace(text))
	if !ok {
		return User{}, errUnknownToken
	}
	return u, nil
}

var errUnknownToken = logs.NewError("the bearer token is not known")

// ofSocket returns the user of the bearer token in a subprotocol of a websocket, which is where a web page puts it, or anonymous. It
// takes the token out of the request.
func (t *Tokens) ofSocket(r *http.Request) (User, error) {
	if r.Header.Get("Sec-WebSocket-Protocol") == "" {
		return anonymous, nil
	}
	found := anonymous
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

func authenticated(u User) User {
	u.Groups = append(u.Groups[:len(u.Groups):len(u.Groups)], "system:authenticated")
	return u
}
