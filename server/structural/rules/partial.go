package rules

import (
	"fmt"

	"github.com/deed-project/deed/value"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// partial returns what rules in CEL have to see of v, as the library takes it, and whether there is
// a value that they are about.
//
//	rules at spec.a and in the items of spec.list
//	v        {kind: K, spec: {a: {x: 1}, b: …, list: [{…}, {…}]}}
//	partial  {spec: {a: {x: 1}, list: [{…}, {…}]}}
//
// What a rule is about is there as a whole, and a list whose items have rules too, because items
// are told apart by keys that have none. What an update changed in what is left out has no
// influence: the library asks whether the value of a rule is as it was, and asks it of the parent
// where the value was not there before, which is a difference that can be seen here.
//
// The cost is that of the parts that it returns, and of looking at the members beside them.
func (n *node) partial(v value.Value) (any, bool) {
	switch {
	case n == nil || !n.below.rules:
		return nil, false
	case n.whole || v.Kind() == value.KindList && v.Len() > 0:
		return v.ToAny(), true
	case v.Kind() != value.KindObject:
		return nil, false
	}
	var members map[string]any
	for i := range v.Len() {
		m := v.Member(i)
		child, declared := n.properties[m.Name]
		if !declared {
			child = n.additional
		}
		part, ok := child.partial(m.Value)
		if !ok {
			continue
		}
		if members == nil {
			members = make(map[string]any)
		}
		members[m.Name] = part
	}
	return members, members != nil
}

// Bounds of how long the paths may be together of the parts of an object that the library is shown. It prints one for each error, and some of
// them several times; below a long name they are longer than the object by far.
const (
	maxRulePaths     = 16 << 20
	maxResourcePaths = 2 << 20
)

// tooLong returns the refusal of an object in which the parts that is reports have paths that are too long for the library to say what is
// wrong with them, nil for all others. most is the bound.
func (n *node) tooLong(v value.Value, is func(*node) bool, most int) field.ErrorList {
	if n.pathText(v, is, 0, most) >= 0 {
		return nil
	}
	return field.ErrorList{{
		Type: field.ErrorTypeInvalid, BadValue: field.OmitValueType{},
		Detail: fmt.Sprintf("what is wrong cannot be told: the paths of the parts of this object have more than %d bytes together", most),
	}}
}

// pathText returns what is left of room when the paths of such parts of v were added up, whose own path is so long.
func (n *node) pathText(v value.Value, is func(*node) bool, length, room int) int {
	if n == nil || !is(n) || room < 0 {
		return room
	}
	room -= length
	for i := range v.Len() {
		switch v.Kind() {
		case value.KindList:
			room = n.items.pathText(v.Item(i), is, length+len("[0]"), room)
		case value.KindObject:
			m := v.Member(i)
			room = n.child(m.Name).pathText(m.Value, is, length+len(".")+len(m.Name), room)
		}
		if room < 0 {
			break
		}
	}
	return room
}
