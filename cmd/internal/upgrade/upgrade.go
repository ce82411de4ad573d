// Package upgrade says what an upgrade of a cluster from one release of Kubernetes to another changes for the apply of an object.
//
// Its nouns are [Side], what a release does with the object, and [Change], one difference between two of them. Package dryrun does the
// applies, package types knows the kinds of a release, and package report prints the changes.
package upgrade

import (
	"cmp"
	"slices"
	"strings"

	"github.com/deed-project/deed/cmd/internal/dryrun"
	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/cmd/internal/types"
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// Class says what a change is about.
type Class string

// The classes, from the gravest on. Those up to Refused make the apply fail after the upgrade.
const (
	Unserved    Class = "unserved"    // the later release does not serve the kind in this version
	Conflicting Class = "conflicting" // the apply is in conflict after the upgrade
	Refused     Class = "refused"     // the later release alone refuses the object
	Accepted    Class = "accepted"    // the earlier release alone refuses the object
	Agreed      Class = "agreed"      // the apply is in conflict before the upgrade
	Served      Class = "served"      // the earlier release does not serve the kind in this version
	Stored      Class = "stored"      // another value is stored
	Owned       Class = "owned"       // a manager owns a field in one of the releases alone
)

// order has the classes in their order.
var order = []Class{Unserved, Conflicting, Refused, Accepted, Agreed, Served, Stored, Owned}

// Breaks reports whether a change of class c makes an apply fail that succeeded before.
func (c Class) Breaks() bool { return c == Unserved || c == Conflicting || c == Refused }

// Change is one difference between two releases.
type Change struct {
	Class Class
	Path  fieldpath.Path // empty for the object as a whole
	Where notice.Position
	// From and To are the values that both releases store, of a Stored change.
	From, To value.Value
	// Manager is the owner of an Owned change, Gained says that it owns the field after the upgrade, and not before it.
	Manager merge.Manager
	Gained  bool
	// Reason is why a release refuses the object, or does not serve its kind. It has no secrets.
	Reason string
}

// Side is what a release does with an object. The zero Side is that of a release that could not be asked, for reasons that do not lie in the
// release.
type Side struct {
	Unserved error           // the kind is not served in this version
	Task     *dryrun.Task    // nil if the kind is not served
	Refusals []notice.Notice // why the apply fails
	Applied  dryrun.Applied  // unless there are refusals
}

// asked reports whether the outcome is known.
func (s *Side) asked() bool { return s.Unserved != nil || s.Task != nil }

// merged reports whether the apply came to an object.
func (s *Side) merged() bool { return s.Task != nil && len(s.Refusals) == 0 }

// Of returns the changes for o from one release to another, by class, and then in the order of paths. It takes time in proportion to o.
func Of(o *manifest.Object, from, to *Side) []Change {
	if !from.asked() || !to.asked() {
		return nil
	}
	var out []Change
	add := func(c Change) {
		if c.Where == (notice.Position{}) {
			c.Where = at(o, c.Path)
		}
		out = append(out, c)
	}
	served(o, from, to, add)
	refused(o, from, to, add)
	if from.merged() && to.merged() {
		contested(from, to, add)
		differ(to.Task.Type(), nil, from.stored().Content, to.stored().Content, func(path fieldpath.Path, x, y value.Value) {
			path = types.Named(to.Task.Type(), cmp.Or(presence(to, path), presence(from, path)).stored().Content, path)
			add(Change{Class: Stored, Path: path, From: x, To: y})
		})
		ownersOf(from.stored(), to.stored(), add)
	}
	slices.SortStableFunc(out, func(a, b Change) int { return slices.Index(order, a.Class) - slices.Index(order, b.Class) })
	return out
}

// stored returns the object that is stored, with all conflicts decided for the applier.
func (s *Side) stored() managedfields.Object { return s.Applied.Outcome }

// presence returns s if the object that it stores has a value at path, and else nil.
func presence(s *Side, path fieldpath.Path) *Side {
	if manifest.Lookup(s.stored().Content, path).IsAbsent() {
		return nil
	}
	return s
}

// at returns the position of path in o, or of the nearest path around it.
func at(o *manifest.Object, path fieldpath.Path) notice.Position {
	return o.Key(o.Find().Steps(path)...)
}

// served adds a change if one release alone serves the kind.
func served(o *manifest.Object, from, to *Side, add func(Change)) {
	switch {
	case from.Unserved == nil && to.Unserved != nil:
		add(Change{Class: Unserved, Where: o.At("apiVersion"), Reason: o.View().Error(to.Unserved)})
	case from.Unserved != nil && to.Unserved == nil:
		add(Change{Class: Served, Where: o.At("apiVersion"), Reason: o.View().Error(from.Unserved)})
	}
}

// refused adds the refusals of one release that the other one does not have.
func refused(o *manifest.Object, from, to *Side, add func(Change)) {
	before, after := from.refusals(o), to.refusals(o)
	for _, x := range []struct {
		class          Class
		these, others  []refusal
		servedByOthers bool
	}{{Refused, after, before, from.Unserved == nil}, {Accepted, before, after, to.Unserved == nil}} {
		known := map[string]bool{}
		for _, r := range x.others {
			known[r.text] = true
		}
		for _, r := range x.these {
			if x.servedByOthers && !known[r.text] {
				add(Change{Class: x.class, Path: r.path, Where: r.where, Reason: r.text})
			}
		}
	}
}

// refusal is a reason why a release refuses an object.
type refusal struct {
	path  fieldpath.Path // nil if text names the place
	where notice.Position
	text  string
}

// refusals returns why s refuses o: errors of merging, and of what a server validates.
func (s *Side) refusals(o *manifest.Object) []refusal {
	var out []refusal
	for _, n := range s.Refusals {
		out = append(out, refusal{where: n.Where, text: strings.TrimPrefix(n.Text, s.Task.Given.String()+": ")})
	}
	for _, f := range s.Applied.Findings {
		out = append(out, refusal{f.Path, notice.Position{}, o.View().Path(f.Path) + ": " + f.Text(o.View())})
	}
	return out
}

// contested adds the conflicts of one release that the other one does not have.
func contested(from, to *Side, add func(Change)) {
	for _, x := range []struct {
		class       Class
		side, other *Side
	}{{Conflicting, to, from}, {Agreed, from, to}} {
		type contest struct { // a conflict, whatever the reason
			path  secret.Key
			owner merge.Manager
		}
		of := func(c merge.Conflict) contest { return contest{secret.KeyOf(c.Path), c.Owner.Manager} }
		known := map[contest]bool{}
		for _, c := range x.other.Applied.Refused {
			known[of(c)] = true
		}
		for _, c := range x.side.Applied.Refused {
			if !known[of(c)] {
				add(Change{Class: x.class, Path: c.Path, Manager: c.Owner.Manager, Gained: x.class == Conflicting})
			}
		}
	}
}

// differ calls add for the values below path, of type t, that differ between a and b. Items of lists are named by their indices, and lists of
// different lengths differ as a whole.
func differ(t *schema.Type, path fieldpath.Path, a, b value.Value, add func(fieldpath.Path, value.Value, value.Value)) {
	below := func(e fieldpath.Element, x, y value.Value) {
		inner := append(slices.Clone(path), e)
		differ(types.TypeAt(t, fieldpath.Path{e}), inner, x, y, add)
	}
	switch {
	case a.Equal(b):
	case a.Kind() == value.KindObject && b.Kind() == value.KindObject && a.Len() > 0 && b.Len() > 0:
		for name, x := range a.Members() {
			if !isServers(path, name) {
				below(fieldpath.Field(name), x, b.Get(name))
			}
		}
		for name, y := range b.Members() {
			if a.Get(name).IsAbsent() && !isServers(path, name) {
				below(fieldpath.Field(name), value.Value{}, y)
			}
		}
	case a.Kind() == value.KindList && b.Kind() == value.KindList && a.Len() == b.Len():
		for i := range a.Len() {
			below(fieldpath.Index(i), a.Item(i), b.Item(i))
		}
	default:
		add(path, a, b)
	}
}

// isServers reports whether a member of the object at path is bookkeeping of the server, or the time that metadata of a template does not have.
func isServers(path fieldpath.Path, name string) bool {
	if len(path) == 0 || path[len(path)-1] != fieldpath.Field("metadata") {
		return false
	}
	return name == "creationTimestamp" || len(path) == 1 && slices.Contains([]string{"generation", "resourceVersion", "uid"}, name)
}

// ownersOf adds the fields that managers own in one of two outcomes alone.
func ownersOf(from, to managedfields.Object, add func(Change)) {
	before, after := ownedBy(from), ownedBy(to)
	for _, x := range []struct {
		these, others map[merge.Manager]fieldpath.Set
		gained        bool
	}{{before, after, false}, {after, before, true}} {
		managers := []merge.Manager{}
		for m := range x.these {
			managers = append(managers, m)
		}
		manifest.SortManagers(managers)
		for _, m := range managers {
			for path := range x.these[m].Minus(x.others[m]).All() {
				add(Change{Class: Owned, Path: path, Manager: m, Gained: x.gained})
			}
		}
	}
}

// ownedBy returns the fields of each manager of o. Those of unreadable entries are empty: the write is refused that reads them.
func ownedBy(o managedfields.Object) map[merge.Manager]fieldpath.Set {
	out := map[merge.Manager]fieldpath.Set{}
	for _, e := range o.Entries {
		set, err := e.FieldsV1.Set()
		if err != nil {
			continue
		}
		id := merge.Manager{Name: e.Manager, Operation: e.Operation, APIVersion: e.APIVersion, Subresource: e.Subresource}
		out[id] = out[id].Union(set)
	}
	return out
}
