package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// edit puts a value into a document, or removes what is there. Steps of the path are names of members and indexes of items.
type edit struct {
	Path   []any `json:"path"`
	Value  any   `json:"value,omitempty"`
	Remove bool  `json:"remove,omitempty"`
}

// applied returns document with edits. It shares what they leave as it is.
func applied(document any, edits []edit) any {
	for _, e := range edits {
		document = put(document, e.Path, e)
	}
	return document
}

// put makes the containers that do not exist. An index beyond the end of a list appends.
func put(at any, path []any, e edit) any {
	if len(path) == 0 {
		return e.Value
	}
	last := len(path) == 1
	switch step := path[0].(type) {
	case string:
		members, _ := at.(map[string]any)
		members = maps.Clone(members)
		if members == nil {
			members = map[string]any{}
		}
		if last && e.Remove {
			delete(members, step)
		} else {
			members[step] = put(members[step], path[1:], e)
		}
		return members
	case int:
		items, _ := at.([]any)
		items = slices.Clone(items)
		switch {
		case last && e.Remove && step < len(items):
			return slices.Delete(items, step, step+1)
		case step < len(items):
			items[step] = put(items[step], path[1:], e)
			return items
		}
		return append(items, put(nil, path[1:], e))
	}
	panic(fmt.Sprintf("a step %T", path[0]))
}

// String returns the edit in a line.
func (e edit) String() string {
	var b strings.Builder
	for _, step := range e.Path {
		fmt.Fprintf(&b, "/%v", step)
	}
	if e.Remove {
		return "- " + b.String()
	}
	return b.String() + " = " + shown(e.Value)
}

// get returns what a path leads to, or nil.
func get(at any, path ...string) any {
	for _, step := range path {
		members, _ := at.(map[string]any)
		at = members[step]
	}
	return at
}
