package server_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"k8s.io/klog/v2"

	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/server/audit"
	"github.com/deed-project/deed/server/auth"
	"github.com/deed-project/deed/server/filters"
	"github.com/deed-project/deed/server/internal/servertest"
	"github.com/deed-project/deed/server/manifest"
	"github.com/deed-project/deed/value"
)

// The test of this file sends what may not be shown through a server: in objects, in all that webhooks send and get, in credentials, in
// queries, and in requests that are no requests. It looks for it in the log at every level, in the logs of libraries, in the metrics, and
// in what is audited. A server has no traces: no package of it may import a tracer, see deps_test.go.
//
// What a client is answered is what kube-apiserver answers, and is not looked at.

// canary is what may be nowhere: plain, in base64, and as a number.
var canary = regexp.MustCompile(`(?i)hunter2|aHVudGVyM|7\.?31946250817`)

const (
	plainCanary  = "hunter2"
	base64Canary = "aHVudGVyMg=="
	numberCanary = "731946250817"
)

// canaryObject is the beginning of the metadata of objects: the record of kubectl, and the keys and values of items in managed fields.
const canaryMetadata = `"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{\"data\":{\"p\":\"aHVudGVyMg==\"},\"stringData\":{\"p\":\"hunter2\"}}"},` +
	`"managedFields":[{"manager":"m","operation":"Apply","apiVersion":"v1","time":"2026-01-01T00:00:00Z","fieldsType":"FieldsV1",` +
	`"fieldsV1":{"f:data":{"f:p":{}},"f:x":{"v:\"hunter2\"":{},"k:{\"a\":731946250817}":{}}}}]`

// canaryBodies are the bodies that are sent of each kind, with and without defects. NAME is replaced.
var canaryBodies = map[string][]string{
	"secrets": {
		`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"NAME",META},"data":{"p":"aHVudGVyMg=="},"stringData":{"q":"hunter2"}}`,
		`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"NAME"},"data":{"p":"aHVudGVyMg=="},"stringData":{"q":"hunter2"}}`,
		`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"NAME"},"data":{"p":"hunter2"}}`,
		`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"NAME"},"data":{"p":731946250817}}`,
		`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"NAME"},"data":"hunter2","stringData":["hunter2"]}`,
		`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"NAME"},"data":{"p":"aHVudGVyMg==","p":"aHVudGVyMg=="},"hunter2":"hunter2"}`,
		`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"NAME","resourceVersion":"1"},"data":{"p":"aHVudGVyMg=="}}`,
		`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"NAME"},"type":"kubernetes.io/dockerconfigjson","stringData":{".dockerconfigjson":"hunter2"}}`,
		`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"NAME"},"data":{"p":"aHVudGVyMg==`, // cut off
		`{"apiVersion":"hunter2","kind":"hunter2"}`,
		`hunter2`, `"hunter2"`, `["hunter2"]`, "data: {p: hunter2}\ndata: hunter2\n\t:", `[{"op":"add","path":"/data/p","value":"aHVudGVyMg=="}]`,
		`[{"op":"test","path":"/data/p","value":"hunter2"}]`, `[{"op":"hunter2"}]`, `{"data":{"p":"aHVudGVyMg==","$patch":"hunter2"}}`,
	},
	"vaults": {
		`{"apiVersion":"example.com/v1","kind":"Vault","metadata":{"name":"NAME",META},"spec":{"token":"hunter2","users":[{"key":"hunter2"}]}}`,
		`{"apiVersion":"example.com/v1","kind":"Vault","metadata":{"name":"NAME"},"spec":{"token":731946250817}}`,
		`{"apiVersion":"example.com/v1","kind":"Vault","metadata":{"name":"NAME"},"spec":{"token":"hunter2 and too long for the schema"}}`,
		`{"apiVersion":"example.com/v1","kind":"Vault","metadata":{"name":"NAME"},"spec":{"users":[{"key":"hunter2"},{"key":"hunter2"}]}}`,
		`{"apiVersion":"example.com/v1","kind":"Vault","metadata":{"name":"NAME"},"spec":"hunter2"}`,
		`{"apiVersion":"example.com/v2","kind":"Vault","metadata":{"name":"NAME"},"spec":{"token":"hunter2"}}`,
	},
}

