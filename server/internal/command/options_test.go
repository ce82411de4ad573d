package command

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/deed-project/deed/internal/build"
	"github.com/deed-project/deed/server"
)

// TestFlags refuses flags that do not go together, and says which.
func TestFlags(t *testing.T) {
	for line, want := range map[string]string{
		"": "",
		"--etcd-servers http://127.0.0.1:2379,http://127.0.0.1:2381 --etcd-prefix /x": "",
		"--etcd-servers https://127.0.0.1:2379 --etcd-certfile c --etcd-keyfile k":    "",
		"--etcd-servers https://127.0.0.1:2379 --etcd-certfile c":                     "--etcd-certfile and --etcd-keyfile go together",
		"--etcd-servers http://127.0.0.1:2379 --etcd-user u":                          "--etcd-user and --etcd-password-file go together",
		"--etcd-servers http://127.0.0.1:2379 --data f":                               "--data and --etcd-servers exclude each other",
		"--etcd-cafile c":               "flags about etcd need --etcd-servers",
		"--etcd-compaction-interval 5m": "flags about etcd need --etcd-servers",
		"--etcd-servers http://127.0.0.1:2379 --etcd-compaction-interval=-5m": "--etcd-compaction-interval is negative",
		"--max-object-bytes 0":       "--max-object-bytes: 0 is no size",
		"--merge":                    "--merge needs --kubeconfig",
		"--max-requests-inflight 0":  "",
		"--max-requests-inflight -1": "are not negative",
		"--enable-priority-and-fairness --max-requests-inflight 0 --max-mutating-requests-inflight 1": "of at least 2",
		"--authorization-mode Node,RBAC":                                    "",
		"--authorization-mode RBAC --authorization-mode Webhook":            `--authorization-mode: "Webhook" is none of AlwaysAllow, AlwaysDeny, RBAC, ABAC, Node`,
		"--authorization-mode ABAC,RBAC":                                    "--authorization-mode ABAC and --authorization-policy-file go together",
		"--authorization-mode RBAC --authorization-policy-file f":           "--authorization-mode ABAC and --authorization-policy-file go together",
		"--authorization-mode ABAC --authorization-policy-file f":           "",
		"--authorization-mode RBAC,RBAC":                                    `--authorization-mode has mode "RBAC" more than once`,
		"--authorization-mode RBAC --authorization deny-anonymous":          "--authorization and --authorization-mode exclude each other",
		"--listen 0.0.0.0:1 --client-ca f --authorization-mode RBAC":        "",
		"--listen 0.0.0.0:1 --client-ca f --authorization-mode AlwaysAllow": "it needs --authorization-mode RBAC",
		"--secure-port 0 --bind-address ::1":                                "",
		"--listen 127.0.0.1:0 --secure-port 0":                              "--listen excludes --bind-address and --secure-port",
		"--secure-port 65536":                                               "value out of range",
		"--bind-address 0.0.0.0":                                            "0.0.0.0:6443 is reached by others",
		"--insecure-http --cert-dir d":                                      "--insecure-http goes with neither",
		"--tls-min-version VersionTLS11 --tls-cipher-suites TLS_RSA_WITH_AES_128_CBC_SHA --tls-curve-preferences 29,23": "",
		"--tls-min-version TLS13":       `--tls-min-version: "TLS13" is none of`,
		"--tls-cipher-suites nope":      `--tls-cipher-suites: "nope" is not known`,
		"--tls-curve-preferences 70000": "--tls-curve-preferences: 70000 is no tls.CurveID",
		"--tls-cert c":                  "--tls-cert-file and --tls-private-key-file go together",
		"--requestheader-client-ca-file f --requestheader-username-headers X-Remote-User,X-User --requestheader-allowed-names a": "",
		"--requestheader-client-ca-file f":                                                         "needs --requestheader-username-headers",
		"--requestheader-username-headers X":                                                       "flags about request headers need --requestheader-client-ca-file",
		"--requestheader-client-ca-file f --insecure-http":                                         "--insecure-http goes with neither",
		"--cluster-signing-cert-file f --cluster-signing-key-file k --cluster-signing-duration 1h": "",
		"--cluster-signing-cert-file f":                                                            "--cluster-signing-cert-file and --cluster-signing-key-file go together",
		"--service-account-issuer https://a --service-account-issuer b --api-audiences a,b --service-account-max-token-expiration 2h": "",
		"crd.yaml":           `"crd.yaml" is no flag`,
		"--listen 0.0.0.0:1": "0.0.0.0:1 is reached by others",
		"--listen 0.0.0.0:1 --token-file f --etcd-servers http://127.0.0.1:2379 --data f": "exclude each other",
	} {
		cmd := command(&options{})
		err := cmd.ParseFlags(strings.Fields(line))
		if err == nil {
			err = cmd.ValidateArgs(cmd.Flags().Args())
		}
		if got := ""; err != nil {
			got = err.Error()
			if want == "" || !strings.Contains(got, want) {
				t.Errorf("%s: %s, want %q", line, got, want)
			}
		} else if want != "" {
			t.Errorf("%s is accepted, want %q", line, want)
		}
	}
}

