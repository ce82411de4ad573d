package controllers

import "github.com/deed-project/deed/value"

// mergePatch returns the merge patch that makes one object of another.
func mergePatch(from, to value.Value) value.Value {
	var members []value.Member
	add := func(name string, v value.Value) { members = append(members, value.Member{Name: name, Value: v}) }
	for name := range from.Members() {
		if to.Get(name).IsAbsent() {
			add(name, value.Null())
		}
	}
	for name, want := range to.Members() {
		switch has := from.Get(name); {
		case has.Equal(want):
		case has.Kind() == value.KindObject && want.Kind() == value.KindObject:
			add(name, mergePatch(has, want))
		default:
			add(name, want)
		}
	}
	return value.Object(members...)
}

// onlyMetadata returns a merge patch that sets a member of the metadata to what object has.
func onlyMetadata(object value.Value, name string) value.Value {
	metadata := value.Object(value.Member{Name: name, Value: object.Get("metadata", name)})
	return value.Object(value.Member{Name: "metadata", Value: metadata})
}
