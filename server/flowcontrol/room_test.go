package flowcontrol

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/deed-project/deed/internal/testing/seeds"
)

// TestRoom lets requests of two flows wait for one seat. The flows take turns, and each in its own order.
func TestRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom()
		r.configure(1, queuing{queues: 2, hand: 1, length: 3})
		var mu sync.Mutex // of got
		var got []string
		note := func(name string) {
			mu.Lock()
			defer mu.Unlock()
			got = append(got, name)
		}
		ask := func(name string, hash uint64, patience time.Duration) {
			go func() {
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				if r.acquire(ctx, hash) != "" {
					note("no " + name)
					return
				}
				note(name)
				time.Sleep(time.Minute)
				r.release()
			}()
			synctest.Wait()
		}
		ask("first", 0, time.Hour)
		for i := range 4 {
			ask(fmt.Sprint("a", i), 0, time.Hour)
		}
		ask("b0", 1, time.Hour)
		ask("b1", 1, time.Second)
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if want := "first no a3 no b1 a0 b0 a1 a2"; strings.Join(got, " ") != want {
			t.Errorf("the order is %v, want %s", got, want)
		}
		if r.running != 0 || r.waiting != 0 || len(r.queues) != 0 || len(r.order) != 0 {
			t.Errorf("when all are done, the room is %+v", r)
		}
	})
}

// TestRoomInvariants sends requests of random flows with random patience while the seats and queues change, and checks the room after each
// event.
func TestRoomInvariants(t *testing.T) {
	random := seeds.Rand(t)
	synctest.Test(t, func(t *testing.T) {
		r := newRoom()
		var running sync.WaitGroup
		check := func() {
			r.mu.Lock()
			defer r.mu.Unlock()
			waiting := 0
			for number, queue := range r.queues {
				waiting += len(queue)
				if len(queue) == 0 || !slices.Contains(r.order, number) {
					t.Fatalf("queue %d of %v is not in turn", number, r.order)
				}
			}
			if waiting != r.waiting || len(r.order) != len(r.queues) || r.waiting > 0 && r.running < r.seats || r.running < 0 {
				t.Fatalf("the room is %+v", r)
			}
		}
		for range 600 {
			switch random.IntN(8) {
			case 0:
				r.configure(random.IntN(6), queuing{})
			case 1, 2:
				queues := 1 + random.IntN(9)
				r.configure(random.IntN(6), queuing{queues, 1 + random.IntN(queues), 1 + random.IntN(3)})
			default:
				hash, patience, work := random.Uint64(), time.Duration(random.IntN(9))*time.Second, time.Duration(random.IntN(5))*time.Second
				running.Go(func() {
					ctx, cancel := context.WithTimeout(t.Context(), patience)
					defer cancel()
					if r.acquire(ctx, hash) == "" {
						time.Sleep(work)
						r.release()
					}
				})
			}
			time.Sleep(time.Duration(random.IntN(900)) * time.Millisecond)
			synctest.Wait()
			check()
		}
		running.Wait()
		if check(); r.running != 0 || r.waiting != 0 {
			t.Errorf("when all are done, the room is %+v", r)
		}
	})
}

// TestHand deals hands of different queues, whatever the hash is.
func TestHand(t *testing.T) {
	random := seeds.Rand(t)
	for range 500 {
		r := newRoom()
		r.queuing.queues = 1 + random.IntN(20)
		r.queuing.hand = r.queuing.queues // so that each queue is in the hand
		empty := random.IntN(r.queuing.queues)
		for i := range r.queuing.queues {
			if i != empty {
				r.queues[i] = make([]chan struct{}, 1)
			}
		}
		if got := r.shortest(random.Uint64()); got != empty {
			t.Fatalf("of %d queues, %d is empty, and the shortest is %d", r.queuing.queues, empty, got)
		}
	}
}
