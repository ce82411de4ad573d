package wire_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/deed-project/deed/internal/testing/seeds"
	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/internal/servertest"
	"github.com/deed-project/deed/server/store/memory"
)

// unzipped returns the body of an answer, and whether it came compressed.
func unzipped(t *testing.T, w *httptest.ResponseRecorder) (body []byte, compressed bool) {
	t.Helper()
	coding, varies := w.Header().Get("Content-Encoding"), w.Header().Values("Vary")
	if coding == "" && len(varies) == 0 {
		return w.Body.Bytes(), false
	}
	if coding != "gzip" || len(varies) != 1 || varies[0] != "Accept-Encoding" {
		t.Fatalf("Content-Encoding: %s, Vary: %s", coding, varies)
	}
	z, err := gzip.NewReader(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	if body, err = io.ReadAll(z); err != nil {
		t.Fatal(err)
	}
	return body, true
}

// TestGzip asks for bodies of sizes about that from which kube-apiserver compresses, by clients that say in many ways what they take.
// Whatever is compressed is the same as what is not.
func TestGzip(t *testing.T) {
	s := servertest.Stage(t, memory.New())
	defer s.Close()
	const maps = "/api/v1/namespaces/default/configmaps"
	get, list := maps+"/big", maps+"?fieldSelector=metadata.name%3Dbig"
	servertest.Ask(s, "POST "+maps, `{"metadata":{"name":"big"},"data":{"x":""}}`)
	for _, path := range []string{get, list} {
		x := 0
		for _, size := range []int{131072, 131073} {
			for plain := 0; plain != size; {
				servertest.Ask(s, "PATCH "+get+"?fieldManager=m Content-Type=application/merge-patch+json", `{"data":{"x":"`+strings.Repeat("a", x)+`"}}`)
				plain = servertest.Ask(s, "GET "+path, "").Body.Len()
				x += size - plain
			}
			plain := servertest.Ask(s, "GET "+path, "")
			for accepted, takes := range map[string]bool{
				"gzip": true, "deflate,gzip": true, "br, gzip , deflate": true, "gzip;q=1": false, "x-gzip": false, "*": false, "GZIP": false,
			} {
				r := httptest.NewRequest(http.MethodGet, path, nil)
				r.Header.Set("Accept-Encoding", accepted)
				w := httptest.NewRecorder()
				s.ServeHTTP(w, r)
				body, compressed := unzipped(t, w)
				if want := takes && size > 131072; compressed != want {
					t.Errorf("%s of %d bytes for who takes %q: compressed is %v", path, size, accepted, compressed)
				}
				if !bytes.Equal(body, plain.Body.Bytes()) {
					t.Errorf("%s for who takes %q is another body of %d bytes", path, accepted, len(body))
				}
			}
		}
	}
}

// TestGzipLists compares compressed lists, which are put together of what others were made of, with plain ones, while objects are written,
// created and deleted between them, and grow older, by several clients at once: whole, in pages, of the past, of selections and as Tables.
func TestGzipLists(t *testing.T) {
	random := seeds.Rand(t)
	var age atomic.Int64
	objects := memory.New()
	s := servertest.New(t, server.Config{Store: objects, Now: func() time.Time { return servertest.Noon.Add(time.Duration(age.Load())) }})
	const maps = "/api/v1/namespaces/default/configmaps"
	padding := strings.Repeat("some text that makes an object large, ", 40)
	write := func(i int) {
		servertest.Ask(s, "POST "+servertest.Things, fmt.Sprintf(`{"apiVersion":"example.org/v1","kind":"Widget","metadata":{"name":"w%03d","annotations":{"a":"%d %s"}},"spec":{"color":"red"}}`, i, i, padding))
		servertest.Ask(s, "POST "+maps, fmt.Sprintf(`{"metadata":{"name":"w%03d","labels":{"l":"%d"}},"data":{"a":"%s"}}`, i, i%2, padding))
	}
	for i := range 300 {
		write(i)
	}
	if n := len(servertest.List(t, s, "").Items); n < 300 {
		t.Fatalf("there are %d objects", n)
	}
	past := servertest.List(t, s, "").Metadata.ResourceVersion
	compare := func(want, got *httptest.ResponseRecorder, what string) {
		t.Helper()
		body, compressed := unzipped(t, got)
		if got.Code != want.Code || !bytes.Equal(body, want.Body.Bytes()) || compressed != (want.Body.Len() > 131072) {
			t.Errorf("%s is answered with %d and %d bytes (compressed: %v), and without compression with %d and %d",
				what, got.Code, len(body), compressed, want.Code, want.Body.Len())
		}
	}
	for _, path := range []string{servertest.Things, maps} { // about the size from which lists are compressed
		for limit := range 90 {
			for _, query := range []string{"", "&includeObject=Object Accept=" + servertest.TableJSON, " Accept=" + servertest.TableJSON} {
				query = fmt.Sprintf("GET %s?limit=%d%s", path, limit+1, query)
				compare(servertest.Ask(s, query, ""), servertest.Ask(s, query+" Accept-Encoding=gzip", ""), query)
			}
		}
	}
	for round := range 8 {
		for _, path := range []string{servertest.Things, maps} {
			first := servertest.Ask(s, "GET "+path+"?limit=120", "")
			for _, query := range []string{
				"", "?limit=120", "?limit=130&continue=" + servertest.Parsed(t, first).Get("metadata").Get("continue").Str(), "?resourceVersion=0",
				"?resourceVersion=" + past + "&resourceVersionMatch=Exact", "?labelSelector=l%3D1",
				" Accept=" + servertest.TableJSON, "?includeObject=Object Accept=" + servertest.TableJSON, "?includeObject=None&limit=200 Accept=" + servertest.TableJSON,
				" Accept=" + strings.Replace(servertest.TableJSON, "v1", "v1beta1", 1),
			} {
				want := servertest.Ask(s, "GET "+path+query, "")
				answers := make(chan *httptest.ResponseRecorder)
				for range 3 {
					go func() { answers <- servertest.Ask(s, "GET "+path+query+" Accept-Encoding=gzip", "") }()
				}
				for range 3 {
					want, got := want, <-answers
					if got.Code == http.StatusGone { // the server has forgotten the past meanwhile, perhaps after it answered others
						want = servertest.Ask(s, "GET "+path+query, "")
					}
					compare(want, got, fmt.Sprintf("round %d: %s%s", round, path, query))
				}
			}
		}
		age.Add(random.Int64N(int64(5 * time.Minute)))
		head := servertest.Ask(s, "HEAD "+servertest.Things+" Accept-Encoding=gzip", "")
		if head.Code != http.StatusOK || head.Header().Get("Content-Encoding") != "gzip" || head.Body.Len() > 0 {
			t.Errorf("HEAD of a large list: %d, %v, %d bytes", head.Code, head.Header(), head.Body.Len())
		}
		for range 10 { // by another process, so that nothing is known of their texts
			key := fmt.Sprintf("/registry/configmaps/default/w%03d", random.IntN(300))
			if record, err := objects.Get(t.Context(), key, 0); err == nil {
				if _, err := objects.Put(t.Context(), key, record.Text, record.Revision); err != nil {
					t.Fatal(err)
				}
			}
		}
		unknown := servertest.Ask(s, "GET "+maps+" Accept-Encoding=gzip", "")
		compare(servertest.Ask(s, "GET "+maps, ""), unknown, "a list of objects that others wrote")
		for range random.IntN(20) {
			for _, path := range []string{servertest.Things, maps} {
				object := fmt.Sprintf("%s/w%03d", path, random.IntN(400))
				switch i := random.IntN(400); random.IntN(3) {
				case 0:
					servertest.Ask(s, "DELETE "+object, "")
				case 1:
					write(i)
				case 2:
					servertest.Ask(s, "PATCH "+object+" Content-Type=application/merge-patch+json", fmt.Sprintf(`{"metadata":{"labels":{"l":"%d"}}}`, i))
				}
			}
		}
	}
}

// TestGzipWatches compares compressed watches with others: those are compressed that begin with what is there and a bookmark behind it, as
// a list does. What several are told is the same for each.
func TestGzipWatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		objects := memory.New()
		defer objects.Close()
		s := servertest.Stage(t, objects)
		defer s.Close()
		for i := range 500 {
			servertest.Ask(s, "POST "+servertest.Things, fmt.Sprintf(`{"apiVersion":"example.org/v1","kind":"Widget","metadata":{"name":"w%d"},"spec":{"replicas":%d}}`, i, i))
		}
		const streaming = "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
		for query, want := range map[string]bool{
			"&allowWatchBookmarks=true":                   true,
			"&allowWatchBookmarks=true&resourceVersion=0": true,
			"&allowWatchBookmarks=true" + streaming:       true,
			streaming:                                     false,
			"":                                            false,
			"&allowWatchBookmarks=true&resourceVersion=" + servertest.List(t, s, "").Metadata.ResourceVersion: false,
		} {
			query = "GET " + servertest.Things + "?watch=true&timeoutSeconds=1" + query
			plain := servertest.Ask(s, query, "").Body.Bytes()
			for _, accept := range []string{"", ",application/json;as=Table;g=meta.k8s.io;v=v1"} {
				if accept != "" {
					query += " Accept=" + accept[1:]
					plain = servertest.Ask(s, query, "").Body.Bytes()
				}
				answers := make(chan *httptest.ResponseRecorder)
				for range 3 {
					go func() { answers <- servertest.Ask(s, query+" Accept-Encoding=gzip", "") }()
				}
				for range 3 {
					body, compressed := unzipped(t, <-answers)
					if compressed != want {
						t.Errorf("%s: compressed is %v", query, compressed)
					}
					if !bytes.Equal(body, plain) {
						t.Errorf("%s: %d bytes are told, without compression %d", query, len(body), len(plain))
					}
				}
			}
		}
	})
}

