package write

import "github.com/deed-project/deed/server/rest/read"

// Get answers with an object, or with its Scale.
func (r *Request) Get() (*read.Answer, error) {
	if r.Target.Subresource == "scale" {
		r.ObjectName = r.Target.Name
		return r.getScale()
	}
	return r.View.Get()
}
