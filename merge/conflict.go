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

// Error returns the message of kube-apiserver. Behind a megabyte of text it says how many conflicts
// there are beyond.
func (cs Conflicts) Error() string { return cs.message(0) }

// message is Error of conflicts beside which there are more.
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

// ManyConflicts are conflicts of which only some are told apart: those with the first paths of each
// manager. It is an error in place of [Conflicts] where the paths of all would need too much memory, for
// they are longer than the object by far if what is in conflict is deep in it.
type ManyConflicts struct {
	First Conflicts
	More  int // how many there are beside First
}

// Error returns the message of kube-apiserver, with the number of all.
func (m *ManyConflicts) Error() string {
	if m == nil {
		return Conflicts(nil).Error()
	}
	return m.First.message(m.More)
}

// Unwrap returns those that are told apart.
func (m *ManyConflicts) Unwrap() error {
	if m == nil {
		return nil
	}
	return m.First
}

const (
	maxElements = 1 << 17 // of the paths of conflicts that are an error
	maxText     = 1 << 20 // of the message
)
