package flowcontrol

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"
)

// room holds the requests of a priority level: those that are carried out, one on each seat, and those that wait in queues.
//
// Requests of one flow share a hand of queues, so that a flow with many requests does not fill the others. The queues give in turn, a request
// each.
//
// Invariants, while mu is not held:
//
//	waiting == 0 || running >= seats    a seat is not left free
//	order has the queues that are not empty, each once
type room struct {
	smooth float64 // seats that are needed, smoothed over some minutes; guarded by the mutex of the Controller

	mu      sync.Mutex
	queuing queuing
	seats   int
	running int
	waiting int
	queues  map[int][]chan struct{} // of requests that wait, by number; a channel is closed when its request gets a seat
	order   []int                   // numbers of queues, the next one first
	demand  demand

	refusals refusals
}

// queuing says where requests wait. The zero queuing has no queues.
type queuing struct{ queues, hand, length int }

func newRoom() *room {
	r := &room{queues: map[int][]chan struct{}{}}
	r.demand.reset()
	return r
}

// configure changes the number of seats and the queues. Requests that wait in a queue that is gone keep their place.
func (r *room) configure(seats int, q queuing) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seats, r.queuing = seats, q
	r.seatNext()
}

// enter takes a seat that is not counted, for a request that is exempt.
func (r *room) enter() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.running++
	r.demand.set(r.running)
}

// Refusal is why a request was not carried out, in the words of kube-apiserver's metrics. It is empty for a request that was.
type Refusal string

const (
	LevelFull Refusal = "concurrency-limit" // the level has no free seat, and no queues
	QueueFull Refusal = "queue-full"
	TimedOut  Refusal = "time-out" // the request has waited too long, or its client has left
)

// acquire takes a seat, or returns why there is none. Without queues it does not wait, and a room without seats has one nevertheless, as in
// kube-apiserver.
func (r *room) acquire(ctx context.Context, hash uint64) Refusal {
	r.mu.Lock()
	if r.queuing.queues == 0 {
		defer r.mu.Unlock()
		if r.running >= max(1, r.seats) {
			return LevelFull
		}
		r.running++
		r.demand.set(r.running + r.waiting)
		return ""
	}
	queue := r.shortest(hash)
	if r.running >= r.seats && len(r.queues[queue]) >= r.queuing.length {
		r.mu.Unlock()
		return QueueFull
	}
	seated := make(chan struct{})
	if len(r.queues[queue]) == 0 {
		r.order = append(r.order, queue)
	}
	r.queues[queue] = append(r.queues[queue], seated)
	r.waiting++
	r.demand.set(r.running + r.waiting)
	r.seatNext()
	r.mu.Unlock()
	select {
	case <-seated:
		return ""
	case <-ctx.Done():
		if r.leave(queue, seated) {
			return TimedOut
		}
		return ""
	}
}

// release gives a seat back.
func (r *room) release() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.running--
	r.demand.set(r.running + r.waiting)
	r.seatNext()
}

// seatNext gives free seats to requests that wait. The queue that gave one is the last in turn.
func (r *room) seatNext() {
	for r.running < r.seats && r.waiting > 0 {
		queue := r.order[0]
		close(r.queues[queue][0])
		r.queues[queue], r.order = r.queues[queue][1:], r.order[1:]
		if len(r.queues[queue]) > 0 {
			r.order = append(r.order, queue)
		} else {
			delete(r.queues, queue)
		}
		r.running, r.waiting = r.running+1, r.waiting-1
	}
}

// leave takes a request out of its queue, and reports whether it was there: it may have got a seat in the meantime.
func (r *room) leave(queue int, seated chan struct{}) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.Index(r.queues[queue], seated)
	if i < 0 {
		return false
	}
	r.queues[queue] = slices.Delete(r.queues[queue], i, i+1)
	if len(r.queues[queue]) == 0 {
		delete(r.queues, queue)
		r.order = slices.DeleteFunc(r.order, func(n int) bool { return n == queue })
	}
	r.waiting--
	r.demand.set(r.running + r.waiting)
	return true
}

// shortest returns the shortest queue of the hand that a hash deals: queues that differ, each chosen by what the hash has left.
func (r *room) shortest(hash uint64) int {
	best := -1
	dealt := make([]int, 0, 8) // in ascending order
	for i := range r.queuing.hand {
		left := uint64(r.queuing.queues - i)
		queue := int(hash % left)
		hash /= left
		at := 0
		for ; at < len(dealt) && queue >= dealt[at]; at++ {
			queue++
		}
		dealt = slices.Insert(dealt, at, queue)
		if best < 0 || len(r.queues[queue]) < len(r.queues[best]) {
			best = queue
		}
	}
	return best
}

// smoothing is how much of the smoothed demand is left after AdjustInterval: half of it after five minutes.
const smoothing = 0.977

// measure returns the highest demand since the last time, and smooths the demand.
func (r *room) measure() (highest int) {
	r.mu.Lock()
	usual, highest, measured := r.demand.reset()
	r.mu.Unlock()
	if measured {
		r.smooth = max(usual, smoothing*r.smooth+(1-smoothing)*usual)
	}
	return highest
}

// demand measures how many seats are needed, over time.
type demand struct {
	since, last  time.Time // when the measure began, and when it was last changed
	needed       float64
	highest      int
	sum, squares float64 // of what was needed, times seconds
}

func (d *demand) set(needed int) {
	d.advance()
	d.needed, d.highest = float64(needed), max(d.highest, needed)
}

// advance counts what was needed up to now.
func (d *demand) advance() {
	now := time.Now()
	seconds := now.Sub(d.last).Seconds()
	d.last = now
	d.sum += d.needed * seconds
	d.squares += d.needed * d.needed * seconds
}

// reset begins a new measure, and returns what the last one says: the average plus the standard deviation, and the highest demand. It returns
// false if no time has passed.
func (d *demand) reset() (usual float64, highest int, measured bool) {
	d.advance()
	seconds := d.last.Sub(d.since).Seconds()
	highest, measured = d.highest, seconds > 0
	if measured {
		average := d.sum / seconds
		usual = average + math.Sqrt(max(0, d.squares/seconds-average*average))
	}
	d.since, d.highest, d.sum, d.squares = d.last, int(d.needed), 0, 0
	return usual, highest, measured
}
