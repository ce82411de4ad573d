package read

import (
	"bytes"
	"slices"
	"time"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/server/cache"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/server/wire"
	"github.com/deed-project/deed/value"
)

// From records to objects. A record is decoded as rarely as possible, by one of these ways:
//
//	read       from the cache of objects, or decoded and cached       for gets, writes, and lists that need fields
//	ReadOnce   decoded, and only the fact is cached                   for lists that will use the text from then on
//	Shown      decoded, and nothing is cached                         for events, whose objects shared.go caches
//	Keep       not decoded: a write gives the object that it stored   for the next request about the same object

// Reader is the store with caches of its objects and texts. It is safe for concurrent use.
//
// Store and Now are set before the first request. The caches are empty at first. All but the indexes have bounds of their own. They hold
// nothing that does not follow from the store, so dropping any of it is safe at any time.
type Reader struct {
	Store store.Store
	Now   func() time.Time

	recent  recent
	facts   facts
	events  events
	blocks  cache.Cache[blockKey, wire.Part] // compressed parts of lists
	room    room
	onces   onces
	indexes indexes
}

// Forget drops everything cached of a resource that is replaced or no longer served.
func (b *Reader) Forget(resource *catalog.Resource) {
	b.recent.objects.RemoveIf(func(k recentKey) bool { return k.version.Resource == resource })
	b.facts.drop(resource)
	b.indexes.drop(resource)
	b.blocks.RemoveIf(func(k blockKey) bool { return k.isOf(resource) })
}

// View shows stored objects as a version has them. It holds nothing of a request, so that a watch can keep it.
type View struct {
	*Reader
	Version *catalog.Version
}

// View returns the view of a version.
func (b *Reader) View(v *catalog.Version) View { return View{b, v} }

// read returns a record as the version shows it, from the cache if it is there.
func (v View) read(record store.Record) (*readObject, error) {
	if o := v.recent.get(record, v.Version); o != nil {
		return o, nil
	}
	live, err := v.ReadOnce(record)
	if err != nil {
		return nil, err
	}
	return v.Remember(live), nil
}

// ReadOnce reads a record that need not be read again soon, and keeps the fact about its text. If there is a fact, the version shows the
// text as it is, and nothing needs to be loaded.
//
// If there is none, the texts are compared: the fact is made only if printing the object gives the stored text.
func (v View) ReadOnce(record store.Record) (Live, error) {
	stored, err := managedfields.ParseObject(record.Text)
	if err != nil {
		return Live{}, Corrupt(record, err)
	}
	content := stored.Content
	if v.facts.get(v.Version, record.Revision) == nil {
		if content, err = catalog.Load(v.Version.Form, stored); err != nil {
			return Live{}, Corrupt(record, err)
		}
		if content.Equal(stored.Content) && bytes.Equal(stored.AppendJSON(nil), record.Text) {
			v.note(record)
		}
	}
	stored.Content = WithVersion(content, record.Revision)
	return Live{Object: stored, Record: record}, nil
}

// Shown returns a record as the version shows it. It uses no cache.
//
// Unlike ReadOnce, it neither uses a fact nor looks for one.
func (v View) Shown(record store.Record) (Live, error) {
	stored, err := managedfields.ParseObject(record.Text)
	if err != nil {
		return Live{}, Corrupt(record, err)
	}
	if stored.Content, err = catalog.Load(v.Version.Form, stored); err != nil {
		return Live{}, Corrupt(record, err)
	}
	stored.Content = WithVersion(stored.Content, record.Revision)
	return Live{Object: stored, Record: record}, nil
}

// LoadIncremental returns a stored object as the version shows it, given a settled object that it shares parts with, absent for none.
func (v View) LoadIncremental(stored managedfields.Object, settled value.Value) (value.Value, error) {
	if form, ok := v.Version.Form.(catalog.IncrementalForm); ok && !settled.IsAbsent() {
		return form.LoadIncremental(stored.Content, settled)
	}
	return catalog.Load(v.Version.Form, stored)
}

