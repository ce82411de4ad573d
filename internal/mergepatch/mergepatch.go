// Package mergepatch applies JSON merge patches as kube-apiserver does.
package mergepatch

import "github.com/deed-project/deed/value"

// Apply returns v with patch, a JSON merge patch of RFC 7386. It follows kube-apiserver's library, which differs in one respect:
// a list that replaces an object keeps the nulls in its objects. A patch that is not an object replaces v. The cost is linear in
// the patch and in the objects that it changes.
func Apply(v, patch value.Value) value.Value {
	if patch.Kind() != value.KindObject {
		return patch
	}
	if v.Kind() != value.KindObject {
		v = value.Object()
	}
	if patch.Len() == 0 {
		return v
	}
	// The members of both objects are ordered by name.
	members, i := make([]value.Member, 0, v.Len()+patch.Len()), 0
	for name, change := range patch.Members() {
		for i < v.Len() && v.Member(i).Name < name {
			members = append(members, v.Member(i))
			i++
		}
		var current value.Value
		if i < v.Len() && v.Member(i).Name == name {
			current = v.Member(i).Value
			i++
		}
		if !change.IsNull() {
			members = append(members, value.Member{Name: name, Value: changed(current, change)})
		}
	}
	for ; i < v.Len(); i++ {
		members = append(members, v.Member(i))
	}
	return value.Object(members...)
}

// changed returns the result of applying a non-null patch to a member. current is absent if there is no such member.
func changed(current, patch value.Value) value.Value {
	switch {
	case current.Kind() != value.KindObject:
		return withoutNulls(patch)
	case patch.Kind() == value.KindObject:
		return Apply(current, patch)
	default:
		return patch
	}
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