// TestGzipEvents follows writes by compressed watches, in the way of Go's clients: each event can be read as soon as it is told.
func TestGzipEvents(t *testing.T) {
	s := servertest.Stage(t, memory.New())
	defer s.Close()
	server := httptest.NewServer(s)
	defer server.Close()
	var followers []*bufio.Scanner
	for range 3 {
		w, err := http.Get(server.URL + servertest.Things + "?watch=true&allowWatchBookmarks=true")
		if err != nil {
			t.Fatal(err)
		}
		defer w.Body.Close()
		if !w.Uncompressed {
			t.Fatalf("the watch is not compressed: %v", w.Header)
		}
		followers = append(followers, bufio.NewScanner(w.Body))
	}
	for i := range 20 {
		name := fmt.Sprintf("w%d", i)
		servertest.Ask(s, "POST "+servertest.Things, `{"apiVersion":"example.org/v1","kind":"Widget","metadata":{"name":"`+name+`"}}`)
		for _, f := range followers {
			for !strings.Contains(f.Text(), `"name":"`+name+`"`) {
				if !f.Scan() {
					t.Fatal("the watch ended:", f.Err())
				}
			}
		}
	}
}

// BenchmarkGzipLists lists 1,000 objects of 4 kB compressed, of which none, ten, or all were written since the last time.
func BenchmarkGzipLists(b *testing.B) {
	s := servertest.New(b, server.Config{})
	random, padding := seeds.Rand(b), strings.Repeat("some text that makes an object large, ", 100)
	write := func(i int) {
		patch := fmt.Sprintf(`{"apiVersion":"example.org/v1","kind":"Widget","metadata":{"name":"w%04d","annotations":{"a":"%d %s"}},"spec":{"color":"red"}}`, i, random.Int(), padding)
		if w := servertest.Ask(s, fmt.Sprintf("PATCH %s/w%04d?fieldManager=m", servertest.Things, i)+servertest.ApplyPatch, patch); w.Code >= 300 {
			b.Fatal(w.Body)
		}
	}
	for i := range 1000 {
		write(i)
	}
	for _, written := range []int{0, 10, 1000} {
		b.Run(fmt.Sprint(written, " written"), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				for i := range written {
					write(i * 1000 / written)
				}
				b.StartTimer()
				if w := servertest.Ask(s, "GET "+servertest.Things+" Accept-Encoding=gzip", ""); w.Header().Get("Content-Encoding") != "gzip" {
					b.Fatal(w.Code, w.Body.Len())
				}
			}
		})
	}
}
