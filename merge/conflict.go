package merge

import (
	"fmt"
	"strings"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/value"
)

// Conflicts, and what a server says about them.

// Conflict is one field that an apply would change although somebody else owns it.
type Conflict struct {
	Owner  Entry // who owns the field
	Path   fieldpath.Path
	Live   value.Value // what the field is, in the owner's version; absent when it is not there
	Wanted value.Value // what the apply would make it

	unstored bool // see internal.Unstored
}

// field returns the path as kube-apiserver prints it: as [fieldpath.Path.String] does for owners
// that were read, and with integers in decimal for those that were not.
func (c Conflict) field() string {
	if c.unstored {
		return paths.Decimal(c.Path)
	}
	return c.Path.String()
}

// Conflicts are all conflicts of an apply, sorted by manager, and for each manager in the order of
// [fieldpath.Set.All]. They are an error when they may not be decided by force.
type Conflicts []Conflict

// Error returns the message of kube-apiserver.
func (cs Conflicts) Error() string {
	if len(cs) == 1 {
		return fmt.Sprintf("Apply failed with 1 conflict: conflict with %v: %v", cs[0].Owner.Manager, cs[0].field())
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Apply failed with %d conflicts:", len(cs))
	for i, c := range cs {
		if i == 0 || cs[i-1].Owner.Manager != c.Owner.Manager {
			if i == 0 {
				b.WriteByte(' ')
			} else {
				b.WriteByte('\n')
			}
			fmt.Fprintf(&b, "conflicts with %v:", c.Owner.Manager)
		}
		fmt.Fprintf(&b, "\n- %v", c.field())
	}
	return b.String()
}
