package webhook_test

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/auth"
	"github.com/deed-project/deed/server/internal/servertest"
	"github.com/deed-project/deed/server/store/memory"
	"github.com/deed-project/deed/value"
)

// hookScenario is a history of writes with webhooks, recorded from a kube-apiserver.
type hookScenario struct {
	ID, Theme string
	CRDs      []value.Value `json:"crds"`
	Setup     []recordedRequest
	Configs   []recordedRequest
	Hooks     map[string]recordedHook
	Requests  []recordedRequest
}

// recordedRequest is a request and what came of it.
type recordedRequest struct {
	Op, Method, Path, Query string
	Headers                 http.Header
	Body                    json.RawMessage

	Code      int
	Response  json.RawMessage
	Warnings  []string
	Calls     []recordedCall
	Ambiguous []string
	After     *struct {
		Path string
		Code int
		Body json.RawMessage
	}
}

type recordedCall struct {
	Hook       string
	Answer     [2]int
	Query      string
	APIVersion string
	Request    json.RawMessage
}

const sharedHooks = "../../../../shared/recordings/admission/seed-1.jsonl.gz"

// atOnce is how many scenarios are replayed at a time: some do nothing but wait for webhooks that do not answer.
const atOnce = 16

// TestHookRecordings sends the server what a kube-apiserver with webhooks was sent, answers for the webhooks, and expects the same
// calls, answers, warnings and stored objects. DEED_HOOKS names another file of recordings. Scenarios in which an answer comes half a
// second before or after a deadline are replayed only of that file: they want a machine that is not busy.
func TestHookRecordings(t *testing.T) {
	var files []string
	left := 0
	if _, err := os.Stat(sharedHooks); err == nil && !testing.Short() {
		files = append(files, sharedHooks)
	} else {
		t.Logf("%s is not replayed: %v, short mode %v", sharedHooks, err, testing.Short())
	}
	files = append(files, "testdata/hooks.jsonl.gz")
	if name := os.Getenv("DEED_HOOKS"); name != "" {
		files = append(files, name)
	}
	hooks := startHooks(t)
	var wait sync.WaitGroup
	defer wait.Wait()
	defer func() { t.Logf("%d scenarios about deadlines are not replayed, see DEED_HOOKS", left) }()
	free, known := make(chan struct{}, atOnce), map[string]bool{} // some scenarios are in two files
	for _, file := range files {
		for _, s := range readHookScenarios(t, file) {
			if known[s.ID] {
				continue
			}
			known[s.ID] = true
			if file == sharedHooks && strings.Contains("slow deadline", s.Theme) {
				left++
				continue
			}
			free <- struct{}{}
			wait.Go(func() {
				defer func() { <-free }()
				t.Run(s.ID+" "+s.Theme, func(t *testing.T) { hooks.replay(t, s) })
			})
		}
	}
}

// defaultDeadline is the deadline of a webhook without timeoutSeconds.
const defaultDeadline = 10 * time.Second

// replay replays a scenario. If there is a difference, and webhooks took their time or a deadline passed because the machine is busy, it
// replays the scenario again, with nothing beside it.
func (p *hookPlayer) replay(t *testing.T, s hookScenario) {
	p.alone.RLock()
	begin := time.Now()
	r := &replay{t: t, scenario: s, hooks: p}
	r.run()
	p.alone.RUnlock()
	for range 2 {
		if len(r.differences) == 0 || !takesTime(s) && time.Since(begin) < defaultDeadline {
			break
		}
		t.Logf("again, for %d differences, the first of which is: %s", len(r.differences), r.differences[0])
		p.alone.Lock()
		begin = time.Now()
		r = &replay{t: t, scenario: s, hooks: p}
		r.run()
		p.alone.Unlock()
	}
	for _, d := range r.differences {
		t.Error(d)
	}
}

