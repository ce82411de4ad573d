package server_test

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/deed-project/deed/internal/testing/seeds"
	"github.com/deed-project/deed/internal/work"
	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/server/store/memory"
	"github.com/deed-project/deed/value"
)

// gauges defines a resource with fields to select by, and columns of all types.
const gauges = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"gauges.example.org"},"spec":{
	"group":"example.org","scope":"Namespaced","names":{"plural":"gauges","kind":"Gauge"},
	"versions":[{"name":"v1","served":true,"storage":true,
		"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{
			"color":{"type":"string"},"level":{"type":"integer"},"on":{"type":"boolean"},"share":{"type":"number"},"note":{"type":"string"}}}}}},
		"selectableFields":[{"jsonPath":".spec.color"},{"jsonPath":".spec.level"},{"jsonPath":".spec.on"}],
		"additionalPrinterColumns":[{"name":"Color","type":"string","jsonPath":".spec.color"},{"name":"Level","type":"integer","jsonPath":".spec.level"},
			{"name":"Text","type":"string","jsonPath":".spec.level"},{"name":"On","type":"boolean","jsonPath":".spec.on"},
			{"name":"Age","type":"date","jsonPath":".metadata.creationTimestamp"}]}]}}`

const gaugesPath = group + "namespaces/default/gauges"

// gauge is the i-th of some gauges that are not alike.
func gauge(i int) string {
	var labels, spec []string
	if i%3 > 0 {
		labels = append(labels, fmt.Sprintf(`"l":"%d"`, i%3))
	}
	if i%2 > 0 {
		labels = append(labels, `"a.example.org/b":"","o":"x"`)
		spec = append(spec, fmt.Sprintf(`"level":%d`, i%5-1))
	}
	if i%4 > 0 {
		spec = append(spec, fmt.Sprintf(`"color":%q`, []string{"red", "\"é\\", ""}[i%3]))
	}
	if i%5 > 0 {
		spec = append(spec, fmt.Sprintf(`"on":%t,"share":%d.5`, i%2 == 0, i))
	}
	return fmt.Sprintf(`{"apiVersion":"example.org/v1","kind":"Gauge","metadata":{"name":"g%02d","labels":{%s}},"spec":{%s}}`,
		i, strings.Join(labels, ","), strings.Join(spec, ","))
}

// gaugeLists are lists of gauges.
func gaugeLists() []string {
	lists := []string{"", "limit=7"}
	for _, s := range []string{
		"l=1", "l==1", "l!=1", "l in (1,2)", "l notin (1)", "l", "!l", "o=x,l=2", "a.example.org/b=", "a.example.org/b", "none=1", "l in (1),o",
	} {
		lists = append(lists, "labelSelector="+url.QueryEscape(s), "limit=4&labelSelector="+url.QueryEscape(s))
	}
	for _, s := range []string{
		"spec.color=red", "spec.color=", "spec.color!=red", "spec.color!=blue", `spec.color="é\\`, "spec.level=3", "spec.level=-1", "spec.on=true", "spec.on!=true",
		"metadata.name=g07", "metadata.name!=g07", "metadata.name=none", "metadata.name=g07,spec.color=red", "metadata.namespace=default",
		"metadata.namespace=other", "metadata.name=g0",
	} {
		lists = append(lists, "fieldSelector="+url.QueryEscape(s), "limit=1&fieldSelector="+url.QueryEscape(s))
	}
	return append(lists, "labelSelector=o%3Dx&fieldSelector=spec.on%3Dfalse")
}

// TestSelectors compares what a server lists that wrote the objects, and knows of their texts what selectors ask for, with what one lists
// that decodes them: it has read nothing yet.
func TestSelectors(t *testing.T) {
	objects := memory.New()
	s := serverOn(t, objects)
	ask(s, "POST /apis/apiextensions.k8s.io/v1/customresourcedefinitions", gauges)
	for i := range 30 {
		if w := ask(s, "POST "+gaugesPath, gauge(i)); w.Code != 201 {
			t.Fatal(w.Body)
		}
	}
	for i := range 30 { // some are changed, and some go
		switch i % 6 {
		case 1:
			ask(s, fmt.Sprintf("PATCH %s/g%02d%s", gaugesPath, i, merge), `{"metadata":{"labels":{"l":"2","o":null}},"spec":{"color":"red","level":3}}`)
		case 5:
			ask(s, fmt.Sprintf("DELETE %s/g%02d", gaugesPath, i), "")
		}
	}
	for _, query := range gaugeLists() {
		for _, media := range []string{"application/json", jsonTable} {
			got, want := ask(s, "GET "+gaugesPath+"?"+query+" Accept="+media, "").Body.String(), scanned(t, objects, query, media)
			if got != want {
				t.Errorf("%s as %s is\n%s\nand read from the store\n%s", query, media, got, want)
			}
		}
	}
}

