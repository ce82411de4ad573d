package accounts

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
	library "k8s.io/apiserver/pkg/authentication/serviceaccount"

	"github.com/deed-project/deed/server/auth"
	"github.com/deed-project/deed/value"
)

// refused is the error of a token that does not hold. Its text is the one of kube-apiserver, and has names and uids only.
type refused string

func (e refused) Error() string { return string(e) }

// LogText returns the text.
func (e refused) LogText() string { return string(e) }

// otherAudience is the error of a token that is for other audiences. The log does not show them, since clients choose them.
type otherAudience struct{ has, wanted []string }

func (e *otherAudience) Error() string {
	return fmt.Sprintf("token audiences %q is invalid for the target audiences %q", e.has, e.wanted)
}

// LogText returns a text without the audiences.
func (e *otherAudience) LogText() string { return "the token is for other audiences" }

func refusedf(format string, args ...any) error { return refused(fmt.Sprintf(format, args...)) }

// errForm refuses a text that is no token, as kube-apiserver refuses every unknown token.
const errForm = refused("invalid bearer token")

const (
	// leeway is how far clocks may be apart. For that long, what is deleted still counts.
	leeway = time.Minute
	// verifiedBudget bounds the memory of signatures that are known to be valid.
	verifiedBudget = 4 << 20
)

// Authenticate returns the user that a token is for, and which of the audiences it is for. No audiences are those of the API server. The
// error says why the token does not hold.
//
//	signature   by one of the keys
//	issuer      one of the authority
//	audience    one of those that are asked for
//	time        neither expired nor from the future
//	account     exists, with the uid of the token
//	object      that the token is bound to: likewise
func (a *Authority) Authenticate(ctx context.Context, text string, audiences []string) (auth.User, []string, error) {
	t, err := a.verify(text)
	if err != nil {
		return auth.User{}, nil, err
	}
	if len(audiences) == 0 {
		audiences = a.APIAudiences()
	}
	has := []string(t.Audiences)
	if len(has) == 0 {
		has = a.APIAudiences()
	}
	both := slices.DeleteFunc(slices.Clone(has), func(one string) bool { return !slices.Contains(audiences, one) })
	if len(both) == 0 {
		return auth.User{}, nil, &otherAudience{has, audiences}
	}
	var who library.ServiceAccountInfo
	if t.Issuer == legacyIssuer {
		who, err = a.ofSecret(ctx, t, text)
	} else {
		who, err = a.ofClaims(ctx, t)
	}
	if err != nil {
		return auth.User{}, nil, err
	}
	u := who.UserInfo()
	return auth.User{Name: u.GetName(), UID: u.GetUID(), Groups: u.GetGroups(), Extra: u.GetExtra()}, both, nil
}

// verify returns the claims of a token whose signature is valid.
//
// A signature stays valid, so it is checked once as long as the token is in the cache.
func (a *Authority) verify(text string) (*token, error) {
	hash := sha256.Sum256([]byte(text))
	if t, ok := a.verified.Get(hash); ok {
		return t, nil
	}
	k, err := a.ready()
	if err != nil {
		return nil, err
	}
	parts := strings.Split(text, ".")
	if len(parts) != 3 {
		return nil, errForm
	}
	var header struct {
		Algorithm string   `json:"alg"`
		KeyID     string   `json:"kid"`
		Critical  []string `json:"crit"`
	}
	if err := decode(parts[0], &header); err != nil || len(header.Critical) > 0 {
		return nil, errForm
	}
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil {
		return nil, errForm
	}
	signed, t := parts[0]+"."+parts[1], new(token)
	candidates := k.withID(header.KeyID)
	if len(candidates) == 0 {
		return nil, refused("invalid signature, no keys found")
	}
	// The algorithm is that of the key. A token does not choose it.
	isValid := slices.ContainsFunc(candidates, func(p publicKey) bool {
		return p.alg == header.Algorithm && jwt.GetSigningMethod(p.alg).Verify(signed, signature, p.key) == nil
	})
	if !isValid {
		return nil, refused("go-jose/go-jose: error in cryptographic primitive") // the words of kube-apiserver's library
	}
	if err := decode(parts[1], t); err != nil {
		return nil, errForm
	}
	if t.Issuer != legacyIssuer && !slices.Contains(a.issuers(), t.Issuer) {
		return nil, errForm
	}
	a.verified.Put(hash, t, len(text), verifiedBudget)
	return t, nil
}

