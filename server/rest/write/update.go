package write

import (
	"net/http"

	"k8s.io/apimachinery/pkg/api/errors"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/rest/read"
)

// Update carries out PUT.
//
//	options   of the query
//	decode    the object, with its defaults
//	identify  its namespace and name
//	own       what it changes is the manager's
//	store     in place of what is there; see write.run
func (r *Request) Update() (*read.Answer, error) {
	if r.Target.Name == "" {
		return nil, errors.NewBadRequest("name must be provided")
	}
	r.ObjectName = r.Target.Name
	if r.Target.Subresource == "scale" {
		return r.updateScale()
	}
	options, err := api.ParseUpdateOptions(r.Query)
	if err != nil {
		return nil, err
	}
	sent, err := r.decode(options, r.LastRead())
	if err != nil {
		return nil, err
	}
	if sent.Content, err = r.identified(sent); err != nil {
		return nil, err
	}
	sent.Content = r.withoutRepeatedOwners(sent.Content)
	w := &write{
		Request: r, dryRun: options.DryRun, uid: api.Meta(sent.Content, "uid"),
		create: r.Version.CreateOnUpdate && r.Target.Subresource == "",
	}
	object, created, err := w.run(func(live read.Live) (managedfields.Object, error) {
		object := sent
		object.Content = storage.Share(sent.Content, live.Content)
		return r.update(live, object, options)
	})
	if err != nil {
		return nil, err
	}
	if created {
		return w.answer(http.StatusCreated, object), nil
	}
	return w.answer(http.StatusOK, object), nil
}
