package serviceaccounts

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/errors"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/auth/accounts"
	"github.com/deed-project/deed/server/controllers/queue"
	"github.com/deed-project/deed/server/loopback"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

// Tokens keeps the Secrets that hold tokens of service accounts: of type kubernetes.io/service-account-token, with the name of the account
// as an annotation.
//
//	a Secret lacks a part          →  it gets the token, the certificates and the namespace
//	its account does not exist     →  the Secret is deleted
//	a Secret is deleted            →  its account does not name it any more
//
// An account exists if its uid is the one that the Secret has as an annotation. A Secret without this annotation gets it with the token.
type Tokens struct {
	Host
	Certificates []byte // of the API server's authority, in PEM; none are filled in if it is empty
	Authority    *accounts.Authority
}

const (
	tokenType   = "kubernetes.io/service-account-token"
	accountName = "kubernetes.io/service-account.name"
	accountUID  = "kubernetes.io/service-account.uid"
)

// tokenSecret is a Secret with a token, and its account. id is the UID of the Secret, and uid that of the account, if the Secret says it.
type tokenSecret struct{ namespace, name, id, account, uid string }

// Run keeps the Secrets until ctx ends.
func (t Tokens) Run(ctx context.Context) {
	(&queue.Controller[tokenSecret]{
		Name: "the token controller", Store: t.Store, Report: t.Report, Work: t.work, Sources: []queue.Source[tokenSecret]{
			{Prefix: t.resource("secrets").Prefix, Items: secretOf},
			{Prefix: t.resource("serviceaccounts").Prefix, Items: func(e store.Event) []tokenSecret { return t.ofAccount(ctx, e) }},
		},
	}).Run(ctx)
}

// secretOf returns the Secret that an event is about, if it holds a token. Others are not parsed.
func secretOf(e store.Event) []tokenSecret {
	text := e.Text
	if e.Deleted {
		text = e.Previous
	}
	if !bytes.Contains(text, []byte(tokenType)) {
		return nil
	}
	o, err := managedfields.ParseObject(text)
	if err != nil || o.Content.Get("type").Str() != tokenType {
		return nil
	}
	annotations := o.Content.Get("metadata", "annotations")
	return []tokenSecret{{
		api.Meta(o.Content, "namespace"), api.Meta(o.Content, "name"), api.Meta(o.Content, "uid"),
		annotations.Get(accountName).Str(), annotations.Get(accountUID).Str(),
	}}
}

// ofAccount returns the Secrets of an account that an event deletes.
func (t Tokens) ofAccount(ctx context.Context, e store.Event) []tokenSecret {
	if !e.Deleted {
		return nil
	}
	namespace, name, _ := strings.Cut(strings.TrimPrefix(e.Key, t.resource("serviceaccounts").Prefix), "/")
	page, err := t.Store.Range(ctx, store.Range{Prefix: t.resource("secrets").KeyPrefix(namespace)})
	if err != nil {
		t.Report("the secrets of an account are not found", err)
		return nil
	}
	var out []tokenSecret
	for _, record := range page.Records {
		out = append(out, slices.DeleteFunc(secretOf(store.Event{Record: record}), func(s tokenSecret) bool { return s.account != name })...)
	}
	return out
}