// takesTime reports whether webhooks of a scenario take their time, so that not all of its requests were made in one second.
func takesTime(s hookScenario) bool {
	return strings.Contains("slow deadline retry-after huge transport", s.Theme)
}

func readHookScenarios(t *testing.T, name string) []hookScenario {
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
	var out []hookScenario
	for d := json.NewDecoder(z); ; {
		var s hookScenario
		if err := d.Decode(&s); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out = append(out, s)
	}
	if len(out) == 0 {
		t.Errorf("%s holds no scenarios", name)
	}
	return out
}

// replay is a scenario on its way.
type replay struct {
	t        *testing.T
	scenario hookScenario
	hooks    *hookPlayer
	server   *server.Server
	now      atomic.Pointer[time.Time] // the server's clock, which stands still while a request is in flight
	names    *placeholders

	differences []string
}

func (r *replay) differ(format string, args ...any) {
	r.differences = append(r.differences, fmt.Sprintf(format, args...))
}

func (r *replay) run() {
	now := time.Date(2026, 1, 1, 0, 0, 0, 500_000_000, time.UTC) // as in life, no whole second
	r.now.Store(&now)
	r.begin()
	state := &playing{hooks: r.scenario.Hooks}
	r.hooks.mu.Lock()
	r.hooks.scenarios[r.scenario.ID] = state
	r.hooks.mu.Unlock()
	for i, q := range r.scenario.Requests {
		if i == 0 || takesTime(r.scenario) { // else, all requests of a scenario were made in one second
			now := r.now.Load().Add(10 * time.Second)
			r.now.Store(&now)
		}
		r.hooks.mu.Lock()
		state.request, state.counts, state.calls = i, map[string]int{}, nil
		r.hooks.mu.Unlock()
		r.request(i, q, state)
	}
}

// begin starts the server and creates what the requests need. Resource versions have three digits from the beginning, since some
// patches have others as literals.
func (r *replay) begin() {
	kept := memory.New()
	for range 50 {
		at, err := kept.Put(r.t.Context(), "/warm", []byte("{}"), 0)
		if err == nil {
			_, err = kept.Delete(r.t.Context(), "/warm", at)
		}
		if err != nil {
			r.t.Fatal(err)
		}
	}
	r.server = servertest.Start(r.t, server.Config{
		Store: kept, Objects: r.scenario.CRDs, Now: func() time.Time { return *r.now.Load() },
		Authenticate: func(*http.Request) (auth.User, error) {
			return auth.User{Name: "admin", UID: "1", Groups: []string{"system:masters", "system:authenticated"}}, nil
		},
	})
	r.names = newPlaceholders(r.hooks)
	for _, q := range r.scenario.Setup {
		q.Method, q.Query = http.MethodPost, "fieldManager=setup"
		if code, _, body := r.send(q, q.Body); code != q.Code {
			r.t.Fatalf("setup %s: %d %s, want %d", q.Path, code, body, q.Code)
		}
	}
	for i, q := range r.scenario.Configs {
		q.Method, q.Query = http.MethodPost, "fieldManager=setup"
		body := strings.NewReplacer("{{HOOK}}", r.hooks.url, "{{CA}}", r.hooks.ca, "{{BADCA}}", r.hooks.badCA).Replace(string(q.Body))
		code, header, answer := r.send(q, []byte(body))
		r.compare(fmt.Sprintf("configuration %d", i), q.Code, code, q.Response, r.names.document(answer))
		r.compareTexts(fmt.Sprintf("configuration %d: warnings", i), q.Warnings, r.names.texts(header.Values("Warning")))
	}
}

// send sends a request, and returns the answer.
func (r *replay) send(q recordedRequest, body []byte) (int, http.Header, []byte) {
	target := q.Path
	if q.Query != "" {
		target += "?" + q.Query
	}
	request := httptest.NewRequest(q.Method, target, strings.NewReader(string(body)))
	request.Header.Set("User-Agent", "admrec/1")
	request.Header.Set("Accept", "application/json")
	if len(body) > 0 {
		request.Header.Set("Content-Type", "application/json")
	}
	for name, texts := range q.Headers {
		request.Header[http.CanonicalHeaderKey(name)] = texts
	}
	w := httptest.NewRecorder()
	r.server.ServeHTTP(w, request)
	return w.Code, w.Header(), w.Body.Bytes()
}

