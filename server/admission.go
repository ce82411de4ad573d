package server

import (
	"github.com/deed-project/deed/server/catalog"
)

// alike returns the versions in which the objects of a resource are served: its own, and those of resources of other groups that
// they are stored for as well, such as events. The cost grows with the number of resources.
func (s *Server) alike(r *catalog.Resource) []*catalog.Version {
	out := r.Declared()
	for other := range s.catalog.Load().All() {
		if other.Prefix == r.Prefix && other != r {
			out = append(out[:len(out):len(out)], other.Declared()...)
		}
	}
	return out
}
