package accounts

import (
	"encoding/json"
	"time"

	"github.com/golang-jwt/jwt/v5"
	library "k8s.io/apiserver/pkg/authentication/serviceaccount"
)

// Account is a service account.
type Account struct{ Namespace, Name, UID string }

// Username returns the name of the user that the account is.
func (a Account) Username() string { return library.MakeUsername(a.Namespace, a.Name) }

// Ref names an object. The zero Ref names none.
type Ref struct {
	Name string `json:"name,omitempty"`
	UID  string `json:"uid,omitempty"`
}

// Claims are what a token says.
type Claims struct {
	Account
	// A token is bound to a pod, a secret, a node, or to nothing. A token of a pod on a node names the node as well.
	Pod, Secret, Node Ref
	Audiences         []string
	ID                string // of the token
	Issued            time.Time
	Expires           time.Time
	WarnAfter         time.Time // from which the use of the token is noted; the zero time is never
}

// claim returns the reference as a claim, nil for none.
func (r Ref) claim() *Ref {
	if r == (Ref{}) {
		return nil
	}
	return &r
}

// kubernetes is the claim kubernetes.io.
type kubernetes struct {
	Namespace string  `json:"namespace,omitempty"`
	Node      *Ref    `json:"node,omitempty"`
	Pod       *Ref    `json:"pod,omitempty"`
	Secret    *Ref    `json:"secret,omitempty"`
	Account   Ref     `json:"serviceaccount"`
	WarnAfter seconds `json:"warnafter,omitempty"`
}

// members returns the claims as an issuer signs them.
func (c Claims) members(issuer string) jwt.MapClaims {
	k := kubernetes{
		Namespace: c.Namespace, Account: Ref{c.Name, c.UID}, Pod: c.Pod.claim(), Secret: c.Secret.claim(), Node: c.Node.claim(),
	}
	if !c.WarnAfter.IsZero() {
		k.WarnAfter = seconds(c.WarnAfter.Unix())
	}
	return jwt.MapClaims{
		"iss": issuer, "sub": c.Username(), "aud": c.Audiences, "jti": c.ID,
		"iat": c.Issued.Unix(), "nbf": c.Issued.Unix(), "exp": c.Expires.Unix(), "kubernetes.io": k,
	}
}

// seconds is a time in a token. It may have a fraction, which does not count.
type seconds int64

// UnmarshalJSON reads a number.
func (s *seconds) UnmarshalJSON(text []byte) error {
	var f float64
	err := json.Unmarshal(text, &f)
	*s = seconds(f)
	return err
}

// at returns the time.
func (s seconds) at() time.Time { return time.Unix(int64(s), 0) }

const (
	// legacyIssuer is the issuer of tokens in Secrets.
	legacyIssuer = "kubernetes/serviceaccount"
	// legacyPrefix is the prefix of their claims.
	legacyPrefix = "kubernetes.io/serviceaccount/"
)

// token is a token as it is read: the claims of both forms.
type token struct {
	Issuer     string           `json:"iss"`
	Subject    string           `json:"sub"`
	Audiences  jwt.ClaimStrings `json:"aud"`
	ID         string           `json:"jti"`
	IssuedAt   *seconds         `json:"iat"`
	NotBefore  *seconds         `json:"nbf"`
	Expires    *seconds         `json:"exp"`
	Kubernetes kubernetes       `json:"kubernetes.io"`

	LegacyNamespace string `json:"kubernetes.io/serviceaccount/namespace"`
	LegacySecret    string `json:"kubernetes.io/serviceaccount/secret.name"`
	LegacyName      string `json:"kubernetes.io/serviceaccount/service-account.name"`
	LegacyUID       string `json:"kubernetes.io/serviceaccount/service-account.uid"`
}
