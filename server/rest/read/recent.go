package read

import (
	"math"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/deed-project/deed/internal/beside"
	"github.com/deed-project/deed/managedfields"
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

// Forget drops what is cached of a resource that is replaced or no more served.
func (b *Reader) Forget(resource *catalog.Resource) {
	b.recent.objects.RemoveIf(func(k recentKey) bool { return k.version.Resource == resource })
	b.facts.drop(resource)
	b.indexes.drop(resource)
	b.blocks.RemoveIf(func(k blockKey) bool { return k.isOf(resource) })
}

// read returns a record as the version of the request shows it.
func (r *View) read(record store.Record) (*readObject, error) {
	if o := r.recent.get(record, r.Version); o != nil {
		return o, nil
	}
	live, err := r.ReadOnce(record)
	if err != nil {
		return nil, err
	}
	return r.Remember(live), nil
}

// lastRead returns the object of the request as it was read last, which may be some time ago, and the zero Live if nobody remembers.
func (r *View) LastRead() Live {
	if o := r.recent.last(r.Key(), r.Version); o != nil {
		return o.Live
	}
	return Live{}
}

// remember keeps an object as it was read.
func (r *View) Remember(live Live) *readObject {
	o := &readObject{Live: live}
	r.recent.put(o, r.Version)
	return o
}

// maxHeirs is how often an object is remembered as it was written before it is read from its text again. What is written shares parts with
// what was there before, and a part keeps the text around it, so that otherwise there would be no end to what an object keeps.
const maxHeirs = 32

// keep remembers an object that was just written, so that it need not be read from its text: the next request for an object is often
// about one that was just written.
//
// What is remembered is what reading gives. So an object must read back as it is.
func (r *View) Keep(o Live) {
	if o.Writes > maxHeirs {
		return
	}
	if o.Record.Created == 0 {
		o.Record.Created = o.Record.Revision
	}
	o.Entries = slices.Clone(o.Entries)
	for i := range o.Entries {
		e := &o.Entries[i]
		e.Time = e.Time.Truncate(time.Second) // as it is printed
		if !e.FieldsV1.IsAbsent() {
			e.FieldsV1 = managedfields.FieldsOf(e.FieldsV1.String())
		}
	}
	r.Remember(o)
}

// readsBack reports whether v is surely the same when its text is read. Otherwise a whole number that is a float here may be printed as
// an integer, and text that is no UTF-8 as other text. Parts of known, absent for none, read back.
func ReadsBack(v, known value.Value) bool {
	if v.Same(known) {
		return true
	}
	switch v.Kind() {
	case value.KindFloat:
		return v.Float() != math.Trunc(v.Float())
	case value.KindString:
		return utf8.ValidString(v.Str())
	case value.KindList:
		for i := range v.Len() {
			if !ReadsBack(v.Item(i), beside.Item(known, i)) {
				return false
			}
		}
	case value.KindObject:
		others := beside.Of(known)
		for i := range v.Len() {
			if m := v.Member(i); !utf8.ValidString(m.Name) || !ReadsBack(m.Value, others.Get(m.Name)) {
				return false
			}
		}
	}
	return true
}
