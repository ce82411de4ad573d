package typed

import (
	"fmt"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// Comparison has the paths at which two values differ. If all of its sets are empty, the values
// are equal.
type Comparison struct {
	// Removed are the paths that only the old value has.
	Removed *fieldpath.Set
	// Modified are the paths that both have, with different values.
	Modified *fieldpath.Set
	// Added are the paths that only the new value has.
	Added *fieldpath.Set
}

// IsSame reports whether there is no difference.
func (c *Comparison) IsSame() bool {
	return c.Removed.Empty() && c.Modified.Empty() && c.Added.Empty()
}

// String returns the difference as readable text.
func (c *Comparison) String() string {
	var b strings.Builder
	for _, part := range []struct {
		name string
		set  *fieldpath.Set
	}{{"Modified", c.Modified}, {"Added", c.Added}, {"Removed", c.Removed}} {
		if !part.set.Empty() {
			fmt.Fprintf(&b, "- %s Fields:\n%v\n", part.name, part.set)
		}
	}
	return b.String()
}

// ExcludeFields removes fields, and all paths below them, from c, and returns c. nil removes
// nothing.
func (c *Comparison) ExcludeFields(fields *fieldpath.Set) *Comparison {
	if fields == nil || fields.Empty() {
		return c
	}
	return c.FilterFields(fieldpath.NewExcludeSetFilter(fields))
}

// FilterFields removes from c the paths that filter removes, and returns c. nil removes
// nothing.
func (c *Comparison) FilterFields(filter fieldpath.Filter) *Comparison {
	if filter != nil {
		c.Removed, c.Modified, c.Added = filter.Filter(c.Removed), filter.Filter(c.Modified), filter.Filter(c.Added)
	}
	return c
}
