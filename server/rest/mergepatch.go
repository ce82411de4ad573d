package rest

import "github.com/deed-project/deed/value"

// mergePatch applies a JSON merge patch of RFC 7386 as the library of kube-apiserver does, which differs in one respect: a
// list that replaces an object keeps the nulls in its objects.
func mergePatch(v, patch value.Value) value.Value {
	for name, member := range patch.Members() {
		current := v.Get(name)
		switch {
		case member.IsNull():
			v = v.With(name, value.Value{})
		case current.Kind() == value.KindObject && member.Kind() == value.KindObject:
			v = v.With(name, mergePatch(current, member))
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
