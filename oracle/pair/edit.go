package pair

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Edit puts a value into a document, or removes what is there. Steps of the path are names of members and indexes of items.
type Edit struct {
	Path   []any `json:"path"`
	Value  any   `json:"value,omitempty"`
	Remove bool  `json:"remove,omitempty"`
}

// Apply returns document with edits. It shares what they leave as it is.
func Apply(document any, edits []Edit) any {
	for _, e := range edits {
		document = Put(document, e.Path, e)
	}
	return document
}

// Put returns a value with one edit, whose path is given apart. It makes the containers that do not exist. An
// index beyond the end of a list appends.
func Put(at any, path []any, e Edit) any {
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
			members[step] = Put(members[step], path[1:], e)
		}
		return members
	case int:
		items, _ := at.([]any)
		items = slices.Clone(items)
		switch {
		case last && e.Remove && step < len(items):
			return slices.Delete(items, step, step+1)
		case step < len(items):
			items[step] = Put(items[step], path[1:], e)
			return items
		}
		return append(items, Put(nil, path[1:], e))
	}
	panic(fmt.Sprintf("a step %T", path[0]))
}

// String returns the edit in a line.
func (e Edit) String() string {
	var b strings.Builder
	for _, step := range e.Path {
		fmt.Fprintf(&b, "/%v", step)
	}
	if e.Remove {
		return "- " + b.String()
	}
	return b.String() + " = " + Shown(e.Value)
}

// Get returns what a path leads to, or nil.
func Get(at any, path ...string) any {
	for _, step := range path {
		members, _ := at.(map[string]any)
		at = members[step]
	}
	return at
}

// Shown returns v as JSON, cut if it is long.
func Shown(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	if len(text) > 200 {
		return string(text[:200]) + "..."
	}
	return string(text)
}
