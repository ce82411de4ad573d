package secret

import (
	"maps"
	"slices"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/value"
)

// The secrets of an object form a graph of parts beside it. The graph of a Secret is
//
//	type, immutable, …  nothing
//	*                   *  whole     data and stringData
//	metadata   annotations   kubectl.kubernetes.io/last-applied-configuration  whole
//
// A part may contain itself, as schemas may.

// part describes the secrets in a value.
type part struct {
	whole   bool             // the value is secret, whatever it is
	members map[string]*part // the members of an object, by name
	others  *part            // the members of an object that are not in members
	items   *part            // the items of a list
	also    []*part          // parts whose secrets are secret too

	reaches bool // the value is secret, or contains a secret
}

// parts holds all parts that describe one value and reach a secret. Empty parts mean that nothing is secret.
type parts []*part

var wholePart = parts{{whole: true, reaches: true}}

// recordPart returns the part for kubectl's record in the annotations of an object.
func recordPart() *part {
	in := func(name string, p *part) *part { return &part{members: map[string]*part{name: p}} }
	return in("metadata", in("annotations", in(lastApplied, &part{whole: true})))
}

// secretParts describes a Secret. Unknown members are secret because they were probably meant to be data.
var secretParts = func() parts {
	root := &part{members: map[string]*part{}, others: &part{others: &part{whole: true}}, also: []*part{recordPart()}}
	for _, name := range []string{"apiVersion", "kind", "metadata", "type", "immutable"} {
		root.members[name] = nil
	}
	return finished(root)
}()

// finished returns the parts of an object after it has marked the parts that reach a secret. It follows the steps backwards, so the cost is
// the number of parts.
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

// together returns the parts of all that reach a secret, and the parts in their also.
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

// member returns the parts of the member called name.
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

// item returns the parts of the items of a list.
func (ps parts) item() parts {
	var out []*part
	for _, p := range ps {
		out = append(out, p.items)
	}
	return together(out...)
}

// at returns the parts of the value at path.
func (ps parts) at(path fieldpath.Path) parts {
	for _, e := range path {
		ps = ps.step(e)
	}
	return ps
}

// step returns the parts one step below. Everything inside a secret is secret. A step that does not fit, such as an item step into an
// object, leads into a value that is secret as a whole.
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

// hides reports whether v is secret as a whole. It is if a rule says so, or if v is no list or object with separable secret parts.
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
