package crd_test

import (
	"bytes"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/internal/servertest"
	"github.com/deed-project/deed/value"
)

var updateConversions = flag.Bool("update-conversions", false,
	"record testdata/conversions.txt anew, from the kube-apiserver that DEED_KUBE_APISERVER names, with the token DEED_TOKEN")

const conversionsFile = "testdata/conversions.txt"

// conversionStep is a request, and what the conversion webhook does meanwhile.
type conversionStep struct {
	hook         string // what it does; see wrongAnswers
	method, path string // below /apis/cv.io
	body         string
}

const (
	v1, v2  = "v1/namespaces/default/things", "v2/namespaces/default/things"
	asApply = "APPLY"
)

func thing(version, name, spec string) string {
	return fmt.Sprintf(`{"apiVersion": "cv.io/%s", "kind": "Thing", "metadata": {"name": %q}, "spec": %s}`, version, name, spec)
}

// conversionSteps are sent one after the other. Things are stored in v1, as {"spec": {"host": "h", "port": "1"}}; in v2 they are
// {"spec": {"address": "h:1"}}.
func conversionSteps() []conversionStep {
	steps := []conversionStep{
		{"", "POST", v2, thing("v2", "a", `{"address": "h:1"}`)},
		{"", "GET", v1 + "/a", ""},
		{"", "GET", v2 + "/a", ""},
		{"", "POST", v1, thing("v1", "b", `{"host": "b", "port": "2"}`)},
		{"", "GET", v2, ""},
		{"", "PATCH", v2 + "/a", `{"spec": {"address": "h:2"}}`},
		{"", "GET", v1 + "/a", ""},
		{"", asApply, v1 + "/c?fieldManager=one", thing("v1", "c", `{"host": "c", "port": "1"}`)},
		{"", asApply, v2 + "/c?fieldManager=two", thing("v2", "c", `{"address": "c:1"}`)},
		{"", asApply, v2 + "/c?fieldManager=two", thing("v2", "c", `{"address": "c:2"}`)},
		{"", asApply, v2 + "/c?fieldManager=two&force=true", thing("v2", "c", `{"address": "c:2"}`)},
		{"", asApply, v1 + "/c?fieldManager=one", thing("v1", "c", `{"host": "c"}`)},
		{"", asApply, v1 + "/c?fieldManager=one", thing("v1", "c", `{"host": "d", "port": "2"}`)},
		{"", asApply, v2 + "/c?fieldManager=two", thing("v2", "c", `{"note": "n"}`)},
		{"", "GET", v1 + "/c", ""},
		{"", "PATCH", v1 + "/c/status", `{"status": {"ready": "yes"}}`},
		{"", "PATCH", v2 + "/c/status", `{"status": {"ready": "no"}}`},
		{"", "POST", v2 + "?dryRun=All", thing("v2", "d", `{"address": "d:4"}`)},
		{"", "POST", v2, thing("v2", "d", `{"address": "none"}`)},
		{"", "POST", v2, thing("v2", "d", `{"address": 1}`)},
		{"labels", "PATCH", v2 + "/b", `{"spec": {"address": "b:3"}}`},
		{"finalizers", "PATCH", v2 + "/b", `{"spec": {"address": "b:4"}}`},
		{"", "DELETE", v2 + "/b", ""},
	}
	for _, hook := range wrongAnswerNames() {
		steps = append(steps, wrongSteps(hook)...)
	}
	name := "refuse"
	return append(steps,
		conversionStep{"refuse", "POST", v1, thing("v1", name, `{"host": "h", "port": "1"}`)},
		conversionStep{"refuse", asApply, v2 + "/" + name + "?fieldManager=two", thing("v2", name, `{"address": "h:1"}`)},
		conversionStep{"refuse", "DELETE", v2 + "/" + name, ""},
		conversionStep{"refuse", "GET", v1 + "/" + name, ""},
		conversionStep{"", "GET", v2 + "/" + name, ""},
		conversionStep{"", "DELETE", v2 + "/" + name, ""},
		// A write begins with the stored object, which must convert back into the stored version. A dry run ends with its outcome.
		conversionStep{"", "POST", v1, thing("v1", "some", `{"host": "h", "port": "1"}`)},
		conversionStep{"not1", "PATCH", v2 + "/some", `{"spec": {"address": "h:2"}}`},
		conversionStep{"not1", asApply, v2 + "/some?fieldManager=two&force=true", thing("v2", "some", `{"address": "h:2"}`)},
		conversionStep{"not1", "PATCH", v2 + "/some?dryRun=All", `{"spec": {"address": "h:2"}}`},
		conversionStep{"not1", "DELETE", v2 + "/some", ""},
		conversionStep{"not1", "DELETE", v2 + "/some?dryRun=All", ""},
		conversionStep{"not9", "PATCH", v2 + "/some?dryRun=All", `{"spec": {"address": "h:9"}}`},
		conversionStep{"not9", "POST", v2 + "?dryRun=All", thing("v2", "new", `{"address": "h:9"}`)},
		conversionStep{"", "DELETE", v2 + "/some", ""},
	)
}

