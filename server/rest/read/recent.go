package read

import (
	"sync"

	"github.com/deed-project/deed/server/cache"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

// recentBudget bounds the cached objects by the length of their texts. A value takes about twice the memory of its text.
const recentBudget = 32 << 20

// recent caches decoded objects, so that each stored revision is decoded once. Lists, selectors and writes often need the same objects. The
// zero recent is empty. It is safe for concurrent use.
//
// Invariant: an object is a function of its record and the version.
//
// An object that is in the cache is shared: by requests, watches and later writes of the same object. It must not be modified.
type recent struct {
	objects cache.Cache[recentKey, *readObject]
}

// recentKey identifies an object in a version. A resource whose definition changed has other versions.
type recentKey struct {
	key     string
	version *catalog.Version
}

// readObject is a decoded stored object.
//
// once guards whole and err. Joining the managed fields is left to the first request that needs them.
type readObject struct {
	Live
	once  sync.Once
	whole value.Value // see document
	err   error
}

// document returns the object with its managed fields in it. The first call joins them.
func (o *readObject) document() (value.Value, error) {
	o.once.Do(func() { o.whole, o.err = o.Live.Value() })
	return o.whole, o.err
}

// get returns the object of a record, or nil if the cache has none of this revision.
func (r *recent) get(record store.Record, v *catalog.Version) *readObject {
	o := r.last(record.Key, v)
	if o == nil || o.Record.Revision != record.Revision {
		return nil
	}
	return o
}

// last returns the object of a key at any revision, or nil.
//
// The revision does not matter to callers that only want parts to share.
func (r *recent) last(key string, v *catalog.Version) *readObject {
	o, _ := r.objects.Get(recentKey{key, v})
	return o
}

// put caches an object.
//
// An object replaces the one with the same key and version, whichever is newer: get compares revisions anyway.
func (r *recent) put(o *readObject, v *catalog.Version) {
	r.objects.Put(recentKey{o.Record.Key, v}, o, len(o.Record.Text), recentBudget)
}

// gone removes a deleted object, in all versions of its resource.
func (r *recent) gone(key string, resource *catalog.Resource) {
	for _, v := range resource.Versions {
		r.objects.Remove(recentKey{key, v})
	}
}
