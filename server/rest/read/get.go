package read

import (
	stderrors "errors"
	"net/http"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/store"
)

// Get answers with an object, or with the whole of it for its subresource status.
func (r *View) Get() (*Answer, error) {
	r.ObjectName = r.Target.Name
	asked, err := api.ParseVersion(r.Query.Get("resourceVersion"), false)
	if err != nil {
		return nil, err
	}
	if err := r.Reach(asked); err != nil {
		return nil, err
	}
	record, err := r.record()
	if err != nil {
		return nil, err
	}
	if text := r.TextOf(record); text != nil && r.Textual {
		return &Answer{Code: http.StatusOK, Text: text, Converted: true}, nil
	}
	o, err := r.read(record)
	if err != nil {
		return nil, err
	}
	return NewAnswer(http.StatusOK, o.Object), nil
}

// record returns the stored object of the request. The error is a 404 if there is none.
func (r *View) record() (store.Record, error) {
	record, err := r.Store.Get(r.Context(), r.Key(), 0)
	if stderrors.Is(err, store.ErrNotFound) {
		err = r.NotFound()
	}
	return record, err
}

// TextOf returns what appends the text of a stored object with its resource version, nil if that takes more than to look at what is
// stored.
func (r *View) TextOf(record store.Record) func([]byte) []byte {
	return r.facts.get(r.Version, record.Revision).text(record)
}

// text returns what appends the text of a stored object with its resource version. nil, which knows nothing, gives nil.
func (f *fact) text(record store.Record) func([]byte) []byte {
	if f == nil {
		return nil
	}
	return func(b []byte) []byte { return f.appendTo(b, record.Text, record.Revision, false) }
}