// wrongSteps are about a thing that is there in v1 when the webhook answers wrongly.
func wrongSteps(hook string) []conversionStep {
	name := strings.ToLower(hook)
	return []conversionStep{
		{hook, "POST", v1, thing("v1", name, `{"host": "h", "port": "1"}`)},
		{hook, "GET", v2 + "/" + name, ""},
		{hook, "POST", v2, thing("v2", "new", `{"address": "h:1"}`)},
		{hook, "PATCH", v2 + "/" + name, `{"spec": {"address": "h:9"}}`},
		{"", "DELETE", v1 + "/" + name, ""},
	}
}

// betaSteps are sent when the webhook wants reviews in v1beta1.
func betaSteps() []conversionStep {
	steps := []conversionStep{
		{"", "GET", v2, ""},
		{"", "PATCH", v2 + "/a", `{"spec": {"address": "b:1"}}`},
	}
	for _, hook := range wrongAnswerNames() {
		steps = append(steps, wrongSteps(hook)...)
	}
	return steps
}

// review is a ConversionReview as the webhook reads it.
type review struct {
	Kind       string `json:"kind"`
	APIVersion string `json:"apiVersion"`
	Request    struct {
		UID               string           `json:"uid"`
		DesiredAPIVersion string           `json:"desiredAPIVersion"`
		Objects           []map[string]any `json:"objects"`
	} `json:"-"`
	Response map[string]any `json:"response"`
}

// wrongAnswers are what a webhook may do with the answer that would be right, and with the first object in it.
var wrongAnswers = map[string]func(r *review, object map[string]any){
	"refuse": func(r *review, _ map[string]any) {
		r.Response["result"] = map[string]any{"status": "Failure", "message": "cannot do it"}
	},
	"silent":     func(r *review, _ map[string]any) { r.Response["result"] = map[string]any{"status": "Failure"} },
	"noResult":   func(r *review, _ map[string]any) { delete(r.Response, "result") },
	"uid":        func(r *review, _ map[string]any) { r.Response["uid"] = "x" },
	"fewer":      func(r *review, _ map[string]any) { r.Response["convertedObjects"] = []any{} },
	"more":       func(r *review, o map[string]any) { r.Response["convertedObjects"] = []any{o, o} },
	"null":       func(r *review, _ map[string]any) { r.Response["convertedObjects"] = []any{nil} },
	"noResponse": func(r *review, _ map[string]any) { r.Response = nil },
	"otherKind":  func(r *review, _ map[string]any) { r.Kind = "AdmissionReview" },
	"beta":       func(r *review, _ map[string]any) { r.APIVersion = "apiextensions.k8s.io/v1beta1" },
	"group":      func(_ *review, o map[string]any) { o["apiVersion"] = "other.io/v1" },
	"kind":       func(_ *review, o map[string]any) { o["kind"] = "Other" },
	"noKind":     func(_ *review, o map[string]any) { delete(o, "kind") },
	"name":       func(_ *review, o map[string]any) { metadata(o)["name"] = "zz" },
	"namespace":  func(_ *review, o map[string]any) { metadata(o)["namespace"] = "zz" },
	"objectUID":  func(_ *review, o map[string]any) { metadata(o)["uid"] = "zz" },
	"noMetadata": func(_ *review, o map[string]any) { delete(o, "metadata") },
	"label":      func(_ *review, o map[string]any) { metadata(o)["labels"] = map[string]any{"a": "no label!"} },
	"labelType":  func(_ *review, o map[string]any) { metadata(o)["labels"] = map[string]any{"a": 1} },
	"labelList":  func(_ *review, o map[string]any) { metadata(o)["labels"] = []any{} },
	"annotation": func(_ *review, o map[string]any) { metadata(o)["annotations"] = map[string]any{"no annotation!": "x"} },
	"wrongType":  func(_ *review, o map[string]any) { o["spec"] = "x" },
}

