package filters_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/auth"
	"github.com/deed-project/deed/server/filters"
	"github.com/deed-project/deed/server/internal/servertest"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/server/store/memory"
	"github.com/deed-project/deed/value"
)

// TestOverload holds as many requests as the server takes, and sends further ones.
func TestOverload(t *testing.T) {
	held, release := make(chan struct{}), make(chan struct{})
	s := servertest.New(t, server.Config{
		Authenticate: servertest.Named, Limits: filters.Limits{Reading: 1, Writing: 1},
		Authorize: func(_ context.Context, u auth.User, _ auth.Action) (bool, string) {
			if u.Name == "slow" {
				held <- struct{}{}
				<-release
			}
			return true, ""
		},
	})
	const slow, quick, root = " X-User=slow", " X-User=quick", " X-User=root"
	answers := make(chan *httptest.ResponseRecorder, 2)
	for _, request := range []string{"GET " + servertest.Things + slow, "POST " + servertest.Things + servertest.JSON + slow} {
		go func() { answers <- servertest.Ask(s, request, servertest.Web) }()
		<-held
	}
	for _, method := range []string{"GET ", "DELETE "} {
		w := servertest.Ask(s, method+servertest.Things+quick, "")
		if w.Code != http.StatusTooManyRequests || w.Body.String() != "Too many requests, please try again later.\n" ||
			w.Header().Get("Retry-After") != "1" {
			t.Errorf("%swhile others are under way: %d %q %v", method, w.Code, w.Body, w.Header())
		}
		if w := servertest.Ask(s, method+servertest.Things+root, ""); w.Code != http.StatusOK {
			t.Errorf("%sof a master: %d %s", method, w.Code, w.Body)
		}
	}
	if w := servertest.Ask(s, "GET "+servertest.Things+"?watch=1&timeoutSeconds=1"+quick, ""); w.Code != http.StatusOK {
		t.Errorf("a watch: %d %s", w.Code, w.Body)
	}
	text := servertest.Ask(s, "GET /metrics"+root, "").Body.String()
	for _, want := range []string{
		`apiserver_current_inflight_requests{request_kind="mutating"} 1`, `apiserver_current_inflight_requests{request_kind="readOnly"} 2`,
		`apiserver_rejected_requests_total{request_kind="readOnly"} 1`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the metrics lack %s:\n%s", want, text)
		}
	}
	close(release)
	for range 2 {
		if w := <-answers; w.Code >= 300 {
			t.Errorf("a request that was held: %d %s", w.Code, w.Body)
		}
	}
	if w := servertest.Ask(s, "GET "+servertest.Things+quick, ""); w.Code != http.StatusOK {
		t.Errorf("when others are done: %d %s", w.Code, w.Body)
	}
}

// stuck is a store that writes nothing until the request is over.
type stuck struct{ store.Store }

func (s stuck) Put(ctx context.Context, key string, text []byte, expect store.Revision) (store.Revision, error) {
	if !strings.HasPrefix(key, "/registry/configmaps/default/") {
		return s.Store.Put(ctx, key, text, expect)
	}
	<-ctx.Done()
	return 0, ctx.Err()
}

// TestTimeouts sends requests that take too long.
func TestTimeouts(t *testing.T) {
	s := servertest.New(t, server.Config{Store: stuck{memory.New()}, Limits: filters.Limits{Write: time.Second}})
	const filtered = `text: {"metadata":{},"status":"Failure",` +
		`"message":"Timeout: request did not complete within the allotted timeout","reason":"Timeout","details":{},"code":504}` + "\n"
	for _, c := range []struct {
		request, body string
		code          int
		want          string
	}{
		{"GET " + servertest.Things + "?timeout=abc", "", 400, `invalid timeout specified in the request URL - time: invalid duration "abc"`},
		{
			"GET " + servertest.Things + "?timeout=5", "", 400,
			`invalid timeout specified in the request URL - time: missing unit in duration "5"`,
		},
		{"GET " + servertest.Things + "?timeout=1ns", "", 504, filtered},
		{"GET /livez?timeout=1ns", "", 504, filtered},
		{"GET /readyz/etcd?timeout=1ns", "", 504, filtered},
		{"GET " + servertest.Things + "?timeout=-1s", "", 200, ""},
		{"GET " + servertest.Things + "?timeout=1h", "", 200, ""},
		{
			"POST " + servertest.Core + "namespaces/default/configmaps" + servertest.JSON, `{"metadata":{"name":"a"}}`, 504,
			"Timeout: request did not complete within requested timeout - context deadline exceeded",
		},
	} {
		w := servertest.Ask(s, c.request, c.body)
		message := servertest.Message(w)
		if strings.HasPrefix(w.Body.String(), `{"metadata":{},"status"`) {
			message = "text: " + w.Body.String()
		}
		if w.Code != c.code || !strings.HasPrefix(message, c.want) {
			t.Errorf("%s: %d %s, want %d %s", c.request, w.Code, message, c.code, c.want)
		}
	}
}

