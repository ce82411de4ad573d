package server_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/manifest"
)

// widgets is a server that serves widgets.example.org.
func widgets(t *testing.T) *server.Server {
	t.Helper()
	text, err := os.ReadFile("apitest/testdata/widgets.yaml")
	if err != nil {
		t.Fatal(err)
	}
	objects, err := manifest.Parse("widgets.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.New(server.Config{Objects: objects, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// ask sends a request; the words of request are a method, a path and headers such as Accept=application/yaml.
func ask(s http.Handler, request, body string) *httptest.ResponseRecorder {
	words := strings.Fields(request)
	r := httptest.NewRequest(words[0], words[1], strings.NewReader(body))
	r.Header.Set("User-Agent", "test/1")
	for _, header := range words[2:] {
		name, text, _ := strings.Cut(header, "=")
		r.Header.Set(name, text)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

const (
	core    = "/api/v1/"
	group   = "/apis/example.org/v1/"
	things  = group + "namespaces/default/widgets"
	jsonize = " Content-Type=application/json"
	merge   = " Content-Type=application/merge-patch+json"
	patch   = " Content-Type=application/json-patch+json"
	apply   = " Content-Type=application/apply-patch+yaml"
	web     = `{"apiVersion":"example.org/v1","kind":"Widget","metadata":{"name":"web"},"spec":{"color":"red"}}`
)

// TestAnswers sends requests that a path, a body, an option or a header of which is wrong, and some that are not, and expects the
// codes and messages of a real API server. A message that is text says so.
func TestAnswers(t *testing.T) {
	s := widgets(t)
	if w := ask(s, "POST "+things+jsonize, web); w.Code != http.StatusCreated {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	const text404 = "text: 404 page not found"
	for _, c := range []struct {
		request, body string
		code          int
		message       string
	}{
		// Paths: custom resources and built-in kinds have manners of their own.
		{"GET " + group + "gadgets", "", 404, text404},
		{"GET " + core + "gadgets", "", 404, "the server could not find the requested resource"},
		{"GET /apis/example.org/v7/widgets", "", 404, text404},
		{"GET /nope", "", 404, text404},
		{"GET " + things + "/web/nope", "", 404, `widgets.example.org "web" not found`},
		{"GET " + core + "namespaces/default/nope", "", 404, "the server could not find the requested resource"},
		{"GET " + things + "/web/status/more", "", 200, ""},
		{"GET " + things + "/", "", 200, ""},
		{"GET " + group + "namespaces//widgets", "", 200, ""},
		{"GET " + group + "widgets/web", "", 404, text404},
		{"POST " + group + "widgets" + jsonize, web, 404, text404},
		{"HEAD " + things + "/web", "", 200, ""},
		{"HEAD " + core + "namespaces/default", "", 405, ""},
		{"OPTIONS " + things, "", 405, ` is not supported on resources of kind "widgets.example.org"`},
		{"OPTIONS " + core + "namespaces", "", 405, "the server does not allow this method on the requested resource"},
		{"DELETE " + core + "namespaces", "", 405, "the server does not allow this method on the requested resource"},
		{"PUT " + things + jsonize, web, 400, "name must be provided"},
		{"GET " + things + "/../x", "", 404, text404},

		// Bodies.
		{"POST " + things + jsonize, "", 400, "the object provided is unrecognized (must be of type Widget): couldn't get version/kind; " +
			"json parse error: unexpected end of JSON input (<empty>)"},
		{"POST " + things + jsonize, "{", 400, "the object provided is unrecognized (must be of type Widget): couldn't get version/kind; " +
			"json parse error: unexpected end of JSON input ({)"},
		{"POST " + things + jsonize, "{}", 400, "the object provided is unrecognized (must be of type Widget): Object 'Kind' is missing in '{}' ({})"},
		{"POST " + things + jsonize, `{"kind":"Widget"}`, 400, "the API version in the data () does not match the expected API version (example.org/v1)"},
		{"POST " + things + jsonize, strings.Replace(web, "Widget", "Other", 1), 422, `Other.example.org "web" is invalid: kind: Invalid value: "Other": must be Widget`},
		{"POST " + things + jsonize, strings.Replace(web, `"web"`, "7", 1), 400, `Widget in version "v1" cannot be handled as a Widget: ` +
			"json: cannot unmarshal number into Go struct field ObjectMeta.name of type string"},
		{"POST " + things + " Content-Type=text/csv", web, 415, "the body of the request was in an unknown format - " +
			"accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf"},
		{"POST " + things + jsonize, strings.Repeat(" ", 3<<20+1), 413, "Request entity too large: limit is 3145728"},
		{"POST " + things + jsonize, web, 409, `widgets.example.org "web" already exists`},
		{"POST " + things + jsonize, `{"apiVersion":"example.org/v1","kind":"Widget","metadata":{"name":"x","resourceVersion":"5"}}`, 500,
			"resourceVersion should not be set on objects to be created"},
		{"PUT " + things + "/web" + jsonize, web, 422, `widgets.example.org "web" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update`},
		{"PUT " + things + "/other" + jsonize, web, 400, "the name of the object (web) does not match the name on the URL (other)"},
		{"PUT " + things + "/gone" + jsonize, strings.Replace(web, "web", "gone", 1), 404, `widgets.example.org "gone" not found`},

		// Patches.
		{"PATCH " + things + "/web Content-Type=application/strategic-merge-patch+json", "{}", 415, "the body of the request was in an unknown format - " +
			"accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml"},
		{"PATCH " + things + "/web" + merge, "[]", 400, "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}"},
		{"PATCH " + things + "/web" + merge, "{", 400, "invalid JSON patch"},
		{"PATCH " + things + "/web" + patch, "{}", 400, "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp"},
		{"PATCH " + things + "/web" + patch, `[{"op":"test","path":"/spec/color","value":"blue"}]`, 422, "the server rejected our request due to an error in our request"},
		{"PATCH " + things + "/web" + merge, `{"metadata":{"uid":"b"}}`, 422, `Widget.example.org "web" is invalid: metadata.uid: Invalid value: "b": field is immutable`},
		{"PATCH " + things + "/web" + merge, `{"kind":"Z"}`, 422, `Z.example.org "web" is invalid: kind: Invalid value: "Z": must be Widget`},
		{"PATCH " + things + "/web?fieldManager=m" + apply, "a: [", 400, "error encoding patch: yaml: line 1: did not find expected node content"},
		{"PATCH " + things + "/web" + apply, web, 422, `PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch`},

		// Options.
		{"POST " + things + "?dryRun=all" + jsonize, web, 422, `CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["all"]: supported values: "All"`},
		{"DELETE " + things + "/web?gracePeriodSeconds=abc", "", 400, `strconv.ParseInt: parsing "abc": invalid syntax`},
		{"DELETE " + things + "/web?propagationPolicy=Bad", "", 422, `DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "Bad": ` +
			`supported values: "Foreground", "Background", "Orphan", "nil"`},
		{"DELETE " + things + "/web" + jsonize, `{"kind":"Foo","apiVersion":"v1"}`, 400, `no kind "Foo" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"`},
		{"DELETE " + things + "/web" + jsonize, `{"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"resourceVersion":"1"}}`, 409,
			`Operation cannot be fulfilled on Widget.example.org "web": the ResourceVersion in the precondition (1) does not match the ResourceVersion in record`},

		// Lists and watches.
		{"GET " + things + "?limit=abc", "", 400, `strconv.ParseInt: parsing "abc": invalid syntax`},
		{"GET " + things + "?labelSelector=a+b", "", 400, "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"},
		{"GET " + things + "?fieldSelector=foo", "", 400, "invalid selector: 'foo'; can't understand 'foo'"},
		{"GET " + things + "?fieldSelector=spec.n%3D1", "", 400, "field label not supported: spec.n"},
		{"GET " + things + "?resourceVersion=abc", "", 400, `invalid resource version: resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax`},
		{"GET " + things + "?resourceVersionMatch=Exact", "", 422, `ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: ` +
			"resourceVersionMatch is forbidden unless resourceVersion is provided"},
		{"GET " + things + "?continue=x", "", 400, "invalid continue token: continue key is not valid: illegal base64 data at input byte 0"},
		{"GET " + things + "?watch=1&sendInitialEvents=true", "", 422, `ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: ` +
			"sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"},

		// Representations.
		{"GET " + things + " Accept=text/csv", "", 406, "only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf"},
		{"GET " + things + "?includeObject=Bad Accept=application/json;as=Table;g=meta.k8s.io;v=v1", "", 400,
			"Unable to convert to Table as requested: includeObject: Invalid value: \"Bad\": must be 'Metadata', 'Object', 'None', or empty"},
		{"GET " + things + "/web Accept=application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1", "", 500, "content is not a list"},

		// Namespaces.
		{"POST " + group + "namespaces/nowhere/widgets" + jsonize, web, 404, `namespaces "nowhere" not found`},
		{"DELETE " + core + "namespaces/default", "", 403, `namespaces "default" is forbidden: this namespace may not be deleted`},
		{"GET " + group + "namespaces/nowhere/widgets", "", 200, ""},
		{"POST " + core + "namespaces" + jsonize, `{"metadata":{"name":"A"}}`, 422, `Namespace "A" is invalid: metadata.name: Invalid value: "A": ` +
			"a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character " +
			"(e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"},
	} {
		w := ask(s, c.request, c.body)
		if got := messageOf(w); w.Code != c.code || !strings.HasPrefix(got, c.message) || c.message == "" && w.Code >= 400 && got != "" {
			t.Errorf("%s %.60s\n got %d %s\nwant %d %s", c.request, c.body, w.Code, got, c.code, c.message)
		}
	}
}

// messageOf returns the message of a Status, and text as such. Answers that are neither have none.
func messageOf(w *httptest.ResponseRecorder) string {
	var status struct{ Kind, Message string }
	body := w.Body.String()
	switch err := json.Unmarshal([]byte(body), &status); {
	case err != nil && body != "":
		return "text: " + body
	case status.Kind == "Status":
		return status.Message
	}
	return ""
}

// TestDryRuns rehearses every write, and finds the store as it was.
func TestDryRuns(t *testing.T) {
	s := widgets(t)
	ask(s, "POST "+things+jsonize, web)
	before := ask(s, "GET "+group+"widgets", "").Body.String()
	other := strings.Replace(web, `"web"`, `"other"`, 1)
	for _, c := range []struct{ request, body string }{
		{"POST " + things + "?dryRun=All" + jsonize, other},
		{"PATCH " + things + "/other?dryRun=All&fieldManager=m" + apply, other},
		{"PATCH " + things + "/web?dryRun=All&fieldManager=m&force=true" + apply, strings.Replace(web, "red", "blue", 1)},
		{"PATCH " + things + "/web?dryRun=All" + merge, `{"spec":{"replicas":3}}`},
		{"PATCH " + things + "/web/status?dryRun=All" + merge, `{"status":{"replicas":3}}`},
		{"PATCH " + things + "/web/scale?dryRun=All" + merge, `{"spec":{"replicas":3}}`},
		{"PATCH " + things + "/web?dryRun=All" + patch, `[{"op":"replace","path":"/spec/color","value":"blue"}]`},
		{"DELETE " + things + "/web?dryRun=All", ""},
		{"DELETE " + things + "/web?dryRun=All&propagationPolicy=Orphan", ""},
		{"DELETE " + things + "?dryRun=All", ""},
	} {
		if w := ask(s, c.request, c.body); w.Code >= 300 {
			t.Errorf("%s: %d %s", c.request, w.Code, w.Body)
		}
		if after := ask(s, "GET "+group+"widgets", "").Body.String(); after != before {
			t.Fatalf("%s changed what is stored:\n%s\n%s", c.request, before, after)
		}
	}
}

// TestRepresentations reads one object in each form.
func TestRepresentations(t *testing.T) {
	s := widgets(t)
	ask(s, "POST "+things+jsonize, web)
	for accept, want := range map[string]string{
		"application/yaml": "apiVersion: example.org/v1\nkind: Widget\n",
		"application/json": `{"apiVersion":"example.org/v1","kind":"Widget",`,
		"application/json;as=Table;g=meta.k8s.io;v=v1":                 `"cells":["web",1]`,
		"application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1": `{"apiVersion":"meta.k8s.io/v1","kind":"PartialObjectMetadata",`,
		"application/vnd.kubernetes.protobuf,application/json":         `{"apiVersion":"example.org/v1",`,
	} {
		if w := ask(s, "GET "+things+"/web Accept="+accept, ""); !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %d %s", accept, w.Code, w.Body)
		}
	}
	pretty := ask(s, "GET "+things+"/web?pretty=true", "").Body.String()
	if !strings.HasPrefix(pretty, "{\n  \"apiVersion\"") || strings.HasSuffix(pretty, "\n") {
		t.Errorf("pretty is %q", pretty)
	}
}

// TestWarnings asks for unknown fields to be told.
func TestWarnings(t *testing.T) {
	s := widgets(t)
	body := `{"apiVersion":"example.org/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"colour":"red","replicas":1,"replicas":2}}`
	w := ask(s, "POST "+things+jsonize, body)
	want := []string{`299 - "duplicate field \"spec.replicas\""`, `299 - "unknown field \"spec.colour\""`}
	if got := w.Header().Values("Warning"); w.Code != http.StatusCreated || strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%d, warnings %q, want %q", w.Code, got, want)
	}
}
