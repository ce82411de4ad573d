package rest

import "net/http"

// Get answers with an object, or with the whole of it for its subresource status.
func (r *Request) Get() (*Answer, error) {
	r.name = r.Target.Name
	if r.Target.Subresource == "scale" {
		return r.getScale()
	}
	live, err := r.mustLoad()
	if err != nil {
		return nil, err
	}
	return answer(http.StatusOK, live.Object)
}