// canaryWrites are how each body is sent.
var canaryWrites = []string{
	"POST ALL Content-Type=application/json", "POST ALL?fieldValidation=Strict Content-Type=application/json", "POST ALL Content-Type=application/yaml",
	"POST ALL?dryRun=All Content-Type=application/vnd.kubernetes.protobuf", "POST ALL?fieldManager=hunter2%0A Content-Type=application/json",
	"PUT ONE Content-Type=application/json", "PATCH ONE Content-Type=application/merge-patch+json", "PATCH ONE Content-Type=application/json-patch+json",
	"PATCH ONE Content-Type=application/strategic-merge-patch+json", "PATCH ONE?fieldManager=a Content-Type=application/apply-patch+yaml",
	"PATCH ONE?fieldManager=b&force=true Content-Type=application/apply-patch+yaml", "PATCH ONE?fieldManager=c Content-Type=application/apply-patch+yaml",
	"PATCH ONE Content-Type=application/hunter2", "PATCH ONE/status Content-Type=application/merge-patch+json", "PUT ONE/status Content-Type=application/json",
	"DELETE ONE Content-Type=application/json", "DELETE ALL?dryRun=All Content-Type=application/json",
}

// canaryReads are requests without a body.
var canaryReads = []string{
	"GET ONE", "GET ALL", "GET ALL Accept=application/json;as=Table;v=v1;g=meta.k8s.io", "GET ALL?watch=true&timeoutSeconds=1",
	"GET ALL?labelSelector=hunter2%20hunter2%20x", "GET ALL?fieldSelector=hunter2", "GET ALL?continue=hunter2", "GET ALL?limit=hunter2",
	"GET ALL?resourceVersion=hunter2", "GET ALL?access_token=hunter2&token=hunter2", "GET ALL?timeout=hunter2", "GET ALL?watch=hunter2&timeoutSeconds=1",
	"GET ALL?hunter2;hunter2", "HUNTER2 ALL", "GET ALL Accept=hunter2/hunter2", "GET /version?token=hunter2", "GET /nowhere?token=hunter2",
	"GET /metrics?token=hunter2", "DELETE ONE?gracePeriodSeconds=hunter2", "DELETE ALL?access_token=hunter2",
}

// canaryHeaders are credentials, right and wrong ones; a bar stands for a blank.
var canaryHeaders = []string{
	"Authorization=Bearer|root-hunter2", "Authorization=Bearer|joe-hunter2", "Authorization=Bearer|hunter2", "Authorization=Bearer|hunter2|hunter2",
	"Authorization=Basic|aHVudGVyMg==", "Authorization=hunter2", "Authorization=Negotiate|aHVudGVyMg==", "Cookie=session=hunter2",
	"Authorization=Bearer|root-hunter2 Cookie=hunter2 X-Api-Key=hunter2 Proxy-Authorization=hunter2 User-Agent=hunter2 Referer=https://hunter2@a/",
	"Authorization=Bearer|root-hunter2 Impersonate-User=joe Impersonate-Uid=hunter2 Impersonate-Group=hunter2 Impersonate-Extra-Token=hunter2",
	"Authorization=Bearer|joe-hunter2 Impersonate-User=bob Impersonate-Extra-Hunter2=hunter2",
	"Authorization=Bearer|root-hunter2 Impersonate-Extra-Token=hunter2",
	"Connection=Upgrade Upgrade=websocket Sec-WebSocket-Protocol=base64url.bearer.authorization.k8s.io.aHVudGVyMg,x",
	"Connection=Upgrade Upgrade=websocket Sec-WebSocket-Protocol=base64url.bearer.authorization.k8s.io.hunter2==",
	"Connection=Upgrade Upgrade=websocket Sec-WebSocket-Protocol=base64url.bearer.authorization.k8s.io.aHVudGVyMg,base64url.bearer.authorization.k8s.io.aHVudGVyMg",
	"Connection=Upgrade Upgrade=websocket Sec-WebSocket-Protocol=base64url.bearer.authorization.k8s.io.cm9vdC1odW50ZXIy",
	"Origin=https://hunter2 Authorization=Bearer|root-hunter2", "Content-Encoding=hunter2 Authorization=Bearer|root-hunter2",
}

