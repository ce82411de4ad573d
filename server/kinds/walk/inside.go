package walk

import (
	_ "embed"
	"encoding/json"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/util/diff"

	"github.com/deed-project/deed/value"
)

// Kube-apiserver validates internal Go types, and shows parts of objects in refusals as JSON of these types: members have the names and the
// order of Go fields, and those that are absent are printed, too.
//
//	clients know   {"key":"a","operator":"Exists"}
//	shown          {"Key":"a","Operator":"Exists","Values":null}
//
// This file prints parts of objects like that. The types are in inside.txt, which command inside of oracle writes and explains.

//go:embed inside.txt
var insideText string

// insideField is a field of an internal type.
type insideField struct {
	name     string // that clients know; "." if the members are those of the object itself
	shown    string // in JSON of the internal type
	typ      string
	optional bool // an empty value is left out
	embedded bool // the members are printed among those of the struct around it
}

// insideTypes returns the fields of the internal types by the names of the types. They are read once, for the first refusal that needs them.
var insideTypes = sync.OnceValue(func() map[string][]insideField {
	out := map[string][]insideField{}
	typ := ""
	for line := range strings.Lines(insideText) {
		line = strings.TrimSuffix(line, "\n")
		text, isField := strings.CutPrefix(line, "\t")
		if !isField {
			typ = line
			out[typ] = nil
			continue
		}
		words := strings.Fields(text)
		f := insideField{name: words[0], typ: words[len(words)-1]}
		if len(words) == 2 {
			f.shown = strings.ToUpper(f.name[:1]) + f.name[1:]
		} else {
			f.shown, f.optional = strings.CutSuffix(words[1], "?")
		}
		if inner, ok := strings.CutPrefix(f.typ, "("); ok {
			f.typ, f.embedded = strings.TrimSuffix(inner, ")"), true
		}
		out[typ] = append(out[typ], f)
	}
	return out
})

// insidePackages are the packages of internal types, where the name differs from the first part of the group.
var insidePackages = map[string]string{"": "core", "events.k8s.io": "core", "internal.apiserver.k8s.io": "apiserverinternal"}

// insideType returns the name of the internal type of the object.
func (r *Report) insideType() string {
	p, differs := insidePackages[r.Group]
	if !differs {
		p, _, _ = strings.Cut(r.Group, ".")
	}
	return p + "." + r.Kind
}

// Inside returns what a path of the object leads to as kube-apiserver shows it.
func (r *Report) Inside(path string, v value.Value) any {
	if r.Kind == "" || IsSet(v) && v.Kind() != value.KindObject && v.Kind() != value.KindList && v.Kind() != value.KindString {
		return v.ToAny()
	}
	typ := r.InsideTypeAt(path)
	switch {
	case strings.TrimPrefix(typ, "*") == "name" && v.Kind() == value.KindString:
		return Enumeration(v.Str())
	case typ == "" || v.Kind() == value.KindString:
		return ofType(typ, v).ToAny()
	}
	return json.RawMessage(appendInside(nil, typ, v))
}

// InsideTypeAt returns the type of what a path of the object leads to, "" if it is not known.
func (r *Report) InsideTypeAt(path string) string {
	typ := r.insideType()
	for path != "" && typ != "" {
		if strings.HasPrefix(path, "[") {
			path = path[strings.IndexByte(path, ']')+1:] // the names of types tell nothing about keys
			typ = insideItem(typ)
			continue
		}
		name := strings.TrimPrefix(path, ".")
		if end := strings.IndexAny(name, ".["); end >= 0 {
			name, path = name[:end], name[end:]
		} else {
			path = ""
		}
		typ = insideMember(strings.TrimPrefix(typ, "*"), name)
	}
	return typ
}

// SameInside reports whether two values of a type are equal as kube-apiserver compares them: absent lists and maps equal empty ones, absent
// pointers do not equal pointers to nothing, and quantities equal other spellings of them.
func SameInside(typ string, a, b value.Value) bool {
	if a, b = notZero(a), notZero(b); a.Equal(b) {
		return true
	}
	if pointed, ok := strings.CutPrefix(typ, "*"); ok {
		return IsSet(a) == IsSet(b) && a.IsNull() == b.IsNull() && SameInside(pointed, a, b) // null is a pointer to the zero time
	}
	if item, ok := strings.CutPrefix(typ, "[]"); ok {
		same := a.Len() == b.Len()
		for i := 0; same && i < a.Len(); i++ {
			same = SameInside(item, a.Item(i), b.Item(i))
		}
		return same
	}
	if item, ok := strings.CutPrefix(typ, "{}"); ok {
		same := a.Len() == b.Len()
		for i := 0; same && i < a.Len(); i++ {
			x, y := a.Member(i), b.Member(i)
			same = x.Name == y.Name && SameInside(item, x.Value, y.Value)
		}
		return same
	}
	if typ == "quantity" {
		return Compare(a, b) == 0
	}
	fields, isStruct := insideTypes()[typ]
	for _, f := range fields {
		x, y := a, b
		if f.name != "." {
			x, y = a.Get(f.name), b.Get(f.name)
		}
		if !SameInside(f.typ, x, y) {
			return false
		}
	}
	return isStruct || IsEmpty(a) && IsEmpty(b)
}

// notZero returns a value, or none for the time of zero: it equals a time that is not set.
func notZero(v value.Value) value.Value {
	switch v.Str() {
	case "0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000000Z":
		return value.Value{}
	}
	return v
}

