package rest

import (
	"net/http"

	"github.com/deed-project/deed/server/api"
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
	live, err := r.mustLoad()
	if err != nil {
		return nil, err
	}
	return answer(http.StatusOK, live.Object), nil
}
