package write_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/internal/servertest"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/server/store/memory"
	"github.com/deed-project/deed/value"
)

// TestTimesChangeNothing sends objects back with other times in their managed fields: that is no change, so nothing is stored.
func TestTimesChangeNothing(t *testing.T) {
	s := servertest.Widgets(t)
	for path, body := range map[string]string{
		servertest.Things: servertest.Web, servertest.Core + "namespaces/default/configmaps": `{"metadata":{"name":"web"},"data":{"color":"red"}}`,
	} {
		created := servertest.Parsed(t, servertest.Ask(s, "POST "+path+servertest.JSON, body))
		entries := created.Get("metadata", "managedFields")
		later := value.List(entries.Item(0).With("time", value.String("2099-01-01T00:00:00Z")))
		sent := created.With("metadata", created.Get("metadata").With("managedFields", later))
		updated := servertest.Parsed(t, servertest.Ask(s, "PUT "+path+"/web"+servertest.JSON, sent.String()))
		if !updated.Equal(created) {
			t.Errorf("%s: %v was stored as %v", path, created, updated)
		}
	}
}

// crowded is a store in which the names of some new objects are taken: store.Store.
type crowded struct {
	store.Store
	taken int // how many
}

// Put takes no widget while names are taken.
func (s *crowded) Put(ctx context.Context, key string, text []byte, expect store.Revision) (store.Revision, error) {
	if expect == 0 && s.taken > 0 && strings.HasPrefix(key, "/registry/example.org/widgets/") {
		s.taken--
		return 0, store.ErrConflict
	}
	return s.Store.Put(ctx, key, text, expect)
}

// TestGeneratedNames creates an object whose name the server makes up: eight times, when others have them.
func TestGeneratedNames(t *testing.T) {
	objects := &crowded{Store: memory.New()}
	s := servertest.New(t, server.Config{Store: objects})
	body := strings.Replace(servertest.Web, `"name":"web"`, `"generateName":"web-"`, 1)
	objects.taken = 7
	if w := servertest.Ask(s, "POST "+servertest.Things+servertest.JSON, body); w.Code != http.StatusCreated {
		t.Errorf("seven names are taken: %d %s", w.Code, w.Body)
	}
	objects.taken = 8
	w := servertest.Ask(s, "POST "+servertest.Things+servertest.JSON, body)
	refused := servertest.Parsed(t, w)
	if want := "the server was not able to generate a unique name for the object"; w.Code != http.StatusConflict ||
		!strings.HasSuffix(refused.Get("message").Str(), want) || refused.Get("details", "retryAfterSeconds").Int() != 1 {
		t.Errorf("eight names are taken: %d %s", w.Code, w.Body)
	}
}

// TestLongPatches sends JSON patches of as many operations as one may have, and of one more.
func TestLongPatches(t *testing.T) {
	s := servertest.Widgets(t)
	if w := servertest.Ask(s, "POST "+servertest.Things+servertest.JSON, servertest.Web); w.Code != http.StatusCreated {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	operation := `{"op":"replace","path":"/spec/replicas","value":2}`
	for extra, code := range []int{http.StatusOK, http.StatusRequestEntityTooLarge} {
		body := "[" + operation + strings.Repeat(","+operation, 9999+extra) + "]"
		if w := servertest.Ask(s, "PATCH "+servertest.Things+"/web"+servertest.JSONPatch, body); w.Code != code {
			t.Errorf("a patch of %d operations: %d %.200s", 10000+extra, w.Code, w.Body)
		}
	}
}

// vanishing is a store in which somebody else deletes what is to be deleted, just before: store.Store.
type vanishing struct{ store.Store }

// Delete comes too late for a widget that is called web.
func (s vanishing) Delete(ctx context.Context, key string, expect store.Revision) (store.Revision, error) {
	revision, err := s.Store.Delete(ctx, key, expect)
	if err == nil && key == "/registry/example.org/widgets/default/web" {
		err = store.ErrNotFound
	}
	return revision, err
}

// TestVanishing deletes a collection of which an object goes meanwhile: the others are deleted all the same.
func TestVanishing(t *testing.T) {
	s := servertest.New(t, server.Config{Store: vanishing{memory.New()}})
	for _, body := range []string{servertest.Web, strings.Replace(servertest.Web, `"web"`, `"zebra"`, 1)} {
		if w := servertest.Ask(s, "POST "+servertest.Things+servertest.JSON, body); w.Code != http.StatusCreated {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
	}
	if w := servertest.Ask(s, "DELETE "+servertest.Things, ""); w.Code != http.StatusOK {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if left := servertest.Parsed(t, servertest.Ask(s, "GET "+servertest.Things, "")).Get("items").Len(); left != 0 {
		t.Errorf("%d widgets are left", left)
	}
}

// TestMergeKeys merges items by keys that are no keys, with which kube-apiserver breaks the connection off.
func TestMergeKeys(t *testing.T) {
	s := servertest.Widgets(t)
	const accounts = servertest.Core + "namespaces/default/serviceaccounts"
	servertest.Ask(s, "POST "+accounts+servertest.JSON, `{"metadata":{"name":"a"},"secrets":[{"name":"s"}]}`)
	for _, key := range []string{`{"q":1}`, `[1]`} {
		w := servertest.Ask(s, "PATCH "+accounts+"/a Content-Type=application/strategic-merge-patch+json", `{"secrets":[{"name":`+key+`}]}`)
		if got := servertest.Message(w); w.Code != http.StatusBadRequest && w.Code != http.StatusUnprocessableEntity || got == "" {
			t.Errorf("%s: %d %s", key, w.Code, w.Body)
		}
	}
}
