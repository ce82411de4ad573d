package builtin_test

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/deed-project/deed/internal/recording"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
	"github.com/deed-project/deed/value"
)

// serverHistory is the history of one object on a kube-apiserver.
type serverHistory struct {
	Name  string       `json:"name"`
	Kind  string       `json:"kind"`
	Steps []serverStep `json:"steps"`
}

// serverStep is a request with what was stored before, the answer, and what is stored after.
type serverStep struct {
	Op, APIVersion, Path, Query, UserAgent string
	Body, Response, Live, After            json.RawMessage
	Code                                   int
}

// serverRecordings are where recordings of a kube-apiserver are: a slice of them in this repository, and all of
// them beside it. The variable DEED_SERVER_RECORDINGS names a file to be played instead.
var serverRecordings = []string{"testdata/recordings", "../../../shared/recordings/kube-apiserver"}

func TestServerRecordings(t *testing.T) {
	tally := newTally(t)
	for _, dir := range serverRecordings {
		files, err := filepath.Glob(filepath.Join(dir, "*.jsonl.gz"))
		if err != nil {
			t.Fatal(err)
		}
		if testing.Short() && dir != serverRecordings[0] {
			t.Logf("short: without the recordings in %s", dir)
			continue
		}
		if len(files) == 0 {
			t.Logf("no recordings in %s", dir)
		}
		if more := os.Getenv("DEED_SERVER_RECORDINGS"); more != "" {
			files = []string{more}
		}
		for _, file := range files {
			for _, history := range readServerHistories(t, file) {
				for i, step := range history.Steps {
					tally.play(t, fmt.Sprintf("%s/%s step %d (%s)", filepath.Base(file), history.Name, i, step.Op), history.Kind, step)
				}
			}
		}
	}
	tally.report(t)
}

