package server_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

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
	s := stage(t, memory.New())
	defer s.Close()
	const maps = "/api/v1/namespaces/default/configmaps"
	get, list := maps+"/big", maps+"?fieldSelector=metadata.name%3Dbig"
	ask(s, "POST "+maps, `{"metadata":{"name":"big"},"data":{"x":""}}`)
	for _, path := range []string{get, list} {
		x := 0
		for _, size := range []int{131072, 131073} {
			for plain := 0; plain != size; {
				ask(s, "PATCH "+get+"?fieldManager=m Content-Type=application/merge-patch+json", `{"data":{"x":"`+strings.Repeat("a", x)+`"}}`)
				plain = ask(s, "GET "+path, "").Body.Len()
				x += size - plain
			}
			plain := ask(s, "GET "+path, "")
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

// TestGzipWatches compares compressed watches with others: those are compressed that begin with what is there and a bookmark behind it, as
// a list does. What several are told is the same for each.
func TestGzipWatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		objects := memory.New()
		defer objects.Close()
		s := stage(t, objects)
		defer s.Close()
		for i := range 500 {
			ask(s, "POST "+things, fmt.Sprintf(`{"apiVersion":"example.org/v1","kind":"Widget","metadata":{"name":"w%d"},"spec":{"replicas":%d}}`, i, i))
		}
		const streaming = "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
		for query, want := range map[string]bool{
			"&allowWatchBookmarks=true":                   true,
			"&allowWatchBookmarks=true&resourceVersion=0": true,
			"&allowWatchBookmarks=true" + streaming:       true,
			streaming:                                     false,
			"":                                            false,
			"&allowWatchBookmarks=true&resourceVersion=" + listOf(t, s, "").Metadata.ResourceVersion: false,
		} {
			query = "GET " + things + "?watch=true&timeoutSeconds=1" + query
			plain := ask(s, query, "").Body.Bytes()
			for _, accept := range []string{"", ",application/json;as=Table;g=meta.k8s.io;v=v1"} {
				if accept != "" {
					query += " Accept=" + accept[1:]
					plain = ask(s, query, "").Body.Bytes()
				}
				answers := make(chan *httptest.ResponseRecorder)
				for range 3 {
					go func() { answers <- ask(s, query+" Accept-Encoding=gzip", "") }()
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
	s := stage(t, memory.New())
	defer s.Close()
	server := httptest.NewServer(s)
	defer server.Close()
	var followers []*bufio.Scanner
	for range 3 {
		w, err := http.Get(server.URL + things + "?watch=true&allowWatchBookmarks=true")
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
		ask(s, "POST "+things, `{"apiVersion":"example.org/v1","kind":"Widget","metadata":{"name":"`+name+`"}}`)
		for _, f := range followers {
			for !strings.Contains(f.Text(), `"name":"`+name+`"`) {
				if !f.Scan() {
					t.Fatal("the watch ended:", f.Err())
				}
			}
		}
	}
}