// isTime reports whether values of a type may be times. Times in microseconds have the type any.
func isTime(typ string) bool { return typ == "time" || typ == "any" }

// ofType returns a value as it is printed: times without fractions.
func ofType(typ string, v value.Value) value.Value {
	if whole, _, ok := strings.Cut(v.Str(), "."); ok && strings.TrimPrefix(typ, "*") == "time" {
		return value.String(whole + "Z")
	}
	return v
}

// insideItem returns the type of the items of a list, or of what a map has; "" for other types.
func insideItem(typ string) string {
	typ = strings.TrimPrefix(typ, "*")
	if item, ok := strings.CutPrefix(typ, "[]"); ok {
		return item
	}
	item, _ := strings.CutPrefix(typ, "{}")
	return item
}

// insideMember returns the type of a member, which may be one of an embedded struct, or be that struct; "" if there is none.
func insideMember(typ, name string) string {
	for _, f := range insideTypes()[typ] {
		switch {
		case strings.EqualFold(f.name, name), f.embedded && strings.EqualFold(f.shown, name):
			return f.typ
		case f.name == ".":
			if found := insideMember(f.typ, name); found != "" {
				return found
			}
		}
	}
	return ""
}

// appendInside appends v as JSON of a type.
func appendInside(to []byte, typ string, v value.Value) []byte {
	if pointed, ok := strings.CutPrefix(typ, "*"); ok && IsSet(v) {
		return appendInside(to, pointed, v)
	}
	if item, ok := strings.CutPrefix(typ, "[]"); ok && v.Kind() == value.KindList {
		to = append(to, '[')
		for i := range v.Len() {
			to = appendInside(afterComma(to), item, v.Item(i))
		}
		return append(to, ']')
	}
	if item, ok := strings.CutPrefix(typ, "{}"); ok && v.Kind() == value.KindObject {
		to = append(to, '{')
		for name, member := range v.Members() {
			to = append(append(afterComma(to), value.String(name).String()...), ':')
			to = appendInside(to, item, member)
		}
		return append(to, '}')
	}
	if _, isStruct := insideTypes()[typ]; isStruct {
		return append(appendInsideMembers(append(to, '{'), typ, v), '}')
	}
	if !IsSet(v) || isTime(typ) && notZero(v).IsAbsent() { // a time of zero is one that is not set
		return append(to, absentInside(typ)...)
	}
	return append(to, ofType(typ, v).String()...)
}

// appendInsideMembers appends the members of a struct, and those of the structs that it embeds.
func appendInsideMembers(to []byte, typ string, v value.Value) []byte {
	for _, f := range insideTypes()[typ] {
		member := v
		if f.name != "." {
			member = v.Get(f.name)
		}
		switch {
		case f.embedded:
			to = appendInsideMembers(to, f.typ, member)
		case f.optional && isTime(f.typ) && notZero(member).IsAbsent(): // a time of zero
		case f.optional && (IsEmpty(member) || member.Equal(value.String("")) || member.Equal(value.Int(0)) || member.Equal(value.Bool(false))) &&
			!(strings.HasPrefix(f.typ, "*") && !member.IsAbsent()):
		default:
			to = append(append(append(afterComma(to), '"'), f.shown...), `":`...)
			to = appendInside(to, f.typ, member)
		}
	}
	return to
}

// Ordered returns a value as refusals by tags of types show it: with the members of its objects in the order of the Go types, by the names that
// clients know. Empty lists and maps are missing, because the types leave them out.
func (r *Report) Ordered(p Place) any {
	if p.Kind() != value.KindObject {
		return p.ToAny()
	}
	return json.RawMessage(appendOrdered(nil, r.InsideTypeAt(p.Path().String()), p.Value))
}

// appendOrdered appends v as JSON, with members in the order of a type. Members that the type does not have come last.
func appendOrdered(to []byte, typ string, v value.Value) []byte {
	switch typ = strings.TrimPrefix(typ, "*"); v.Kind() {
	case value.KindList:
		to = append(to, '[')
		for item := range v.Items() {
			to = appendOrdered(afterComma(to), insideItem(typ), item)
		}
		return append(to, ']')
	case value.KindObject:
		to = append(to, '{')
		add := func(name, typ string) {
			member := v.Get(name)
			v = v.With(name, value.Value{})
			if isEmpty := IsEmpty(member) && (strings.HasPrefix(typ, "[]") || strings.HasPrefix(typ, "{}")); !member.IsAbsent() && !isEmpty {
				to = append(append(afterComma(to), value.String(name).String()...), ':')
				to = appendOrdered(to, typ, member)
			}
		}
		for _, f := range insideTypes()[typ] {
			add(f.name, f.typ)
		}
		for name := range v.Members() {
			add(name, insideItem(typ))
		}
		return append(to, '}')
	}
	return append(to, v.String()...)
}

// absentInside returns the JSON of a Go value that was not set.
func absentInside(typ string) string {
	switch typ {
	case "text", "name":
		return `""`
	case "number":
		return "0"
	case "bool":
		return "false"
	case "quantity":
		return `"0"`
	}
	return "null"
}

// afterComma appends a comma, unless what comes next is the first in its object or list.
func afterComma(to []byte) []byte {
	if last := to[len(to)-1]; last == '{' || last == '[' {
		return to
	}
	return append(to, ',')
}

// Change returns what differs between two values of a path, line by line.
func (r *Report) Change(path string, was, is value.Value) string {
	return diff.Diff(r.Inside(path, was), r.Inside(path, is))
}