// canaryDefinition is that of Vaults, which are converted by a webhook.
const canaryDefinition = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"vaults.example.com"},
"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"vaults","kind":"Vault"},
"conversion":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":{"url":"HOOK/convert","caBundle":"CA"}}},
"versions":[{"name":"v1","served":true,"storage":true,"subresources":{"status":{}},"schema":SCHEMA},{"name":"v2","served":true,"storage":false,"schema":SCHEMA}]}}`

const canarySchema = `{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object",
"x-kubernetes-validations":[{"rule":"!has(self.token) || self.token != 'hunter2hunter2'","messageExpression":"'no ' + self.token"}],
"properties":{"token":{"type":"string","format":"password","maxLength":20,"default":"hunter2"},
"users":{"type":"array","maxItems":9,"x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["key"],
"items":{"type":"object","required":["key"],"properties":{"key":{"type":"string","format":"password","maxLength":20}}}}}}}}}`

// canaryHooks answer with what may not be shown, each in its own way. They are called for the objects whose label "hook" is their name.
var canaryHooks = map[string]string{
	"patch": `{"allowed":true,"patchType":"JSONPatch","patch":"` + base64PatchCanary + `","auditAnnotations":{"note":"hunter2","hunter2 is no name":"hunter2"}}`,
	"again": `{"allowed":true,"auditAnnotations":{"note":"hunter2"},"warnings":["hunter2"]}`,
	"deny":  `{"allowed":false,"status":{"message":"hunter2","reason":"hunter2","code":418}}`,
	"wrong": `{"allowed":true,"patchType":"hunter2","patch":"` + base64PatchCanary + `"}`,
	"bad":   `{"allowed":true,"patchType":"JSONPatch","patch":"aHVudGVyMg=="}`,
	"text":  `hunter2`, "other": `{"allowed":"hunter2"}`, "code": "", "gone": "",
}

var base64PatchCanary = base64.StdEncoding.EncodeToString([]byte(`[{"op":"add","path":"/data/r","value":"aHVudGVyMg=="}]`))

// canaryHookServer answers reviews as canaryHooks says, and conversions with an error.
func canaryHookServer(t *testing.T) *httptest.Server {
	t.Helper()
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review map[string]any
		json.NewDecoder(r.Body).Decode(&review)
		request, _ := review["request"].(map[string]any)
		uid, _ := json.Marshal(request["uid"])
		name := filepath.Base(r.URL.Path)
		answer := canaryHooks[name]
		w.Header().Set("Content-Type", "application/json")
		switch {
		case name == "convert":
			fmt.Fprintf(w, `{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","response":{"uid":%s,"convertedObjects":[],`+
				`"result":{"status":"Failure","message":"hunter2"}}}`, uid)
		case name == "code":
			http.Error(w, "hunter2", http.StatusInternalServerError)
		case name == "gone":
			panic(http.ErrAbortHandler)
		case !strings.HasPrefix(answer, "{"):
			io.WriteString(w, answer)
		default:
			fmt.Fprintf(w, `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":%s,%s}`, uid, answer[1:])
		}
	}))
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
	t.Cleanup(s.Close)
	return s
}

// canaryWebhooks returns configurations of a mutating and a validating webhook, which are passed over where they fail.
func canaryWebhooks(t *testing.T, s *httptest.Server, name string) []value.Value {
	t.Helper()
	var out []value.Value
	for _, kind := range []string{"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"} {
		text := servertest.HookConfiguration(s, kind, name, `,"failurePolicy":"Ignore","objectSelector":{"matchLabels":{"hook":"`+name+`"}}`)
		text = strings.NewReplacer(`"configmaps"`, `"*"`, `"apiGroups": [""]`, `"apiGroups": ["*"]`, `"https://`, `"https://hunter2:hunter2@`,
			`/`+name+`"`, `/`+name+`?token=hunter2"`).Replace(text)
		v, err := value.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	return out
}

// captured is what was written somewhere. It is safe for concurrent use.
type captured struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write keeps b.
func (c *captured) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.Write(b)
}

// lines returns what was written, line by line.
func (c *captured) lines() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Split(c.text.String(), "\n")
}

// captureLibraries has what libraries log, as much as they can say, until the test ends.
func captureLibraries(t *testing.T, to io.Writer) {
	t.Helper()
	restore := klog.CaptureState()
	t.Cleanup(restore.Restore)
	flags := flag.NewFlagSet("klog", flag.PanicOnError)
	klog.InitFlags(flags)
	for name, v := range map[string]string{"v": "10", "logtostderr": "false", "alsologtostderr": "false", "stderrthreshold": "FATAL"} {
		if err := flags.Set(name, v); err != nil {
			t.Fatal(err)
		}
	}
	klog.SetOutput(to)
	was := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(to, &slog.HandlerOptions{Level: slog.Level(-100)})))
	t.Cleanup(func() { slog.SetDefault(was) })
}

// canaryPlugin panics when an object asks for it, and fails in a way of its own.
func canaryPlugin(_ context.Context, q *admission.Request) error {
	switch o := q.Object.Content(); o.Get("metadata", "labels", "plugin").Str() {
	case "panic":
		panic(o.String())
	case "error":
		panic(fmt.Errorf("of %v", o))
	case "value":
		panic(o)
	}
	return nil
}

