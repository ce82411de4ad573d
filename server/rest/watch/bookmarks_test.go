package watch_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/deed-project/deed/server/internal/servertest"
	"github.com/deed-project/deed/server/store/memory"
)

// timed is an answer that notes when its parts were written: http.ResponseWriter.
type timed struct {
	*httptest.ResponseRecorder
	begun time.Time
	notes []string
}

// Write notes the types and versions of events.
func (w *timed) Write(b []byte) (int, error) {
	for line := range strings.Lines(string(b)) {
		var event struct {
			Type   string
			Object struct {
				Metadata struct{ ResourceVersion string }
			}
		}
		if err := json.Unmarshal([]byte(line), &event); err != nil {
			return 0, err
		}
		w.notes = append(w.notes, fmt.Sprintf("%s %s at %s", event.Type, event.Object.Metadata.ResourceVersion, time.Since(w.begun).Round(time.Second)))
	}
	return w.ResponseRecorder.Write(b)
}

// TestBookmarks looks when watches say how far they have come: each minute, and two seconds before their time is over; with the
// revision of the store, which others write to as well. The time is that of a bubble.
func TestBookmarks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := servertest.Stage(t, memory.New())
		from := servertest.List(t, s, "").Metadata.ResourceVersion
		note := func(query string) []string {
			w := &timed{httptest.NewRecorder(), time.Now(), nil}
			s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, servertest.Things+"?watch=true&resourceVersion="+from+query, nil))
			return append(w.notes, fmt.Sprint("end at ", time.Since(w.begun).Round(time.Second)))
		}
		var later string
		written := make(chan struct{})
		go func() {
			defer close(written)
			time.Sleep(70 * time.Second)
			w := servertest.Ask(s, "POST "+servertest.Core+"namespaces/default/configmaps", `{"metadata":{"name":"other"}}`)
			later = servertest.Parsed(t, w).Get("metadata", "resourceVersion").Str()
		}()
		got := note("&allowWatchBookmarks=true&timeoutSeconds=150")
		<-written
		want := []string{"BOOKMARK " + from + " at 1m0s", "BOOKMARK " + later + " at 2m0s", "BOOKMARK " + later + " at 2m28s", "end at 2m30s"}
		if !slices.Equal(got, want) {
			t.Errorf("a watch of 150 s says %q, want %q", got, want)
		}
		from = later
		for query, want := range map[string][]string{
			"&allowWatchBookmarks=true&timeoutSeconds=8": {"BOOKMARK " + from + " at 6s", "end at 8s"},
			"&allowWatchBookmarks=true&timeoutSeconds=2": {"end at 2s"},
			"&timeoutSeconds=150":                        {"end at 2m30s"},
			"&timeoutSeconds=-1":                         {"end at 0s"},
			"&timeoutSeconds=-1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true": {"end at 0s"},
			"&timeoutSeconds=9223372036854775807": {"end at 0s"}, // which is -1s, too
		} {
			if got := note(query); !slices.Equal(got, want) {
				t.Errorf("a watch with %s says %q, want %q", query, got, want)
			}
		}
	})
}
