package structural

import (
	"fmt"
	"slices"
	"strconv"
)

// trail is where a walk is: the steps from the root. It becomes text only for what is reported.
//
// Why not a list of steps through the callers' frames: Go cannot keep those on the stack in
// recursive functions, so that each step of the walk would cost an allocation.
type trail []trailStep

// trailStep is one step: to a member by its name, or to an item of a list.
type trailStep struct {
	name string // of a member, unless index says which item
	key  bool   // the member is one by additionalProperties, which field errors put into brackets
	item int    // plus 1
}

func (t *trail) enterMember(name string) { t.enter(trailStep{name: name}) }

func (t *trail) enterKey(name string) { t.enter(trailStep{name: name, key: true}) }

func (t *trail) enterItem(i int) { t.enter(trailStep{item: i + 1}) }

// enter goes one step further; every call is followed by one of leave.
func (t *trail) enter(s trailStep) {
	if *t == nil {
		*t = make(trail, 0, 16) // enough for most walks
	}
	*t = append(*t, s)
}

func (t *trail) leave() { *t = (*t)[:len(*t)-1] }

// String returns the path, such as spec.ports[2].name.
func (t trail) String() string {
	var b []byte
	for i, s := range t {
		switch {
		case s.item > 0:
			b = append(b, '[')
			b = strconv.AppendInt(b, int64(s.item-1), 10)
			b = append(b, ']')
		case s.key:
			b = append(b, '[')
			b = append(b, s.name...)
			b = append(b, ']')
		case i > 0:
			b = append(b, '.')
			b = append(b, s.name...)
		default:
			b = append(b, s.name...)
		}
	}
	return string(b)
}

// member returns the path of a member of where t is.
func (t trail) member(name string) string {
	t.enterMember(name)
	return t.String()
}

// maxReported is how much text of paths a walk reports. Of an object with a long name above many
// unknown fields, the paths would be longer than the object by far: they grow with its square.
const maxReported = 1 << 20

// paths collects the paths that are reported.
type paths struct {
	texts  []string
	length int
	more   int // beyond maxReported
}

// add adds the path of a member of where t is.
func (p *paths) add(t trail, name string) {
	if p.length > maxReported {
		p.more++
		return
	}
	text := t.member(name)
	p.length += len(text)
	p.texts = append(p.texts, text)
}

// sorted returns the paths in bytewise order. The last one tells how many are left out, if any are.
func (p *paths) sorted() []string {
	slices.Sort(p.texts)
	return p.inOrder()
}

// inOrder returns the paths as sorted does, in the order in which they were added.
func (p *paths) inOrder() []string {
	if p.more == 0 {
		return p.texts
	}
	return append(p.texts, fmt.Sprintf("and %d more", p.more))
}
