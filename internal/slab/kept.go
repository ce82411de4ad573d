package slab

// Kept returns scratch emptied, to be used again, or nil if its array has more than most elements:
// then the memory that one large document needed is not held for the small ones that follow. What
// was in it stays behind the end: pointers that must not live on are cleared before.
func Kept[E any](scratch []E, most int) []E {
	if cap(scratch) > most {
		return nil
	}
	return scratch[:0]
}