// TestNothingSecretIsLogged sends it all.
func TestNothingSecretIsLogged(t *testing.T) {
	logged, libraries := &captured{}, &captured{}
	captureLibraries(t, libraries)
	hooks := canaryHookServer(t)
	var events []audit.Event
	var mu sync.Mutex
	tokens, err := auth.ReadTokens(strings.NewReader("root-hunter2,root,1,system:masters\njoe-hunter2,joe,2\n"))
	if err != nil {
		t.Fatal(err)
	}
	config := server.Config{
		Authenticate: func(r *http.Request) (auth.User, error) {
			if r.Header.Get("Cookie") == "session="+plainCanary {
				return auth.User{}, errors.New("there is no session " + plainCanary)
			}
			return tokens.Authenticate(r)
		},
		Authorize: func(_ context.Context, u auth.User, a auth.Action) (bool, string) {
			return u.Name != "joe", plainCanary
		},
		Audit: func(e audit.Event) {
			mu.Lock()
			defer mu.Unlock()
			events = append(events, e)
		},
		Admission: admission.Chain{admission.Validate(canaryPlugin)},
		Log:       slog.New(slog.NewJSONHandler(logged, &slog.HandlerOptions{Level: slog.Level(-100), AddSource: true})),
		Limits:    servertest.Unhurried(filters.Limits{}),
	}
	for name := range canaryHooks {
		config.Webhooks.Fixed = append(config.Webhooks.Fixed, canaryWebhooks(t, hooks, name)...)
	}
	ca := base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: hooks.Certificate().Raw}))
	definition := strings.NewReplacer("SCHEMA", canarySchema, "HOOK", hooks.URL, "CA", ca).Replace(canaryDefinition)
	objects, err := manifest.Parse("crd.json", []byte(definition))
	if err != nil {
		t.Fatal(err)
	}
	config.Objects = manifest.Values(objects)
	s, err := server.New(config)
	if err != nil {
		t.Fatal(err)
	}
	sendCanaries(t, s)
	sendNoise(t, s)
	metrics := canaryRequest(s, "GET /metrics Authorization=Bearer|root-hunter2", "").Body.String()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	look := func(where string, lines []string) {
		if len(lines) < 2 {
			t.Errorf("%s: there is nothing to look at", where)
		}
		for _, line := range lines {
			if at := canary.FindStringIndex(line); at != nil {
				t.Errorf("%s: %s", where, line[max(0, at[0]-300):min(len(line), at[1]+100)])
			}
		}
	}
	look("log", logged.lines())
	for _, message := range []string{
		"a request panicked", "a webhook failed and is passed over", "an annotation is not taken", "not authenticated", "audit",
	} {
		if !strings.Contains(strings.Join(logged.lines(), ""), `"msg":"`+message+`"`) {
			t.Errorf("the log does not say %q: what would leak there is not tried", message)
		}
	}
	look("metrics", strings.Split(metrics, "\n"))
	look("logs of libraries", append(libraries.lines(), "", "")) // which may be silent
	bodies := false
	for _, e := range events {
		e.User = auth.User{} // whom a request is from is audited, and so is what webhooks ask for: as in kube-apiserver
		e.Annotations = slices.DeleteFunc(e.Annotations, func(a admission.Annotation) bool { return strings.HasSuffix(a.Key, "example.org/note") })
		text, err := json.Marshal(e)
		if err != nil {
			t.Error(err)
		}
		var line bytes.Buffer
		slog.New(slog.NewJSONHandler(&line, nil)).Info("", "event", e, "annotations", e.Annotations)
		look("audit", []string{fmt.Sprintf("%v %+v %#v", e, &e, e.Annotations), string(text), line.String()})
		for _, a := range e.Annotations {
			bodies = bodies || a.Body && canary.MatchString(a.Value)
		}
	}
	if !bodies {
		t.Error("no audit event quotes a body: what hides it is not tried")
	}
}

