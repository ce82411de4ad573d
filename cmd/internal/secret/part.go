package secret

import (
	"maps"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/value"
)

// What is secret in an object, as a tree of parts beside it. A Secret's is
//
//	data, stringData    *  whole
//	metadata   annotations   kubectl.kubernetes.io/last-applied-configuration  whole

// part says what is secret in a value. nil says that nothing is; a part that is not nil is secret as
// a whole, or has a secret in it. It may be a part of itself, as schemas may be.
type part struct {
	whole   bool             // the value is secret, whatever it is
	members map[string]*part // of an object, by name
	others  *part            // of an object, the members that are not in members
	items   *part            // of a list
}

var (
	wholePart   = &part{whole: true}
	recordPart  = &part{members: map[string]*part{"metadata": {members: map[string]*part{"annotations": {members: map[string]*part{lastApplied: wholePart}}}}}}
	memberPart  = &part{others: wholePart}
	secretParts = union(recordPart, &part{members: map[string]*part{"data": memberPart, "stringData": memberPart}})
)

// union returns what is secret by p or q, which have no names of members in common.
func union(p, q *part) *part {
	out := *p
	out.members = maps.Clone(p.members)
	if out.members == nil {
		out.members = map[string]*part{}
	}
	for name, member := range q.members {
		if has := out.members[name]; has != nil {
			member = union(has, member)
		}
		out.members[name] = member
	}
	return &out
}

// member returns what is secret in the member called name.
func (p *part) member(name string) *part {
	if p == nil {
		return nil
	}
	if m, ok := p.members[name]; ok {
		return m
	}
	return p.others
}

// at returns what is secret in what path leads to. What is inside of a secret is secret.
func (p *part) at(path fieldpath.Path) *part {
	for _, e := range path {
		p = p.step(e)
	}
	return p
}

// step returns what is secret one step below p. A step that does not fit, into an item where an
// object is expected or the other way round, leads into what is secret as a whole.
func (p *part) step(e fieldpath.Element) *part {
	switch isField := e.Kind() == fieldpath.KindField; {
	case p == nil:
		return nil
	case p.whole:
		return p
	case isField && (p.members != nil || p.others != nil):
		return p.member(e.Name())
	case !isField && p.items != nil:
		return p.items
	}
	return wholePart
}

// hides reports whether v, in which p is secret, is secret as a whole: it should be, or it is no
// list or object in which the secret could be told from the rest.
func (p *part) hides(v value.Value) bool {
	switch {
	case p == nil || v.IsAbsent():
		return false
	case p.whole:
		return true
	}
	switch v.Kind() {
	case value.KindObject:
		return p.members == nil && p.others == nil
	case value.KindList:
		return p.items == nil
	}
	return !v.IsNull()
}