// request sends the i-th request, and compares what came of it.
func (r *replay) request(i int, q recordedRequest, state *playing) {
	where := fmt.Sprintf("#%d %s %s", i, q.Op, q.Path)
	code, header, answer := r.send(q, r.filledIn(q))
	r.compareCalls(where, q.Calls, sortedCalls(r.scenario.Hooks, state.calls))
	warnings, response := r.names.texts(header.Values("Warning")), r.names.document(answer)
	if !slices.Contains(q.Ambiguous, "error") {
		r.compare(where, q.Code, code, q.Response, response)
	}
	if slices.Contains(q.Ambiguous, "warnings") {
		slices.Sort(warnings)
		slices.Sort(q.Warnings)
	}
	if !slices.Contains(q.Ambiguous, "warnings") || len(strings.Join(q.Warnings, "")) < 4096 { // else some are cut off
		r.compareTexts(where+": warnings", q.Warnings, warnings)
	}
	if q.After == nil {
		return
	}
	name, _ := value.Parse(answer)
	path := strings.Replace(q.After.Path, "{{NAME}}", url.PathEscape(cmp.Or(name.Get("metadata", "name").Str(), "none")), 1)
	code, _, after := r.send(recordedRequest{Method: http.MethodGet, Path: path}, nil)
	document := r.names.document(after)
	if code == http.StatusNotFound {
		document = nil
	}
	r.compare(where+": afterwards", q.After.Code, code, q.After.Body, document)
}

// filledIn returns the body of a request with the uid and resource version of what is stored where the recording has them.
func (r *replay) filledIn(q recordedRequest) []byte {
	text := string(q.Body)
	if !strings.Contains(text, "$RV") && !strings.Contains(text, "$UID") {
		return q.Body
	}
	_, _, answer := r.send(recordedRequest{Method: http.MethodGet, Path: q.Path}, nil)
	live, err := value.Parse(answer)
	uid, version := live.Get("metadata", "uid").Str(), live.Get("metadata", "resourceVersion").Str()
	if err != nil || uid == "" {
		uid, version = "no-such-uid", "1"
	}
	return []byte(strings.NewReplacer("$RV", version, "$UID", uid).Replace(text))
}

// compareCalls compares the calls of webhooks in order, and what each was sent.
func (r *replay) compareCalls(where string, want []recordedCall, got []madeCall) {
	var wanted, made []string
	for _, c := range want {
		wanted = append(wanted, fmt.Sprintf("%s%v?%s %s", c.Hook, c.Answer, c.Query, c.APIVersion))
	}
	for _, c := range got {
		made = append(made, fmt.Sprintf("%s%v?%s %s", c.hook, c.answer, c.query, c.apiVersion))
	}
	same := slices.Equal(wanted, made)
	if !same {
		r.differ("%s: called\n  %s\nwant\n  %s", where, strings.Join(made, " "), strings.Join(wanted, " "))
	}
	for i, c := range got {
		document := r.names.call(c.request)
		if same {
			r.compare(where+" to "+c.hook, 0, 0, want[i].Request, document)
		}
	}
}

// compare compares status codes and documents.
func (r *replay) compare(where string, wantCode, code int, want, got json.RawMessage) {
	a, b := comparable(want), comparable(got)
	if wantCode != code || !a.Equal(b) {
		r.differ("%s: %d\n  %v\nwant %d\n  %v", where, code, b, wantCode, a)
	}
}

func (r *replay) compareTexts(where string, want, got []string) {
	if !slices.Equal(want, got) {
		r.differ("%s: %q, want %q", where, got, want)
	}
}
