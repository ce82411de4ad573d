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

// place is where attacks on a server in this process happen. Each has a server for itself.
var place = hostile.Place{Namespace: "hostile", Group: "hostile.example.org"}

// free is how much of what is counted may be constant: what is made once, and the rounding of pools and slices.
const free = 10 << 20

// TestAttacks sends each attack at n, 2n and 4n, and demands that it costs no more than requests may, that no cost grows faster than the
// request, and that the server answers the next one.
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

// spent is a cost, and the steps that were counted.
type spent struct {
	hostile.Cost
	steps work.Counts
}

// counters are what is compared between sizes.
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

// attack makes a server and what the attack needs, sends it, and returns what that cost.
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

// awaitGoroutines waits until no more goroutines run than n: what a server does in the background must end, and would count for the next
// attack.
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

// send sends a request to a server in this process, and returns what that cost.
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

// counted takes an answer, and keeps its length and its beginning: http.ResponseWriter.
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

// text returns the message of a Status, or else what the answer begins with.
func (c *counted) text() string {
	text := string(c.begin)
	var status struct{ Message string }
	if json.Unmarshal(c.begin, &status) == nil && status.Message != "" {
		text = status.Message
	}
	return text
}
