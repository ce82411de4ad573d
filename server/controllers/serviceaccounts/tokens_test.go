package serviceaccounts_test

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/internal/servertest"
)

// TestLegacyTokens authenticates with the token of a Secret, until the Secret changes or goes.
func TestLegacyTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := servertest.Start(t, server.Config{Controllers: []string{"serviceaccount-token-controller"}, RootCA: []byte("PEM")})
		const secrets, review = "/api/v1/namespaces/default/secrets", "/apis/authentication.k8s.io/v1/tokenreviews"
		servertest.Create(t, s, "/api/v1/namespaces/default/serviceaccounts", `{"metadata":{"name":"web"}}`)
		servertest.Create(t, s, secrets, `{"metadata":{"name":"t","annotations":{"kubernetes.io/service-account.name":"web"}},
			"type":"kubernetes.io/service-account-token"}`)
		synctest.Wait()
		_, secret := servertest.Send(t, s, http.MethodGet, secrets+"/t", "")
		token, err := base64.StdEncoding.DecodeString(secret.Get("data", "token").Str())
		if err != nil || len(token) == 0 || secret.Get("data", "ca.crt").Str() != base64.StdEncoding.EncodeToString([]byte("PEM")) {
			t.Fatalf("%v: %v", err, secret)
		}
		reviewed := func(want string) {
			t.Helper()
			code, answer := servertest.Send(t, s, http.MethodPost, review, `{"spec":{"token":"`+string(token)+`"}}`)
			if got := answer.Get("status").String(); code != http.StatusCreated || !strings.Contains(got, want) {
				t.Errorf("the status is %d %s, and not %s", code, got, want)
			}
		}
		reviewed(`"authenticated":true,"user":{"groups":["system:serviceaccounts","system:serviceaccounts:default","system:authenticated"]`)

		label := func(label string) {
			if code, answer := servertest.Send(t, s, http.MethodPatch, secrets+"/t", `{"metadata":{"labels":{`+label+`}}}`); code != http.StatusOK {
				t.Fatal(answer)
			}
		}
		label(`"kubernetes.io/legacy-token-invalid-since":"2026-01-01"`)
		reviewed(`has been marked invalid`)
		label(`"kubernetes.io/legacy-token-invalid-since":""`)
		reviewed(`"authenticated":true`)

		// The Secret holds another text now.
		if code, answer := servertest.Send(t, s, http.MethodPatch, secrets+"/t", `{"data":{"token":"eA=="}}`); code != http.StatusOK {
			t.Fatal(answer)
		}
		reviewed(`Token does not match server's copy`)
		if code, answer := servertest.Send(t, s, http.MethodDelete, secrets+"/t", ""); code != http.StatusOK {
			t.Fatal(answer)
		}
		reviewed(`Token has been invalidated`)
	})
}

// TestSuccessors replaces Secrets at once. The account does not name the Secret any more, however soon the next one comes.
func TestSuccessors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := servertest.Start(t, server.Config{Controllers: []string{"serviceaccount-token-controller"}, RootCA: []byte("PEM")})
		const accounts, secrets = "/api/v1/namespaces/default/serviceaccounts", "/api/v1/namespaces/default/secrets"
		for range 200 {
			const secret = `{"metadata":{"name":"t","annotations":{"kubernetes.io/service-account.name":"web"}},"type":"kubernetes.io/service-account-token"}`
			servertest.Create(t, s, accounts, `{"metadata":{"name":"web"},"secrets":[{"name":"t"},{"name":"other"}]}`)
			servertest.Create(t, s, secrets, secret)
			synctest.Wait()
			servertest.Send(t, s, http.MethodDelete, secrets+"/t", "")
			servertest.Create(t, s, secrets, secret)
			synctest.Wait()
			_, account := servertest.Send(t, s, http.MethodGet, accounts+"/web", "")
			if got := account.Get("secrets").String(); got != `[{"name":"other"}]` {
				t.Fatalf("the secrets of the account are %s", got)
			}
			servertest.Send(t, s, http.MethodDelete, accounts+"/web", "")
			synctest.Wait()
		}
	})
}
