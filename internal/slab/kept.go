package slab

// Kept returns scratch emptied for reuse, or nil if its array has more than most elements. The memory of one large document is
// then not held for the small ones that follow. Old elements stay in the array beyond the length, so callers clear pointers that
// must not live on.
func Kept[E any](scratch []E, most int) []E {
	if cap(scratch) > most {
		return nil
	}
	return scratch[:0]
}
