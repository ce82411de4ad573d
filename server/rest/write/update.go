package write

import (
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/rest"
	"github.com/deed-project/deed/server/rest/read"
)

// Update carries out PUT.
//
//	options   of the query
//	decode    the object, with its defaults
//	identify  its namespace and name
//	own       what it changes is the manager's
//	store     in place of what is there; see Task.Run
//
// The body is decoded before the object is loaded: an invalid body is a 400 even if the object is missing. The UID in the body is a
// precondition. A kind may let PUT create what is missing.
func (w *Writer) Update(q *rest.Request) (*rest.Answer, error) {
	if q.IsScale() {
		return w.updateScale(q)
	}
	options, err := api.ParseUpdateOptions(q.Query)
	if err != nil {
		return nil, err
	}
	sent, err := Decode(q, options, w.Reader.View(q.Version).LastRead(q.Key()))
	if err != nil {
		return nil, err
	}
	if sent.Content, err = identified(q, sent); err != nil {
		return nil, err
	}
	sent.Content = withoutRepeatedOwners(q, sent.Content)
	t := &Task{
		Writer: w, Request: q, DryRun: options.DryRun, UID: api.Meta(sent.Content, "uid"),
		create: q.Version.CreateOnUpdate,
	}
	updated, err := t.Run(func(live *read.Live) (managedfields.Object, error) {
		object := sent
		// Share parts with the live object of this attempt, so that later steps recognize equal parts by their storage.
		object.Content = storage.Share(sent.Content, live.Content)
		return Own(q, live, object, options)
	})
	if err != nil {
		return nil, err
	}
	return updated.answer(), nil
}
