package download

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/secret"
)

// TestText reads URLs with objects, missing texts, slow texts and long texts. Messages must not contain a password.
func TestText(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("/web.yaml", func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		fmt.Fprintf(w, "{apiVersion: v1, kind: ConfigMap, metadata: {name: %q}}", user+password)
	})
	mux.HandleFunc("/slow.yaml", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	mux.HandleFunc("/long.yaml", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, strings.Repeat("#", 200)) })
	mux.HandleFunc("/empty.yaml", func(http.ResponseWriter, *http.Request) {})
	s := httptest.NewServer(mux)
	defer s.Close()
	defer func(most int64) { maxLength = most }(maxLength)
	maxLength = 100
	secret := strings.Replace(s.URL, "http://", "http://me:hunter2@", 1)
	for _, c := range []struct{ url, names, message string }{
		{s.URL + "/web.yaml", `[""]`, ""},
		{secret + "/web.yaml", `["mehunter2"]`, ""},
		{secret + "/none.yaml", `[]`, "/none.yaml: the server answers 404 Not Found\n"},
		{secret + "/slow.yaml", `[]`, "/slow.yaml: not fetched within 20ms: --request-timeout gives it longer\n"},
		{secret + "/long.yaml", `[]`, "/long.yaml: more than 0 MiB: fetch it to a file\n"},
		{secret + "/empty.yaml", `[]`, "/empty.yaml: nothing was read: there is no document in here\n"},
		{"http://me:hunter2@127.0.0.1:1/x", `[]`, ":1/x: dial tcp 127.0.0.1:1: connect: connection refused\n"},
		{"https://me:hunter2@[", `[]`, "the URL: missing ']' in host\n"},
	} {
		var messages bytes.Buffer
		l := &manifest.Loader{Log: notice.NewLog(&messages, nil), Download: Text, Timeout: manifest.DefaultTimeout}
		if strings.Contains(c.url, "slow") {
			l.Timeout = 20 * time.Millisecond
		}
		names := []string{}
		for _, o := range l.Objects(l.Read([]string{c.url}, false)) {
			names = append(names, o.Id.Name)
		}
		if got := fmt.Sprintf("%q", names); c.message != "" && got != c.names {
			t.Errorf("%s has %s, want %s", c.url, got, c.names)
		}
		if got := messages.String(); !strings.HasSuffix(got, c.message) || strings.Contains(got, "hunter2") {
			t.Errorf("%s: the messages are %q, want them to end with %q", c.url, got, c.message)
		}
	}
}

// TestKept checks that a download is kept, used where the server says that it has not changed, and used where there is no server.
func TestKept(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	var codes []int
	version := "1"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"`+version+`"`)
		if r.Header.Get("If-None-Match") == `"`+version+`"` {
			codes = append(codes, http.StatusNotModified)
			w.WriteHeader(http.StatusNotModified)
			return
		}
		codes = append(codes, http.StatusOK)
		if _, err := w.Write([]byte("{kind: A}")); err != nil {
			t.Error(err)
		}
	}))
	defer server.Close()
	read := func() (int, string) {
		var errs bytes.Buffer
		c := &manifest.Loader{Log: notice.NewLog(&errs, nil), Secrets: &secret.Rules{}, Download: Text}
		return len(c.ReadKept([]string{server.URL + "/crds.yaml?x=y"})), errs.String()
	}
	for i, want := range []string{"1", "1", "2"} {
		version = want
		if n, errs := read(); n != 1 || errs != "" {
			t.Errorf("run %d: %d files\n%s", i, n, errs)
		}
	}
	if want := []int{http.StatusOK, http.StatusNotModified, http.StatusOK}; !slices.Equal(codes, want) {
		t.Errorf("the server answers %d, want %d", codes, want)
	}
	server.Close()
	if n, errs := read(); n != 1 || !strings.Contains(errs, "warning: ") || !strings.Contains(errs, "the copy of an earlier run is used") {
		t.Errorf("without a server: %d files\n%s", n, errs)
	}
}
