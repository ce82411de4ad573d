package builtin_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/deed-project/deed/internal/testing/recording"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
	"github.com/deed-project/deed/value"
)

func TestServerRecordings(t *testing.T) {
	tally := newTally(t)
	for _, file := range serverFiles(t) {
		for _, history := range readServerHistories(t, file) {
			for i, step := range history.Steps {
				tally.play(t, fmt.Sprintf("%s/%s step %d (%s)", filepath.Base(file), history.Name, i, step.Op), history.Kind, step)
			}
		}
	}
	t.Logf("\n%v", tally.Tally)
}

// serverFiles returns the files of recordings.
func serverFiles(t *testing.T) []string {
	t.Helper()
	files, err := recording.ServerFiles("testdata/recordings", "../../../shared/recordings/kube-apiserver", testing.Short())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d files of recordings", len(files))
	return files
}

func readServerHistories(t *testing.T, name string) []recording.History {
	t.Helper()
	out, err := recording.ReadHistories(name)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// tally counts what was compared and what differed.
type tally struct {
	*recording.Tally
	managers map[string]*managedfields.FieldManager
	now      time.Time // when the server answered
}

// maxExceptions is how many rows the table of what only a server knows may have.
const maxExceptions = 25

func newTally(t *testing.T) *tally {
	const page = "../../docs/server-fields.md"
	if rows, err := recording.Rows(page, "## What only a server knows"); err != nil || len(rows) > maxExceptions {
		t.Errorf("%d exceptions, want at most %d: %v", len(rows), maxExceptions, err)
	}
	exceptions, err := recording.Exceptions(page)
	if err != nil {
		t.Fatal(err)
	}
	return &tally{Tally: recording.NewTally(exceptions), managers: map[string]*managedfields.FieldManager{}}
}

// same compares what deed says with what the server said, and shows the first differences of each kind of object.
func (y *tally) same(t *testing.T, where, kind, what, want, got string) {
	if !y.Same(what, kind, want, got) {
		t.Errorf("%s: %s differ (-server +deed)\n%s", where, what, cmp.Diff(lines(want), lines(got)))
	}
}

// sameObject compares objects but for what only a server can know.
func (y *tally) sameObject(t *testing.T, where, kind string, want, got value.Value) {
	want, got = y.Stripped(kind, want, got)
	y.same(t, where, kind, "objects", want.String(), got.String())
}

// lines breaks JSON text at its members, for differences that can be read.
func lines(text string) []string {
	v, err := value.Parse([]byte(text))
	if err != nil {
		return strings.Split(text, "\n")
	}
	out, _ := json.MarshalIndent(v.ToAny(), "", " ")
	return strings.Split(string(out), "\n")
}

// kind returns a built-in kind with the clock of the server.
func (y *tally) kind(t *testing.T, gvk schema.GVK) *builtin.Kind {
	t.Helper()
	k, ok := builtin.Lookup(gvk)
	if !ok {
		t.Fatalf("%v is no built-in kind", gvk)
	}
	return k.WithClock(func() time.Time { return y.now })
}

// scaleManager returns the field manager for the subresource scale, which knows Scale objects only.
func (y *tally) scaleManager(t *testing.T) *managedfields.FieldManager {
	t.Helper()
	if m := y.managers["scale"]; m != nil {
		return m
	}
	m, err := managedfields.New(builtin.ScaleConfig())
	if err != nil {
		t.Fatal(err)
	}
	y.managers["scale"] = m
	return m
}

func (y *tally) manager(t *testing.T, gvk schema.GVK, subresource string) *managedfields.FieldManager {
	t.Helper()
	key := gvk.String() + subresource
	if m := y.managers[key]; m != nil {
		return m
	}
	config, err := y.kind(t, gvk).Config(subresource)
	if err != nil {
		t.Fatal(err)
	}
	m, err := managedfields.New(config)
	if err != nil {
		t.Fatal(err)
	}
	y.managers[key] = m
	return m
}

// play sends the request of a step to a field manager for the endpoint, with the object that was live, and compares
// the answers.
func (y *tally) play(t *testing.T, where, kind string, s recording.Exchange) {
	gvk := schema.ParseGVK(s.APIVersion, kind)
	live := objectOf(t, s.Live)
	y.now = s.Time()
	query, err := url.ParseQuery(s.Query)
	if err != nil {
		t.Fatal(err)
	}
	manager := query.Get("fieldManager")
	switch {
	case s.Op == "apply" || s.Op == "status-apply":
		subresource := ""
		if s.Op == "status-apply" {
			subresource = "status"
		}
		if s.Code == 404 {
			return
		}
		m := y.manager(t, gvk, subresource)
		config, err := managedfields.ParseObject(s.Sent())
		var out managedfields.Object
		if err == nil {
			out, err = m.Apply(live, config, manager, query.Get("force") == "true")
		}
		y.compare(t, where, kind, s, out, err)
	case s.Op == "create" || s.Op == "update" || s.Op == "status-put":
		subresource := ""
		if s.Op == "status-put" {
			subresource = "status"
		}
		if s.Code == 404 {
			return
		}
		object, err := managedfields.ParseObject(s.Sent())
		if err != nil {
			y.Leave("no JSON")
			return
		}
		if manager == "" {
			manager, _, _ = strings.Cut(s.UserAgent, "/")
		}
		out, err := y.manager(t, gvk, subresource).Update(live, object, manager)
		if !out.Content.IsAbsent() {
			err = nil // what is stored does not depend on it
		}
		y.compare(t, where, kind, s, out, err)
	case s.Op == "odd-apply":
		y.odd(t, where, kind, s, live, manager, query.Get("force") == "true")
	case s.Code == 404 || s.Code == 422:
		y.Leave("refused by the server around the field manager, or its validation")
	case s.Op == "merge" || s.Op == "jsonpatch" || s.Op == "smp" || s.Op == "status-merge":
		y.patch(t, where, kind, s, manager)
	case strings.HasPrefix(s.Op, "scale-"):
		y.scale(t, where, kind, s, manager, query.Get("force") == "true")
	default:
		y.Leave("an operation that deed does not have")
	}
}

func objectOf(t *testing.T, v value.Value) managedfields.Object {
	t.Helper()
	if v.Kind() != value.KindObject {
		return managedfields.Object{}
	}
	o, err := managedfields.ObjectOf(v)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// compare holds an outcome against the answer of the server.
func (y *tally) compare(t *testing.T, where, kind string, s recording.Exchange, out managedfields.Object, err error) {
	response := s.Response
	message := response.Get("message").Str()
	switch {
	case s.Code < 300:
		if err != nil {
			y.same(t, where, kind, "refusals", "", err.Error())
			return
		}
		want := objectOf(t, s.Response)
		if s.Keeps() {
			y.Allow("managed fields of JSON that is kept as text")
			return
		}
		y.same(t, where, kind, "managedFields", recording.Owners(response), ownersOf(t, out))
		if namespace := want.Content.Get("metadata", "namespace"); !namespace.IsAbsent() { // it is that of the request
			out.Content = out.Content.With("metadata", out.Content.Get("metadata").With("namespace", namespace))
		}
		y.sameObject(t, where, kind, want.Content, out.Content)
	case s.Code == 409 && strings.HasPrefix(message, "Apply failed"):
		text := ""
		if err != nil {
			text = err.Error()
		}
		if strings.Contains(s.Live.String(), `"opaque"`) && strings.HasSuffix(message, ".spec.config") {
			y.Allow("managed fields of JSON that is kept as text")
			return
		}
		y.same(t, where, kind, "conflicts", recording.SortedLines(message), recording.SortedLines(text))
	case strings.Contains(message, "strict decoding error"):
		y.Leave("refused for fields that the type does not have, as the request asked for")
	case s.Code == 500 && strings.HasPrefix(message, "failed to"), s.Code == 400 && strings.Contains(message, "cannot be handled as"):
		text := ""
		if err != nil {
			text = err.Error()
		}
		y.same(t, where, kind, "refusals", message, text)
	default:
		y.Leave("refused by the server around the field manager, or its validation")
	}
}

// ownersOf returns the managed fields of o as [recording.Owners] does.
func ownersOf(t *testing.T, o managedfields.Object) string {
	t.Helper()
	v, err := o.Value()
	if err != nil {
		t.Fatal(err)
	}
	return recording.Owners(v)
}
