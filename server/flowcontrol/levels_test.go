package flowcontrol

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/deed-project/deed/internal/testing/seeds"
	"github.com/deed-project/deed/server/auth"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/logs"
	"github.com/deed-project/deed/server/request"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/server/store/memory"
)

// newController returns a Controller of objects that are stored without a server. levels are the specs of priority levels by name.
func newController(t *testing.T, s store.Store, seats int, levels map[string]json.RawMessage) *Controller {
	t.Helper()
	for name, spec := range levels {
		text, err := json.Marshal(map[string]any{"metadata": map[string]any{"name": name, "uid": "uid-" + name}, "spec": spec})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Put(t.Context(), "/levels/"+name, text, 0); err != nil {
			t.Fatal(err)
		}
	}
	return New(s, &catalog.Resource{Prefix: "/schemas/"}, &catalog.Resource{Prefix: "/levels/"}, seats, logs.New(slog.New(slog.DiscardHandler)))
}

// TestLimits compares the seats of priority levels with those that a kube-apiserver shows in its metrics, for random levels beside those of a
// new cluster, and for two numbers of seats.
func TestLimits(t *testing.T) {
	file, err := os.Open("testdata/limits.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	z, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	lines, cases, compared := bufio.NewScanner(z), 0, 0
	lines.Buffer(nil, 1<<20)
	for ; lines.Scan(); cases++ {
		var recorded struct {
			Seats  int
			Levels map[string]json.RawMessage
			Limits map[string][4]int // nominal, lower, upper, current
		}
		if err := json.Unmarshal(lines.Bytes(), &recorded); err != nil {
			t.Fatal(err)
		}
		s := memory.New()
		c := newController(t, s, recorded.Seats, recorded.Levels)
		for name, l := range c.current(t.Context()).levels {
			got, want := [4]int{l.nominal, l.least, l.most, l.seats}, recorded.Limits[name]
			if l.exempt {
				want[3] = got[3] // is the demand of those who read the metrics
			}
			if got != want {
				t.Errorf("case %d, level %s: %v, want %v\n%s", cases, name, got, want, recorded.Levels[name])
			}
			compared++
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := lines.Err(); err != nil || cases < 20 || compared < 200 {
		t.Errorf("%d cases, %d levels: %v", cases, compared, err)
	}
}

// TestDemand moves seats to a level that needs them, and gives back what a level needs of its own.
func TestDemand(t *testing.T) { synctest.Test(t, testDemand) }

func testDemand(t *testing.T) {
	s := memory.New()
	defer s.Close()
	spec := json.RawMessage(`{"type":"Limited","limited":{"nominalConcurrencyShares":10,"lendablePercent":50,"limitResponse":{"type":"Reject"}}}`)
	c := newController(t, s, 100, map[string]json.RawMessage{"a": spec, "b": spec})
	levels := c.current(t.Context()).levels
	a, b := levels["a"], levels["b"]
	if a.seats != b.seats {
		t.Fatalf("levels that are alike have %d and %d seats", a.seats, b.seats)
	}
	need := func(of *level, seats int) {
		of.room.demand.set(seats)
		of.room.demand.reset() // from now on
		time.Sleep(AdjustInterval)
	}
	need(a, 90)
	adjust(levels)
	if a.seats <= b.seats || b.seats < b.least {
		t.Errorf("a, which needs seats, has %d, and b has %d", a.seats, b.seats)
	}
	need(b, 90)
	adjust(levels)
	if b.seats < b.nominal {
		t.Errorf("b needs its own seats, and has %d of %d", b.seats, b.nominal)
	}
	for _, busy := range []int{30, 1000} {
		need(levels["exempt"], busy)
		adjust(levels)
		if total := a.seats + b.seats + levels["catch-all"].seats; total > max(100-busy, a.least*2+levels["catch-all"].least)+3 {
			t.Errorf("while %v requests are exempt, the others have %d seats", busy, total)
		}
	}
}

// TestShare checks the laws of share on random claims.
func TestShare(t *testing.T) {
	r := seeds.Rand(t)
	for range 2000 {
		claims := make([]claim, 1+r.IntN(8))
		low, high := 0.0, 0.0
		for i := range claims {
			lower := float64(r.IntN(20) * r.IntN(2))
			claims[i] = claim{lower, lower + float64(r.IntN(30)*r.IntN(2)), lower + float64(r.IntN(100)*r.IntN(3))}
			low, high = low+lower, high+claims[i].upper
		}
		total := float64(r.IntN(400))
		parts := share(total, claims)
		sum, least, most := 0.0, math.Inf(1), 0.0 // bounds of the factor of claims that have what they want times it
		for i, c := range claims {
			sum += parts[i]
			if parts[i] < c.lower || parts[i] > c.upper {
				t.Fatalf("%v of %v: part %d is %v", total, claims, i, parts[i])
			}
			if parts[i] > c.lower && parts[i] < c.upper {
				factor := parts[i] / max(c.wanted, leastWanted)
				least, most = min(least, factor), max(most, factor)
			}
		}
		if want := min(max(total, low), high); math.Abs(sum-want) > 1e-6*(1+want) {
			t.Fatalf("%v of %v: the parts %v have the sum %v, want %v", total, claims, parts, sum, want)
		}
		if most > 0 && most-least > 1e-6*most {
			t.Fatalf("%v of %v: the parts %v have factors between %v and %v", total, claims, parts, least, most)
		}
	}
}

// TestBrokenLevels classifies requests beside levels that validation would have refused.
func TestBrokenLevels(t *testing.T) {
	s := memory.New()
	defer s.Close()
	c := newController(t, s, 600, map[string]json.RawMessage{
		"none":   json.RawMessage(`{"type":"Limited"}`),
		"both":   json.RawMessage(`{"type":"Limited","limited":{"limitResponse":{"type":"Reject"}},"exempt":{}}`),
		"hands":  json.RawMessage(`{"type":"Limited","limited":{"limitResponse":{"type":"Queue","queuing":{"queues":1,"handSize":9,"queueLengthLimit":1}}}}`),
		"exempt": json.RawMessage(`{"type":"Limited","limited":{"limitResponse":{"type":"Reject"}}}`),
		"odd":    json.RawMessage(`{"type":"Exempt","exempt":{}}`),
		"right":  json.RawMessage(`{"type":"Limited","limited":{"nominalConcurrencyShares":1,"limitResponse":{"type":"Reject"}}}`),
	})
	if levels := c.current(t.Context()).levels; len(levels) != 3 || levels["right"] == nil || !levels["exempt"].exempt || levels["catch-all"] == nil {
		t.Errorf("the levels are %v", levels)
	}
}

// unread is a store that cannot be read.
type unread struct{ store.Store }

func (unread) Range(context.Context, store.Range) (store.Page, error) {
	return store.Page{}, errors.New("out of order")
}

func (unread) Since(context.Context, string, store.Revision) (store.Batch, error) {
	return store.Batch{}, errors.New("out of order")
}

// TestUnreadStore classifies requests by the mandatory objects while the store cannot be read.
func TestUnreadStore(t *testing.T) {
	s := memory.New()
	defer s.Close()
	c := newController(t, unread{s}, 600, nil)
	for user, want := range map[string]bool{"system:masters": true, "system:authenticated": false, "nobody": false} {
		info := &request.Info{Method: "GET", Path: "/version"}
		f := c.Classify(t.Context(), auth.User{Name: "joe", Groups: []string{user}}, info)
		if f.Exempt != want || f.Schema[0] != "" || f.Level[0] != "" || f.Do(t.Context(), time.Minute, func() {}) != "" {
			t.Errorf("the flow of %s is %+v", user, f)
		}
	}
}
