package server_test

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/audit"
	"github.com/deed-project/deed/server/auth"
	"github.com/deed-project/deed/server/internal/servertest"
	"github.com/deed-project/deed/value"
)

// policyScenario is a history of requests on a server with admission policies, as oracle/policies records it from a kube-apiserver.
type policyScenario struct {
	ID                        string
	Setup, Policies, Requests []policyRequest
}

type policyRequest struct {
	Method, Path, Type string
	Body               json.RawMessage
	Code               int
	Response           json.RawMessage
	Warnings           []string
	Annotations        map[string]string
}

// policyDefinitions is the file with the definitions that all scenarios use.
const policyDefinitions = "testdata/policies-definitions.json"

// TestPolicyRecordings sends the server what a kube-apiserver with admission policies was sent, and expects the same answers, warnings and
// annotations of the audit event. With -short it plays each eighth scenario. DEED_POLICIES names another file of recordings.
func TestPolicyRecordings(t *testing.T) {
	t.Parallel()
	scenarios := readPolicyScenarios(t, cmp.Or(os.Getenv("DEED_POLICIES"), "testdata/policies.jsonl.gz"))
	text, err := os.ReadFile(policyDefinitions)
	if err != nil {
		t.Fatal(err)
	}
	var definitions []value.Value
	if err := json.Unmarshal(text, &definitions); err != nil {
		t.Fatal(err)
	}
	requests := 0
	for i, s := range scenarios {
		if testing.Short() && i%8 != 0 {
			continue
		}
		p := newPolicyPlayer(t, definitions)
		requests += len(s.Requests)
		t.Run(s.ID, func(t *testing.T) { p.play(t, s) })
	}
	t.Logf("%d requests of %d scenarios", requests, len(scenarios))
}

func readPolicyScenarios(t *testing.T, name string) []policyScenario {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() // it was only read
	z, err := gzip.NewReader(bufio.NewReader(f))
	if err != nil {
		t.Fatal(err)
	}
	var out []policyScenario
	for d := json.NewDecoder(z); ; {
		var s policyScenario
		if err := d.Decode(&s); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out = append(out, s)
	}
	if len(out) == 0 {
		t.Fatalf("%s holds no scenarios", name)
	}
	return out
}

// policyPlayer plays a scenario.
type policyPlayer struct {
	server      *server.Server
	now         time.Time
	annotations map[string]string // of the last request
}

func newPolicyPlayer(t *testing.T, definitions []value.Value) *policyPlayer {
	p := &policyPlayer{now: time.Date(2026, 1, 1, 0, 0, 0, 500_000_000, time.UTC)}
	p.server = servertest.Start(t, server.Config{
		Objects: definitions, Now: func() time.Time { return p.now },
		Audit: func(e audit.Event) {
			p.annotations = map[string]string{}
			for _, a := range e.Annotations {
				p.annotations[a.Key] = a.Value
			}
		},
		Authenticate: func(*http.Request) (auth.User, error) {
			return auth.User{Name: "admin", UID: "1", Groups: []string{"system:masters", "system:authenticated"}}, nil
		},
	})
	return p
}

func (p *policyPlayer) play(t *testing.T, s policyScenario) {
	for _, q := range slices.Concat(s.Setup, s.Policies) {
		if w := p.send(q); w.Code != q.Code {
			t.Fatalf("%s %s %s: %d %s, want %d", q.Method, q.Path, q.Body, w.Code, w.Body, q.Code)
		}
	}
	for i, q := range s.Requests {
		p.annotations = nil
		w := p.send(q)
		where := fmt.Sprintf("#%d %s %s %s", i, q.Method, q.Path, q.Body)
		body := w.Body.Bytes()
		if !json.Valid(body) {
			body, _ = json.Marshal(string(body)) // texts can be marshalled
		}
		if got, want := plain(body), plain(q.Response); w.Code != q.Code || got != want {
			t.Errorf("%s:\n got %d %s\nwant %d %s", where, w.Code, got, q.Code, want)
		}
		warnings := w.Header().Values("Warning")
		slices.Sort(warnings)
		slices.Sort(q.Warnings)
		if !slices.Equal(warnings, q.Warnings) {
			t.Errorf("%s: warnings\n got %q\nwant %q", where, warnings, q.Warnings)
		}
		if got, want := noted(p.annotations), noted(q.Annotations); got != want {
			t.Errorf("%s: annotations\n got %s\nwant %s", where, got, want)
		}
	}
	if t.Failed() {
		for _, q := range slices.Concat(s.Setup, s.Policies) {
			t.Logf("%s %s %s", q.Method, q.Path, q.Body)
		}
	}
}

func (p *policyPlayer) send(q policyRequest) *httptest.ResponseRecorder {
	r := httptest.NewRequest(q.Method, q.Path, strings.NewReader(string(q.Body)))
	r.Header.Set("User-Agent", "policies")
	if r.Header.Set("Content-Type", q.Type); q.Type == "" {
		r.Header.Set("Content-Type", "application/json")
	}
	w := httptest.NewRecorder()
	p.server.ServeHTTP(w, r)
	return w
}

// ofServer finds what each server chooses: uids, revisions, times and generated names.
var ofServer = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|"resourceVersion":"\d+"|20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ|` +
	`"name":"g(en)?-[bcdfghjklmnpqrstvwxz2456789]{5}"`)

// plain returns a document without what each server chooses. The order of managed fields depends on the second of a request.
func plain(text []byte) string {
	v, err := value.Parse(text)
	if err != nil {
		return string(text)
	}
	return ofServer.ReplaceAllString(servertest.SortedFields(v).String(), "…")
}

// noted returns annotations as a text. Several failures, and values of several parameters, come in no order in kube-apiserver.
func noted(annotations map[string]string) string {
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		parts := strings.Split(annotations[key], ", ")
		slices.Sort(parts)
		fmt.Fprintf(&b, "%s=%s\n", key, strings.Join(parts, ", "))
	}
	return b.String()
}
