package command

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/internal/servertest"
)

const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- {level: None, nonResourceURLs: ["/healthz"]}
- {level: Metadata, resources: [{group: "", resources: [secrets]}]}
- {level: RequestResponse, omitManagedFields: true}
`

// auditFlags returns the options that flags make. POLICY and LOG stand for files of the test.
func auditFlags(t *testing.T, flags ...string) (o *auditOptions, log string) {
	t.Helper()
	dir := t.TempDir()
	policy, log := filepath.Join(dir, "policy.yaml"), filepath.Join(dir, "logs", "audit.log")
	if err := os.WriteFile(policy, []byte(auditPolicy), 0o600); err != nil {
		t.Fatal(err)
	}
	o, f := &auditOptions{}, pflag.NewFlagSet("", pflag.ContinueOnError)
	o.addTo(f)
	for i, text := range flags {
		flags[i] = strings.NewReplacer("POLICY", policy, "LOG", log).Replace(text)
	}
	if err := f.Parse(flags); err != nil {
		t.Fatal(err)
	}
	return o, log
}

// recorded sends requests to a server with the audit log of o, and returns the events in the file of the log.
func recorded(t *testing.T, o *auditOptions, out io.Writer) {
	t.Helper()
	recorder, end, err := o.recorder(out, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	s := servertest.Start(t, server.Config{AuditLog: recorder})
	for _, request := range []string{"GET /healthz", "POST /api/v1/namespaces/default/secrets", "GET /api/v1/namespaces/default/secrets"} {
		body := ""
		if strings.HasPrefix(request, "POST") {
			body = `{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"a": "hidden"}}`
		}
		servertest.Ask(s, request+" Content-Type=application/json", body)
	}
	servertest.Ask(s, "POST /api/v1/namespaces/default/configmaps Content-Type=application/json", `{"metadata": {"name": "m"}, "data": {"a": "shown"}}`)
	if err := end(); err != nil {
		t.Error(err)
	}
}

// TestAuditLog writes the log in each mode and format, and to a webhook.
func TestAuditLog(t *testing.T) {
	for _, c := range []struct {
		flags []string
		lines int
	}{
		{[]string{"--audit-log-path=LOG"}, 3},
		{[]string{"--audit-log-path=LOG", "--audit-log-mode=blocking-strict", "--audit-log-maxsize=0"}, 3},
		{[]string{"--audit-log-path=LOG", "--audit-log-mode=batch"}, 3},
		{[]string{"--audit-log-path=LOG", "--audit-log-truncate-enabled", "--audit-log-truncate-max-event-size=10"}, 0},
	} {
		o, log := auditFlags(t, append(c.flags, "--audit-policy-file=POLICY")...)
		if err := o.check(); err != nil {
			t.Fatal(err)
		}
		recorded(t, o, io.Discard)
		text, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
		if len(text) == 0 {
			lines = nil
		}
		if len(lines) != c.lines || strings.Contains(string(text), "hidden") || strings.Contains(string(text), "managedFields") {
			t.Errorf("%v: the log has\n%s", c.flags, text)
		}
		var last struct {
			Verb          string
			RequestObject struct{ Data map[string]string }
		}
		if c.lines > 0 {
			if err := json.Unmarshal([]byte(lines[2]), &last); err != nil || last.Verb != "create" || last.RequestObject.Data["a"] != "shown" {
				t.Errorf("%v: the last event is %s, %v", c.flags, lines[2], err)
			}
		}
	}
	o, _ := auditFlags(t, "--audit-log-path=-", "--audit-log-format=legacy", "--audit-policy-file=POLICY")
	var out bytes.Buffer
	if recorded(t, o, &out); strings.Count(out.String(), ` AUDIT: id="`) != 3 {
		t.Errorf("the standard output has\n%s", out.String())
	}
}

// TestAuditWebhook sends events to a webhook beside the log.
func TestAuditWebhook(t *testing.T) {
	got := make(chan string, 3)
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got <- string(text)
	}))
	defer hook.Close()
	config := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(config, []byte(`{"apiVersion": "v1", "kind": "Config", "current-context": "c", "contexts": [{"name": "c", "context": {"cluster": "k"}}],
"clusters": [{"name": "k", "cluster": {"server": "`+hook.URL+`"}}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	o, log := auditFlags(t, "--audit-log-path=LOG", "--audit-policy-file=POLICY", "--audit-webhook-config-file="+config, "--audit-webhook-mode=blocking")
	recorded(t, o, io.Discard)
	text, err := os.ReadFile(log)
	if err != nil || strings.Count(string(text), "\n") != 3 {
		t.Errorf("the log has %s, %v", text, err)
	}
	for range 3 {
		if text := <-got; !strings.Contains(text, `"kind":"EventList"`) {
			t.Errorf("the webhook gets %s", text)
		}
	}
}

// TestAuditFlags refuses wrong flags and policies, and warns of a log without a policy.
func TestAuditFlags(t *testing.T) {
	for _, c := range []struct{ flags, want string }{
		{"--audit-log-path=LOG --audit-log-format=x", `--audit-log-format: expected one of legacy, json, got "x"`},
		{"--audit-log-path=LOG --audit-log-maxage=-1", "--audit-log-maxage, -maxbackup and -maxsize cannot be negative, got -1"},
		{"--audit-log-path=LOG --audit-log-mode=x", `--audit-log-mode: expected one of batch, blocking, blocking-strict, got "x"`},
		{"--audit-log-path=LOG --audit-log-version=x", `--audit-log-version: expected audit.k8s.io/v1, got "x"`},
		{"--audit-log-path=LOG --audit-log-mode=batch --audit-log-batch-max-size=0", "the numbers of --audit-log-batch must be positive"},
		{"--audit-webhook-config-file=x --audit-webhook-truncate-max-event-size=0", "--audit-webhook-truncate-max-event-size must be positive, and a batch as large as an event"},
		{"--audit-policy-file=/none --audit-log-path=LOG", "--audit-policy-file: open /none: no such file or directory"},
		{"--audit-policy-file=/dev/null --audit-log-path=LOG", "--audit-policy-file: /dev/null: "},
		{"--audit-policy-file=POLICY --audit-log-path=/dev/null/x", "--audit-log-path: mkdir /dev/null: not a directory"},
		{"--audit-policy-file=POLICY --audit-webhook-config-file=/none", "--audit-webhook-config-file: "},
		{"--audit-log-path=LOG", ""},
		{"--audit-policy-file=POLICY", ""},
	} {
		o, log := auditFlags(t, strings.Fields(c.flags)...)
		err := o.check()
		var warned strings.Builder
		if err == nil {
			_, _, err = o.recorder(io.Discard, &warned)
		}
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %s", c.flags, err, c.want)
		}
		if warns := strings.HasPrefix(c.flags, "--audit-log-path") && err == nil; warns != (warned.String() == log+" gets no events without --audit-policy-file\n") {
			t.Errorf("%s: the warning is %q", c.flags, warned.String())
		}
	}
}
