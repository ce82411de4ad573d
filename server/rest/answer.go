package rest

import (
	"strconv"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/server/wire"
	"github.com/deed-project/deed/value"
)

// Answer is the outcome of a request that succeeds.
type Answer struct {
	Code int
	// One of the two: a document, or a list of objects.
	Object managedfields.Object
	List   *List
	// Text appends the JSON text of Object, if that is known without printing it; else it is nil. It may be all that there is, if the
	// request asked for it.
	Text func(b []byte) []byte
	// Converted tells that the answer can be had as a Table or as metadata only: it is about objects of the resource.
	Converted bool
	// Release releases the memory that is reserved for the answer. It is called once the answer is sent; nil releases nothing.
	Release func()
}

// NewAnswer returns an object as the answer to a request.
func NewAnswer(code int, object managedfields.Object) *Answer {
	return &Answer{Code: code, Object: object, Converted: true}
}

// NewDocument returns an answer that is no object of the resource.
func NewDocument(code int, content value.Value) *Answer {
	return &Answer{Code: code, Object: managedfields.Object{Content: content}}
}

// List is the answer to a request for a collection.
type List struct {
	Items     []value.Value
	Version   store.Revision // 0 for objects that are not stored
	Continue  string
	Remaining int // unknown if 0
}

// Meta returns what the metadata of the list says.
func (l *List) Meta() wire.ListMeta {
	if l.Version == 0 {
		return wire.ListMeta{}
	}
	return wire.ListMeta{Version: strconv.FormatInt(int64(l.Version), 10), Continue: l.Continue, Remaining: l.Remaining}
}