func readServerHistories(t *testing.T, name string) []serverHistory {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []serverHistory
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var h serverHistory
		if err := json.Unmarshal(lines.Bytes(), &h); err != nil {
			t.Fatal(err)
		}
		out = append(out, h)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// tally counts what was compared and what differed.
type tally struct {
	compared map[string]int
	differed map[string]int
	allowed  map[string]int // by what the divergences call it
	managers map[string]*managedfields.FieldManager
	shown    map[string]int
	now      time.Time // when the server answered

	exceptions []recording.Exception
}

func newTally(t *testing.T) *tally {
	return &tally{
		compared: map[string]int{}, differed: map[string]int{}, allowed: map[string]int{}, shown: map[string]int{},
		managers: map[string]*managedfields.FieldManager{}, exceptions: readExceptions(t),
	}
}

func (y *tally) report(t *testing.T) {
	for _, what := range []string{"managedFields", "objects", "conflicts", "refusals", "not played"} {
		t.Logf("%-14s %5d compared, %d differ", what, y.compared[what], y.differed[what])
	}
	var names []string
	for name := range y.allowed {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		t.Logf("%5d objects: %s", y.allowed[name], name)
	}
}

// same compares what deed says with what the server said, and shows the first differences of each kind of object.
func (y *tally) same(t *testing.T, where, kind, what, want, got string) {
	y.compared[what]++
	if want == got {
		return
	}
	y.differed[what]++
	key := what + " " + kind
	if y.shown[key]++; y.shown[key] <= 3 {
		t.Errorf("%s: %s differ (-server +deed)\n%s", where, what, cmp.Diff(lines(want), lines(got)))
	}
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
func (y *tally) play(t *testing.T, where, kind string, s serverStep) {
	gvk := schema.ParseGVK(s.APIVersion, kind)
	live := objectOf(t, s.Live)
	y.now = latest(s.Response)
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
		config, err := managedfields.ParseObject(named(t, s))
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
		object, err := managedfields.ParseObject(s.Body)
		if err != nil {
			y.compared["not played"]++
			return
		}
		if manager == "" {
			manager, _, _ = strings.Cut(s.UserAgent, "/")
		}
		out, err := y.manager(t, gvk, subresource).Update(live, object, manager, managedfields.KeepEntries)
		if !out.Content.IsAbsent() {
			err = nil // what is stored does not depend on it
		}
		y.compare(t, where, kind, s, out, err)
	case s.Op == "odd-apply":
		y.odd(t, where, kind, s, live, manager, query.Get("force") == "true")
	case s.Code == 404 || s.Code == 422:
		y.compared["not played"]++ // by the server around the field manager, or its validation
	case s.Op == "merge" || s.Op == "jsonpatch" || s.Op == "smp" || s.Op == "status-merge":
		y.patch(t, where, kind, s, manager)
	case strings.HasPrefix(s.Op, "scale-"):
		y.scale(t, where, kind, s, manager, query.Get("force") == "true")
	default:
		y.compared["not played"]++
	}
}

// named returns the body of a step with the namespace of its path, which requests need not name.
func named(t *testing.T, s serverStep) []byte {
	v, err := value.Parse(s.Body)
	if err != nil {
		t.Fatal(err)
	}
	if v.Kind() == value.KindString {
		return []byte(v.Str())
	}
	return s.Body
}

func objectOf(t *testing.T, text json.RawMessage) managedfields.Object {
	t.Helper()
	if len(text) == 0 || string(text) == "null" {
		return managedfields.Object{}
	}
	o, err := managedfields.ParseObject(text)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// compare holds an outcome against the answer of the server.
func (y *tally) compare(t *testing.T, where, kind string, s serverStep, out managedfields.Object, err error) {
	response, failed := value.Parse(s.Response)
	if failed != nil {
		t.Fatal(failed)
	}
	message := response.Get("message").Str()
	switch {
	case s.Code < 300:
		if err != nil {
			y.same(t, where, kind, "refusals", "", err.Error())
			return
		}
		want := objectOf(t, s.Response)
		if spelled(s) {
			y.allowed["managed fields of JSON that is kept as text"]++
			return
		}
		y.same(t, where, kind, "managedFields", entriesText(want), entriesText(out))
		if namespace := want.Content.At("metadata", "namespace"); !namespace.IsAbsent() { // it is that of the request
			out.Content = out.Content.With("metadata", out.Content.Get("metadata").With("namespace", namespace))
		}
		y.sameObject(t, where, kind, want.Content, out.Content)
	case s.Code == 409 && strings.HasPrefix(message, "Apply failed"):
		text := ""
		if err != nil {
			text = err.Error()
		}
		if strings.Contains(string(s.Live), `"opaque"`) && strings.HasSuffix(message, ".spec.config") {
			y.allowed["managed fields of JSON that is kept as text"]++
			return
		}
		y.same(t, where, kind, "conflicts", causes(message), causes(text))
	case s.Code == 500 && strings.HasPrefix(message, "failed to"), s.Code == 400 && strings.Contains(message, "cannot be handled as"):
		text := ""
		if err != nil {
			text = err.Error()
		}
		y.same(t, where, kind, "refusals", message, text)
	default:
		y.compared["not played"]++
	}
}

// causes returns the lines of a conflict's message in order, as the server has them in any.
func causes(message string) string {
	all := strings.Split(message, "\n")
	slices.Sort(all)
	return strings.Join(all, "\n")
}

// entriesText returns the managed fields without times, in order.
func entriesText(o managedfields.Object) string {
	var all []string
	for _, e := range o.Entries {
		e.Time = time.Time{}
		v, err := managedfields.Object{Content: value.Object(), Entries: []managedfields.Entry{e}}.Value()
		if err != nil {
			return err.Error()
		}
		all = append(all, v.At("metadata", "managedFields").Item(0).With("time", value.Value{}).String())
	}
	slices.Sort(all)
	return "[" + strings.Join(all, ",") + "]"
}

// spelled reports whether a step writes JSON that a server keeps as text, which then counts as changed if it has
// other spaces.
func spelled(s serverStep) bool {
	return (s.Op == "update" || s.Op == "merge") && strings.Contains(string(s.Body), `"opaque"`)
}

// latest returns the last of the times in an answer: when the server answered.
func latest(text []byte) time.Time {
	var last time.Time
	for part := range strings.SplitSeq(string(text), `"`) {
		if t, err := time.Parse(time.RFC3339, part); err == nil && t.After(last) {
			last = t
		}
	}
	return last
}