// decode decodes a part of a token.
func decode(part string, into any) error {
	text, err := base64.RawURLEncoding.DecodeString(part)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// ofClaims returns the account of a token, if the token holds now.
func (a *Authority) ofClaims(ctx context.Context, t *token) (who library.ServiceAccountInfo, err error) {
	now := a.Now()
	switch {
	case t.NotBefore != nil && now.Add(leeway).Before(t.NotBefore.at()):
		return who, refused("service account token is not valid yet")
	case t.Expires != nil && now.Add(-leeway).After(t.Expires.at()):
		return who, refused("service account token has expired")
	case t.IssuedAt != nil && now.Add(leeway).Before(t.IssuedAt.at()):
		return who, refused("service account token is issued in the future")
	}
	k := t.Kubernetes
	who = library.ServiceAccountInfo{Namespace: k.Namespace, Name: k.Account.Name, UID: k.Account.UID}
	if t.ID != "" {
		who.CredentialID = "JTI=" + t.ID
	}
	account, err := a.account(ctx, k.Namespace, k.Account.Name)
	switch {
	case err != nil:
		return who, err
	case text(account, "uid") != k.Account.UID:
		return who, refusedf("service account UID (%s) does not match claim (%s)", text(account, "uid"), k.Account.UID)
	case isGone(account, now):
		return who, refusedf("service account %s/%s has been deleted", k.Namespace, k.Account.Name)
	}
	if k.Secret != nil {
		if err := a.isBound(ctx, "secret", k.Namespace, *k.Secret, now); err != nil {
			return who, err
		}
	}
	if k.Pod != nil {
		if err := a.isBound(ctx, "pod", k.Namespace, *k.Pod, now); err != nil {
			return who, err
		}
		who.PodName, who.PodUID = k.Pod.Name, k.Pod.UID
	}
	if k.Node != nil {
		if k.Pod == nil { // else the pod was on it when it got the token
			if err := a.isBound(ctx, "node", "", *k.Node, now); err != nil {
				return who, err
			}
		}
		who.NodeName, who.NodeUID = k.Node.Name, k.Node.UID
	}
	return who, nil
}

// isBound returns an error unless the object that a token is bound to exists, with its uid.
func (a *Authority) isBound(ctx context.Context, kind, namespace string, ref Ref, now time.Time) error {
	const invalidated = refused("service account token has been invalidated")
	object, err := a.Object(ctx, kind+"s", namespace, ref.Name)
	switch {
	case err != nil:
		return err
	case object.IsAbsent():
		return invalidated
	case text(object, "uid") != ref.UID:
		return refusedf("%s UID (%s) does not match service account %s ref claim (%s)", kind, text(object, "uid"), kind, ref.UID)
	case isGone(object, now):
		return invalidated
	}
	return nil
}

// ofSecret returns the account of a token in a Secret, if the Secret still has it.
func (a *Authority) ofSecret(ctx context.Context, t *token, tokenText string) (who library.ServiceAccountInfo, err error) {
	for _, claim := range []struct{ text, missing string }{
		{t.Subject, "sub"}, {t.LegacyNamespace, "namespace"}, {t.LegacySecret, "secretName"},
		{t.LegacyName, "serviceAccountName"}, {t.LegacyUID, "serviceAccountUID"},
	} {
		if claim.text == "" {
			return who, refusedf("%s claim is missing", claim.missing)
		}
	}
	if namespace, name, err := library.SplitUsername(t.Subject); err != nil || namespace != t.LegacyNamespace || name != t.LegacyName {
		return who, refused("sub claim is invalid")
	}
	secret, err := a.Object(ctx, "secrets", t.LegacyNamespace, t.LegacySecret)
	if err != nil {
		return who, err
	}
	if secret.IsAbsent() || !secret.Get("metadata", "deletionTimestamp").IsAbsent() {
		return who, refused("Token has been invalidated")
	}
	stored, err := base64.StdEncoding.DecodeString(secret.Get("data", "token").Str())
	if err != nil || subtle.ConstantTimeCompare(stored, []byte(tokenText)) == 0 {
		return who, refused("Token does not match server's copy")
	}
	account, err := a.account(ctx, t.LegacyNamespace, t.LegacyName)
	switch {
	case err != nil:
		return who, err
	case !account.Get("metadata", "deletionTimestamp").IsAbsent():
		return who, refusedf("ServiceAccount %s/%s has been deleted", t.LegacyNamespace, t.LegacyName)
	case text(account, "uid") != t.LegacyUID:
		return who, refusedf("ServiceAccount UID (%s) does not match claim (%s)", text(account, "uid"), t.LegacyUID)
	}
	if secret.Get("metadata", "labels", "kubernetes.io/legacy-token-invalid-since").Str() != "" {
		return who, refusedf("the token in secret %s/%s for service account %s/%s has been marked invalid. Use tokens from the TokenRequest API "+
			"or manually created secret-based tokens, or remove the '%s' label from the secret to temporarily allow use of this token",
			t.LegacyNamespace, t.LegacySecret, t.LegacyNamespace, t.LegacyName, "kubernetes.io/legacy-token-invalid-since")
	}
	return library.ServiceAccountInfo{Namespace: t.LegacyNamespace, Name: t.LegacyName, UID: t.LegacyUID}, nil
}

// account returns a service account. The error is that there is none.
func (a *Authority) account(ctx context.Context, namespace, name string) (value.Value, error) {
	account, err := a.Object(ctx, "serviceaccounts", namespace, name)
	if err == nil && account.IsAbsent() {
		err = refusedf("serviceaccounts %q not found", name)
	}
	return account, err
}

// isGone reports whether an object was deleted longer ago than the leeway, and only waits for finalizers or a grace period.
func isGone(object value.Value, now time.Time) bool {
	at, err := time.Parse(time.RFC3339, text(object, "deletionTimestamp"))
	return err == nil && at.Before(now.Add(-leeway))
}

// text returns a text of the metadata of an object.
func text(object value.Value, name string) string { return object.Get("metadata", name).Str() }
