package rules

import "github.com/deed-project/deed/value"

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
