package command

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/deed-project/deed/server/store/file"
)

// TestVerify says of a file that it is whole, saves it, and says of others why they cannot be read.
func TestVerify(t *testing.T) {
	dir := t.TempDir()
	name, saved, text := filepath.Join(dir, "objects"), filepath.Join(dir, "saved"), filepath.Join(dir, "text")
	s, err := file.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Put(t.Context(), "/registry/a", []byte("text"), 0); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(text, []byte("no store"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		line string
		code int
		want string
	}{
		{"verify --data " + name, 0, name + ": 1 of 1 changes are whole, up to revision 2, with 1 records\n"},
		{"verify --data " + name + " --repair " + saved, 0, saved + ": has these 1 records, and no history\n"},
		{"verify --data " + saved, 0, "1 of 1 changes are whole, up to revision 2"},
		{"verify --data " + name + " --repair " + saved, 2, "it is there already"},
		{"verify --data " + text, 2, "invalid database"},
		{"verify", 2, "usage: deed-apiserver verify --data FILE"},
		{"verify --date " + name, 2, "unknown flag: --date"},
	} {
		var out strings.Builder
		if code := Run(t.Context(), Name, strings.Fields(c.line), &out, &out); code != c.code || !strings.Contains(out.String(), c.want) {
			t.Errorf("%s: %d, %s", c.line, code, out.String())
		}
	}
}

// TestDataFileIsGone ends the server, with an error, when a write finds that its file was removed.
func TestDataFileIsGone(t *testing.T) {
	name := filepath.Join(t.TempDir(), "objects")
	serving := make(chan struct{})
	var out, errOut output
	out.on, out.do = "Run with --kubeconfig", sync.OnceFunc(func() { close(serving) })
	done := make(chan int, 1)
	go func() {
		done <- Run(t.Context(), Name, strings.Fields("--listen 127.0.0.1:0 --insecure-http --data "+name), &out, &errOut)
	}()
	<-serving
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	_, url, _ := strings.Cut(out.String(), " at ")
	url, _, _ = strings.Cut(url, "\n")
	w, err := http.Post(url+"/api/v1/namespaces", "application/json", strings.NewReader(`{"metadata": {"name": "a"}}`))
	if err != nil {
		t.Fatal(err)
	}
	w.Body.Close()
	if w.StatusCode != http.StatusInternalServerError {
		t.Errorf("a write is answered with %d", w.StatusCode)
	}
	if code := <-done; code != 1 || !strings.Contains(errOut.String(), "objects cannot be kept any more") {
		t.Errorf("exit code %d: %s", code, errOut.String())
	}
}
