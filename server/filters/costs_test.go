package filters_test

import (
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/deed-project/deed/internal/testing/race"
	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/internal/servertest"
)

// unread takes an answer, and keeps its length: http.ResponseWriter.
type unread struct {
	header       http.Header
	code, length int
}

func (u *unread) Header() http.Header  { return u.header }
func (u *unread) WriteHeader(code int) { u.code = code }
func (u *unread) Write(b []byte) (int, error) {
	u.length += len(b)
	return len(b), nil
}

// costOf sends requests that next makes, and returns how many allocations, and bytes of them, the server needs for one. That is the least of
// three measurements: what runs beside a request, such as the controllers of the server, adds to some of them.
func costOf(t *testing.T, s *server.Server, code int, next func() *http.Request) (allocations, bytes uint64) {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const requests = 50
	w := &unread{header: http.Header{}}
	allocations, bytes = math.MaxUint64, math.MaxUint64
	for round := range 4 {
		sent := make([]*http.Request, requests)
		for i := range sent {
			sent[i] = next()
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for _, r := range sent {
			clear(w.header)
			if s.ServeHTTP(w, r); w.code != code {
				t.Fatalf("%s %s: %d", r.Method, r.URL, w.code)
			}
		}
		runtime.ReadMemStats(&after)
		if round > 0 { // what is made once is there by now
			allocations = min(allocations, (after.Mallocs-before.Mallocs)/requests)
			bytes = min(bytes, (after.TotalAlloc-before.TotalAlloc)/requests)
		}
	}
	return allocations, bytes
}

// TestCosts counts the allocations of requests for an object with a long text. Bytes tell whether that is copied, printed or parsed.
func TestCosts(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates by itself")
	}
	s := servertest.New(t, server.Config{})
	servertest.Ask(s, "POST /apis/apiextensions.k8s.io/v1/customresourcedefinitions", servertest.Gauges)
	const long = 20 << 10
	named := func(name string, level int) string {
		return fmt.Sprintf(`{"apiVersion":"example.org/v1","kind":"Gauge","metadata":{"name":%q},"spec":{"level":%d,"note":%q}}`,
			name, level, strings.Repeat("x", long))
	}
	request := func(method, path, media, body string) *http.Request {
		r := httptest.NewRequest(method, servertest.GaugesPath+path, strings.NewReader(body))
		r.Header.Set("Content-Type", media)
		return r
	}
	n := 0
	name := func() string {
		n++
		return fmt.Sprintf("n%03d", n)
	}
	for _, c := range []struct {
		name               string
		code               int
		next               func() *http.Request
		allocations, bytes uint64 // at most
	}{
		{"create", 201, func() *http.Request { return request("POST", "", "application/json", named(name(), 1)) }, 108, 84 << 10},
		{"get", 200, func() *http.Request { return request("GET", "/n001", "", "") }, 26, 2 << 10},
		{"apply", 200, func() *http.Request {
			n++
			return request("PATCH", "/n001?fieldManager=a&force=true", "application/apply-patch+yaml", named("n001", n))
		}, 114, 88 << 10},
		{"merge patch", 200, func() *http.Request {
			n++
			return request("PATCH", "/n001", "application/merge-patch+json", fmt.Sprintf(`{"spec":{"level":%d}}`, n))
		}, 108, 38 << 10},
		{"delete", 200, func() func() *http.Request {
			i := 1
			return func() *http.Request {
				i++
				return request("DELETE", fmt.Sprintf("/n%03d", i-1), "", "")
			}
		}(), 68, 7 << 10},
	} {
		allocations, bytes := costOf(t, s, c.code, c.next)
		if allocations > c.allocations || bytes > c.bytes {
			t.Errorf("%s: %d allocations, %d bytes; want at most %d, %d", c.name, allocations, bytes, c.allocations, c.bytes)
		}
	}
}
