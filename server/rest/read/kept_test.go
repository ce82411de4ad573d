package read_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/deed-project/deed/internal/testing/recording"
	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/internal/servertest"
	"github.com/deed-project/deed/server/store/memory"
)

// TestKept replays recorded histories, and asks for what they leave: a server that wrote the objects, and remembers them as it wrote
// them, gives the same answers to the byte as one that has read nothing but the store. So it does after each of the last three writes.
func TestKept(t *testing.T) {
	scenarios, err := recording.ReadFile("../../../testdata/recordings/recordings.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range scenarios {
		if testing.Short() && i%8 != 0 {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			objects := memory.New()
			writer := servertest.On(t, objects, s.CRD)
			for i, step := range s.Steps {
				if _, err := servertest.SendStep(writer, step); err != nil {
					t.Fatal(err)
				}
				if i >= len(s.Steps)-3 {
					sameAnswers(t, writer, servertest.On(t, objects), strings.TrimSuffix(step.Path, "/status"))
				}
			}
		})
	}
}

// sameAnswers asks two servers for an object, and for lists that it is in.
func sameAnswers(t *testing.T, a, b *server.Server, path string) {
	t.Helper()
	collection := path[:strings.LastIndex(path, "/")]
	for _, asked := range []string{path, path + "?pretty=true", collection, collection + "?limit=1"} {
		for _, accept := range []string{"application/json", servertest.TableJSON} {
			var texts [2]string
			for i, s := range []*server.Server{a, b} {
				r := httptest.NewRequest("GET", asked, nil)
				r.Header.Set("Accept", accept)
				w := httptest.NewRecorder()
				s.ServeHTTP(w, r)
				texts[i] = w.Body.String()
			}
			if texts[0] != texts[1] {
				t.Fatalf("%s as %s is\n%s\nand read from the store\n%s", asked, accept, texts[0], texts[1])
			}
		}
	}
}
