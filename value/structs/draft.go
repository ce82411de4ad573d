package structs

import "github.com/deed-project/deed/value"

// A container is made after an earlier one, its former. As long as its parts are exactly the first
// ones of the former, they are only counted:
//
//	former   a:1 b:2 c:3
//	parts    a:1 b:2         n = 2, nothing is written
//	then     c:4             a:1 and b:2 are copied, and c:4 comes behind them
//	or       the end         a:1 and b:2 are copied; with c:3 instead, the outcome would be the former
//
// Invariant: until the first part that differs, the parts are former[:n].

// objectDraft is an object that is being made.
type objectDraft struct {
	members []value.Member // of the former, if that is an object
	n       int            // how many members there are so far
	moved   bool           // they are on the converter's stack
	first   int            // of them on the stack
	shared  int            // the converter's count before
}

// begin makes out, which is zero, a draft after former. It is not returned, since copying a struct
// that was just written field by field makes the processor wait.
func (c *converter) begin(out *objectDraft, former value.Value) {
	out.first, out.shared, out.members = len(c.open), c.shared, values.Members(former)
}

// find returns the number of the former member called name, and its value, or -1 if there is none.
// Members before number next have lesser names.
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

// expects reports whether former member i comes next if all that was added so far was former.
func (out *objectDraft) expects(i int) bool { return i == out.n && !out.moved }

// add adds the member name. Its value v was converted after former member i; -1 stands for none.
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

// close takes the members of out, which are in name order, from the stack and returns the object.
//
// One that holds parts of an earlier document gets memory of its own: an array of the slab lives as
// long as anything cut from it, and would keep alive the earlier document, that one's predecessor,
// and so on.
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
	formers []value.Value // the items of the former, if that is a list
	items   []value.Value // nil as long as they are exactly former ones
	n       int           // how many there are so far
	len     int           // how many there are to be
}

// beginList makes d, which is zero, a draft of n items after former.
func (c *converter) beginList(d *listDraft, n int, former value.Value) {
	d.len = n
	if n > 0 {
		d.formers = values.Items(former)
	}
	if len(d.formers) == 0 {
		d.items = c.items.Take(n)[:0]
	}
}

// item returns what former item i is, and the absent Value if there is none.
func (d *listDraft) item(i int) value.Value {
	if i < len(d.formers) {
		return d.formers[i]
	}
	return value.Value{}
}

// add appends v, which was converted after the former item in its place.
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

// move copies the first n former items.
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
