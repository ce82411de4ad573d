package server_test

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/internal/servertest"
	"github.com/deed-project/deed/value"
)

// TestFaults sends the wrong objects of testdata/faults.jsonl.gz as dry runs, and expects the answers of a kube-apiserver. Command faults of
// oracle/faults writes the file: valid objects first, then requests that put a fault or two into one of them. Those of faults-1.36.jsonl.gz and
// others are for servers that emulate a release.
func TestFaults(t *testing.T) {
	replayFaults(t, "testdata/faults.jsonl.gz", "", 1000)
	for _, release := range []string{"1.34", "1.35", "1.36"} {
		t.Run(release, func(t *testing.T) { replayFaults(t, "testdata/faults-"+release+".jsonl.gz", release, 4) })
	}
}

// replayFaults replays a file with at least so many requests to a server that emulates a release.
func replayFaults(t *testing.T, file, release string, least int) {
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() // it is only read
	unpacked, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	r := &faultReplay{s: servertest.New(t, server.Config{EmulatedVersion: release}), bases: map[string]value.Value{}, live: map[string]value.Value{}}
	lines := bufio.NewScanner(unpacked)
	lines.Buffer(nil, 1<<24)
	replayed := 0
	for lines.Scan() {
		line, err := value.Parse(lines.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if b := line.Get("base"); !b.IsAbsent() {
			r.install(t, b)
			continue
		}
		if replayed == 0 {
			r.read(t)
		}
		if replayed++; testing.Short() && replayed%8 != 0 {
			continue
		}
		request := line.Get("request")
		if got, want := answerSeen(r.send(t, request)), faultAnswer(line.Get("answer")); got != want {
			t.Errorf("%s\n got %s\nwant %s", request, got, want)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if replayed < least {
		t.Errorf("only %d requests", replayed)
	}
}

// faultReplay is a server with the valid objects of a recording.
type faultReplay struct {
	s           *server.Server
	bases, live map[string]value.Value // by ID
}

// install creates a valid object, and gives it its status.
func (r *faultReplay) install(t *testing.T, b value.Value) {
	t.Helper()
	id, path, object := b.Get("id").Str(), b.Get("path").Str(), b.Get("object")
	created := servertest.Ask(r.s, "POST "+path+servertest.JSON, object.String())
	live := parsedBody(t, created, http.StatusCreated)
	if status := object.Get("status"); !status.IsAbsent() {
		at := path + "/" + live.Get("metadata", "name").Str() + "/status"
		live = parsedBody(t, servertest.Ask(r.s, "PUT "+at+servertest.JSON, live.With("status", status).String()), http.StatusOK)
	}
	r.bases[id], r.live[id] = b, live.With("metadata", live.Get("metadata").With("managedFields", value.Value{}))
}

// read reads the valid objects again: the server has written the status of definitions.
func (r *faultReplay) read(t *testing.T) {
	t.Helper()
	for id, b := range r.bases {
		at := b.Get("path").Str() + "/" + r.live[id].Get("metadata", "name").Str()
		live := parsedBody(t, servertest.Ask(r.s, "GET "+at, ""), http.StatusOK)
		r.live[id] = live.With("metadata", live.Get("metadata").With("managedFields", value.Value{}))
	}
}

func parsedBody(t *testing.T, w *httptest.ResponseRecorder, code int) value.Value {
	t.Helper()
	if w.Code != code {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	v, err := value.Parse(w.Body.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// send sends a request as command faults does: a create sends a base object, and an update sends what is stored of it.
func (r *faultReplay) send(t *testing.T, request value.Value) *httptest.ResponseRecorder {
	t.Helper()
	id, onto, verb := request.Get("base").Str(), request.Get("onto").Str(), request.Get("verb").Str()
	b := r.bases[id]
	path, method, object := b.Get("path").Str(), http.MethodPut, r.live[id]
	switch verb {
	case "create":
		method = http.MethodPost
		object = withMembers(b.Get("object"), b.Get("create"))
		if name := b.Get("create", "metadata", "name"); name.IsAbsent() {
			metadata := object.Get("metadata")
			object = object.With("metadata", metadata.With("name", value.String(metadata.Get("name").Str()+"-new")))
		}
	default:
		of := r.live[onto].Get("metadata")
		if onto != id {
			metadata := object.Get("metadata")
			for _, name := range []string{"name", "uid", "resourceVersion", "creationTimestamp", "generation"} {
				metadata = metadata.With(name, of.Get(name))
			}
			object = object.With("metadata", metadata)
		}
		if path += "/" + of.Get("name").Str(); verb != "update" {
			path += "/" + verb
		}
	}
	for e := range request.Get("edits").Items() {
		v := e.Get("value")
		switch {
		case e.Get("remove").Bool():
			v = value.Value{}
		case v.IsAbsent():
			v = value.Null()
		}
		object = edited(object, e.Get("path"), 0, v)
	}
	return servertest.Ask(r.s, method+" "+path+"?dryRun=All Content-Type=application/json", object.String())
}

// withMembers returns an object with the members of another one.
func withMembers(object, with value.Value) value.Value {
	for name, v := range with.Members() {
		if v.Kind() == value.KindObject {
			v = withMembers(object.Get(name), v)
		}
		object = memberSet(object, name, v)
	}
	return object
}

func memberSet(object value.Value, name string, v value.Value) value.Value {
	if object.Kind() != value.KindObject {
		object = value.Object()
	}
	return object.With(name, v)
}

// edited returns v with another value at a path, from step i on. An absent value removes what is there.
func edited(v, path value.Value, i int, to value.Value) value.Value {
	if i == path.Len() {
		return to
	}
	step := path.Item(i)
	if step.Kind() == value.KindString {
		return memberSet(v, step.Str(), edited(v.Get(step.Str()), path, i+1, to))
	}
	var items []value.Value
	n := int(step.Int())
	for j := range v.Len() {
		item := v.Item(j)
		if j == n {
			item = edited(item, path, i+1, to)
		}
		if !item.IsAbsent() {
			items = append(items, item)
		}
	}
	if n >= v.Len() {
		items = append(items, edited(value.Value{}, path, i+1, to))
	}
	return value.List(items...)
}

// answerSeen returns what is compared of an answer.
func answerSeen(w *httptest.ResponseRecorder) string {
	out := value.Object()
	if status, err := value.Parse(w.Body.Bytes()); w.Code >= 300 && err == nil {
		out = status
	} else if w.Code >= 300 {
		out = value.Object(value.Member{Name: "message", Value: value.String(w.Body.String())})
	}
	return compared(w.Code, out, w.Header().Values("Warning"))
}

func faultAnswer(a value.Value) string {
	var warnings []string
	for w := range a.Get("warnings").Items() {
		warnings = append(warnings, w.Str())
	}
	return compared(int(a.Get("code").Int()), a, warnings)
}

func compared(code int, status value.Value, warnings []string) string {
	text := fmt.Sprintf("%d %s %s", code, status.Get("reason").Str(), status.Get("message").Str())
	for c := range status.Get("details", "causes").Items() {
		text += fmt.Sprintf("\n  %s %s: %s", c.Get("reason").Str(), c.Get("field").Str(), c.Get("message").Str())
	}
	for _, w := range warnings {
		if !strings.Contains(w, "this server stores") { // what is not enforced here
			text += "\n  " + w
		}
	}
	for _, c := range faultChances {
		text = c.pattern.ReplaceAllString(text, c.shown)
	}
	return text
}

// faultChances is what differs from run to run.
var faultChances = []struct {
	pattern *regexp.Regexp
	shown   string
}{
	{regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`), "UID"},
	{regexp.MustCompile(`\b20(2[5-9]|3[0-3])-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z| \+0000 UTC)?`), "TIME"},
	{regexp.MustCompile(`"resourceVersion":"\d+"`), `"resourceVersion":"VERSION"`},
}
