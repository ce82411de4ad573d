package fieldpath

import (
	"fmt"
	"maps"
	"strings"
)

// APIVersion is the version of an object, or of the paths in a set.
type APIVersion string

// VersionedSet is the set of fields that a manager owns.
type VersionedSet interface {
	// Set returns the fields.
	Set() *Set
	// APIVersion returns the version of the paths.
	APIVersion() APIVersion
	// Applied reports whether the manager owns the fields by apply.
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

// ManagedFields has the fields that each manager owns, by the manager's name.
type ManagedFields map[string]VersionedSet

// Equals reports whether both have the same managers, with equal sets, versions and Applied.
func (lhs ManagedFields) Equals(rhs ManagedFields) bool {
	return maps.EqualFunc(lhs, rhs, func(l, r VersionedSet) bool {
		return l.APIVersion() == r.APIVersion() && l.Applied() == r.Applied() && l.Set().Equals(r.Set())
	})
}

// Copy returns a copy of lhs. It shares the sets of lhs.
func (lhs ManagedFields) Copy() ManagedFields {
	out := make(ManagedFields, len(lhs))
	maps.Copy(out, lhs)
	return out
}

// Difference returns, for each manager, the fields that it owns in only one of lhs and rhs. If the versions of a manager
// differ, the result has its whole entry of rhs.
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

// String returns the fields of each manager, for messages, in any order.
func (lhs ManagedFields) String() string {
	var b strings.Builder
	for manager, v := range lhs {
		fmt.Fprintf(&b, "%s:\n- Applied: %v\n- APIVersion: %v\n- Set: %v\n", manager, v.Applied(), v.APIVersion(), v.Set())
	}
	return b.String()
}