// TestPolicyBeyondLoopback refuses a policy that lets requests without credentials do something everywhere, if others reach the server.
func TestPolicyBeyondLoopback(t *testing.T) {
	for rule, refused := range map[string]bool{
		"* * * *": true, "* get * *": true, "system:anonymous * * *": true, "group:system:unauthenticated list * *": true,
		"joe * * *": false, "* get /version *": false, "* get * default": false, "group:system:authenticated * * *": false,
	} {
		name := filepath.Join(t.TempDir(), "policy")
		if err := os.WriteFile(name, []byte("# a comment\n"+rule+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		for host, judged := range map[string]bool{"192.0.2.1": true, "127.0.0.1": false} {
			o := &options{anonymous: true, authorization: name, host: host, listen: host + ":6443"}
			_, err := o.access(&server.Config{})
			if want := refused && judged; (err != nil) != want || want && !strings.Contains(err.Error(), rule) {
				t.Errorf("%s on %s: %v", rule, host, err)
			}
		}
	}
}

// TestAuthorizationModes compares what requests without credentials and those of an administrator may do in each mode.
func TestAuthorizationModes(t *testing.T) {
	for modes, want := range map[string]int{
		"AlwaysAllow": http.StatusUnauthorized, "AlwaysDeny": http.StatusForbidden, "RBAC": http.StatusForbidden,
		"Node": http.StatusForbidden, "RBAC,AlwaysAllow": http.StatusUnauthorized,
	} {
		o := &options{anonymous: true, modes: strings.Split(modes, ","), listen: "127.0.0.1:0", host: "127.0.0.1"}
		c := server.Config{}
		token, err := o.access(&c)
		if err != nil {
			t.Fatal(err)
		}
		s, err := server.New(c)
		if err != nil {
			t.Fatal(err)
		}
		for credentials, want := range map[string]int{"": want, "Basic YTpi": want, "Bearer " + token: http.StatusOK} {
			w, r := httptest.NewRecorder(), httptest.NewRequest("GET", "http://127.0.0.1/api/v1/pods", nil)
			if credentials != "" {
				r.Header.Set("Authorization", credentials)
			}
			if s.ServeHTTP(w, r); w.Code != want {
				t.Errorf("%s, %q: %d, want %d %s", modes, credentials, w.Code, want, w.Body)
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestCompletion prints what completes the flags, and serves nothing.
func TestCompletion(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		var out, errs strings.Builder
		if code := Run(t.Context(), Name, []string{"completion", shell}, &out, &errs); code != 0 || !strings.Contains(out.String(), "deed-apiserver") {
			t.Errorf("%s: exit code %d, %s", shell, code, errs.String())
		}
	}
	var out, errs strings.Builder
	Run(t.Context(), Name, []string{"__complete", "--kubec"}, &out, &errs)
	if !strings.HasPrefix(out.String(), "--kubeconfig\t") {
		t.Errorf("--kubec is completed to %s%s", out.String(), errs.String())
	}
}

// TestVersion prints the version and serves nothing.
func TestVersion(t *testing.T) {
	var out, errs strings.Builder
	if code := Run(t.Context(), Name, []string{"--version"}, &out, &errs); code != 0 || errs.Len() > 0 {
		t.Errorf("exit code %d, %s", code, errs.String())
	}
	if got := out.String(); got != build.Read().Text("deed-apiserver") || !strings.HasPrefix(got, "deed-apiserver ") {
		t.Errorf("it says %q", got)
	}
}
