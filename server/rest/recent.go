package rest

import (
	"sync"

	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

// recentBudget bounds what a backend remembers, as the length of stored texts. A value takes about twice the memory of its text.
const recentBudget = 64 << 20

// recent remembers stored objects as they were read, so that each is read once per stored revision: lists, selectors and writes
// meet the same ones again and again. The zero recent is empty and ready. It is safe for concurrent use.
//
// Invariants: what is remembered is a function of the record and the version; used is the sum of the lengths of the texts of what
// is remembered, and at most recentBudget.
type recent struct {
	mu      sync.RWMutex
	objects map[recentKey]*readObject
	used    int
}

// recentKey names an object as a version shows it. A resource that is defined anew has other versions.
type recentKey struct {
	key     string
	version *catalog.Version
}

// readObject is a stored object that was read.
type readObject struct {
	Live
	whole value.Value // with its managed fields
}

// get returns what is remembered of a record, nil if that is nothing, or of another revision.
func (r *recent) get(record store.Record, v *catalog.Version) *readObject {
	r.mu.RLock()
	defer r.mu.RUnlock()
	o := r.objects[recentKey{record.Key, v}]
	if o == nil || o.Record.Revision != record.Revision {
		return nil
	}
	return o
}

// put remembers an object. When the budget is spent, others are forgotten, whichever come first.
func (r *recent) put(o *readObject, v *catalog.Version) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.objects == nil {
		r.objects = map[recentKey]*readObject{}
	}
	key := recentKey{o.Record.Key, v}
	r.forget(key)
	r.objects[key] = o
	r.used += len(o.Record.Text)
	for other := range r.objects {
		if r.used <= recentBudget {
			return
		}
		if other != key {
			r.forget(other)
		}
	}
}

func (r *recent) forget(key recentKey) {
	if o := r.objects[key]; o != nil {
		r.used -= len(o.Record.Text)
		delete(r.objects, key)
	}
}

// read returns a record as the version of the request shows it.
func (r *Request) read(record store.Record) (*readObject, error) {
	if o := r.recent.get(record, r.Version); o != nil {
		return o, nil
	}
	live, err := r.shown(record)
	if err != nil {
		return nil, err
	}
	o := &readObject{Live: live}
	if o.whole, err = live.Value(); err != nil {
		return nil, err
	}
	r.recent.put(o, r.Version)
	return o, nil
}
