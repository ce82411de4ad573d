package merge

import (
	"errors"
	"fmt"
	"slices"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/typed"
)

// prune removes from merged, by A3 and A4, the fields that the applier owned before and does not
// apply any more, unless another manager owns them.
//
// A removed field may take other fields with it, and a field that stays may need containers that
// were removed. So pruning has three steps, each on whole field sets. In these sets, every declared
// field counts as owned if a field below it is owned:
//
//  1. Remove all fields of the last apply.
//  2. Put back the owned fields. From merged, remove only the fields that step 1 removed and that
//     no set has.
//  3. Put back the fields that were not applied last. Of the fields that step 2 removed, remove
//     only the fields that are in the last set.
//
// In this example, the applier owned .spec.a and .spec.b, and gives up .spec.a. No manager has ever
// owned .spec.c:
//
//	merged     {spec: {a, b, c}}
//	last       .spec .spec.a .spec.b    .spec counts, as a field below it is owned
//	owned      .spec .spec.b            by the applier itself
//
//	step   what is removed     result
//	1      last                {}                  .spec is removed with all fields in it
//	2      .spec.a .spec.c     {spec: {b}}         of merged, what step 1 removed and no manager owns
//	3      .spec.a             {spec: {b, c}}      of these fields, the ones in last
//
// Invariants: the result grows from step to step, up to merged without the fields of last that are
// not owned. An item or object whose own path is removed keeps no fields.
func (p *Plan) prune(merged typed.Value) (typed.Value, error) {
	if p.last.Fields.IsEmpty() || p.keepsAll(merged) {
		return merged, nil
	}
	return p.call.prune(merged, p.managers, &p.last, p.own)
}

// prune is [Plan.prune] for an apply that may remove fields. last is the applier's entry before the
// apply, which managers has, and own is its new entry.
func (c *call) prune(merged typed.Value, managers Managers, last *Entry, own Entry) (typed.Value, error) {
	if !c.unowned.IsEmpty() { // unowned fields are applied, too
		own.Fields = c.applied(fieldpath.Set{}, fieldpath.Set{})
	}
	managers = managers.with(own)
	m, err := c.convert(merged, c.APIVersion, last.APIVersion)
	if errors.Is(err, ErrNoVersion) {
		return merged, nil
	}
	if err != nil {
		return typed.Value{}, fmt.Errorf("failed to convert merged object to last applied version: %w", err)
	}
	lastFields, fields := typing.WithNamedFields(last.Fields, m.Type()), typing.NamedFields(m)
	p, at, err := c.putBackOwned(m, c.remnant(m, fields, lastFields), fields, last.APIVersion, managers)
	if err != nil {
		return typed.Value{}, fmt.Errorf("failed add back owned items: %w", err)
	}
	if err := p.convert(c, fields, at, last.APIVersion); err != nil {
		return typed.Value{}, fmt.Errorf("failed add back dangling items: failed to convert pruned object to last applied version: %w", err)
	}
	c.detour = last.APIVersion != c.APIVersion
	return c.convert(c.remove(m, p.lost.Intersect(lastFields)), last.APIVersion, c.APIVersion)
}

// keepsAll reports whether no field can be removed, because all fields of the last apply are
// applied now. That is not enough in three cases:
//
//   - A manager owns fields in another version. Step 2 converts the object to that version and
//     back. This loses the fields that the version cannot express, applied or not.
//   - An empty object is applied where the merged one has fields. If no manager owns these fields,
//     step 2 may leave no part of the object that has a path, as with an empty keyed list or an
//     item that has lost its keys. Then step 3 does not find the object.
//   - Reset fields may leave the applier items without their keys, with the same effect.
func (p *Plan) keepsAll(merged typed.Value) bool {
	if !p.last.Fields.Minus(p.own.Fields).IsEmpty() {
		return false
	}
	c := p.call
	for i := range p.managers.entries { // p.last among them
		if c.converter != nil && p.managers.entries[i].APIVersion != c.APIVersion {
			return false
		}
	}
	return !c.reset[c.APIVersion].inItems() && !typing.FilledEmpty(merged)
}

// remove returns v without the paths of s and without everything below them.
func (e *Engine) remove(v typed.Value, s fieldpath.Set) typed.Value {
	if e.keepEmptied {
		return typing.RemoveKeepingEmptied(v, s)
	}
	return v.Remove(s)
}

// remnant is an object after a removal, and the fields that it has lost. A declared field counts as
// a field of the object if a field below it does: see NamedFields in typed.
type remnant struct {
	value typed.Value
	lost  fieldpath.Set
}

// remnant returns m without s. fields are the fields of m.
func (e *Engine) remnant(m typed.Value, fields, s fieldpath.Set) remnant {
	left := e.remove(m, s)
	return remnant{left, typing.Lost(fields, s, left)}
}

// convert converts r from one version to another. fields are the fields of the object before the
// removal, in version to.
func (r *remnant) convert(c *call, fields fieldpath.Set, from, to string) error {
	v, err := c.convert(r.value, from, to)
	if err != nil {
		return err
	}
	if from != to || !typing.Same(v, r.value) {
		*r = remnant{v, fields.Minus(typing.NamedFields(v))}
	}
	return nil
}

// putBackOwned returns p with the owned fields of m put back, and the version of the result. On
// entry, m and p are in apiVersion, and fields are the fields of m.
//
// Each set of fields is compared in its own version. apiVersion comes first, because a conversion to
// the others may need pruned fields.
func (c *call) putBackOwned(m typed.Value, p remnant, fields fieldpath.Set, apiVersion string, managers Managers) (_ remnant, at string, _ error) {
	owned := managers.ownedByVersion()
	at = apiVersion
	for _, to := range versionsFrom(apiVersion, owned) {
		mTo, err := c.convert(m, at, to)
		if errors.Is(err, ErrNoVersion) {
			continue
		}
		if err != nil {
			return remnant{}, "", fmt.Errorf("failed to convert merged object at version %v: %w", to, err)
		}
		if to != apiVersion {
			fields = typing.NamedFields(mTo)
		}
		if err := p.convert(c, fields, at, to); err != nil {
			return remnant{}, "", fmt.Errorf("failed to convert pruned object at version %v: %w", to, err)
		}
		away := p.lost.Minus(typing.WithNamedFields(owned[to], mTo.Type()))
		m, p, at = mTo, c.remnant(mTo, fields, away), to
	}
	return p, at, nil
}

// ownedByVersion returns, for each version of a manager's fields, the union of these fields.
func (ms Managers) ownedByVersion() map[string]fieldpath.Set {
	out := map[string]fieldpath.Set{}
	if len(ms.entries) <= few {
		for _, entry := range ms.entries {
			out[entry.APIVersion] = out[entry.APIVersion].Union(entry.Fields)
		}
		return out
	}
	sets := map[string][]fieldpath.Set{}
	for _, entry := range ms.entries {
		sets[entry.APIVersion] = append(sets[entry.APIVersion], entry.Fields)
	}
	for version, all := range sets {
		out[version] = union(all)
	}
	return out
}

// versionsFrom returns the versions of owned: first, if it is among them, then all others sorted.
func versionsFrom(first string, owned map[string]fieldpath.Set) []string {
	var out []string
	for v := range owned {
		if v != first {
			out = append(out, v)
		}
	}
	slices.Sort(out)
	if _, ok := owned[first]; ok {
		out = slices.Insert(out, 0, first)
	}
	return out
}
