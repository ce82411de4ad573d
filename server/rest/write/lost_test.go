package write_test

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/internal/servertest"
	"github.com/deed-project/deed/server/store/file"
)

// TestStoreFails takes the file of a server away: writes are refused and readyz fails, without the name of the file, which the log has.
func TestStoreFails(t *testing.T) {
	name := filepath.Join(t.TempDir(), "objects")
	kept, err := file.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { err = errors.Join(err, kept.Close()) }()
	var log bytes.Buffer
	s := servertest.New(t, server.Config{Store: kept, Log: slog.New(slog.NewTextHandler(&log, nil))})
	create := func() (int, string) {
		w := servertest.Ask(s, "POST "+servertest.Core+"namespaces/default/configmaps"+servertest.JSON, `{"metadata": {"generateName": "a"}}`)
		return w.Code, w.Body.String()
	}
	if code, body := create(); code != http.StatusCreated {
		t.Fatalf("%d %s", code, body)
	}
	if w := servertest.Ask(s, "GET /readyz", ""); w.Code != http.StatusOK {
		t.Errorf("readyz: %d %s", w.Code, w.Body)
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	code, body := create()
	if code != http.StatusInternalServerError || !strings.Contains(body, "the storage failed") || strings.Contains(body, name) {
		t.Errorf("a write is answered with %d %s", code, body)
	}
	if w := servertest.Ask(s, "GET /readyz", ""); w.Code != http.StatusInternalServerError || !strings.Contains(w.Body.String(), "[-]etcd failed") {
		t.Errorf("readyz: %d %s", w.Code, w.Body)
	}
	if !strings.Contains(log.String(), name+": the file was removed") {
		t.Errorf("the log has %s", log.String())
	}
}
