package structural

import (
	"fmt"
	"slices"
	"strconv"
)

// trail is the position of a walk: the steps from the root. It becomes text only for reports.
//
// A linked list of steps in the callers' frames is not an option. Go does not keep such steps on
// the stack of recursive functions, so that each step of the walk would cost an allocation.
type trail []trailStep

// trailStep is one step: to a member by its name, or to an item of a list.
type trailStep struct {
	name string // of a member; ignored if item is set
	key  bool   // the member is by additionalProperties; paths print it in brackets
	item int    // the index of an item plus 1, or 0 for a member
}

func (t *trail) enterMember(name string) { t.enter(trailStep{name: name}) }

func (t *trail) enterKey(name string) { t.enter(trailStep{name: name, key: true}) }

func (t *trail) enterItem(i int) { t.enter(trailStep{item: i + 1}) }

// enter adds a step. The caller calls leave afterwards.
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

// member returns the path of a member of the current object.
func (t trail) member(name string) string {
	t.enterMember(name)
	return t.String()
}

// maxReported limits the text of the paths that a walk reports. A long name above many unknown
// fields would otherwise make the paths much longer than the object: they grow with its square.
const maxReported = 1 << 20

// paths collects reported paths.
type paths struct {
	texts  []string
	length int
	more   int // the number of paths beyond maxReported
}

// add adds the path of a member of the current object.
func (p *paths) add(t trail, name string) {
	if p.length > maxReported {
		p.more++
		return
	}
	text := t.member(name)
	p.length += len(text)
	p.texts = append(p.texts, text)
}

// sorted returns the paths in bytewise order. If paths were left out, the last text gives their
// number.
func (p *paths) sorted() []string {
	slices.Sort(p.texts)
	return p.inOrder()
}

// inOrder is sorted, but in the order in which the paths were added.
func (p *paths) inOrder() []string {
	if p.more == 0 {
		return p.texts
	}
	return append(p.texts, fmt.Sprintf("and %d more", p.more))
}
