package rest

import (
	stderrors "errors"
	"net/http"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/store"
)

// Get answers with an object, or with the whole of it for its subresource status.
func (r *Request) Get() (*Answer, error) {
	r.name = r.Target.Name
	if r.Target.Subresource == "scale" {
		return r.getScale()
	}
	asked, err := api.ParseVersion(r.Query.Get("resourceVersion"), false)
	if err != nil {
		return nil, err
	}
	if err := r.reach(asked); err != nil {
		return nil, err
	}
	record, err := r.record()
	if err != nil {
		return nil, err
	}
	if text := r.textOf(record); text != nil && r.Textual {
		return &Answer{Code: http.StatusOK, Text: text, Converted: true}, nil
	}
	o, err := r.read(record)
	if err != nil {
		return nil, err
	}
	return answer(http.StatusOK, o.Object), nil
}

// record returns the stored object of the request. The error is a 404 if there is none.
func (r *Request) record() (store.Record, error) {
	record, err := r.Store.Get(r.context(), r.key(), 0)
	if stderrors.Is(err, store.ErrNotFound) {
		err = r.notFound()
	}
	return record, err
}

// textOf returns what appends the text of a stored object with its resource version, nil if that takes more than to look at what is
// stored.
func (r *Request) textOf(record store.Record) func([]byte) []byte {
	return r.facts.get(r.Version, record.Revision).text(record)
}

// text returns what appends the text of a stored object with its resource version. nil, which knows nothing, gives nil.
func (f *fact) text(record store.Record) func([]byte) []byte {
	if f == nil {
		return nil
	}
	return func(b []byte) []byte { return f.appendTo(b, record.Text, record.Revision, false) }
}
