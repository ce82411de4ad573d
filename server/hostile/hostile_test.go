package hostile_test

import (
	"encoding/json"
	"net/http"
	"runtime"
	"testing"
	"time"

	"github.com/deed-project/deed/internal/testing/race"
	"github.com/deed-project/deed/internal/work"
	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/hostile"
)

// place is the place of attacks on a server in this process. Each attack gets its own server.
var place = hostile.Place{Namespace: "hostile", Group: "hostile.example.org"}

// free is the allowed constant part of a count: one-time work, and the rounding of pools and slices.
const free = 10 << 20

// TestAttacks sends each attack at n, 2n and 4n. No request may exceed its bounds, no cost may grow faster than the request, and the server
// must answer the next request.
func TestAttacks(t *testing.T) {
	for _, a := range hostile.Attacks() {
		t.Run(a.Name, func(t *testing.T) {
			var costs [3]spent
			for i := range costs {
				costs[i] = attack(t, a, a.Size<<i)
				if race.Enabled {
					costs[i].Allocated = 0
				}
				if wrong := a.Excess(costs[i].Cost, i == 2); wrong != "" {
					t.Errorf("n = %d: %s", a.Size<<i, wrong)
				}
			}
			for _, c := range counters {
				counts := [3]int64{c.of(costs[0]), c.of(costs[1]), c.of(costs[2])}
				t.Logf("%-20s %10d", c.name, counts)
				if hostile.Grows(counts, free) {
					t.Errorf("%s: %d, %d and %d grow faster than the request", c.name, counts[0], counts[1], counts[2])
				}
			}
		})
	}
}

// spent is a cost with the counted steps.
type spent struct {
	hostile.Cost
	steps work.Counts
}

// counters are the counts that are compared between sizes.
var counters = []struct {
	name string
	of   func(spent) int64
}{
	{"bytes allocated", func(s spent) int64 { return s.Allocated }},
	{"bytes answered", func(s spent) int64 { return int64(s.Answered) }},
	{"values", func(s spent) int64 { return int64(s.steps.Values) }},
	{"nodes", func(s spent) int64 { return int64(s.steps.Nodes) }},
	{"elements of sets", func(s spent) int64 { return int64(s.steps.Elements) }},
	{"steps through sets", func(s spent) int64 { return int64(s.steps.Steps) }},
	{"pairs of items", func(s spent) int64 { return int64(s.steps.Pairs) }},
}

// attack starts a server, prepares and sends an attack, and returns its cost.
func attack(t *testing.T, a hostile.Attack, n int) (out spent) {
	t.Helper()
	before := runtime.NumGoroutine()
	s, err := server.New(server.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		s.Close()
		awaitGoroutines(t, before)
	}()
	stored := 0
	for _, r := range a.Prepare(place, n) {
		if c := send(t, s, r); c.Code != http.StatusCreated {
			t.Fatalf("%s %s: %d %s", r.Method, r.Path, c.Code, c.Text)
		}
		stored += len(r.Body)
	}
	request := a.Send(place, n)
	out.steps = work.Record(func() { out.Cost = send(t, s, request) })
	out.Stored = stored
	if c := send(t, s, hostile.Request{Method: http.MethodGet, Path: "/api/v1/namespaces/" + place.Namespace}); c.Code != http.StatusOK {
		t.Errorf("afterwards: %d %s", c.Code, c.Text)
	}
	return out
}

// awaitGoroutines waits until at most n goroutines run. Background work of the server must end, because it would count for the next attack.
func awaitGoroutines(t *testing.T, n int) {
	t.Helper()
	for range 6000 {
		if runtime.NumGoroutine() <= n {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d goroutines run, and %d did before", runtime.NumGoroutine(), n)
}

// send sends a request to a server in this process and returns its cost.
func send(t *testing.T, s http.Handler, r hostile.Request) hostile.Cost {
	t.Helper()
	q, err := r.HTTP("http://deed.invalid")
	if err != nil {
		t.Fatal(err)
	}
	w := &counted{header: http.Header{}}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	s.ServeHTTP(w, q)
	runtime.ReadMemStats(&after)
	return hostile.Cost{
		Code: w.code, Text: w.text(), Sent: len(r.Body), Answered: w.length,
		Allocated: int64(after.TotalAlloc - before.TotalAlloc),
	}
}

// counted is an http.ResponseWriter that keeps the length of an answer and its begin.
type counted struct {
	header http.Header
	code   int
	length int
	begin  []byte
}

const kept = 8 << 20

func (c *counted) Header() http.Header { return c.header }

func (c *counted) WriteHeader(code int) {
	if c.code == 0 {
		c.code = code
	}
}

func (c *counted) Write(b []byte) (int, error) {
	c.WriteHeader(http.StatusOK)
	c.length += len(b)
	c.begin = append(c.begin, b[:min(len(b), kept-len(c.begin))]...)
	return len(b), nil
}

// text returns the message of a Status, or the begin of another answer.
func (c *counted) text() string {
	text := string(c.begin)
	var status struct{ Message string }
	if json.Unmarshal(c.begin, &status) == nil && status.Message != "" {
		text = status.Message
	}
	return text
}
