package managedfields

import (
	"hash/maphash"
	"sync/atomic"

	"github.com/deed-project/deed/typed"
	"github.com/deed-project/deed/value"
)

// Recent returns the object of this namespace and name as m last wrote it, without managed fields, and the zero Object if m does
// not remember it: see [Config.Recent]. It may be out of date. Use it as what a stored object is expected to be like, in
// [ObjectFromAnyLike] and the like: what is still the same is then neither made nor checked again.
func (m *FieldManager) Recent(namespace, name string) Object {
	if v := m.recent.get(namespace, name); v != nil {
		return Object{Content: v.Content()}
	}
	return Object{}
}

// recents is a table of objects of one kind, which conform to its type. An object has one place, found by its name, and takes it
// from the object that was there. Reading and writing a place are single atomic operations, so nobody waits for anybody.
type recents []atomic.Pointer[typed.Value]

func (r recents) get(namespace, name string) *typed.Value {
	if len(r) == 0 {
		return nil
	}
	v := r.place(namespace, name).Load()
	if v == nil || nameOf(v.Content()) != [2]string{namespace, name} {
		return nil
	}
	return v
}

func (r recents) store(v typed.Value) {
	if len(r) > 0 {
		name := nameOf(v.Content())
		r.place(name[0], name[1]).Store(&v)
	}
}

func (r recents) place(namespace, name string) *atomic.Pointer[typed.Value] {
	hash := 31*maphash.String(hashSeed, namespace) + maphash.String(hashSeed, name)
	return &r[hash%uint64(len(r))]
}

// nameOf returns the namespace and name of an object.
func nameOf(object value.Value) [2]string {
	metadata := object.Get("metadata")
	return [2]string{metadata.Get("namespace").Str(), metadata.Get("name").Str()}
}