// work brings a Secret in line.
func (t Tokens) work(ctx context.Context, of tokenSecret) error {
	record, err := t.Store.Get(ctx, t.resource("secrets").Key(of.namespace, of.name), 0)
	if err != nil {
		if err = loopback.IgnoreNotFound(err); err == nil {
			err = t.forget(ctx, of)
		}
		return err
	}
	secret, err := managedfields.ParseObject(record.Text)
	if err != nil {
		return err
	}
	if api.Meta(secret.Content, "uid") != of.id { // a successor with the same name
		return t.forget(ctx, of)
	}
	account, err := t.object(ctx, "serviceaccounts", of.namespace, of.account)
	if err != nil {
		return err
	}
	if uid := api.Meta(account, "uid"); account.IsAbsent() || of.uid != "" && of.uid != uid {
		return t.delete(ctx, of)
	}
	filled, err := t.filled(secret.Content, accounts.Account{Namespace: of.namespace, Name: of.account, UID: api.Meta(account, "uid")})
	if err != nil || filled.Equal(secret.Content) {
		return err
	}
	filled = api.WithMetadata(filled, "resourceVersion", value.String(fmt.Sprint(record.Revision)))
	err = t.Client.Send(ctx, http.MethodPut, path("secrets", of.namespace)+"/"+of.name+fieldManager, filled)
	if errors.IsConflict(err) {
		return nil // the other write makes the Secret due again
	}
	return loopback.IgnoreNotFound(err)
}

// delete deletes a Secret.
func (t Tokens) delete(ctx context.Context, of tokenSecret) error {
	text := func(name, s string) value.Member { return value.Member{Name: name, Value: value.String(s)} }
	options := value.Object(text("apiVersion", "v1"), text("kind", "DeleteOptions"),
		value.Member{Name: "preconditions", Value: value.Object(text("uid", of.id))})
	err := t.Client.Send(ctx, http.MethodDelete, path("secrets", of.namespace)+"/"+of.name, options)
	if errors.IsConflict(err) {
		return nil // it is another one by now
	}
	return loopback.IgnoreNotFound(err)
}

// filled returns a Secret with what it lacks: the same one if it lacks nothing.
func (t Tokens) filled(secret value.Value, account accounts.Account) (value.Value, error) {
	data := secret.Get("data")
	has := func(name string) []byte {
		decoded, err := base64.StdEncoding.DecodeString(data.Get(name).Str())
		if err != nil {
			return nil
		}
		return decoded
	}
	missing := map[string][]byte{}
	if len(t.Certificates) > 0 && !bytes.Equal(has(rootKey), t.Certificates) {
		missing[rootKey] = t.Certificates
	}
	if len(has("namespace")) == 0 {
		missing["namespace"] = []byte(account.Namespace)
	}
	if len(has("token")) == 0 {
		token, err := t.Authority.IssueLegacy(account, api.Meta(secret, "name"))
		if err != nil {
			return secret, err
		}
		missing["token"] = []byte(token)
	}
	if len(missing) == 0 {
		return secret, nil
	}
	if data.IsAbsent() || data.IsNull() {
		data = value.Object()
	}
	for name, text := range missing {
		data = data.With(name, value.String(base64.StdEncoding.EncodeToString(text)))
	}
	annotations := secret.Get("metadata", "annotations").With(accountName, value.String(account.Name)).With(accountUID, value.String(account.UID))
	return api.WithMetadata(secret, "annotations", annotations).With("data", data), nil
}

// forget removes the name of a Secret that is gone from its account.
func (t Tokens) forget(ctx context.Context, of tokenSecret) error {
	record, err := t.Store.Get(ctx, t.resource("serviceaccounts").Key(of.namespace, of.account), 0)
	if err != nil {
		return loopback.IgnoreNotFound(err)
	}
	account, err := managedfields.ParseObject(record.Text)
	if err != nil {
		return err
	}
	if of.uid != "" && of.uid != api.Meta(account.Content, "uid") {
		return nil
	}
	secrets := account.Content.Get("secrets")
	left := slices.DeleteFunc(slices.Collect(secrets.Items()), func(ref value.Value) bool { return ref.Get("name").Str() == of.name })
	if len(left) == secrets.Len() {
		return nil
	}
	changed := api.WithMetadata(account.Content.With("secrets", value.List(left...)), "resourceVersion", value.String(fmt.Sprint(record.Revision)))
	return loopback.IgnoreNotFound(t.Client.Send(ctx, http.MethodPut, path("serviceaccounts", of.namespace)+"/"+of.account+fieldManager, changed))
}
