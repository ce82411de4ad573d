package server_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/deed-project/deed/internal/testing/seeds"
	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/internal/servertest"
)

// TestRandomRequests sends random requests about a few objects of many kinds, in most of which something is odd. Whatever is sent, the
// server answers with a document, and nothing panics. DEED_SEED makes it other requests.
//
// With DEED_PEER a kube-apiserver is sent the same, and what it answers otherwise is printed, a few of each sort: so most of what
// testdata/transcripts has was found. What it checks by rules that are not known here is a difference too, see docs/divergences.md.
func TestRandomRequests(t *testing.T) {
	seed := seeds.First(t)
	n := 4000
	if testing.Short() {
		n = 500
	}
	s, peer := servertest.New(t, server.Config{Authenticate: asAdmin}), os.Getenv("DEED_PEER")
	g := &generator{Rand: seeds.Stream(seed, 0), namespace: fmt.Sprintf("random-%d-%d", seed, time.Now().Unix())}
	both := func(request, body string) (here, there *httptest.ResponseRecorder) {
		here = servertest.Ask(s, request, body)
		if peer != "" {
			there = askPeer(t, peer, request, body)
		}
		return here, there
	}
	if peer != "" {
		definePeer(t, func(request, body string) *httptest.ResponseRecorder { return askPeer(t, peer, request, body) })
	}
	both("POST "+servertest.Core+"namespaces"+servertest.JSON, `{"metadata":{"name":"`+g.namespace+`"}}`)
	differences, panics := map[string][]string{}, 0 // of the kube-apiserver
	for range n {
		q := g.request()
		here, there := both(q.line, q.body)
		if problem := unsound(here); problem != "" {
			t.Errorf("%s\n   < %s\n%s: %d %.500s", q.line, q.body, problem, here.Code, here.Body)
		}
		if there == nil || there.Code != panicked && alike(here) == alike(there) {
			continue
		}
		if there.Code == panicked && here.Code >= 400 {
			panics++
			continue
		}
		sort := fmt.Sprintf("%s of %s: %d, there %d", strings.Fields(q.line)[0], q.plural, here.Code, there.Code)
		differences[sort] = append(differences[sort], fmt.Sprintf("%s\n   < %s\n here %.2000s\nthere %.2000s",
			q.line, q.body, answerLine(here), answerLine(there)))
		both("PATCH "+q.object+servertest.MergePatch, `{"metadata":{"finalizers":null}}`) // so that both go on from the same
		both("DELETE "+q.object+"?gracePeriodSeconds=0", "")
	}
	if panics > 0 {
		t.Logf("the kube-apiserver panics on %d requests, which are refused here", panics)
	}
	for sort, found := range differences {
		t.Logf("%s: %d\n%s", sort, len(found), strings.Join(found[:min(len(found), 2)], "\n"))
	}
}

// varying is what two kube-apiservers may answer differently, or what this server is known to show otherwise:
//
//	untyped  the refusal of an apply about types names some of what is wrong, in random order
//	empty    parts of objects, and what changed of them, are shown with null in place of empty lists
var varying = []struct {
	pattern *regexp.Regexp
	shown   string
}{
	{regexp.MustCompile(`("message":"failed to create typed patch object \([^)]*\): ).*?",`), `$1…",`},
	{regexp.MustCompile(`Invalid value: [{\[]\\?"?.*?: field is immutable`), `Invalid value: …: field is immutable`},
	{regexp.MustCompile(`\\n@@.*?\\n("|, |])`), `…$1`},
	{regexp.MustCompile(`"name":"g-[a-z0-9]{5}"`), `"name":"g-…"`},
}

// alike returns an answer as both servers give it.
func alike(w *httptest.ResponseRecorder) string {
	line := answerLine(w)
	for _, v := range varying {
		line = v.pattern.ReplaceAllString(line, v.shown)
	}
	return line
}

// unsound says what no answer may be like, "" for nothing.
func unsound(w *httptest.ResponseRecorder) string {
	isJSON := strings.Contains(w.Header().Get("Content-Type"), "json")
	switch {
	case strings.Contains(w.Body.String(), "caused apiserver to panic"):
		return "a panic"
	case isJSON && !json.Valid(w.Body.Bytes()):
		return "no document"
	case w.Code >= 500 && !(isJSON && servertest.Message(w) != ""):
		return "an error without a word"
	}
	return ""
}