// wrongAnswerNames are the names of wrongAnswers, and of what is no answer.
func wrongAnswerNames() []string {
	names := []string{"500", "text", "close"}
	for name := range wrongAnswers {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func metadata(object map[string]any) map[string]any { return object["metadata"].(map[string]any) }

// conversionHook is the webhook of Things.
type conversionHook struct {
	*httptest.Server

	mu    sync.Mutex
	does  string
	calls []json.RawMessage // what was asked
}

func startConversionHook(t *testing.T) *conversionHook {
	h := &conversionHook{}
	h.Server = httptest.NewUnstartedServer(h)
	h.Config.ErrorLog = log.New(io.Discard, "", 0)
	h.StartTLS()
	t.Cleanup(h.Close)
	return h
}

// ServeHTTP converts Things.
func (h *conversionHook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the caller is gone
	}
	h.mu.Lock()
	does := h.does
	h.calls = append(h.calls, json.RawMessage(body))
	h.mu.Unlock()
	switch does {
	case "500":
		http.Error(w, "boom", http.StatusInternalServerError)
		return
	case "text":
		w.Write([]byte("no JSON"))
		return
	case "close":
		panic(http.ErrAbortHandler)
	}
	var q struct {
		review
		Request json.RawMessage `json:"request"`
	}
	answer := &q.review
	if json.Unmarshal(body, &q) != nil || json.Unmarshal(q.Request, &answer.Request) != nil {
		http.Error(w, "no review", http.StatusBadRequest)
		return
	}
	var out []any
	for _, object := range answer.Request.Objects {
		out = append(out, convertedThing(object, answer.Request.DesiredAPIVersion))
	}
	answer.Response = map[string]any{
		"uid": answer.Request.UID, "convertedObjects": out, "result": map[string]any{"status": "Success"},
	}
	first := out[0].(map[string]any)
	spec, _ := first["spec"].(map[string]any)
	switch does {
	case "":
	case "not1": // in v1
		if spec["port"] == "1" {
			wrongAnswers["name"](answer, first)
		}
	case "not9": // in v2
		if spec["address"] == "h:9" {
			wrongAnswers["name"](answer, first)
		}
	case "labels":
		metadata(first)["labels"] = map[string]any{"converted": "yes"}
	case "finalizers":
		metadata(first)["finalizers"] = []any{"a.b/c"}
	default:
		wrongAnswers[does](answer, first)
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(answer)
}

// convertedThing returns a Thing in the other version.
func convertedThing(object map[string]any, apiVersion string) map[string]any {
	object["apiVersion"] = apiVersion
	spec, ok := object["spec"].(map[string]any)
	if !ok {
		return object
	}
	if apiVersion == "cv.io/v2" {
		host, hasHost := spec["host"].(string)
		port, hasPort := spec["port"].(string)
		if hasHost || hasPort {
			spec["address"] = host + ":" + port
		}
		delete(spec, "host")
		delete(spec, "port")
		return object
	}
	if address, ok := spec["address"].(string); ok {
		host, port, divided := strings.Cut(address, ":")
		spec["host"] = host
		if divided {
			spec["port"] = port
		}
		delete(spec, "address")
	}
	return object
}

// definition returns the definition of Things.
func (h *conversionHook) definition(reviews string) string {
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: h.Certificate().Raw})
	version := `{"name": %q, "served": true, "storage": %v, "subresources": {"status": {}}, "schema": {"openAPIV3Schema": {
		"type": "object", "properties": {"spec": {"type": "object", "properties": {%s, "note": {"type": "string"},
		"kept": {"type": "string", "default": %[1]q}}}, "status": {"type": "object", "properties": {"ready": {"type": "string"}}}}}}}`
	return fmt.Sprintf(`{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "things.cv.io"},
		"spec": {"group": "cv.io", "scope": "Namespaced", "names": {"kind": "Thing", "plural": "things"}, "versions": [%s, %s],
		"conversion": {"strategy": "Webhook", "webhook": {"conversionReviewVersions": [%s],
		"clientConfig": {"url": "%s/convert", "caBundle": %q}}}}}`,
		fmt.Sprintf(version, "v1", true, `"host": {"type": "string"}, "port": {"type": "string"}`),
		fmt.Sprintf(version, "v2", false, `"address": {"type": "string", "maxLength": 5}`),
		reviews, h.URL, base64.StdEncoding.EncodeToString(ca))
}

// conversionClient sends requests to a server, and puts what is the same in every run in the place of what is not.
type conversionClient struct {
	t    *testing.T
	hook *conversionHook
	send func(*http.Request) (int, []byte)
	wait func() // until the watch cache has what was written; nil if there is none
	uids map[string]string
}

