package flowcontrol

import "time"

// refusals counts the requests that a priority level refused, and says when their clients should ask again: later the longer the level refuses.
// The zero refusals are none. They are guarded by the mutex of the room.
//
// Seconds are those of Unix time. Only the first refusal in a second changes the answer, by the refusals of the seconds before:
//
//	fewer than after in the last after seconds        after - 1, at least 1
//	3*after or more, and after seconds since a rise   2*after, at most maxAfter
type refusals struct {
	now   refused
	past  []refused // in ascending order
	after int64     // seconds after which a client should ask again; 0 is 1
	risen int64     // the second in which after rose last
}

// refused is how many requests were refused in a second.
type refused struct{ second, count int64 }

// maxAfter is the most that a client is told to wait, in seconds.
const maxAfter = 32

// add counts a refusal in a second, and returns after how many seconds the client should ask again.
func (f *refusals) add(second int64) int64 {
	f.after = max(1, f.after)
	if f.now.second != second {
		f.past = append(f.past, f.now)
		for f.now.second-f.past[0].second > min(2*f.after, maxAfter) { // which no later call counts
			f.past = f.past[1:]
		}
		f.now = refused{second: second}
		f.adjust()
	}
	f.now.count++
	return f.after
}

// adjust brings after in line with the refusals of the last seconds, without those of the present one.
func (f *refusals) adjust() {
	sum := int64(0)
	for _, of := range f.past {
		if f.now.second-of.second <= f.after {
			sum += of.count
		}
	}
	switch {
	case sum >= 3*f.after && f.now.second-f.risen >= f.after:
		f.after, f.risen = min(2*f.after, maxAfter), f.now.second
	case sum < f.after:
		f.after = max(1, f.after-1)
	}
}

// Refuse counts a request that was not carried out, and returns after how many seconds its client should ask again.
func (f Flow) Refuse() int64 {
	r := f.level.room
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.refusals.add(time.Now().Unix())
}
