package structs

import "github.com/deed-project/deed/value"

// A draft is a container that is being made. It is compared with former, the container in the same
// place of the earlier document. While its parts equal the first parts of former, they are only
// counted:
//
//	former   a:1 b:2 c:3
//	parts    a:1 b:2         n = 2, nothing is written
//	then     c:4             a:1 and b:2 are copied, and c:4 is appended
//	or       the end         a:1 and b:2 are copied; with c:3 instead, the result would be former
//
// Invariant: until the first part that differs, the parts are former[:n].

// objectDraft is an object that is being made.
type objectDraft struct {
	members []value.Member // of former, if former is an object
	n       int            // number of members so far, without new ones of [converter.stringsAfter]
	moved   bool           // the members are on the converter's stack
	first   int            // index of the first member on the stack
	shared  int            // the converter's count at the start
}

// begin sets out, which is zero, to a draft that is compared with former. It does not return the
// draft: copying a struct that was just written field by field makes the processor wait.
func (c *converter) begin(out *objectDraft, former value.Value) {
	out.first, out.shared, out.members = len(c.open), c.shared, values.Members(former)
}

// find returns the index and the value of the member of former called name, or -1 if there is none.
// Members before index next have smaller names.
func (out *objectDraft) find(name string, next int) (int, value.Value) {
	for ; next < len(out.members); next++ {
		former := &out.members[next]
		if former.Name == name {
			return next, former.Value
		}
		if former.Name > name {
			break
		}
	}
	return -1, value.Value{}
}

// expects reports whether the draft equals former so far and member i of former is next.
func (out *objectDraft) expects(i int) bool { return i == out.n && !out.moved }

// add adds the member name with the value v. Member i of former has the same name; i is -1 if there
// is none.
func (c *converter) add(out *objectDraft, i int, name string, v value.Value) {
	if out.expects(i) && values.Exactly(v, out.members[i].Value) {
		out.n++
		return
	}
	c.move(out)
	c.open = append(c.open, value.Member{Name: name, Value: v})
	out.n++
}

// move puts the members that were only counted on the stack.
func (c *converter) move(out *objectDraft) {
	if out.moved {
		return
	}
	c.open = append(c.open, out.members[:out.n]...)
	out.moved = true
}

// close removes the members of out, which are in name order, from the stack and returns the object.
//
// An object that holds parts of an earlier document gets memory of its own. An array of the slab
// lives as long as anything cut from it, so a chain of earlier documents would stay in memory.
func (c *converter) close(out *objectDraft) value.Value {
	if !out.moved && out.n == len(out.members) {
		c.shared += min(out.n, 1)
		return values.Sorted(out.members)
	}
	c.move(out)
	var members []value.Member
	if c.shared > out.shared {
		members = make([]value.Member, len(c.open)-out.first)
	} else {
		members = c.members.Take(len(c.open) - out.first)
	}
	copy(members, c.open[out.first:])
	clear(c.open[out.first:])
	c.open = c.open[:out.first]
	return values.Sorted(members)
}

// listDraft is a list that is being made.
type listDraft struct {
	formers []value.Value // the items of former, if former is a list
	items   []value.Value // the new items; nil while they equal the items of former
	n       int           // number of items so far
	len     int           // number of items at the end
}

// beginList sets d, which is zero, to a draft of n items that is compared with former.
func (c *converter) beginList(d *listDraft, n int, former value.Value) {
	d.len = n
	if n > 0 {
		d.formers = values.Items(former)
	}
	if len(d.formers) == 0 {
		d.items = c.items.Take(n)[:0]
	}
}

// item returns item i of former, or the absent Value if there is none.
func (d *listDraft) item(i int) value.Value {
	if i < len(d.formers) {
		return d.formers[i]
	}
	return value.Value{}
}

// add appends v.
func (d *listDraft) add(v value.Value) {
	i := d.n
	d.n++
	if d.items == nil && d.len > 0 {
		if i < len(d.formers) && values.Exactly(v, d.formers[i]) {
			return
		}
		d.move(i)
	}
	d.items = append(d.items, v)
}

// move copies the first n items of former.
func (d *listDraft) move(n int) {
	d.items = append(make([]value.Value, 0, d.len), d.formers[:n]...)
}

// closeList returns the list.
func (c *converter) closeList(d *listDraft) value.Value {
	if d.items == nil && d.len > 0 {
		if d.len == len(d.formers) {
			c.shared++
			return value.List(d.formers...)
		}
		d.move(d.len)
	}
	return value.List(d.items...)
}
