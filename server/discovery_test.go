package server_test

import (
	"net/http"
	"testing"

	"github.com/deed-project/deed/server/internal/servertest"
)

// TestAggregatedDiscovery asks for what is known already.
func TestAggregatedDiscovery(t *testing.T) {
	s := servertest.Widgets(t)
	for _, path := range []string{"/api", "/apis"} {
		accept := " Accept=application/json" + aggregatedParams
		etag := servertest.Ask(s, "GET "+path+accept, "").Header().Get("Etag")
		if again := servertest.Ask(s, "GET "+path+accept+" If-None-Match="+etag, ""); etag == "" || again.Code != http.StatusNotModified {
			t.Errorf("%s: what is known is answered with %d", path, again.Code)
		}
	}
}
