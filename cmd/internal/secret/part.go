package secret

import (
	"maps"
	"slices"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/value"
)

// What is secret in an object, as a graph of parts beside it. A Secret's is
//
//	type, immutable, …  nothing
//	*                   *  whole     which data and stringData are
//	metadata   annotations   kubectl.kubernetes.io/last-applied-configuration  whole
//
// A part may be inside of itself, as schemas may be.

// part says what is secret in a value.
type part struct {
	whole   bool             // the value is secret, whatever it is
	members map[string]*part // of an object, by name
	others  *part            // of an object, the members that are not in members
	items   *part            // of a list
	also    []*part          // what they say is secret too

	reaches bool // the value is secret, or has a secret in it
}

// parts are what say what is secret in one value: those that reach a secret, and what they are with.
// No parts say that nothing is.
type parts []*part

var wholePart = parts{{whole: true, reaches: true}}

// recordPart is kubectl's record in the annotations of an object.
func recordPart() *part {
	in := func(name string, p *part) *part { return &part{members: map[string]*part{name: p}} }
	return in("metadata", in("annotations", in(lastApplied, &part{whole: true})))
}

// secretParts are those of a Secret. What it does not have was probably meant to be data.
var secretParts = func() parts {
	root := &part{members: map[string]*part{}, others: &part{others: &part{whole: true}}, also: []*part{recordPart()}}
	for _, name := range []string{"apiVersion", "kind", "metadata", "type", "immutable"} {
		root.members[name] = nil
	}
	return finished(root)
}()

// finished returns the parts of an object, after it has found out which of them reach a secret. It
// follows the steps backwards, so that the cost is that of all parts.
func finished(root *part) parts {
	above := map[*part][]*part{root: nil}
	found := []*part{root}
	for i := 0; i < len(found); i++ {
		p := found[i]
		for _, below := range slices.Concat(slices.Collect(maps.Values(p.members)), []*part{p.others, p.items}, p.also) {
			if below == nil {
				continue
			}
			if _, known := above[below]; !known {
				found = append(found, below)
			}
			above[below] = append(above[below], p)
		}
	}
	var mark func(*part)
	mark = func(p *part) {
		if !p.reaches {
			p.reaches = true
			for _, q := range above[p] {
				mark(q)
			}
		}
	}
	for _, p := range found {
		if p.whole {
			mark(p)
		}
	}
	return together(root)
}

// together returns those of all that reach a secret, with those that they are with.
func together(all ...*part) parts {
	var out parts
	for i := 0; i < len(all); i++ {
		if p := all[i]; p != nil && p.reaches && !slices.Contains(out, p) {
			out = append(out, p)
			all = append(all, p.also...)
		}
	}
	return out
}

// member returns what is secret in the member called name.
func (ps parts) member(name string) parts {
	var out []*part
	for _, p := range ps {
		if m, ok := p.members[name]; ok {
			out = append(out, m)
		} else {
			out = append(out, p.others)
		}
	}
	return together(out...)
}

// item returns what is secret in the items of a list.
func (ps parts) item() parts {
	var out []*part
	for _, p := range ps {
		out = append(out, p.items)
	}
	return together(out...)
}

// at returns what is secret in what path leads to.
func (ps parts) at(path fieldpath.Path) parts {
	for _, e := range path {
		ps = ps.step(e)
	}
	return ps
}

// step returns what is secret one step below. What is inside of a secret is secret. A step that does
// not fit, into an item where an object is expected or the other way round, leads into what is secret
// as a whole.
func (ps parts) step(e fieldpath.Element) parts {
	switch isField := e.Kind() == fieldpath.KindField; {
	case len(ps) == 0:
		return nil
	case ps.areWhole():
		return wholePart
	case isField && ps.areObjects():
		return ps.member(e.Name())
	case !isField && ps.areLists():
		return ps.item()
	}
	return wholePart
}

func (ps parts) areWhole() bool {
	return slices.ContainsFunc(ps, func(p *part) bool { return p.whole })
}

func (ps parts) areObjects() bool {
	return slices.ContainsFunc(ps, func(p *part) bool { return p.members != nil || p.others != nil })
}

func (ps parts) areLists() bool {
	return slices.ContainsFunc(ps, func(p *part) bool { return p.items != nil })
}

// hides reports whether v is secret as a whole: it should be, or it is no list or object in which the
// secret could be told from the rest.
func (ps parts) hides(v value.Value) bool {
	switch {
	case len(ps) == 0 || v.IsAbsent():
		return false
	case ps.areWhole():
		return true
	}
	switch v.Kind() {
	case value.KindObject:
		return !ps.areObjects()
	case value.KindList:
		return !ps.areLists()
	}
	return !v.IsNull()
}
