package write_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/auth"
	"github.com/deed-project/deed/server/internal/servertest"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/server/store/memory"
)

// TestUnreadable deletes an object whose stored text is cut. Only a delete that says so removes it, by a user who may do that, and not in a
// dry run.
func TestUnreadable(t *testing.T) {
	const key, path = "/registry/configmaps/default/cut", "/api/v1/namespaces/default/configmaps/cut"
	const unsafe = "?ignoreStoreReadErrorWithClusterBreakingPotential=true"
	allowed := false
	objects := memory.New()
	if _, err := objects.Put(t.Context(), key, []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"na`), 0); err != nil {
		t.Fatal(err)
	}
	s := servertest.New(t, server.Config{Store: objects, Authenticate: servertest.Named, Authorize: func(_ context.Context, _ auth.User, a auth.Action) (bool, string) {
		return allowed || a.Verb != "unsafe-delete-ignore-read-errors", "no"
	}})
	stored := func() bool {
		_, err := objects.Get(t.Context(), key, 0)
		return err != store.ErrNotFound
	}
	for _, c := range []struct {
		query     string
		allowed   bool
		code      int
		says      string
		remaining bool
	}{
		{"", true, http.StatusInternalServerError, "object not decodable", true},
		{unsafe, false, http.StatusForbidden, `not permitted to do \"unsafe-delete-ignore-read-errors\", reason: no`, true},
		{unsafe + "&dryRun=All", true, http.StatusOK, `"status":"Success"`, true},
		{unsafe, true, http.StatusOK, `"details":{"kind":"ConfigMap","name":"cut"}`, false},
		{unsafe, true, http.StatusNotFound, "not found", false},
	} {
		allowed = c.allowed
		w := servertest.Ask(s, "DELETE "+path+c.query, "")
		if w.Code != c.code || !strings.Contains(w.Body.String(), c.says) || stored() != c.remaining {
			t.Errorf("DELETE %q is answered with %d %s; stored: %v", c.query, w.Code, w.Body, stored())
		}
	}
}

// TestUnsafeBefore sends the option to a server that emulates a release which does not have it: it deletes as always.
func TestUnsafeBefore(t *testing.T) {
	s := servertest.New(t, server.Config{EmulatedVersion: "1.36"})
	servertest.Create(t, s, "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"a"}}`)
	w := servertest.Ask(s, "DELETE /api/v1/namespaces/default/configmaps/a?ignoreStoreReadErrorWithClusterBreakingPotential=true", "")
	if w.Code != http.StatusOK {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
