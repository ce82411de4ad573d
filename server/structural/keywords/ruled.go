package keywords

import (
	"fmt"

	"github.com/deed-project/deed/value"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Ruled returns the part of v that CEL rules need to see, in the library's form, and whether it contains a value with a rule.
//
//	rules at spec.a and in the items of spec.list
//	v        {kind: K, spec: {a: {x: 1}, b: …, list: [{…}, {…}]}}
//	ruled    {spec: {a: {x: 1}, list: [{…}, {…}]}}
//
// A value with a rule is included as a whole. A list whose items have rules is too, because items are identified by keys that may have no
// rules. Leaving out the rest changes no outcome. The library asks whether the value of a rule is unchanged. If the value is new, the
// library asks the same about its parent, and then the new value itself is the difference.
//
// The cost is that of the parts that it returns, and of visiting the members beside them.
func (s *Schema) Ruled(v value.Value) (any, bool) { return s.root.ruled(v) }

// ruled is [Schema.Ruled] below a node.
func (n *node) ruled(v value.Value) (any, bool) {
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
		part, ok := child.ruled(m.Value)
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

// Bounds on the total length of the paths of parts that the library sees. The library prints a path for each error, some of them several
// times. Below a long name the paths can be much longer than the object.
const (
	maxRulePaths     = 16 << 20
	maxResourcePaths = 2 << 20
)

// HasRules reports whether values may have parts with CEL rules.
func (s *Schema) HasRules() bool { return s != nil && s.root.below.rules }

// RulesTooLong returns a refusal if the parts of v with CEL rules have paths that are too long in total for the library, and nil otherwise.
func (s *Schema) RulesTooLong(v value.Value) field.ErrorList {
	return s.root.tooLong(v, func(n *node) bool { return n.below.rules }, maxRulePaths)
}

// tooLong returns a refusal if the parts that is selects have paths of more than most bytes in total, and nil otherwise. The library would
// take too long to print them.
func (n *node) tooLong(v value.Value, is func(*node) bool, most int) field.ErrorList {
	if n.pathText(v, is, 0, most) >= 0 {
		return nil
	}
	return field.ErrorList{{
		Type: field.ErrorTypeInvalid, BadValue: field.OmitValueType{},
		Detail: fmt.Sprintf("what is wrong cannot be told: the paths of the parts of this object have more than %d bytes together", most),
	}}
}

// pathText returns room minus the lengths of the paths of the selected parts of v. length is the length of the path of v.
//
// An index counts as one digit. It stops once the room is used up.
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
