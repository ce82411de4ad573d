package server

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/deed-project/deed/internal/testing/recording"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/registry"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

// TestKindRecordings sends the server what a kube-apiserver was asked about objects of built-in kinds, and expects its answers and
// what it stored. Each request finds the object that was live there, so that one difference leads to no other.
func TestKindRecordings(t *testing.T) {
	p := newPlayer(t)
	const beside = "../../shared/recordings/kube-apiserver"
	files, err := recording.ServerFiles("../schema/builtin/testdata/recordings", beside, testing.Short())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d files of recordings", len(files))
	for _, file := range files {
		p.playFile(t, file)
	}
	all := slices.ContainsFunc(files, func(file string) bool { return filepath.Dir(file) == beside })
	p.known.report(t, all)
	for what, n := range p.tally {
		t.Logf("%5d requests: %s", n, what)
	}
}

// player is a server that plays recorded exchanges.
type player struct {
	*Server
	now   atomic.Pointer[time.Time] // what runs in the background reads it, too
	known *knownDifferences
	tally map[string]int
}

func newPlayer(t *testing.T) *player {
	t.Helper()
	p := &player{known: readKnownDifferences(t), tally: map[string]int{}}
	p.now.Store(&time.Time{})
	var err error
	p.Server, err = New(Config{Now: func() time.Time { return *p.now.Load() }, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func (p *player) playFile(t *testing.T, file string) {
	t.Helper()
	histories, err := recording.ReadHistories(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range histories {
		for i, x := range h.Steps {
			what, difference := p.play(t, h.Kind, x)
			p.tally[what]++
			if difference != "" {
				t.Errorf("%s/%s step %d (%s): %s %s?%s %v\n%s", filepath.Base(file), h.Name, i, x.Op, x.Method, x.Path, x.Query, x.Body, difference)
			}
		}
	}
}

// play puts what was live into the store, sends the request, and compares the answer and what is stored then. It returns what it
// did, and the difference.
func (p *player) play(t *testing.T, kind string, x recording.Exchange) (what, difference string) {
	t.Helper()
	target, ok := api.ParseTarget(x.Path)
	if !ok {
		t.Fatalf("%s names no object", x.Path)
	}
	resource := p.catalog().Lookup(target.Group, target.Resource)
	if resource == nil || resource.Version(target.Version) == nil {
		return "of a version that is not served by default", ""
	}
	name := target.Name
	if name == "" {
		name = x.Body.Get("metadata", "name").Str()
	}
	placed := p.place(t, resource.Version(target.Version), resource.Key(target.Namespace, name), x.Live)
	now := latest(x.Response)
	if now.IsZero() {
		now = time.Date(2026, 11, 21, 21, 0, 0, 0, time.UTC)
	}
	p.now.Store(&now)
	if v := api.Meta(x.Body, "resourceVersion"); v != "" && v == api.Meta(x.Live, "resourceVersion") {
		x.Body = api.WithMetadata(x.Body, "resourceVersion", value.String(strconv.Itoa(int(placed))))
	}
	got := p.sent(t, x.Step, x.UserAgent)
	want, got := p.known.apart(kind, x.Step, got)
	if difference = recording.Compare(want, got) + identity(x, want.Response, got.Body, placed); difference != "" {
		if p.known.differs(kind, x, difference) {
			difference = ""
		}
		return "answered otherwise", difference
	}
	get := recording.Step{Method: http.MethodGet, Path: strings.TrimSuffix(x.Path, "/"+target.Subresource)}
	if target.Name == "" {
		get.Path += "/" + name
	}
	stored := p.sent(t, get, "")
	if get.Response, get.Code = x.After, http.StatusOK; x.After.IsNull() {
		get.Response, get.Code = stored.Body, http.StatusNotFound
	}
	want, got = p.known.apart(kind, get, stored)
	want.Warnings = got.Warnings // compared above
	if difference = recording.Compare(want, got); difference != "" {
		return "stored otherwise", "stored:\n" + difference
	}
	return "answered and stored as there", ""
}

// place makes live what is stored under a key, and returns the revision of that; 0 if live is null.
func (p *player) place(t *testing.T, v *catalog.Version, key string, live value.Value) store.Revision {
	t.Helper()
	had, err := registry.Object(t.Context(), p.reader.Store, key)
	if err == nil && !had.IsAbsent() {
		_, err = p.reader.Store.Delete(t.Context(), key, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	if live.IsNull() || live.IsAbsent() {
		return 0
	}
	object, err := managedfields.ObjectOf(live)
	if err != nil {
		t.Fatal(err)
	}
	object.Content, err = v.Form.Store(api.WithMetadata(object.Content, "resourceVersion", value.Value{}))
	if err != nil {
		t.Fatal(err)
	}
	revision, err := p.reader.Store.Put(t.Context(), key, object.AppendJSON(nil), 0)
	if err != nil {
		t.Fatal(err)
	}
	return revision
}

// sent sends the request of a step.
func (p *player) sent(t *testing.T, s recording.Step, agent string) recording.Answer {
	t.Helper()
	text := ""
	switch {
	case s.Body.Kind() == value.KindString:
		text = s.Body.Str()
	case !s.Body.IsAbsent() && !s.Body.IsNull():
		text = s.Body.String()
	}
	r := httptest.NewRequest(s.Method, s.Path+"?"+s.Query, strings.NewReader(text))
	if s.ContentType != "" {
		r.Header.Set("Content-Type", s.ContentType)
	}
	r.Header.Set("User-Agent", agent)
	w := httptest.NewRecorder()
	p.ServeHTTP(w, r)
	document, err := value.Parse(w.Body.Bytes())
	if err != nil {
		document = value.String(w.Body.String())
	}
	return recording.Answer{Code: w.Code, Body: document, Warnings: WarningsOfBoth(w.Header().Values("Warning"))}
}

const versionMoved = "the resource version changed: want %v, got %v\n"

// movedOnly is a difference that is nothing but a write of what was stored already, there and not here.
var movedOnly = fmt.Sprintf(versionMoved, true, false)

// identity compares what Compare leaves out because it differs from run to run: whether the uid is that of the live object,
// and whether the resource version moved.
func identity(x recording.Exchange, want, got value.Value, placed store.Revision) string {
	if x.Live.IsNull() || x.Code >= 300 || want.Get("kind").Str() == "Status" {
		return ""
	}
	var out strings.Builder
	if a, b := api.Meta(want, "uid"), api.Meta(got, "uid"); a != b {
		fmt.Fprintf(&out, "uid: want %s, got %s\n", a, b)
	}
	moved := api.Meta(want, "resourceVersion") != api.Meta(x.Live, "resourceVersion")
	if got := api.Meta(got, "resourceVersion") != strconv.Itoa(int(placed)); got != moved {
		fmt.Fprintf(&out, versionMoved, moved, got)
	}
	return out.String()
}

// latest returns the latest time in the metadata of an object.
func latest(object value.Value) time.Time {
	metadata := object.Get("metadata")
	texts := []string{metadata.Get("creationTimestamp").Str(), metadata.Get("deletionTimestamp").Str()}
	for e := range metadata.Get("managedFields").Items() {
		texts = append(texts, e.Get("time").Str())
	}
	at, _ := time.Parse(time.RFC3339, slices.Max(texts))
	return at
}
