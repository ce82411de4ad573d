package typed

import (
	"fmt"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// Field sets live longer than schemas. When a granular list becomes atomic, stored sets still have
// paths of its items. Reconcile first checks whether a set would change. Mostly it would not, and
// then the check allocates no memory.
//
// Cost: linear in the set, or only in its branches if the schema has no defect.

// Reconcile adapts s, which was made under an earlier schema, to type t. It returns the adapted
// set, and whether the adapted set differs from s:
//
//	R1  If the set has paths below a list or object that is atomic now, the container's own path
//	    replaces them.
//	R2  A container that was atomic and is granular now keeps its own path. Its parts have no
//	    owner any more.
//	R3  Paths that the type does not know stay as they are. The same holds for all paths below
//	    objects that admit any member of any type.
//
// The error is a defect of the schema that a path of s meets.
func Reconcile(s fieldpath.Set, t *schema.Type) (fieldpath.Set, bool, error) {
	stale, err := isStale(s, t, true)
	if err != nil {
		return s, false, fmt.Errorf("errors reconciling field set with schema: %w", err)
	}
	if !stale {
		return s, false, nil
	}
	var b fieldpath.Builder
	reconcile(&b, s, t)
	return b.Set(), true, nil
}

// wholePart returns the part of t that decides the topology of a node whose value is not known.
func wholePart(t *schema.Type) parts { return partsFor(t, value.Null()).first() }

// collapses reports whether paths below a node of type t are stale, because the node is atomic.
func collapses(t *schema.Type) bool {
	switch wholePart(t) {
	case mapPart:
		return t.Map().Atomic() && !schemas.AdmitsAnything(t)
	case listPart:
		return t.List().Topology() == schema.AtomicList
	}
	return false
}

// typeBelow returns the type of the node that e leads to below t, or nil if there is nothing to
// reconcile.
func typeBelow(t *schema.Type, e fieldpath.Element) *schema.Type {
	switch wholePart(t) {
	case mapPart:
		if schemas.AdmitsAnything(t) {
			return nil
		}
		if e.Kind() != fieldpath.KindField {
			return t.Map().Element()
		}
		below, _ := t.Map().Lookup(e.Name())
		return below
	case listPart:
		return t.List().Element()
	}
	return nil
}

// isStale reports whether reconcile would change s, the paths below a node of type t. The error is
// the first in the order of s.
func isStale(s fieldpath.Set, t *schema.Type, root bool) (stale bool, err error) {
	switch {
	// Some path of s meets a defect of the schema.
	case t.Err() != nil:
		return false, t.Err()
	// R1: the node is atomic now. The root has no path of its own that could replace others.
	case collapses(t):
		return !root && !s.IsEmpty(), nil
	case schemas.IsSound(t): // no error is possible, and other entries have no paths below them
		for e := range paths.Branches(s) {
			if below := typeBelow(t, e.Element); below != nil {
				if stale, _ := isStale(e.Sub, below, false); stale {
					return true, nil
				}
			}
		}
		return false, nil
	}
	for e := range s.Entries() {
		if below := typeBelow(t, e.Element); below != nil {
			staleBelow, err := isStale(e.Sub, below, false)
			if err != nil {
				return false, err
			}
			stale = stale || staleBelow
		}
	}
	return stale, nil
}

// reconcile adapts s, the paths below a node of type t, and adds the result to b. In this example,
// spec.tags is an atomic list now, and spec.size is unknown:
//
//	s        .spec.tags[="a"] .spec.tags[="b"] .spec.size.unit
//	result   .spec.tags .spec.size.unit
//
//	.spec       granular    its entries are adapted one by one
//	.spec.tags  R1: atomic  its own path replaces the paths below it
//	.spec.size  R3: unknown stays, with all below it
func reconcile(b *fieldpath.Builder, s fieldpath.Set, t *schema.Type) {
	for e := range s.Entries() {
		paths.Enter(b, e.Element)
		member := e.Member
		switch below := typeBelow(t, e.Element); {
		case below == nil: // R3
			paths.AddSet(b, e.Sub)
		case collapses(below) && !e.Sub.IsEmpty(): // R1
			member = true
		default:
			reconcile(b, e.Sub, below)
		}
		paths.Leave(b, member)
	}
}

// withNamedFields returns s and each declared field that has paths of s below it. In the result, an
// object that exists because of its members counts as owned with them. Items, and members that only
// the element type of a map admits, are not added:
//
//	s        .metadata.labels.app .spec.ports[port=80].name
//	result   .metadata .metadata.labels .metadata.labels.app .spec .spec.ports .spec.ports[port=80].name
func withNamedFields(s fieldpath.Set, t *schema.Type) fieldpath.Set {
	types := make([]*schema.Type, 1, 16) // types of the nodes on the current path, the root first
	types[0] = t
	return paths.Include(s, func(depth int, e fieldpath.Element) (declared, descend bool) {
		var below *schema.Type
		switch kind, t := e.Kind(), types[depth]; {
		case kind == fieldpath.KindField && t.Map() != nil:
			below, declared = t.Map().Lookup(e.Name())
		case kind == fieldpath.KindKey && t.List() != nil:
			below = t.List().Element()
		}
		types = append(types[:depth+1], below)
		return declared, below != nil
	})
}