func (c *conversionClient) request(method, path, body string) (int, string) {
	media := "application/json"
	switch method {
	case "PATCH":
		media = "application/merge-patch+json"
	case "APPLY":
		method, media = "PATCH", "application/apply-patch+yaml"
	}
	r, err := http.NewRequestWithContext(c.t.Context(), method, path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header.Set("Content-Type", media)
	r.Header.Set("Accept", "application/json")
	r.Header.Set("User-Agent", "test")
	for {
		code, answer := c.send(r)
		if code != http.StatusTooManyRequests { // its storage is not ready yet
			return code, c.text(answer)
		}
		time.Sleep(time.Second)
		r.Body = io.NopCloser(strings.NewReader(body))
	}
}

var (
	anyRevision = regexp.MustCompile(`"resourceVersion":"\d+"|revision=\d+`)
	anyHookURL  = regexp.MustCompile(`https://127\.0\.0\.1:\d+`)
)

// text returns a document, on a line, without what is another in every run.
func (c *conversionClient) text(document []byte) string {
	var line bytes.Buffer
	if v, err := value.Parse(document); err == nil {
		line.Write(servertest.SortedFields(v).AppendJSON(nil))
	} else {
		line.Write(document)
	}
	s := servertest.AnyTime.ReplaceAllString(line.String(), "<time>")
	s = strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(s)
	s = anyHookURL.ReplaceAllString(anyRevision.ReplaceAllString(s, "<revision>"), "<hook>")
	return servertest.AnyUID.ReplaceAllStringFunc(s, func(uid string) string {
		if c.uids[uid] == "" {
			c.uids[uid] = fmt.Sprintf("<uid%d>", len(c.uids)+1)
		}
		return c.uids[uid]
	})
}

const thingsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.cv.io"

// playAll sends all steps. settle is called when the definition was written.
func (c *conversionClient) playAll(settle func()) []string {
	c.t.Helper()
	if code, answer := c.request("POST", path.Dir(thingsPath), c.hook.definition(`"v1"`)); code != http.StatusCreated {
		c.t.Fatal(code, answer)
	}
	settle()
	clear(c.uids)
	out := c.play(conversionSteps())
	beta := `{"spec": {"conversion": {"webhook": {"conversionReviewVersions": ["v2", "v1beta1", "v1"]}}}}`
	if code, answer := c.request("PATCH", thingsPath, beta); code != http.StatusOK {
		c.t.Fatal(code, answer)
	}
	settle()
	return append(out, c.play(betaSteps())...)
}

// play sends steps, and returns for each what it is, and the answer.
func (c *conversionClient) play(steps []conversionStep) []string {
	var out []string
	for _, s := range steps {
		c.hook.mu.Lock()
		c.hook.does, c.hook.calls = s.hook, nil
		c.hook.mu.Unlock()
		if c.wait != nil {
			c.wait()
		}
		code, answer := c.request(s.method, "/apis/cv.io/"+s.path, s.body)
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s %s", s.hook, s.method, s.path, s.body)), fmt.Sprintf("%d %s", code, answer))
	}
	return out
}

// TestConversions sends what a kube-apiserver was asked about a resource whose webhook converts between its versions, in order and not,
// and expects its answers.
func TestConversions(t *testing.T) {
	hook := startConversionHook(t)
	c := &conversionClient{t: t, hook: hook, uids: map[string]string{}}
	if *updateConversions {
		recordConversions(t, c)
		return
	}
	s := servertest.Start(t, server.Config{})
	c.send = func(r *http.Request) (int, []byte) {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		return w.Code, w.Body.Bytes()
	}
	text, err := os.ReadFile(conversionsFile)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(strings.TrimSpace(string(text)), "\n")
	got := c.playAll(func() {})
	if len(want) != len(got) {
		t.Fatalf("%s has %d lines, want %d: record it anew", conversionsFile, len(want), len(got))
	}
	for i := 0; i < len(got); i += 2 {
		if want[i] != got[i] {
			t.Fatalf("line %d of %s is about %s, want %s: record it anew", i+1, conversionsFile, want[i], got[i])
		}
		if want[i+1] != got[i+1] {
			t.Errorf("%s:\n  %s\nwant\n  %s", got[i], got[i+1], want[i+1])
		}
	}
}

// recordConversions writes what a kube-apiserver answers.
func recordConversions(t *testing.T, c *conversionClient) {
	at := os.Getenv("DEED_KUBE_APISERVER")
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	c.send = func(r *http.Request) (int, []byte) {
		r = r.Clone(r.Context())
		r.URL.Scheme, r.URL.Host = "https", strings.TrimPrefix(at, "https://")
		r.Header.Set("Authorization", "Bearer "+os.Getenv("DEED_TOKEN"))
		answer, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close() // it was read to its end
		body, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, body
	}
	c.wait = func() { time.Sleep(200 * time.Millisecond) }
	defer c.request("DELETE", thingsPath, "")
	lines := c.playAll(func() { time.Sleep(5 * time.Second) }) // it is served a while after it is established
	if err := os.WriteFile(conversionsFile, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}