// canaryRequest sends a request; a bar in a header stands for a blank.
func canaryRequest(s http.Handler, request, body string) *httptest.ResponseRecorder {
	words := strings.Fields(request)
	r := httptest.NewRequest(words[0], words[1], strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer root-hunter2")
	for _, header := range words[2:] {
		name, text, _ := strings.Cut(header, "=")
		if strings.HasPrefix(name, "Sec-") {
			r.Header.Del("Authorization")
		}
		r.Header.Set(name, strings.ReplaceAll(text, "|", " "))
	}
	w := httptest.NewRecorder()
	func() {
		defer func() { _ = recover() }() // http.ErrAbortHandler: the connection ends
		s.ServeHTTP(w, r)
	}()
	return w
}

// canaries sends requests and counts the codes of the answers. Watches last a second, so nothing waits for them but wait.
type canaries struct {
	http.Handler
	watches sync.WaitGroup
	codes   map[int]int
}

func (c *canaries) send(request, body string) {
	if strings.Contains(request, "watch=") {
		c.watches.Go(func() { canaryRequest(c, request, body) })
		return
	}
	c.codes[canaryRequest(c, request, body).Code]++
}

// sendCanaries sends each body in each way, with each label, and each request with each credential.
func sendCanaries(t *testing.T, s *server.Server) {
	t.Helper()
	c := &canaries{Handler: s, codes: map[int]int{}}
	defer c.watches.Wait()
	labels := []string{"", `"labels":{"plugin":"panic"},`, `"labels":{"plugin":"error"},`, `"labels":{"plugin":"value"},`}
	for name := range canaryHooks {
		labels = append(labels, `"labels":{"hook":"`+name+`"},`)
	}
	for _, of := range []struct{ resource, all string }{
		{"secrets", "/api/v1/namespaces/default/secrets"}, {"vaults", "/apis/example.com/v1/namespaces/default/vaults"},
		{"vaults", "/apis/example.com/v2/namespaces/default/vaults"},
	} {
		paths := strings.NewReplacer("ALL", of.all, "ONE", of.all+"/one")
		for i, body := range canaryBodies[of.resource] {
			for _, label := range labels {
				if i > 0 && label != "" {
					break
				}
				for _, name := range []string{"one", "another"} {
					sent := strings.NewReplacer("NAME", name, "META", label+canaryMetadata).Replace(body)
					for _, write := range canaryWrites {
						c.send(paths.Replace(write), sent)
					}
				}
			}
			c.send(paths.Replace("POST ALL Content-Type=application/json"), strings.NewReplacer("NAME", "one", "META", canaryMetadata).Replace(body))
			for _, read := range canaryReads {
				c.send(paths.Replace(read), "")
			}
		}
		for _, header := range canaryHeaders {
			for _, request := range []string{"GET ALL ", "GET ALL?watch=true&timeoutSeconds=1 ", "POST ALL Content-Type=application/json ", "GET /metrics "} {
				c.send(paths.Replace(request)+header, canaryBodies[of.resource][1])
			}
		}
	}
	const review = "POST /apis/authentication.k8s.io/v1/tokenreviews Content-Type=application/json"
	for _, token := range []string{`"root-hunter2"`, `"hunter2"`, numberCanary} {
		c.send(review, `{"spec":{"token":`+token+`}}`)
	}
	for _, code := range []int{200, 201, 400, 401, 403, 404, 409, 415, 418, 422, 500} {
		if c.codes[code] == 0 {
			t.Errorf("no request was answered with %d: %v", code, c.codes)
		}
	}
}

// sendNoise sends over connections what is no request, or none that a handler sees.
func sendNoise(t *testing.T, s *server.Server) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- s.Serve(ctx, l, nil) }()
	const end = " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
	for _, text := range []string{
		"hunter2 hunter2 hunter2\r\n\r\n", "GET /hunter2 HTTP/9.hunter2\r\n\r\n", "GET /version" + end + "hunter2 hunter2: hunter2\r\n\r\n",
		"GET /version" + end + "Authorization: Bearer hunter2\x00\r\n\r\n", "GET /version?hunter2;hunter2" + end + "\r\n",
		"GET /version" + end + "Content-Length: hunter2\r\n\r\n", "GET /version" + end + "Transfer-Encoding: hunter2\r\n\r\n",
		"PRI * HTTP/2.0\r\n\r\nhunter2hunter2hunter2hunter2hunter2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nhunter2hunter2hunter2hunter2hunter2",
		"\x16\x03\x01hunter2hunter2hunter2\r\n\r\n", "POST /api/v1/namespaces" + end + "Content-Length: 9999\r\n\r\nhunter2",
		"OPTIONS *" + end + "\r\n", "CONNECT hunter2:1" + end + "\r\n",
		"GET /api/v1/secrets?watch=true&timeoutSeconds=1" + end + "Authorization: Bearer root-hunter2\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" +
			"Sec-WebSocket-Key: hunter2\r\nSec-WebSocket-Version: 13\r\n\r\n",
	} {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(c, text); err != nil {
			t.Error(err)
		}
		if err := c.(*net.TCPConn).CloseWrite(); err != nil {
			t.Error(err)
		}
		io.Copy(io.Discard, bufio.NewReader(c)) // until the server ends the connection, well or not
		c.Close()
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
