package read

import (
	"sync"

	"github.com/deed-project/deed/server/cache"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

// recentBudget bounds what a backend remembers, as the length of stored texts. A value takes about twice the memory of its text.
const recentBudget = 32 << 20

// recent keeps stored objects as they were read, so that each is read once per stored revision: lists, selectors and writes meet the same
// objects again and again. The zero recent is empty. It is safe for concurrent use.
//
// Invariant: an object is a function of its record and the version.
type recent struct {
	objects cache.Cache[recentKey, *readObject]
}

// recentKey names an object as a version shows it. A resource that is defined anew has other versions.
type recentKey struct {
	key     string
	version *catalog.Version
}

// readObject is a stored object that was read.
type readObject struct {
	Live
	once  sync.Once
	whole value.Value // see document
	err   error
}

// document returns the object with its managed fields within it, which are read when somebody asks first.
func (o *readObject) document() (value.Value, error) {
	o.once.Do(func() { o.whole, o.err = o.Live.Value() })
	return o.whole, o.err
}

// get returns the object of a record, nil if there is none, or one of another revision.
func (r *recent) get(record store.Record, v *catalog.Version) *readObject {
	o := r.last(record.Key, v)
	if o == nil || o.Record.Revision != record.Revision {
		return nil
	}
	return o
}

// last returns the object with a key, of any revision; nil if there is none.
func (r *recent) last(key string, v *catalog.Version) *readObject {
	o, _ := r.objects.Get(recentKey{key, v})
	return o
}

// put keeps an object.
func (r *recent) put(o *readObject, v *catalog.Version) {
	r.objects.Put(recentKey{o.Record.Key, v}, o, len(o.Record.Text), recentBudget)
}

// gone removes an object that was deleted, in all versions of its resource.
func (r *recent) gone(key string, resource *catalog.Resource) {
	for _, v := range resource.Versions {
		r.objects.Remove(recentKey{key, v})
	}
}
