package server_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/internal/servertest"
	"github.com/deed-project/deed/server/store/memory"
)

// TestClockJumps lets the clock jump a year ahead and two years back. Writes go on, and so do watches, which go by what happened; what
// is too old by the clock is gone, with 410, and what comes after a jump back is not.
func TestClockJumps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var off atomic.Int64
		objects := memory.New()
		s, err := server.New(server.Config{
			Store: objects, Objects: servertest.WidgetDefinitions(t), Log: slog.New(slog.DiscardHandler),
			Now: func() time.Time { return time.Now().Add(time.Duration(off.Load())) },
		})
		if err != nil {
			t.Fatal(err)
		}
		defer objects.Close()
		defer s.Close()
		write := func(n int) string {
			body := fmt.Sprintf(`{"apiVersion":"example.org/v1","kind":"Widget","metadata":{"name":"web"},"spec":{"replicas":%d}}`, n)
			w := servertest.Ask(s, "PATCH "+servertest.Things+"/web?fieldManager=m"+servertest.ApplyPatch, body)
			if w.Code >= 300 {
				t.Fatalf("write %d: %d %s", n, w.Code, w.Body)
			}
			return servertest.Parsed(t, w).Get("metadata", "resourceVersion").Str()
		}
		first := write(1)
		told := make(chan string, 1)
		go func() {
			told <- servertest.Ask(s, "GET "+servertest.Things+"?watch=true&timeoutSeconds=1000&resourceVersion="+first, "").Body.String()
		}()
		synctest.Wait()
		const year = 365 * 24 * time.Hour
		off.Store(int64(year))
		second := write(2)
		time.Sleep(6 * time.Minute) // the store is compacted now and then
		third := write(3)
		if servertest.Newer(second, third) != third {
			t.Errorf("%s comes after %s", third, second)
		}
		if w := servertest.Ask(s, "GET "+servertest.Things+"?resourceVersionMatch=Exact&resourceVersion="+first, ""); w.Code != http.StatusGone {
			t.Errorf("what was written before the jump is answered with %d", w.Code)
		}
		off.Store(int64(-year))
		write(4)
		fifth := write(5)
		time.Sleep(30 * time.Second)
		if w := servertest.Ask(s, "GET "+servertest.Things+"?resourceVersionMatch=Exact&resourceVersion="+fifth, ""); w.Code != http.StatusOK {
			t.Errorf("what was written after the jump back is answered with %d", w.Code)
		}
		if events := <-told; strings.Count(events, `"MODIFIED"`) != 4 || strings.Contains(events, "ERROR") {
			t.Errorf("a watch through all of it was told\n%s", events)
		}
	})
}

// TestDeletionBeforeClockJump deletes an object that waits for a finalizer, and again after the clock went back: the object is not to go at
// a time that is still to come.
func TestDeletionBeforeClockJump(t *testing.T) {
	var off atomic.Int64
	now := servertest.Noon.Add(time.Hour)
	s := servertest.New(t, server.Config{Now: func() time.Time { return servertest.Noon.Add(time.Duration(off.Load())) }})
	servertest.Ask(s, "POST "+servertest.Things+servertest.JSON, strings.Replace(servertest.Web, `"name":"web"`, `"name":"web","finalizers":["example.org/wait"]`, 1))
	for _, at := range []struct{ now, deleted time.Time }{
		{now, now}, {now.Add(time.Minute), now}, {servertest.Noon, servertest.Noon}, {now, servertest.Noon},
	} {
		off.Store(int64(at.now.Sub(servertest.Noon)))
		w := servertest.Ask(s, "DELETE "+servertest.Things+"/web", "")
		metadata := servertest.Parsed(t, w).Get("metadata")
		if got := metadata.Get("deletionTimestamp").Str(); got != at.deleted.Format(time.RFC3339) || metadata.Get("generation").Int() != 2 {
			t.Errorf("at %v: %d %s, want the time of %v", at.now, w.Code, w.Body, at.deleted)
		}
	}
}
