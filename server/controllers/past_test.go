package controllers_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/internal/servertest"
	"github.com/deed-project/deed/server/store"
)

// TestPastBytes writes more bytes than the server may keep of the past. The first revision is then gone, long before it is too old.
func TestPastBytes(t *testing.T) {
	s := servertest.Start(t, server.Config{Past: &store.Window{Age: time.Hour, Bytes: 100_000}})
	object := func(i int) string {
		return fmt.Sprintf(`{"metadata":{"name":"m"},"data":{"a":%q,"i":"%d"}}`, strings.Repeat("a", 10_000), i)
	}
	servertest.Create(t, s, servertest.MapsPath, object(0))
	_, list := servertest.Send(t, s, http.MethodGet, servertest.MapsPath, "")
	first := list.Get("metadata", "resourceVersion").Str()
	for i := range 20 {
		if code, v := servertest.Send(t, s, http.MethodPatch, servertest.MapsPath+"/m", object(i+1)); code != http.StatusOK {
			t.Fatalf("%d %v", code, v)
		}
	}
	servertest.Await(t, func() bool {
		code, _ := servertest.Send(t, s, http.MethodGet, servertest.MapsPath+"?limit=1&resourceVersionMatch=Exact&resourceVersion="+first, "")
		return code == http.StatusGone
	})
}
