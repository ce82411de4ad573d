package rbac_test

import (
	"bytes"
	"compress/gzip"
	"flag"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/internal/servertest"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/server/store/memory"
)

var update = flag.Bool("update", false, "write the prepared texts")

// identity is what differs in the stored texts of two servers.
var identity = []struct {
	pattern *regexp.Regexp
	shown   string
}{
	{regexp.MustCompile(`"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"`), `"UID"`},
	{regexp.MustCompile(`"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"`), `"TIME"`},
}

// TestPrepared compares the prepared texts with what requests store: those that a server sends to a store which has one role already.
func TestPrepared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memory.New()
		const first = "/registry/roles/default/first"
		if _, err := s.Put(t.Context(), first, []byte(`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"Role","metadata":{"name":"first","namespace":"default"}}`), 0); err != nil {
			t.Fatal(err)
		}
		servertest.Start(t, server.Config{Store: s, RBAC: true})
		synctest.Wait()
		want := storedTexts(t, s, first)
		const name = "prepared.txt.gz"
		if *update {
			var zipped bytes.Buffer
			z, err := gzip.NewWriterLevel(&zipped, gzip.BestCompression)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(z, want); err != nil {
				t.Fatal(err)
			}
			if err := z.Close(); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, zipped.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
			return
		}
		empty := memory.New()
		servertest.Start(t, server.Config{Store: empty, RBAC: true})
		synctest.Wait()
		got, asked := strings.Split(storedTexts(t, empty, ""), "\n"), strings.Split(want, "\n")
		if len(got) != len(asked) {
			t.Fatalf("%d lines, want %d", len(got), len(asked))
		}
		for i := range got {
			if got[i] != asked[i] {
				t.Errorf("stored is\n%s\nwant\n%s", got[i], asked[i])
			}
		}
	})
}

// storedTexts returns the keys and texts of roles and bindings, except one, without what differs.
func storedTexts(t *testing.T, s store.Store, except string) string {
	t.Helper()
	var out strings.Builder
	for _, plural := range []string{"clusterrolebindings", "clusterroles", "rolebindings", "roles"} {
		page, err := s.Range(t.Context(), store.Range{Prefix: "/registry/" + plural + "/"})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range page.Records {
			text := string(r.Text)
			for _, of := range identity {
				text = of.pattern.ReplaceAllString(text, of.shown)
			}
			if r.Key != except {
				out.WriteString(r.Key + "\n" + text + "\n")
			}
		}
	}
	return out.String()
}
