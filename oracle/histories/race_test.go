package histories

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/deed-project/deed/internal/testing/gen"
	"github.com/deed-project/deed/internal/testing/seeds"
	deed "github.com/deed-project/deed/managedfields"
)

// question is a write with its live object, in deed's form.
type question struct {
	engines    *engines
	op         Op
	live, sent deed.Object
}

// questions collects the writes of a history in a world with their live objects.
func questions(t *testing.T, w *World, seed uint64) []question {
	t.Helper()
	var out []question
	p := &Player{World: w}
	writer := NewWriter(gen.Seeded(seed), p)
	for range 25 {
		op := writer.Next()
		if op.Verb == Apply || op.Verb == Force || op.Verb == Update {
			e, err := p.World.at(op.Endpoint)
			if err != nil {
				t.Fatal(err)
			}
			sent, err := deed.ParseObject(op.Body)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, question{e, op, p.held(op), sent})
		}
		if diff, err := p.Play(op); err != nil || diff != nil {
			t.Fatal(err, diff)
		}
	}
	return out
}

func (q question) ask() string {
	var out deed.Object
	var err error
	if q.op.Verb == Update {
		out, err = q.engines.deed.Update(q.live, q.sent, q.op.Manager)
	} else {
		out, err = q.engines.deed.Apply(q.live, q.sent, q.op.Manager, q.op.Verb == Force)
	}
	return fmt.Sprint(printObject(out), err)
}

// printObject returns the whole content of an object. Unreadable managed fields are returned as text.
func printObject(o deed.Object) string {
	return fmt.Sprintf("%v %+q", o.Content, fmt.Sprint(o.Entries))
}

// TestFieldManagersAreSharedByGoroutines checks that one field manager gives concurrent goroutines the same answers as one, and does not
// change its inputs.
func TestFieldManagersAreSharedByGoroutines(t *testing.T) {
	for _, name := range []string{"deployment", "horizontalpodautoscaler-v2", "custom"} {
		synctest.Test(t, func(t *testing.T) {
			w, err := openFor(name)
			if err != nil {
				t.Fatal(err)
			}
			for seed := range seeds.Each(t, 4) {
				asked := questions(t, w, seed)
				var want, given []string
				for _, q := range asked {
					given = append(given, printObject(q.live)+printObject(q.sent))
					want = append(want, q.ask())
				}
				var all sync.WaitGroup
				for range 8 {
					all.Go(func() {
						for i, q := range asked {
							if got := q.ask(); got != want[i] {
								t.Errorf("%s, history %d, write %d:\n%s\nalone\n%s", name, seed, i, got, want[i])
							}
						}
					})
				}
				all.Wait()
				for i, q := range asked {
					if got := printObject(q.live) + printObject(q.sent); got != given[i] {
						t.Errorf("%s, history %d: write %d changed what it was given:\n%s\nbefore\n%s", name, seed, i, got, given[i])
					}
				}
			}
		})
	}
}

func openFor(name string) (*World, error) {
	if name == "custom" {
		return Open(name, RandomCRD(gen.Seeded(1)))
	}
	return Open(name, nil)
}