// Nobody waits for a client that does not send the end of its body, or takes nothing of its answer, whatever it is about.
func TestSlowClients(t *testing.T) {
	s := servertest.Widgets(t)
	servertest.Ask(s, "POST "+servertest.Things+servertest.JSON, servertest.Web)
	body, sent := io.Pipe()
	taking := &servertest.Counting{Hold: make(chan struct{})}
	var slow sync.WaitGroup
	defer slow.Wait()
	defer sent.Close()
	defer close(taking.Hold)
	sending := httptest.NewRequest(http.MethodPatch, servertest.Things+"/web?fieldManager=slow", body)
	sending.Header.Set("Content-Type", "application/apply-patch+yaml")
	slow.Go(func() { s.ServeHTTP(httptest.NewRecorder(), sending) })
	slow.Go(func() { s.ServeHTTP(taking, httptest.NewRequest(http.MethodGet, servertest.Things, nil)) })
	if _, err := io.WriteString(sent, `{"metadata":`); err != nil { // once that is read, the server waits for more
		t.Fatal(err)
	}
	servertest.Await(t, func() bool { return taking.Writes.Load() == 1 })
	for _, request := range []string{"PATCH " + servertest.Things + "/web?fieldManager=quick&force=true" + servertest.ApplyPatch, "GET " + servertest.Things} {
		servertest.Unhindered(t, request, func() {
			if w := servertest.Ask(s, request, servertest.Web); w.Code != http.StatusOK {
				t.Errorf("%s: %d %s", request, w.Code, w.Body)
			}
		})
	}
}

// TestEndlessBodies sends bodies that never end, to a listener that gives each request its time: each is answered when that is over.
func TestEndlessBodies(t *testing.T) {
	s := servertest.New(t, server.Config{Limits: filters.Limits{Request: time.Second}})
	certificate, trusted, err := server.SelfSigned(time.Now(), "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(trusted)
	for _, protocol := range []string{"http/1.1", "h2"} {
		t.Run(protocol, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			served := make(chan error, 1)
			go func() {
				served <- s.Serve(ctx, l, &tls.Config{Certificates: []tls.Certificate{certificate}, NextProtos: []string{protocol}})
			}()
			transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}
			defer transport.CloseIdleConnections()
			body, never := io.Pipe()
			defer never.Close()
			go io.WriteString(never, `{"metadata":`)
			path := servertest.Core + "namespaces/default/configmaps/" + strings.Trim(protocol, "/.1")
			limited, giveUp := context.WithTimeout(t.Context(), servertest.Patience)
			defer giveUp()
			r, err := http.NewRequestWithContext(limited, http.MethodPatch, "https://"+l.Addr().String()+path+"?fieldManager=slow", body)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", "application/apply-patch+yaml")
			answer, err := transport.RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()
			if answer.StatusCode != http.StatusGatewayTimeout {
				t.Errorf("the slow client got %d", answer.StatusCode)
			}
			cancel()
			if err := <-served; err != nil {
				t.Error(err)
			}
		})
	}
}

