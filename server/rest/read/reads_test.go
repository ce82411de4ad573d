package read_test

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
	"github.com/deed-project/deed/server/internal/servertest"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/server/store/memory"
	"github.com/deed-project/deed/value"
)

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
	s := servertest.On(t, objects)
	servertest.Ask(s, "POST /apis/apiextensions.k8s.io/v1/customresourcedefinitions", servertest.Gauges)
	for i := range 30 {
		if w := servertest.Ask(s, "POST "+servertest.GaugesPath, gauge(i)); w.Code != 201 {
			t.Fatal(w.Body)
		}
	}
	for i := range 30 { // some are changed, and some go
		switch i % 6 {
		case 1:
			servertest.Ask(s, fmt.Sprintf("PATCH %s/g%02d%s", servertest.GaugesPath, i, servertest.MergePatch), `{"metadata":{"labels":{"l":"2","o":null}},"spec":{"color":"red","level":3}}`)
		case 5:
			servertest.Ask(s, fmt.Sprintf("DELETE %s/g%02d", servertest.GaugesPath, i), "")
		}
	}
	for _, query := range gaugeLists() {
		for _, media := range []string{"application/json", servertest.TableJSON} {
			got, want := servertest.Ask(s, "GET "+servertest.GaugesPath+"?"+query+" Accept="+media, "").Body.String(), scanned(t, objects, query, media)
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
	asked := fmt.Sprintf("GET %s?%s&resourceVersionMatch=Exact&resourceVersion=%d Accept=%s", servertest.GaugesPath, query, page.Revision, media)
	return servertest.Ask(servertest.On(t, objects), asked, "").Body.String()
}

// TestReadsDecodeNothing lists objects that the server wrote: it decodes none of them.
func TestReadsDecodeNothing(t *testing.T) {
	s := servertest.New(t, server.Config{})
	servertest.Ask(s, "POST /apis/apiextensions.k8s.io/v1/customresourcedefinitions", servertest.Gauges)
	const count = 50
	for i := range count {
		servertest.Ask(s, "POST "+servertest.GaugesPath, gauge(i))
		servertest.Ask(s, "POST "+servertest.Core+"namespaces/default/configmaps", fmt.Sprintf(`{"metadata":{"name":"m%d"}}`, i))
	}
	for _, asked := range []string{
		servertest.GaugesPath, servertest.GaugesPath + "?limit=10", servertest.GaugesPath + "?labelSelector=l%3D1", servertest.GaugesPath + "?fieldSelector=spec.color%3Dred",
		servertest.GaugesPath + "?fieldSelector=metadata.name!%3Dg07", servertest.GaugesPath + " Accept=" + servertest.TableJSON, servertest.Core + "namespaces/default/configmaps",
	} {
		var size int
		counts := work.Record(func() { size = servertest.Ask(s, "GET "+asked, "").Body.Len() })
		if counts.Values > 2*count { // a cell or so of each row
			t.Errorf("%s, of %d bytes, reads %d values", asked, size, counts.Values)
		}
	}
}

// TestIndexFollows writes at random, and compares what a server selects by its index with what one finds that has read nothing yet.
func TestIndexFollows(t *testing.T) {
	random := seeds.Rand(t)
	objects := memory.New()
	s := servertest.On(t, objects)
	servertest.Ask(s, "POST /apis/apiextensions.k8s.io/v1/customresourcedefinitions", servertest.Gauges)
	for i := range 60 {
		servertest.Ask(s, "POST "+servertest.GaugesPath, gauge(i))
	}
	found := 0
	for step := range 40 {
		for range random.IntN(4) {
			name := fmt.Sprintf("/g%02d", random.IntN(60))
			switch random.IntN(4) {
			case 0:
				servertest.Ask(s, "DELETE "+servertest.GaugesPath+name, "")
			case 1:
				servertest.Ask(s, "POST "+servertest.GaugesPath, gauge(random.IntN(60)))
			default:
				body := fmt.Sprintf(`{"metadata":{"labels":{"n":"%d"}},"spec":{"color":"c%d"}}`, random.IntN(12), random.IntN(12))
				servertest.Ask(s, "PATCH "+servertest.GaugesPath+name+servertest.MergePatch, body)
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
			got, want := servertest.Ask(s, "GET "+servertest.GaugesPath+"?"+query, "").Body.String(), scanned(t, objects, query, "application/json")
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
	s := servertest.On(t, memory.New())
	version := `{"name":%q,"served":true,"storage":%t,"schema":{"openAPIV3Schema":{"type":"object"}}}`
	versions := func(first bool) string {
		return fmt.Sprintf("["+version+","+version+"]", "v1", first, "v2", !first)
	}
	const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	servertest.Ask(s, "POST "+definitions, `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"gauges.example.org"},
		"spec":{"group":"example.org","scope":"Namespaced","names":{"plural":"gauges","kind":"Gauge"},"versions":`+versions(true)+`}}`)
	for i := range 30 {
		if i == 1 {
			servertest.Ask(s, "PATCH "+definitions+"/gauges.example.org"+servertest.MergePatch, `{"spec":{"versions":`+versions(false)+`}}`)
		}
		body := fmt.Sprintf(`{"apiVersion":"example.org/v1","kind":"Gauge","metadata":{"name":"g%02d","labels":{"tens":"%d"}}}`, i, i%10)
		if w := servertest.Ask(s, "POST "+servertest.GaugesPath, body); w.Code != 201 {
			t.Fatal(w.Body)
		}
	}
	for _, path := range []string{servertest.GaugesPath, strings.Replace(servertest.GaugesPath, "/v1/", "/v2/", 1)} {
		var names []string
		for item := range servertest.Parsed(t, servertest.Ask(s, "GET "+path+"?labelSelector=tens%3D0", "")).Get("items").Items() {
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
	s := servertest.On(t, objects)
	servertest.Ask(s, "POST /apis/apiextensions.k8s.io/v1/customresourcedefinitions", servertest.Gauges)
	for i := range 60 {
		servertest.Ask(s, "POST "+servertest.GaugesPath, gauge(i))
	}
	seed := seeds.First(t)
	var clients sync.WaitGroup
	for c := range 3 {
		random := seeds.Stream(seed, c)
		clients.Go(func() {
			for range 60 {
				body := fmt.Sprintf(`{"metadata":{"labels":{"n":"%d"}}}`, random.IntN(12))
				servertest.Ask(s, fmt.Sprintf("PATCH %s/g%02d%s", servertest.GaugesPath, random.IntN(60), servertest.MergePatch), body)
			}
		})
		clients.Go(func() {
			for range 60 {
				n := fmt.Sprint(c + 1)
				list := servertest.Ask(s, "GET "+servertest.GaugesPath+"?labelSelector=n%3D"+n, "").Body.Bytes()
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
		if got, want := servertest.Ask(s, "GET "+servertest.GaugesPath+"?"+query, "").Body.String(), scanned(t, objects, query, "application/json"); got != want {
			t.Errorf("%s is\n%s\nand read from the store\n%s", query, got, want)
		}
	}
}

// visited counts the records of widgets that are read of a store: store.Store. Controllers read others meanwhile.
type visited struct {
	store.Store
	records atomic.Int64
}

const widgetsPrefix = "/registry/example.org/widgets/"

func (s *visited) Get(ctx context.Context, key string, at store.Revision) (store.Record, error) {
	if strings.HasPrefix(key, widgetsPrefix) {
		s.records.Add(1)
	}
	return s.Store.Get(ctx, key, at)
}

func (s *visited) Range(ctx context.Context, r store.Range) (store.Page, error) {
	page, err := s.Store.Range(ctx, r)
	if strings.HasPrefix(r.Prefix, widgetsPrefix) {
		s.records.Add(int64(len(page.Records)))
	}
	return page, err
}

// TestReadsVisitLittle counts the records that a list reads of 300.
func TestReadsVisitLittle(t *testing.T) {
	objects := &visited{Store: memory.New()}
	s := servertest.New(t, server.Config{Store: objects})
	for i := range 300 {
		servertest.Ask(s, "POST "+servertest.Things, strings.Replace(servertest.Web, `"web"`, fmt.Sprintf(`"w%03d","labels":{"l":"%d"}`, i, i%100), 1))
	}
	for query, most := range map[string]int64{
		"": 300, "limit=10": 10, "limit=10&continue=" + servertest.List(t, s, "limit=5").Metadata.Continue: 10, "labelSelector=l%3D7": 3,
		"labelSelector=l+in+(7,8)&limit=7": 6, "labelSelector=l%3Dnone": 0, "fieldSelector=metadata.name%3Dw007": 1,
		"labelSelector=l%3D7&fieldSelector=spec.color%3Dred": 3, "labelSelector=l%3D8&fieldSelector=spec.color%3Dblue": 0,
	} {
		servertest.List(t, s, "labelSelector=l%3D7") // makes the index
		objects.records.Store(0)
		l := servertest.List(t, s, query)
		if read := objects.records.Load(); l.Code != 200 || read > most {
			t.Errorf("%q: %d %s, %d records are read, and not at most %d", query, l.Code, l.Message, read, most)
		}
	}
}
