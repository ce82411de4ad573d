package read_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/deed-project/deed/internal/testing/seeds"
	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/internal/servertest"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/server/store/memory"
	"github.com/deed-project/deed/value"
)

// TestListVersions goes through the table of resourceVersion, resourceVersionMatch and limit. The versions 1 to 4 stand for those of
// creating a, b and c and of deleting a; 0 for none, and 9 for one that is still to come.
func TestListVersions(t *testing.T) {
	s := servertest.Widgets(t)
	versions := []string{"0"}
	for _, name := range []string{"a", "b", "c"} {
		w := servertest.Ask(s, "POST "+servertest.Things, strings.Replace(servertest.Web, `"web"`, strconv.Quote(name), 1))
		versions = append(versions, servertest.Parsed(t, w).Get("metadata", "resourceVersion").Str())
	}
	servertest.Ask(s, "DELETE "+servertest.Things+"/a", "")
	versions = append(versions, servertest.List(t, s, "").Metadata.ResourceVersion)
	forbidden := `resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided`
	for _, c := range []struct{ match, limit, version, want string }{
		// match, limit, version: names @ version of the list, with + if there is more, or the message
		{"", "", "", "bc @4"},
		{"", "", "0", "bc @4"},
		{"", "", "2", "bc @4"},
		{"", "", "4", "bc @4"},
		{"", "1", "", "b+ @4"},
		{"", "1", "0", "bc @4"},
		{"", "1", "2", "a+ @2"},
		{"", "1", "1", "a @1"},
		{"", "-1", "", "bc @4"},
		{"Exact", "", "", forbidden},
		{"Exact", "", "0", `resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"`},
		{"Exact", "", "2", "ab @2"},
		{"Exact", "1", "2", "a+ @2"},
		{"NotOlderThan", "", "", forbidden},
		{"NotOlderThan", "", "0", "bc @4"},
		{"NotOlderThan", "1", "0", "bc @4"},
		{"NotOlderThan", "", "2", "bc @4"},
		{"NotOlderThan", "1", "2", "b+ @4"},
		{"Bad", "", "2", `resourceVersionMatch: Unsupported value: "Bad": supported values: "Exact", "NotOlderThan", ""`},
		{"", "", "abc", `invalid resource version: resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax`},
		{"", "abc", "", `strconv.ParseInt: parsing "abc": invalid syntax`},
	} {
		version := c.version
		if i, err := strconv.Atoi(c.version); err == nil {
			version = versions[i]
		}
		query := "resourceVersionMatch=" + c.match + "&resourceVersion=" + version
		if c.limit != "" {
			query += "&limit=" + c.limit
		}
		l := servertest.List(t, s, query)
		got := l.Message
		if l.Code == http.StatusOK {
			got = l.Names()
			if l.Metadata.Continue != "" {
				got += "+"
			}
			for i, v := range versions {
				if v == l.Metadata.ResourceVersion {
					got += fmt.Sprintf(" @%d", i)
				}
			}
		}
		if got != c.want && !strings.HasSuffix(got, ": "+c.want) {
			t.Errorf("match %q, limit %q, version %q:\n got %s\nwant %s", c.match, c.limit, c.version, got, c.want)
		}
	}
}