// scanned returns a list of gauges of a server that has read nothing yet, and looks at each: lists of a revision do not use an index.
func scanned(t *testing.T, objects store.Store, query, media string) string {
	t.Helper()
	page, err := objects.Range(t.Context(), store.Range{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	asked := fmt.Sprintf("GET %s?%s&resourceVersionMatch=Exact&resourceVersion=%d Accept=%s", gaugesPath, query, page.Revision, media)
	return ask(serverOn(t, objects), asked, "").Body.String()
}

// TestReadsDecodeNothing lists objects that the server wrote: it decodes none of them.
func TestReadsDecodeNothing(t *testing.T) {
	s := newServer(t, server.Config{})
	ask(s, "POST /apis/apiextensions.k8s.io/v1/customresourcedefinitions", gauges)
	const count = 50
	for i := range count {
		ask(s, "POST "+gaugesPath, gauge(i))
		ask(s, "POST "+core+"namespaces/default/configmaps", fmt.Sprintf(`{"metadata":{"name":"m%d"}}`, i))
	}
	for _, asked := range []string{
		gaugesPath, gaugesPath + "?limit=10", gaugesPath + "?labelSelector=l%3D1", gaugesPath + "?fieldSelector=spec.color%3Dred",
		gaugesPath + "?fieldSelector=metadata.name!%3Dg07", gaugesPath + " Accept=" + jsonTable, core + "namespaces/default/configmaps",
	} {
		var size int
		counts := work.Record(func() { size = ask(s, "GET "+asked, "").Body.Len() })
		if counts.Values > 2*count { // a cell or so of each row
			t.Errorf("%s, of %d bytes, reads %d values", asked, size, counts.Values)
		}
	}
}

// TestIndexFollows writes at random, and compares what a server selects by its index with what one finds that has read nothing yet.
func TestIndexFollows(t *testing.T) {
	random := seeds.Rand(t)
	objects := memory.New()
	s := serverOn(t, objects)
	ask(s, "POST /apis/apiextensions.k8s.io/v1/customresourcedefinitions", gauges)
	for i := range 60 {
		ask(s, "POST "+gaugesPath, gauge(i))
	}
	found := 0
	for step := range 40 {
		for range random.IntN(4) {
			name := fmt.Sprintf("/g%02d", random.IntN(60))
			switch random.IntN(4) {
			case 0:
				ask(s, "DELETE "+gaugesPath+name, "")
			case 1:
				ask(s, "POST "+gaugesPath, gauge(random.IntN(60)))
			default:
				body := fmt.Sprintf(`{"metadata":{"labels":{"n":"%d"}},"spec":{"color":"c%d"}}`, random.IntN(12), random.IntN(12))
				ask(s, "PATCH "+gaugesPath+name+merge, body)
			}
		}
		if step%10 == 9 { // too much happened to catch up with
			page, err := objects.Range(t.Context(), store.Range{Limit: 1})
			if err == nil {
				err = objects.Compact(t.Context(), page.Revision)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		for _, query := range []string{
			"labelSelector=n%3D1", "labelSelector=n+in+(2,3),l", "fieldSelector=spec.color%3Dc4", "labelSelector=l%3D1,n%3D5&limit=3",
			"labelSelector=n%3D6&fieldSelector=spec.color!%3Dc4",
		} {
			got, want := ask(s, "GET "+gaugesPath+"?"+query, "").Body.String(), scanned(t, objects, query, "application/json")
			if got != want {
				t.Fatalf("after %d steps %s is\n%s\nand read from the store\n%s", step, query, got, want)
			}
			found += strings.Count(got, `"uid"`)
		}
	}
	if found < 100 {
		t.Errorf("only %d objects were found", found)
	}
}

// TestIndexOfOldVersions selects objects of which one is stored in another version than the others: its text is not what is shown.
func TestIndexOfOldVersions(t *testing.T) {
	s := serverOn(t, memory.New())
	version := `{"name":%q,"served":true,"storage":%t,"schema":{"openAPIV3Schema":{"type":"object"}}}`
	versions := func(first bool) string {
		return fmt.Sprintf("["+version+","+version+"]", "v1", first, "v2", !first)
	}
	const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	ask(s, "POST "+definitions, `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"gauges.example.org"},
		"spec":{"group":"example.org","scope":"Namespaced","names":{"plural":"gauges","kind":"Gauge"},"versions":`+versions(true)+`}}`)
	for i := range 30 {
		if i == 1 {
			ask(s, "PATCH "+definitions+"/gauges.example.org"+merge, `{"spec":{"versions":`+versions(false)+`}}`)
		}
		body := fmt.Sprintf(`{"apiVersion":"example.org/v1","kind":"Gauge","metadata":{"name":"g%02d","labels":{"tens":"%d"}}}`, i, i%10)
		if w := ask(s, "POST "+gaugesPath, body); w.Code != 201 {
			t.Fatal(w.Body)
		}
	}
	for _, path := range []string{gaugesPath, strings.Replace(gaugesPath, "/v1/", "/v2/", 1)} {
		var names []string
		for item := range parsed(t, ask(s, "GET "+path+"?labelSelector=tens%3D0", "")).Get("items").Items() {
			names = append(names, item.Get("metadata", "name").Str())
		}
		if got := strings.Join(names, " "); got != "g00 g10 g20" {
			t.Errorf("%s has %s", path, got)
		}
	}
}

// TestIndexAmongWriters lets clients select while others write. Each list has what its selector is about, and nothing else; in the end the
// lists are those of a server that has read nothing yet.
func TestIndexAmongWriters(t *testing.T) {
	objects := memory.New()
	s := serverOn(t, objects)
	ask(s, "POST /apis/apiextensions.k8s.io/v1/customresourcedefinitions", gauges)
	for i := range 60 {
		ask(s, "POST "+gaugesPath, gauge(i))
	}
	seed := seeds.First(t)
	var clients sync.WaitGroup
	for c := range 3 {
		random := seeds.Stream(seed, c)
		clients.Go(func() {
			for range 60 {
				body := fmt.Sprintf(`{"metadata":{"labels":{"n":"%d"}}}`, random.IntN(12))
				ask(s, fmt.Sprintf("PATCH %s/g%02d%s", gaugesPath, random.IntN(60), merge), body)
			}
		})
		clients.Go(func() {
			for range 60 {
				n := fmt.Sprint(c + 1)
				list := ask(s, "GET "+gaugesPath+"?labelSelector=n%3D"+n, "").Body.Bytes()
				found, err := value.Parse(list)
				if err != nil {
					t.Error(err)
				}
				for item := range found.Get("items").Items() {
					if got := item.Get("metadata", "labels", "n").Str(); got != n {
						t.Errorf("an object of n=%s is listed for n=%s", got, n)
					}
				}
			}
		})
	}
	clients.Wait()
	for n := range 12 {
		query := fmt.Sprintf("labelSelector=n%%3D%d", n)
		if got, want := ask(s, "GET "+gaugesPath+"?"+query, "").Body.String(), scanned(t, objects, query, "application/json"); got != want {
			t.Errorf("%s is\n%s\nand read from the store\n%s", query, got, want)
		}
	}
}

// visited counts the records that are read of a store: store.Store.
type visited struct {
	store.Store
	records atomic.Int64
}

func (s *visited) Get(ctx context.Context, key string, at store.Revision) (store.Record, error) {
	s.records.Add(1)
	return s.Store.Get(ctx, key, at)
}

func (s *visited) Range(ctx context.Context, r store.Range) (store.Page, error) {
	page, err := s.Store.Range(ctx, r)
	s.records.Add(int64(len(page.Records)))
	return page, err
}

// TestReadsVisitLittle counts the records that a list reads of 300.
func TestReadsVisitLittle(t *testing.T) {
	objects := &visited{Store: memory.New()}
	s := newServer(t, server.Config{Store: objects})
	for i := range 300 {
		ask(s, "POST "+things, strings.Replace(web, `"web"`, fmt.Sprintf(`"w%03d","labels":{"l":"%d"}`, i, i%100), 1))
	}
	for query, most := range map[string]int64{
		"": 300, "limit=10": 10, "limit=10&continue=" + listOf(t, s, "limit=5").Metadata.Continue: 10, "labelSelector=l%3D7": 3,
		"labelSelector=l+in+(7,8)&limit=7": 6, "labelSelector=l%3Dnone": 0, "fieldSelector=metadata.name%3Dw007": 1,
		"labelSelector=l%3D7&fieldSelector=spec.color%3Dred": 3, "labelSelector=l%3D8&fieldSelector=spec.color%3Dblue": 0,
	} {
		listOf(t, s, "labelSelector=l%3D7") // makes the index
		objects.records.Store(0)
		l := listOf(t, s, query)
		if read := objects.records.Load(); l.Code != 200 || read > most {
			t.Errorf("%q: %d %s, %d records are read, and not at most %d", query, l.Code, l.Message, read, most)
		}
	}
}
