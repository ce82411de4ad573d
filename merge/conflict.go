package merge

import (
	"fmt"
	"strings"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/value"
)

// Conflicts, and their messages.

// Conflict is one field that an apply would change although another manager owns it.
type Conflict struct {
	Owner  Entry // entry of the manager that owns the field
	Path   fieldpath.Path
	Live   value.Value // value of the field in the owner's version; absent if there is none
	Wanted value.Value // value after the apply

	unstored bool // see internal.Unstored
}

// field returns the path as kube-apiserver prints it. If the owner was read from managed fields,
// this is [fieldpath.Path.String]. For other owners, integers are in decimal.
func (c Conflict) field() string {
	if c.unstored {
		return paths.Decimal(c.Path)
	}
	return c.Path.String()
}

// Conflicts lists all conflicts of an apply, sorted by manager, and for each manager in the order
// of [fieldpath.Set.All]. It is the error of an apply that may not be forced.
type Conflicts []Conflict

// Error returns the message of kube-apiserver. After a megabyte of text, it gives only the number
// of further conflicts.
func (cs Conflicts) Error() string { return cs.message(0) }

// message is Error for cs and more further conflicts, which it only counts.
func (cs Conflicts) message(more int) string {
	if len(cs) == 1 && more == 0 {
		return fmt.Sprintf("Apply failed with 1 conflict: conflict with %v: %v", cs[0].Owner.Manager, cs[0].field())
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Apply failed with %d conflicts:", len(cs)+more)
	for i, c := range cs {
		if b.Len() > maxText {
			more += len(cs) - i
			break
		}
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
	if more > 0 {
		fmt.Fprintf(&b, "\nand %d more", more)
	}
	return b.String()
}

// ManyConflicts is the error in place of [Conflicts] if the paths of all conflicts would need too
// much memory. Paths of deep fields can be much longer than the object. It lists some conflicts,
// for each manager those with the first paths, and counts the others.
type ManyConflicts struct {
	First Conflicts
	More  int // number of conflicts that are not in First
}

// Error returns the message of kube-apiserver, with the number of all conflicts.
func (m *ManyConflicts) Error() string {
	if m == nil {
		return Conflicts(nil).Error()
	}
	return m.First.message(m.More)
}

// Unwrap returns First.
func (m *ManyConflicts) Unwrap() error {
	if m == nil {
		return nil
	}
	return m.First
}

const (
	maxElements = 1 << 17 // elements in the paths of the conflicts of an error
	maxText     = 1 << 20 // bytes of the message
)
