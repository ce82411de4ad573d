package server_test

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/internal/servertest"
)

const refusalsFile = "testdata/refusals.txt"

// TestRefusals sends the requests of testdata/refusals.txt, and compares code, message and warnings with what a kube-apiserver
// answered. With DEED_PEER it asks that one instead, and records what it says.
func TestRefusals(t *testing.T) {
	text, err := os.ReadFile(refusalsFile)
	if err != nil {
		t.Fatal(err)
	}
	var send func(request, body string) *httptest.ResponseRecorder
	peer := os.Getenv("DEED_PEER")
	if peer != "" {
		send = func(request, body string) *httptest.ResponseRecorder { return askPeer(t, peer, request, body) }
		definePeer(t, send)
	} else {
		s := servertest.New(t, server.Config{})
		send = func(request, body string) *httptest.ResponseRecorder { return servertest.Ask(s, request, body) }
	}
	for _, c := range []struct{ path, body string }{
		{servertest.Things, servertest.Web}, {servertest.Core + "namespaces/default/configmaps", `{"metadata":{"name":"web"}}`},
	} {
		if w := send("POST "+c.path+servertest.JSON, c.body); w.Code != http.StatusCreated {
			t.Fatalf("%s: %d %s", c.path, w.Code, w.Body)
		}
	}
	blocks := strings.Split(strings.TrimSpace(string(text)), "\n\n")
	asked := 0
	for i, block := range blocks {
		lines := strings.Split(block, "\n")
		if strings.HasPrefix(lines[0], "#") {
			continue
		}
		asked++
		body := ""
		if len(lines) > 2 {
			body = strings.TrimPrefix(lines[1], "< ")
		}
		got := refusal(send(lines[0], body))
		if peer != "" {
			blocks[i] = strings.Join(append(lines[:len(lines)-1], got), "\n")
			continue
		}
		want := lines[len(lines)-1]
		if got != want {
			t.Errorf("%s\n   < %s\n got %s\nwant %s", lines[0], body, got, want)
		}
	}
	if asked < 300 {
		t.Errorf("only %d requests", asked)
	}
	if peer != "" {
		if err := os.WriteFile(refusalsFile, []byte(strings.Join(blocks, "\n\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// refusal returns what is compared of an answer, in a line.
func refusal(w *httptest.ResponseRecorder) string {
	out := fmt.Sprint(w.Code)
	message := servertest.Message(w)
	if w.Code >= 300 && message != "" {
		out += " " + strings.ReplaceAll(strings.TrimSpace(message), "\n", `\n`)
	}
	if warnings := server.WarningsOfBoth(w.Header().Values("Warning")); len(warnings) > 0 {
		out += " | " + strings.Join(warnings, " | ")
	}
	for _, chance := range byChance {
		out = chance.pattern.ReplaceAllString(out, chance.shown)
	}
	return out
}

// byChance is what differs from run to run in answers, and the objects that patches make, whose members kube-apiserver puts into
// another order.
var byChance = []struct {
	pattern *regexp.Regexp
	shown   string
}{
	{regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`), "UID"},
	{regexp.MustCompile(`in record \(\d+\)`), "in record (VERSION)"},
	{regexp.MustCompile(`(A_|"x{58})[bcdfghjklmnpqrstvwxz2456789]{5}"`), "${1}CHANCE\""},
	{regexp.MustCompile(`patch: Invalid value: "\{.*\}": `), "patch: Invalid value: OBJECT: "},
}

// peerClient asks kube-apiservers, whose certificates are their own, over connections that it keeps.
var peerClient = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}

// panicked is the code of a request on which a kube-apiserver panics: it closes the connection without an answer.
const panicked = 0

// askPeer is ask for a kube-apiserver.
func askPeer(t *testing.T, url, request, body string) *httptest.ResponseRecorder {
	t.Helper()
	words := strings.Fields(request)
	r, err := http.NewRequestWithContext(t.Context(), words[0], url+words[1], strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("User-Agent", "test/1")
	r.Header.Set("Authorization", "Bearer tok")
	for _, header := range words[2:] {
		servertest.SetHeader(r.Header, header)
	}
	answer, err := peerClient.Do(r)
	switch {
	case errors.Is(err, io.EOF):
		return &httptest.ResponseRecorder{Code: panicked}
	case err != nil:
		t.Fatal(err)
	}
	defer answer.Body.Close() // it is read to its end
	w := httptest.NewRecorder()
	for name, values := range answer.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.StatusCode)
	if _, err := io.Copy(w, answer.Body); err != nil {
		t.Fatal(err)
	}
	return w
}

// definePeer creates the definition of widgets, unless there is one, and waits until it is served.
func definePeer(t *testing.T, send func(request, body string) *httptest.ResponseRecorder) {
	t.Helper()
	text, err := os.ReadFile("apitest/testdata/widgets.yaml")
	if err != nil {
		t.Fatal(err)
	}
	path := "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	if w := send("POST "+path+"?fieldManager=kube-apiserver Content-Type=application/yaml", string(text)); w.Code != http.StatusCreated && w.Code != http.StatusConflict {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	for send("GET "+servertest.Things, "").Code != http.StatusOK {
		if t.Context().Err() != nil {
			t.Fatal("widgets are not served")
		}
	}
}
