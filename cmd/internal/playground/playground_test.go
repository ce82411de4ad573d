package playground_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/deed-project/deed/cmd/internal/cli"
	"github.com/deed-project/deed/cmd/internal/playground"
)

var epoch = time.Unix(1767225600, 0).UTC()

// ask returns the answer to r as the page gets it.
func ask(t testing.TB, r playground.Request) map[string]any {
	t.Helper()
	if r.Now.IsZero() {
		r.Now = epoch
	}
	request, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var answer map[string]any
	if err := json.Unmarshal(playground.Do(request), &answer); err != nil {
		t.Fatal(err)
	}
	return answer
}

// deed returns what the command prints in a folder with files.
func deed(t *testing.T, files map[string]string, args ...string) (stdout, stderr string) {
	t.Helper()
	t.Setenv("SOURCE_DATE_EPOCH", "1767225600")
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	var out, errs bytes.Buffer
	cli.Run(args, strings.NewReader(""), &out, &errs)
	return out.String(), errs.String()
}

func read(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../..", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
func TestX(t *testing.T) {
	a := ask(t, playground.Request{Apply: &playground.Apply{Live: read(t, "testdata/readme/live.yaml"), Config: read(t, "testdata/readme/config.yaml"), Manager: "kubectl"}})
	b, _ := json.MarshalIndent(a, "", " ")
	os.WriteFile("/tmp/pg/a.json", b, 0o666)
	a = ask(t, playground.Request{History: &playground.History{Text: read(t, "testdata/replay/who-scales.yaml")}})
	b, _ = json.MarshalIndent(a, "", " ")
	os.WriteFile("/tmp/pg/b.json", b, 0o666)
	_, _ = deed(t, nil, "version")
}