// TestPanics lets a request panic: it is answered, and others are not harmed.
func TestPanics(t *testing.T) {
	s := servertest.New(t, server.Config{
		Authenticate: servertest.Named,
		Authorize: func(_ context.Context, u auth.User, _ auth.Action) (bool, string) {
			if u.Name == "mad" {
				panic("as the test wants it")
			}
			return true, ""
		},
	})
	w := servertest.Ask(s, "GET "+servertest.Things+" X-User=mad", "")
	want := "This request caused apiserver to panic. Look in the logs for details.\n"
	if w.Code != http.StatusInternalServerError || w.Body.String() != want {
		t.Errorf("a panic: %d %q", w.Code, w.Body)
	}
	if w := servertest.Ask(s, "GET "+servertest.Things+" X-User=sane", ""); w.Code != http.StatusOK {
		t.Errorf("after a panic: %d %s", w.Code, w.Body)
	}
	text := servertest.Ask(s, "GET /metrics X-User=sane", "").Body.String()
	for _, want := range []string{
		"apiserver_panics_total 1\n",
		`apiserver_storage_operations_total{failed="false",operation="range"}`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the metrics lack %s:\n%s", want, text)
		}
	}
}

// TestShutdown ends a server while a client watches: the watch ends, and nothing waits for it.
func TestShutdown(t *testing.T) {
	s := servertest.Widgets(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, l, nil) }()
	servertest.Ask(s, "POST "+servertest.Things+servertest.JSON, servertest.Web)
	answer, err := http.Get("http://" + l.Addr().String() + servertest.Things + "?watch=1")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close() // it is read to its end
	lines := bufio.NewScanner(answer.Body)
	if !lines.Scan() || !strings.Contains(lines.Text(), `"ADDED"`) {
		t.Errorf("the watch begins with %q", lines.Text())
	}
	cancel()
	for lines.Scan() {
		t.Errorf("the watch goes on with %q", lines.Text())
	}
	if err := lines.Err(); err != nil {
		t.Errorf("the watch ends with %v", err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// TestPriorityLevels fills priority levels with requests that are held, and sends further ones: they are refused, or wait for their turn.
// What is exempt passes.
func TestPriorityLevels(t *testing.T) { synctest.Test(t, testPriorityLevels) }

func testPriorityLevels(t *testing.T) {
	var running atomic.Int64
	release := make(chan struct{})
	s := servertest.New(t, server.Config{
		Authenticate: servertest.Named, PriorityAndFairness: true, Limits: filters.Limits{Reading: 1, Writing: 1, Request: time.Minute, Write: 34 * time.Second},
		Authorize: func(_ context.Context, u auth.User, a auth.Action) (bool, string) {
			if a.Path == "" && u.Name != "root" {
				running.Add(1)
				<-release
				running.Add(-1)
			}
			return true, ""
		},
	})
	const path, root = "/apis/flowcontrol.apiserver.k8s.io/v1/", " X-User=root"
	uids := map[string]string{}
	for user, response := range map[string]string{
		"refused": `{"type":"Reject"}`, "queued": `{"type":"Queue","queuing":{"queues":1,"handSize":1,"queueLengthLimit":1}}`,
	} {
		for plural, spec := range map[string]string{
			"prioritylevelconfigurations": `{"type":"Limited","limited":{"borrowingLimitPercent":0,"limitResponse":` + response + `}}`,
			"flowschemas": `{"priorityLevelConfiguration":{"name":"` + user + `"},"matchingPrecedence":9,"rules":[{
				"subjects":[{"kind":"User","user":{"name":"` + user + `"}}],
				"resourceRules":[{"verbs":["*"],"apiGroups":["*"],"resources":["*"],"namespaces":["*"]}]}]}`,
		} {
			w := servertest.Ask(s, "POST "+path+plural+servertest.JSON+root, `{"metadata":{"name":"`+user+`"},"spec":`+spec+`}`)
			made, err := value.Parse(w.Body.Bytes())
			if err != nil || w.Code != http.StatusCreated {
				t.Fatalf("%s %s: %d %s", plural, user, w.Code, w.Body)
			}
			uids[plural+" "+user] = made.Get("metadata", "uid").Str()
		}
	}
	ask := func(request string) <-chan *httptest.ResponseRecorder {
		answer := make(chan *httptest.ResponseRecorder, 1)
		go func() { answer <- servertest.Ask(s, request, "") }()
		synctest.Wait()
		return answer
	}
	refused := func(what string, answer <-chan *httptest.ResponseRecorder, user string) {
		t.Helper()
		select {
		case w := <-answer:
			h := w.Header()
			if w.Code != http.StatusTooManyRequests || w.Body.String() != "Too many requests, please try again later.\n" || h.Get("Retry-After") != "1" ||
				h.Get("X-Kubernetes-PF-FlowSchema-UID") != uids["flowschemas "+user] || h.Get("X-Kubernetes-PF-PriorityLevel-UID") != uids["prioritylevelconfigurations "+user] {
				t.Errorf("%s: %d %s %v", what, w.Code, w.Body, h)
			}
		default:
			t.Errorf("%s: it waits", what)
		}
	}
	// fill sends requests of a user until one is not carried out, whose answer it returns.
	fill := func(user string) <-chan *httptest.ResponseRecorder {
		for {
			before := running.Load()
			answer := ask("GET " + servertest.Things + " X-User=" + user)
			if running.Load() == before {
				return answer
			}
		}
	}
	refused("a request to a full level", fill("refused"), "refused")
	refused("a watch", ask("GET "+servertest.Things+"?watch=1 X-User=refused"), "refused")
	for _, request := range []string{"DELETE " + servertest.Things + root, "GET /healthz X-User=refused"} {
		if w := <-ask(request); w.Code != http.StatusOK {
			t.Errorf("%s while others are under way: %d %s", request, w.Code, w.Body)
		}
	}
	waiting := fill("queued")
	refused("a request whose queue is full", ask("GET "+servertest.Things+" X-User=queued"), "queued")
	waits := func(what string) {
		t.Helper()
		time.Sleep(14 * time.Second)
		if synctest.Wait(); len(waiting) > 0 {
			t.Errorf("%s is answered after 14 seconds: %v", what, <-waiting)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		refused(what, waiting, "queued")
	}
	waits("a request that has waited for a quarter of its time")
	waiting = ask("DELETE " + servertest.Things + " X-User=queued")
	waits("a write, whose own deadline is shorter")
	waiting = ask("GET " + servertest.Things + "?timeout=4s X-User=queued")
	time.Sleep(time.Second)
	synctest.Wait()
	refused("a request with a timeout of its own", waiting, "queued")

	waiting = ask("GET " + servertest.Things + " X-User=queued")
	if text := servertest.Ask(s, "GET /metrics"+root, "").Body.String(); !strings.Contains(text, `apiserver_rejected_requests_total{request_kind="readOnly"} 5`) ||
		!strings.Contains(text, `apiserver_current_inflight_requests{request_kind="readOnly"} 3`) {
		t.Errorf("the metrics are\n%s", text)
	} else {
		for _, line := range []string{
			`dispatched_requests_total{flow_schema="queued",priority_level="queued"} 1`,
			`current_inqueue_requests{flow_schema="queued",priority_level="queued"} 1`,
			`current_executing_requests{flow_schema="queued",priority_level="queued"} 1`,
			`nominal_limit_seats{priority_level="queued"} 1`,
			`rejected_requests_total{flow_schema="queued",priority_level="queued",reason="queue-full"} 1`,
			`rejected_requests_total{flow_schema="queued",priority_level="queued",reason="time-out"} 3`,
			`rejected_requests_total{flow_schema="refused",priority_level="refused",reason="concurrency-limit"} 2`,
			`request_wait_duration_seconds_sum{execute="false",flow_schema="queued",priority_level="queued"} 31`,
		} {
			if !strings.Contains(text, "apiserver_flowcontrol_"+line+"\n") {
				t.Errorf("no %s in\n%s", line, text)
			}
		}
	}
	close(release)
	if w := <-waiting; w.Code != http.StatusOK {
		t.Errorf("a request that waited for its turn: %d %s", w.Code, w.Body)
	}
}
