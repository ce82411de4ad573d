package difftest

import "github.com/deed-project/deed/internal/testing/gen"

// difference runs h, which may be invalid, and returns the first difference with the number of its write.
func difference(h *gen.History) (string, int) {
	w := worldOf(h.Schema)
	if w == nil {
		return "", 0
	}
	deed, smd := w.start(h.Filters)
	for i, write := range h.Writes {
		if w.types[write.Version] == nil {
			return "", 0
		}
		d, stop := compare(deed, smd, write)
		if d != "" {
			return d, i
		}
		if stop {
			return "", 0
		}
	}
	return "", 0
}

var latest struct {
	schema *gen.Schema
	world  *world
}

// worldOf returns the world of s, or nil if s has problems. It caches the last one, because consecutive histories share a schema.
func worldOf(s *gen.Schema) *world {
	if latest.schema != s {
		latest.schema = s
		latest.world, _ = newWorld(s) // schemas with problems are skipped here
	}
	return latest.world
}

// shrink returns a small history that shows the difference of h.
func shrink(h *gen.History) *gen.History {
	small := gen.Shrink(h, func(h *gen.History) bool {
		d, _ := difference(h)
		return d != ""
	})
	_, last := difference(small)
	return &gen.History{Schema: small.Schema, Writes: small.Writes[:last+1]}
}
