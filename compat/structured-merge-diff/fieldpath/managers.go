package fieldpath

import (
	"fmt"
	"maps"
	"strings"
)

// APIVersion is the version of an object, or of the paths in a set.
type APIVersion string

// VersionedSet is what a manager owns.
type VersionedSet interface {
	// Set returns the fields.
	Set() *Set
	// APIVersion returns the version that the paths are of.
	APIVersion() APIVersion
	// Applied reports whether the manager came by them by applying.
	Applied() bool
}

type versionedSet struct {
	set        *Set
	apiVersion APIVersion
	applied    bool
}

// NewVersionedSet returns a set with its version, and whether it was applied.
func NewVersionedSet(set *Set, apiVersion APIVersion, applied bool) VersionedSet {
	return versionedSet{set, apiVersion, applied}
}

func (v versionedSet) Set() *Set              { return v.set }
func (v versionedSet) APIVersion() APIVersion { return v.apiVersion }
func (v versionedSet) Applied() bool          { return v.applied }

// ManagedFields says what each manager owns.
type ManagedFields map[string]VersionedSet

// Equals reports whether both have the same managers, which own the same.
func (lhs ManagedFields) Equals(rhs ManagedFields) bool {
	return maps.EqualFunc(lhs, rhs, func(l, r VersionedSet) bool {
		return l.APIVersion() == r.APIVersion() && l.Applied() == r.Applied() && l.Set().Equals(r.Set())
	})
}

// Copy returns a copy of lhs. The sets are those of lhs.
func (lhs ManagedFields) Copy() ManagedFields {
	out := make(ManagedFields, len(lhs))
	maps.Copy(out, lhs)
	return out
}

// Difference returns what only one of lhs and rhs says that a manager owns. Of a manager whose versions differ, it is all that
// rhs has.
func (lhs ManagedFields) Difference(rhs ManagedFields) ManagedFields {
	diff := ManagedFields{}
	for manager, l := range lhs {
		r, ok := rhs[manager]
		switch {
		case !ok:
			if !l.Set().Empty() {
				diff[manager] = l
			}
		case l.APIVersion() != r.APIVersion():
			diff[manager] = r
		default:
			set := l.Set().Difference(r.Set()).Union(r.Set().Difference(l.Set()))
			if !set.Empty() {
				diff[manager] = NewVersionedSet(set, r.APIVersion(), false)
			}
		}
	}
	for manager, r := range rhs {
		if _, ok := lhs[manager]; !ok && !r.Set().Empty() {
			diff[manager] = r
		}
	}
	return diff
}

// String returns what each manager owns, for messages, in any order.
func (lhs ManagedFields) String() string {
	var b strings.Builder
	for manager, v := range lhs {
		fmt.Fprintf(&b, "%s:\n- Applied: %v\n- APIVersion: %v\n- Set: %v\n", manager, v.Applied(), v.APIVersion(), v.Set())
	}
	return b.String()
}
