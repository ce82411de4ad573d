package command

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/internal/servertest"
)

// TestAuthorizationConfig takes the modes from a file, and refuses webhooks and other faults.
func TestAuthorizationConfig(t *testing.T) {
	const head = "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\nauthorizers:\n"
	const webhook = `
- type: Webhook
  name: hook
  webhook:
    timeout: 3s
    authorizedTTL: 5m
    unauthorizedTTL: 30s
    subjectAccessReviewVersion: v1
    matchConditionSubjectAccessReviewVersion: v1
    failurePolicy: Deny
    connectionInfo: {type: InClusterConfig}
`
	name := filepath.Join(t.TempDir(), "authorizers.yaml")
	for _, c := range []struct{ text, flags, want string }{
		{head + "- {type: Node, name: node}\n- {type: RBAC, name: rbac}\n", "", "Node RBAC"},
		{head + "- {type: RBAC, name: rbac}\n", "--authorization-mode Node", "--authorization-config excludes --authorization-mode and --authorization"},
		{head + "- {type: RBAC, name: rbac}\n", "--authorization allow", "--authorization-config excludes --authorization-mode and --authorization"},
		{head + "- {type: ABAC, name: abac}\n", "", "--authorization-mode ABAC and --authorization-policy-file go together"},
		{head + "- {type: RBAC, name: rbac}" + webhook, "", "--authorization-config: FILE: authorizers[1]: deed-apiserver asks no webhook whether a request is allowed"},
		{head + "- {type: RBAC}\n", "", "--authorization-config: FILE: authorizers[0].name: Required value"},
		{head + "- {type: X, name: x}\n", "", `--authorization-config: FILE: authorizers[0].type: Unsupported value: "X": supported values: "ABAC", "AlwaysAllow", "AlwaysDeny", "Node", "RBAC", "Webhook"`},
		{head + "- {kind: RBAC, name: rbac}\n", "", `--authorization-config: FILE: strict decoding error: unknown field "authorizers[0].kind"`},
		{"kind: Pod\napiVersion: v1\n", "", `--authorization-config: FILE: no kind "Pod" is registered`},
	} {
		if err := os.WriteFile(name, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		o := &options{}
		cmd := command(o)
		err := cmd.ParseFlags(append(strings.Fields(c.flags), "--authorization-config="+name))
		if err == nil {
			err = cmd.ValidateArgs(nil)
		}
		got := strings.Join(o.modes, " ")
		if err != nil {
			got = err.Error()
		}
		if want := strings.ReplaceAll(c.want, "FILE", name); !strings.HasPrefix(got, want) || err == nil && got != want {
			t.Errorf("%s%s\n got %s\nwant %s", c.flags, c.text, got, want)
		}
	}
}

// TestAuthenticationConfig takes from a file which requests need no credentials.
func TestAuthenticationConfig(t *testing.T) {
	const head = "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\n"
	name := filepath.Join(t.TempDir(), "authenticators.yaml")
	for _, c := range []struct{ text, flags, want string }{
		{head, "", "/healthz 200 /version 200"},
		{head, "--anonymous-auth=false", "/healthz 401 /version 401"},
		{head + "anonymous: {enabled: true}\n", "", "/healthz 200 /version 200"},
		{head + "anonymous: {enabled: false}\n", "", "/healthz 401 /version 401"},
		{head + "anonymous: {enabled: true, conditions: [{path: /healthz}]}\n", "", "/healthz 200 /version 401"},
		{head + "anonymous: {enabled: true}\n", "--anonymous-auth", "--anonymous-auth and the member anonymous of FILE exclude each other"},
		{head + "anonymous: {enabled: false, conditions: [{path: /healthz}]}\n", "", "--authentication-config: FILE: anonymous.conditions: Invalid value"},
		{head + "jwt: [{issuer: {url: 'http://a'}}]\n", "", "--authentication-config: FILE: [jwt[0].issuer.url: Invalid value"},
		{head + "nope: 1\n", "", `--authentication-config: FILE: strict decoding error: unknown field "nope"`},
	} {
		if err := os.WriteFile(name, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		o := &options{}
		cmd := command(o)
		err := cmd.ParseFlags(append(strings.Fields(c.flags), "--authentication-config="+name))
		if err == nil {
			err = cmd.ValidateArgs(nil)
		}
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			config := server.Config{}
			if _, err := o.access(&config); err != nil {
				t.Fatal(err)
			}
			s := servertest.Start(t, config)
			for _, path := range []string{"/healthz", "/version"} {
				got += fmt.Sprintf(" %s %d", path, servertest.Ask(s, "GET "+path, "").Code)
			}
			got = got[1:]
		}
		if want := strings.ReplaceAll(c.want, "FILE", name); !strings.HasPrefix(got, want) || err == nil && got != want {
			t.Errorf("%s%s\n got %s\nwant %s", c.flags, c.text, got, want)
		}
	}
}
