package manifest

import (
	"slices"

	"github.com/deed-project/deed/value"
)

// change is the change of a value: a new value, or changes of some of its parts.
type change struct {
	whole value.Value
	parts map[any]*change // by the name of a member or the index of an item
}

func (c *change) add(path []any, v value.Value) {
	for _, step := range path {
		if c.parts == nil {
			c.parts = map[any]*change{}
		}
		if c.parts[step] == nil {
			c.parts[step] = new(change)
		}
		c = c.parts[step]
	}
	c.whole = v
}

// apply returns old with the changes.
func (c *change) apply(old value.Value) value.Value {
	if !c.whole.IsAbsent() {
		return likeItem(old, c.whole)
	}
	if old.Kind() == value.KindList {
		items := slices.Collect(old.Items())
		for i := range items {
			if part := c.parts[i]; part != nil {
				items[i] = part.apply(items[i])
			}
		}
		return value.List(items...)
	}
	if old.Kind() != value.KindObject {
		return old
	}
	members := make([]value.Member, 0, old.Len())
	for name, member := range old.Members() {
		if part := c.parts[name]; part != nil {
			member = part.apply(member)
		}
		members = append(members, value.Member{Name: name, Value: member})
	}
	return value.Object(members...)
}

// likeItem returns v without the apiVersion and kind that the list implies, if old lacks them: see [itemOf].
func likeItem(old, v value.Value) value.Value {
	if old.Get("kind").IsAbsent() && old.Get("apiVersion").IsAbsent() {
		return v.With("kind", value.Value{}).With("apiVersion", value.Value{})
	}
	return v
}