// StoresItself reports whether objects are stored as the version has them: nothing converts them.
//
// With a conversion webhook, the answer is false for all versions.
func (v View) StoresItself() bool {
	_, foreign := v.Version.Form.(catalog.Batch)
	return !foreign && v.Version.Name == v.Version.Stored
}

// LastRead returns the object with a key as it was read last, which may be some time ago. It is a zero Live if the object is not cached.
func (v View) LastRead(key string) *Live {
	if o := v.recent.last(key, v.Version); o != nil {
		return &o.Live
	}
	return &Live{}
}

// Remember caches an object as it was read.
func (v View) Remember(live Live) *readObject {
	o := &readObject{Live: live}
	v.recent.put(o, v.Version)
	return o
}

// maxHeirs is how often an object is cached as it was written before it is read from its text again. A written object shares parts with
// the object before it, and a part keeps the text around it. So without a bound, an object would keep more and more text.
const maxHeirs = 32

// Keep caches an object that was just written, so that it need not be read from its text: the next request for an object is often
// about one that was just written.
//
// Invariant: a cached object equals what decoding its text gives. So Keep only takes objects that read back unchanged.
//
// A written object that another write has replaced meanwhile does no harm: readers compare the revision.
func (v View) Keep(o Live) {
	if o.Writes > maxHeirs {
		return
	}
	if o.Record.Created == 0 {
		o.Record.Created = o.Record.Revision
	}
	// The entries become what decoding the text would give: times in whole seconds, and sets as texts.
	o.Entries = slices.Clone(o.Entries)
	for i := range o.Entries {
		e := &o.Entries[i]
		e.Time = e.Time.Truncate(time.Second) // the precision of the text
		if !e.FieldsV1.IsAbsent() {
			e.FieldsV1 = managedfields.FieldsOf(e.FieldsV1.String())
		}
	}
	v.Remember(o)
}

// Replaced drops the facts about a stored text that was replaced or deleted.
func (v View) Replaced(revision store.Revision) { v.facts.forget(revision) }

// Removed drops the cache entry of a deleted object.
func (v View) Removed(key string) { v.recent.gone(key, v.Version.Resource) }

// TextOf returns a function that appends the text of a stored object with its resource version. It is nil if no fact about the text is
// cached.
func (v View) TextOf(record store.Record) func([]byte) []byte {
	return v.facts.get(v.Version, record.Revision).text(record)
}

// NoteText caches the fact about a record that the version serves unchanged. It returns the same as TextOf does after that.
func (v View) NoteText(record store.Record) func([]byte) []byte { return v.note(record).text(record) }

// note caches and returns the fact about a record that the version serves unchanged. It returns nil if there is none.
func (v View) note(record store.Record) *fact {
	known, ok := factOf(v.Version, record.Text)
	if !ok {
		return nil
	}
	known.border = isBorder(record.Key)
	v.facts.put(record.Revision, known)
	return known
}

// known returns the fact about the text of a record. It reads the record if the fact is not cached. The fact is nil if there is none.
//
// Watches that begin at once ask for the same records. The lock lets one of them decode, and the others look again.
func (v View) known(record store.Record) (*fact, error) {
	if known := v.facts.get(v.Version, record.Revision); known != nil {
		return known, nil
	}
	once := &v.onces[record.Revision%store.Revision(len(v.onces))]
	once.Lock()
	defer once.Unlock()
	if known := v.facts.get(v.Version, record.Revision); known != nil {
		return known, nil
	}
	if _, err := v.ReadOnce(record); err != nil {
		return nil, err
	}
	return v.facts.get(v.Version, record.Revision), nil
}

// sharedOf returns the object that a write left, or the one that it replaced with the revision of the write.
//
// An error is kept, too: all watches fail with it.
func (v View) sharedOf(record store.Record, replaced bool) (*shared, error) {
	s := v.events.get(eventKey{record.Key, record.Revision, v.Version, replaced})
	s.once.Do(func() {
		if s.live, s.err = v.Shown(record); s.err == nil {
			s.whole, s.err = s.live.Value()
		}
	})
	return s, s.err
}