// fromYAML returns the document of an answer in YAML.
func fromYAML(t *testing.T, w *httptest.ResponseRecorder) value.Value {
	t.Helper()
	text, err := yaml.YAMLToJSON(w.Body.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	v, err := value.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestContinue reads pages on: with the revision of the first, with other limits and selectors, and after that revision is gone.
func TestContinue(t *testing.T) {
	objects := memory.New()
	s := servertest.Stage(t, objects)
	servertest.Ask(s, "DELETE "+servertest.Things+"/web", "")
	for _, name := range []string{"a", "b", "c", "d"} {
		servertest.Ask(s, "POST "+servertest.Things, strings.Replace(servertest.Web, `"web"`, strconv.Quote(name), 1))
	}
	first := servertest.List(t, s, "limit=1")
	if first.Names() != "a" || first.Metadata.RemainingItemCount != 5 {
		t.Fatalf("the first page is %+v", first)
	}
	servertest.Ask(s, "DELETE "+servertest.Things+"/b", "")
	next := "continue=" + first.Metadata.Continue
	if l := servertest.List(t, s, next+"&limit=2"); l.Names() != "bc" || l.Metadata.ResourceVersion != first.Metadata.ResourceVersion {
		t.Errorf("the second page is %s of %s", l.Names(), l.Metadata.ResourceVersion)
	}
	if l := servertest.List(t, s, next+"&fieldSelector=metadata.name%3Dd"); l.Names() != "d" || l.Metadata.RemainingItemCount != 0 {
		t.Errorf("the rest of the name d is %s", l.Names())
	}
	for query, want := range map[string]string{
		next + "&resourceVersion=5":                    "specifying resource version is not allowed when using continue",
		next + "&resourceVersionMatch=Exact":           "resourceVersionMatch is forbidden when continue is provided",
		"continue=!!":                                  "invalid continue token: continue key is not valid: illegal base64 data at input byte 0",
		"continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJzIn0": "invalid continue token: continue key is not valid: invalid character",
	} {
		if l := servertest.List(t, s, query); !strings.Contains(l.Message, want) {
			t.Errorf("%s: %s, want %s", query, l.Message, want)
		}
	}
	page, err := objects.Range(t.Context(), store.Range{Limit: 1})
	if err == nil {
		err = objects.Compact(t.Context(), page.Revision)
	}
	if err != nil {
		t.Fatal(err)
	}
	expired := servertest.List(t, s, next+"&limit=2")
	if expired.Code != http.StatusGone || expired.Reason != "Expired" || expired.Metadata.Continue == "" {
		t.Fatalf("a page of a revision that is gone: %+v", expired)
	}
	if l := servertest.List(t, s, "limit=2&continue="+expired.Metadata.Continue); l.Names() != "cd" || l.Metadata.Continue == "" {
		t.Errorf("the inconsistent rest is %s", l.Names())
	}
	if l := servertest.List(t, s, "resourceVersionMatch=Exact&resourceVersion=2"); l.Code != http.StatusGone ||
		l.Message != "The resourceVersion for the provided list is too old." {
		t.Errorf("an exact revision that is gone: %d %s", l.Code, l.Message)
	}
}

// TestNameIsOnePage lists by the name of an object, as a kube-apiserver does: in a namespace there can be no further page, and in all
// namespaces there may be.
func TestNameIsOnePage(t *testing.T) {
	s := servertest.Widgets(t)
	for _, name := range []string{"a", "ab", "b"} {
		servertest.Ask(s, "POST "+servertest.Things, strings.Replace(servertest.Web, `"web"`, strconv.Quote(name), 1))
	}
	for name, want := range map[string]string{"a": "a", "b": "b", "c": ""} {
		if l := servertest.List(t, s, "limit=1&fieldSelector=metadata.name%3D"+name); l.Names() != want || l.Metadata.Continue != "" {
			t.Errorf("the list of the name %s is %+v", name, l)
		}
	}
	all := servertest.Parsed(t, servertest.Ask(s, "GET "+servertest.Group+"widgets?limit=1&fieldSelector=metadata.name%3Da", ""))
	if all.Get("items").Len() != 1 || all.Get("metadata", "continue").Str() == "" {
		t.Errorf("the list of a name in all namespaces is %v", all)
	}
}

// TestFuture waits for a revision that comes, and gives up on one that does not.
func TestFuture(t *testing.T) {
	if testing.Short() {
		t.Skip("short: it waits three seconds for each revision that does not come")
	}
	t.Parallel()
	s := servertest.Widgets(t)
	servertest.Ask(s, "POST "+servertest.Things, servertest.Web)
	current := servertest.List(t, s, "").Metadata.ResourceVersion
	n, err := strconv.Atoi(current)
	if err != nil {
		t.Fatal(err)
	}
	came := make(chan servertest.Listed)
	go func() { came <- servertest.List(t, s, "resourceVersion="+strconv.Itoa(n+1)) }()
	servertest.Ask(s, "POST "+servertest.Things, strings.Replace(servertest.Web, `"web"`, `"next"`, 1))
	if l := <-came; l.Names() != "nextweb" {
		t.Errorf("the list of the next revision has %s %s", l.Names(), l.Message)
	}
	want := ""
	for _, asked := range []string{strconv.FormatUint(math.MaxUint64, 10), strconv.Itoa(n + 100)} {
		l := servertest.List(t, s, "resourceVersion="+asked)
		want = fmt.Sprintf("Timeout: Too large resource version: %s, current: %d", asked, n+1)
		if l.Code != http.StatusGatewayTimeout || l.Message != want {
			t.Errorf("a revision that does not come: %d %s, want %s", l.Code, l.Message, want)
		}
	}
	// One object at an exact revision: nothing waits, and nothing tells when to come again.
	one := "fieldSelector=metadata.name%3Dweb&resourceVersion=" + strconv.Itoa(n+100)
	for _, path := range []string{
		servertest.Things + "?resourceVersionMatch=Exact&" + one, servertest.Things + "?limit=1&" + one,
		servertest.Group + "widgets?resourceVersionMatch=Exact&" + strings.Replace(one, "web", "web,metadata.namespace%3Ddefault", 1),
	} {
		w := servertest.Ask(s, "GET "+path, "")
		if retry := w.Header().Get("Retry-After"); w.Code != http.StatusGatewayTimeout || retry != "" || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %d %s, come again after %q", path, w.Code, w.Body, retry)
		}
	}
}

// TestListTexts compares lists that are made of stored texts with the same lists made of decoded objects, of random collections: with
// labels and without, of custom resources and of a built-in kind whose members stand around its kind. So it does with Tables.
func TestListTexts(t *testing.T) {
	random := seeds.Rand(t)
	s := servertest.New(t, server.Config{Now: func() time.Time { return servertest.Noon }})
	maps := servertest.Core + "namespaces/default/configmaps"
	for i := range 60 {
		name, labels := fmt.Sprintf("n%02d", i), ""
		if random.IntN(3) > 0 {
			labels = fmt.Sprintf(`,"labels":{"a":"%d","b":"x"}`, random.IntN(3))
		}
		servertest.Ask(s, "POST "+servertest.Things, fmt.Sprintf(`{"apiVersion":"example.org/v1","kind":"Widget","metadata":{"name":%q%s},"spec":{"color":"red","replicas":%d}}`,
			name, labels, i%10))
		servertest.Ask(s, "POST "+maps, fmt.Sprintf(`{"metadata":{"name":%q%s},"data":{"é<\"":"\\u2028\\n"}}`, name, labels))
	}
	for range 2 {
		for _, path := range []string{servertest.Things, maps} {
			for _, query := range []string{
				"", "limit=7", "labelSelector=a%3D1", "labelSelector=!a", "labelSelector=a+in+(0,2)&limit=5", "fieldSelector=metadata.name%3Dn07",
				"fieldSelector=metadata.name!%3Dn07&labelSelector=b", "fieldSelector=metadata.namespace%3Dnone", "limit=3&resourceVersion=0",
			} {
				for _, accept := range []string{
					"", servertest.TableJSON, servertest.TableJSON + " includeObject=Object", servertest.TableJSON + " includeObject=None",
				} {
					media, include, _ := strings.Cut(accept, " ")
					asked := path + "?" + include + "&" + query
					body := servertest.Ask(s, "GET "+asked+" Accept="+media, "")
					text := servertest.Parsed(t, body)
					values := fromYAML(t, servertest.Ask(s, "GET "+asked+" Accept="+strings.Replace(cmp.Or(media, "application/json"), "json", "yaml", 1), ""))
					if !text.Equal(values) {
						t.Errorf("%s as %q is\n%.600v\nas text, and\n%.600v\nas objects", asked, accept, text, values)
					}
					var want bytes.Buffer
					if err := json.Indent(&want, bytes.TrimSpace(body.Body.Bytes()), "", "  "); err != nil {
						t.Fatal(err)
					}
					pretty := servertest.Ask(s, "GET "+asked+"&pretty=true Accept="+media, "")
					if pretty.Body.String() != want.String() {
						t.Errorf("%s as %q with line breaks is\n%.600s\nwant\n%.600s", asked, accept, pretty.Body, want.String())
					}
				}
			}
		}
	}
}

// flat is an answer that keeps nothing, and looks at the heap now and then.
type flat struct {
	header http.Header
	size   int
	most   uint64
	step   int // how much is taken between two looks
	next   int
}

func (f *flat) Header() http.Header { return f.header }
func (f *flat) WriteHeader(int)     {}
func (f *flat) Write(b []byte) (int, error) {
	if f.size += len(b); f.size >= f.next {
		f.next += f.step
		f.most = max(f.most, servertest.LiveHeap())
	}
	return len(b), nil
}

// TestLargeList lists 100,000 objects (10,000 in short mode), compressed and not, for which memory grows by at most 4 MiB.
func TestLargeList(t *testing.T) {
	count := 100_000
	if testing.Short() {
		count = 10_000
	}
	objects := memory.New()
	s := servertest.Stage(t, objects)
	sample, err := objects.Get(t.Context(), "/registry/example.org/widgets/default/web", 0)
	if err != nil {
		t.Fatal(err)
	}
	for i := range count {
		name := fmt.Sprintf("many-%06d", i)
		text := strings.Replace(string(sample.Text), `"name":"web"`, strconv.Quote("name")+":"+strconv.Quote(name), 1)
		if _, err := objects.Put(t.Context(), "/registry/example.org/widgets/default/"+name, []byte(text), 0); err != nil {
			t.Fatal(err)
		}
	}
	list := func(accept string, step int) *flat {
		w, r := &flat{header: http.Header{}, step: step}, httptest.NewRequest("GET", servertest.Things, nil)
		r.Header.Set("Accept-Encoding", accept)
		s.ServeHTTP(w, r)
		return w
	}
	first := list("", 16<<20)
	if least := count * len(sample.Text); first.size < least {
		t.Fatalf("the list has %d bytes, less than the %d of its objects", first.size, least)
	}
	for accept, step := range map[string]int{"": 16 << 20, "gzip": 256 << 10} {
		before := servertest.LiveHeap()
		again := list(accept, step)
		if grown := int64(again.most) - int64(before); grown > 4<<20 {
			t.Errorf("memory grew by %d bytes while %d objects were listed to who takes %q", grown, count, accept)
		}
		if again.size != first.size && accept == "" {
			t.Errorf("the list has %d bytes, and %d the second time", first.size, again.size)
		}
	}
}

// TestForeignTexts selects an object by a label among many others. Its text is not as this server writes texts, so that nothing is known of
// it before it is read.
func TestForeignTexts(t *testing.T) {
	objects := memory.New()
	foreign := `{"kind":"Widget","metadata":{"labels":{"l":"x"},"name":"odd","namespace":"default","uid":"1"},"apiVersion":"example.org/v1"}`
	if _, err := objects.Put(t.Context(), "/registry/example.org/widgets/default/odd", []byte(foreign), 0); err != nil {
		t.Fatal(err)
	}
	s := servertest.New(t, server.Config{Store: objects})
	for i := range 20 {
		body := strings.Replace(servertest.Web, `"name":"web"`, fmt.Sprintf(`"name":"w%d","labels":{"l":"y"}`, i), 1)
		if w := servertest.Ask(s, "POST "+servertest.Things+servertest.JSON, body); w.Code != http.StatusCreated {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
	}
	for range 2 {
		if names := servertest.List(t, s, "labelSelector=l=x").Names(); names != "odd" {
			t.Errorf("selected are %q", names)
		}
	}
}

// unwatched is a store whose watches are told of nothing: store.Store.
type unwatched struct{ store.Store }

// Watch tells nothing.
func (unwatched) Watch(ctx context.Context, _ string, _ store.Revision) (iter.Seq2[store.Batch, error], error) {
	return func(func(store.Batch, error) bool) { <-ctx.Done() }, nil
}

// TestReachedUnwatched lists a revision that the store reaches meanwhile without a watch hearing of it.
func TestReachedUnwatched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		objects := memory.New()
		s := servertest.New(t, server.Config{Store: unwatched{objects}})
		page, err := objects.Range(t.Context(), store.Range{Prefix: "/", Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(time.Second, func() {
			if _, err := objects.Put(t.Context(), "/registry/other", nil, 0); err != nil {
				t.Error(err)
			}
		})
		list := fmt.Sprintf("GET %s?resourceVersion=%d", servertest.Things, page.Revision+1)
		if w := servertest.Ask(s, list, ""); w.Code != http.StatusOK {
			t.Errorf("%d %s", w.Code, w.Body)
		}
		list = fmt.Sprintf("GET %s?resourceVersion=%d", servertest.Things, page.Revision+2)
		if w := servertest.Ask(s, list, ""); w.Code != http.StatusGatewayTimeout {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	})
}

// TestSelectedThen lists by a label at a revision at which an object had it, that has another one now.
func TestSelectedThen(t *testing.T) {
	s := servertest.Widgets(t)
	for i := range 20 {
		body := fmt.Sprintf(`{"apiVersion":"example.org/v1","kind":"Widget","metadata":{"name":"w%d","labels":{"n":"%[1]d"}}}`, i)
		if w := servertest.Ask(s, "POST "+servertest.Things+servertest.JSON, body); w.Code != http.StatusCreated {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
	}
	named := func(query string) string {
		t.Helper()
		list := servertest.Parsed(t, servertest.Ask(s, "GET "+servertest.Things+"?labelSelector=n%3D7"+query, ""))
		names := list.Get("metadata", "resourceVersion").Str() + ":"
		for item := range list.Get("items").Items() {
			names += " " + item.Get("metadata", "name").Str()
		}
		return names
	}
	before := named("")
	then, _, _ := strings.Cut(before, ":")
	servertest.Ask(s, "PATCH "+servertest.Things+"/w7"+servertest.MergePatch, `{"metadata":{"labels":{"n":"8"}}}`)
	if now := named(""); strings.Contains(now, "w7") {
		t.Errorf("now they are %s", now)
	}
	if got := named("&resourceVersionMatch=Exact&resourceVersion=" + then); got != before || got != then+": w7" {
		t.Errorf("then they were %s, and now it is said that they were %s", before, got)
	}
}

// TestUnreadableLists lists objects of which two cannot be read: the error names both, or the one that the page has. A kube-apiserver answers
// so if the texts in its store are cut. Other objects are read as always.
func TestUnreadableLists(t *testing.T) {
	objects := memory.New()
	const prefix = "/registry/configmaps/default/"
	for _, name := range []string{"a", "b"} {
		if _, err := objects.Put(t.Context(), prefix+name, []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"na`), 0); err != nil {
			t.Fatal(err)
		}
	}
	s := servertest.New(t, server.Config{Store: objects})
	servertest.Create(t, s, servertest.MapsPath, `{"metadata":{"name":"whole"}}`)
	for query, keys := range map[string][]string{
		"GET " + servertest.MapsPath:                                                          {"a", "b"},
		"GET " + servertest.MapsPath + "?limit=1":                                             {"a"},
		"GET " + servertest.MapsPath + "?limit=2":                                             {"a", "b"},
		"GET " + servertest.MapsPath + "?labelSelector=x&limit=1":                             {"a", "b"},
		"GET " + servertest.MapsPath + "?fieldSelector=metadata.name%3Db":                     {"b"},
		"GET " + servertest.MapsPath + " Accept=application/json;as=Table;g=meta.k8s.io;v=v1": {"a", "b"},
		"GET " + servertest.MapsPath + " Accept=application/yaml":                             {"a", "b"},
		"GET " + servertest.Core + "configmaps?limit=500":                                     {"a", "b"},
		"DELETE " + servertest.MapsPath:                                                       {"a", "b"},
		"GET " + servertest.MapsPath + "?fieldSelector=metadata.name%3Dwhole":                 nil,
		"GET " + servertest.MapsPath + "/whole":                                               nil,
	} {
		w := servertest.Ask(s, query, "")
		if len(keys) == 0 {
			if w.Code != http.StatusOK {
				t.Errorf("%s: %d %s", query, w.Code, w.Body)
			}
			continue
		}
		body := strings.Join(strings.Fields(w.Body.String()), " ") // YAML breaks lines
		for _, part := range []string{
			"failed to read one or more configmaps from the storage: StorageError: corrupt object, Code: 7, Key: " + prefix + keys[0] + ", ResourceVersion: 0,",
			"StorageReadError", "UnexpectedServerResponse", prefix + keys[len(keys)-1],
		} {
			if w.Code != http.StatusInternalServerError || !strings.Contains(body, part) {
				t.Errorf("%s: %d %s, want %q", query, w.Code, body, part)
			}
		}
		if more := strings.Contains(body, "(and 1 more)"); more != (len(keys) == 2) {
			t.Errorf("%s: %s, want %d", query, body, len(keys))
		}
	}
}

// TestManyUnreadable lists more unreadable objects than one error names.
func TestManyUnreadable(t *testing.T) {
	objects := memory.New()
	for i := range 103 {
		if _, err := objects.Put(t.Context(), fmt.Sprintf("/registry/configmaps/default/%03d", i), []byte("{"), 0); err != nil {
			t.Fatal(err)
		}
	}
	s := servertest.New(t, server.Config{Store: objects})
	answer := servertest.Parsed(t, servertest.Ask(s, "GET "+servertest.MapsPath, ""))
	causes := answer.Get("details", "causes")
	last := causes.Item(causes.Len() - 1)
	if causes.Len() != 101 || last.Get("reason").Str() != "FieldValueTooMany" || last.Get("message").Str() != "too many errors, the list is truncated" ||
		!strings.HasSuffix(answer.Get("message").Str(), "(and 99 more)") {
		t.Errorf("%d causes, the last is %v: %s", causes.Len(), last, answer.Get("message"))
	}
}
