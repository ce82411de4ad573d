// Package mergepatch applies JSON merge patches as kube-apiserver does.
package mergepatch

import "github.com/deed-project/deed/value"

// Apply returns v with patch, a JSON merge patch of RFC 7386, applied as the library of
// kube-apiserver does it, which differs in one respect: a list that replaces an object keeps the
// nulls in its objects. A patch that is no object replaces v. It takes time in proportion to the
// patch and to the objects that it changes.
func Apply(v, patch value.Value) value.Value {
	if patch.Kind() != value.KindObject {
		return patch
	}
	for name, member := range patch.Members() {
		current := v.Get(name)
		switch {
		case member.IsNull():
			v = v.With(name, value.Value{})
		case current.Kind() == value.KindObject && member.Kind() == value.KindObject:
			v = v.With(name, Apply(current, member))
		case current.Kind() == value.KindObject:
			v = v.With(name, member)
		default:
			v = v.With(name, withoutNulls(member))
		}
	}
	return v
}

// withoutNulls removes the null members of all objects in v. Null items of lists stay.
func withoutNulls(v value.Value) value.Value {
	switch v.Kind() {
	case value.KindObject:
		members := make([]value.Member, 0, v.Len())
		for name, member := range v.Members() {
			if !member.IsNull() {
				members = append(members, value.Member{Name: name, Value: withoutNulls(member)})
			}
		}
		return value.Object(members...)
	case value.KindList:
		items := make([]value.Value, 0, v.Len())
		for item := range v.Items() {
			items = append(items, withoutNulls(item))
		}
		return value.List(items...)
	}
	return v
}
