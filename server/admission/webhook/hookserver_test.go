package webhook_test

import (
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/deed-project/deed/server"
)

// recordedHook is a webhook of a scenario: its k-th answer to the i-th request is Answers[i%len][min(k, last)].
type recordedHook struct {
	Type    string
	Policy  string `json:"failurePolicy"`
	Answers [][]recordedAnswer
}

// recordedAnswer is what a webhook does when it is called.
type recordedAnswer struct {
	Class, Fails string
	DelayMs      int
	Status       int
	Headers      map[string]string
	Body         string
	Patch        *string
	Pad          int
	Fault        string
}

// madeCall is a call of a webhook, as it arrived.
type madeCall struct {
	hook       string
	answer     [2]int
	query      string
	apiVersion string
	request    json.RawMessage
}

// hookPlayer answers for the webhooks of scenarios, each below a path of its own.
type hookPlayer struct {
	url, ca, badCA string
	alone          sync.RWMutex // written by whoever replays a scenario again

	mu        sync.Mutex
	scenarios map[string]*playing // by id
}

// playing is a scenario that is under way.
type playing struct {
	hooks   map[string]recordedHook
	request int
	counts  map[string]int
	calls   []madeCall
}

// startHooks starts a server of webhooks.
func startHooks(t *testing.T) *hookPlayer {
	t.Helper()
	certificate, trusted, err := server.SelfSigned(time.Now(), "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	_, other, err := server.SelfSigned(time.Now(), "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	p := &hookPlayer{scenarios: map[string]*playing{}}
	s := httptest.NewUnstartedServer(p)
	s.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	p.url = s.URL
	p.ca, p.badCA = base64.StdEncoding.EncodeToString(trusted), base64.StdEncoding.EncodeToString(other)
	return p
}

// ServeHTTP answers as the scenario of the path says. Calls about requests of the server itself are allowed and not noted.
func (p *hookPlayer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the caller is gone
	}
	var review struct {
		APIVersion string
		Request    json.RawMessage
	}
	json.Unmarshal(body, &review) // a redirected call has no body
	var request struct {
		UID      string
		UserInfo struct{ Username string }
	}
	json.Unmarshal(review.Request, &request)
	key := path.Clean(r.URL.Path)
	p.mu.Lock()
	s := p.scenarios[strings.Split(key, "/")[1]]
	hook, known := recordedHook{}, false
	if s != nil {
		hook, known = s.hooks[key]
	}
	if !known || strings.HasPrefix(request.UserInfo.Username, "system:") {
		p.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"kind":"AdmissionReview","apiVersion":%q,"response":{"uid":%q,"allowed":true}}`, review.APIVersion, request.UID)
		return
	}
	n := s.counts[key]
	s.counts[key]++
	set := s.request % len(hook.Answers)
	step := [2]int{set, min(n, len(hook.Answers[set])-1)}
	s.calls = append(s.calls, madeCall{key, step, r.URL.RawQuery, review.APIVersion, review.Request})
	p.mu.Unlock()
	hook.Answers[step[0]][step[1]].play(w, r, request.UID, review.APIVersion, n+1)
}

// play gives the answer to the n-th call.
func (a recordedAnswer) play(w http.ResponseWriter, r *http.Request, uid, apiVersion string, n int) {
	select {
	case <-time.After(time.Duration(a.DelayMs) * time.Millisecond):
	case <-r.Context().Done():
		return
	}
	if a.Fault == "close" || a.Fault == "reset" {
		a.cut(w)
		return
	}
	patch := ""
	if a.Patch != nil {
		patch = base64.StdEncoding.EncodeToString([]byte(strings.ReplaceAll(*a.Patch, "{{N}}", fmt.Sprint(n))))
	}
	text := []byte(strings.NewReplacer("{{N}}", fmt.Sprint(n), "{{PATCH}}", patch, "{{UID}}", uid, "{{AV}}", apiVersion).Replace(a.Body))
	w.Header().Set("Content-Type", "application/json")
	for name, value := range a.Headers {
		w.Header().Set(name, value)
	}
	switch a.Fault {
	case "gzip":
		text = zipped(text)
		w.Header().Set("Content-Encoding", "gzip")
	case "truncate":
		w.Header().Set("Content-Length", fmt.Sprint(len(text)+100))
	}
	if a.Status != 0 {
		w.WriteHeader(a.Status)
	}
	if a.Fault == "stall" {
		w.Write(text[:len(text)/2])
		w.(http.Flusher).Flush()
		select {
		case <-time.After(4 * time.Second):
		case <-r.Context().Done():
		}
		return
	}
	w.Write(text)
	w.Write(bytes.Repeat([]byte(" "), a.Pad))
	if a.Fault == "truncate" {
		panic(http.ErrAbortHandler)
	}
}

// cut ends the connection without an answer.
func (a recordedAnswer) cut(w http.ResponseWriter) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	if over, ok := conn.(*tls.Conn); ok && a.Fault == "reset" {
		if tcp, ok := over.NetConn().(*net.TCPConn); ok {
			tcp.SetLinger(0)
			tcp.Close()
			return
		}
	}
	conn.Close()
}

func zipped(text []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(text)
	z.Close()
	return b.Bytes()
}
