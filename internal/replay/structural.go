package replay

import (
	"fmt"
	"slices"
	"strings"

	"github.com/deed-project/deed/value"
)

// structural is the schema of a version, as the server prunes, defaults and validates by it. A nil structural says nothing.
type structural struct {
	types      []string // that are admitted; none admit all
	nullable   bool
	preserve   bool        // x-kubernetes-preserve-unknown-fields
	dflt       value.Value // absent when there is none; null counts as none
	properties map[string]*structural
	additional *additional // nil when additionalProperties is not there
	items      *structural
	required   []string
	listType   string
	listKeys   []string
}

// additional is what additionalProperties says: a schema, or nil for true and false.
type additional struct{ *structural }

// structuralOf reads a schema; absent and null give nil.
func structuralOf(v value.Value) *structural {
	if v.Kind() != value.KindObject {
		return nil
	}
	s := &structural{
		nullable: v.Get("nullable").Bool(),
		preserve: v.Get("x-kubernetes-preserve-unknown-fields").Bool(),
		items:    structuralOf(v.Get("items")),
		required: texts(v.Get("required")),
		listType: v.Get("x-kubernetes-list-type").Str(),
		listKeys: texts(v.Get("x-kubernetes-list-map-keys")),
	}
	if typ := v.Get("type").Str(); typ != "" {
		s.types = []string{typ}
	}
	if v.Get("x-kubernetes-int-or-string").Bool() {
		s.types = []string{"integer", "string"}
	}
	if d := v.Get("default"); !d.IsNull() {
		s.dflt = d
	}
	if a := v.Get("additionalProperties"); !a.IsAbsent() && !a.IsNull() {
		s.additional = &additional{structuralOf(a)}
	}
	s.properties = make(map[string]*structural, v.Get("properties").Len())
	for name, property := range v.Get("properties").Members() {
		s.properties[name] = structuralOf(property)
	}
	return s
}

func texts(list value.Value) []string {
	var out []string
	for item := range list.Items() {
		out = append(out, item.Str())
	}
	return out
}

// child returns the schema of the member called name, and whether the schema speaks of such a member.
func (s *structural) child(name string) (*structural, bool) {
	if s == nil {
		return nil, false
	}
	if p, ok := s.properties[name]; ok {
		return p, true
	}
	if s.additional != nil {
		return s.additional.structural, true
	}
	return nil, false
}

func (s *structural) item() *structural {
	if s == nil {
		return nil
	}
	return s.items
}

// isRootField reports whether name is a field that every resource has, whatever its schema says.
func isRootField(name string) bool {
	return name == "apiVersion" || name == "kind" || name == "metadata"
}

// pruner removes fields that a schema does not know, and lists their paths in the order of values.
type pruner struct{ unknown []string }

// root prunes an object. It keeps the fields that all objects have as they are.
func (p *pruner) root(v value.Value, s *structural) value.Value {
	kept := value.Object()
	rest := v
	for name, member := range v.Members() {
		if isRootField(name) {
			kept, rest = kept.With(name, member), rest.With(name, value.Value{})
		}
	}
	if s == nil {
		s = &structural{}
	}
	pruned := p.prune(rest, s, "")
	for name, member := range kept.Members() {
		pruned = pruned.With(name, member)
	}
	slices.Sort(p.unknown)
	return pruned
}

func (p *pruner) prune(v value.Value, s *structural, path string) value.Value {
	return p.walk(v, s, path, s != nil && s.preserve)
}

// walk prunes v. keep is whether unknown fields are preserved here, which goes for the items of lists too; known fields are
// pruned all the same.
func (p *pruner) walk(v value.Value, s *structural, path string, keep bool) value.Value {
	if keep && s == nil {
		return v
	}
	switch v.Kind() {
	case value.KindObject:
		return p.object(v, s, path, keep)
	case value.KindList:
		items := make([]value.Value, 0, v.Len())
		for item := range v.Items() {
			child := s.item()
			here := fmt.Sprintf("%s[%d]", path, len(items))
			items = append(items, p.walk(item, child, here, keep || child != nil && child.preserve))
		}
		return value.List(items...)
	}
	return v
}

func (p *pruner) object(v value.Value, s *structural, path string, keep bool) value.Value {
	members := make([]value.Member, 0, v.Len())
	for name, member := range v.Members() {
		here := strings.TrimPrefix(path+"."+name, ".")
		child, known := s.child(name)
		switch {
		case known:
			members = append(members, value.Member{Name: name, Value: p.prune(member, child, here)})
		case keep:
			members = append(members, value.Member{Name: name, Value: member})
		default:
			p.unknown = append(p.unknown, here)
		}
	}
	return value.Object(members...)
}

// dropNulls removes the members of objects that are null although their schema does not admit it and has no default.
func dropNulls(v value.Value, s *structural) value.Value {
	switch v.Kind() {
	case value.KindObject:
		members := make([]value.Member, 0, v.Len())
		for name, member := range v.Members() {
			child, _ := s.child(name)
			if member.IsNull() && child != nil && !child.nullable && child.dflt.IsAbsent() {
				continue
			}
			members = append(members, value.Member{Name: name, Value: dropNulls(member, child)})
		}
		return value.Object(members...)
	case value.KindList:
		items := make([]value.Value, 0, v.Len())
		for item := range v.Items() {
			items = append(items, dropNulls(item, s.item()))
		}
		return value.List(items...)
	}
	return v
}

// fillDefaults adds default values for members that are missing, or null although their schema does not admit it.
func fillDefaults(v value.Value, s *structural) value.Value {
	if s == nil {
		return v
	}
	switch v.Kind() {
	case value.KindObject:
		for name, p := range s.properties {
			if member := v.Get(name); !p.dflt.IsAbsent() && (member.IsAbsent() || member.IsNull() && !p.nullable) {
				v = v.With(name, p.dflt)
			}
		}
		members := make([]value.Member, 0, v.Len())
		for name, member := range v.Members() {
			child, _ := s.child(name)
			if _, declared := s.properties[name]; !declared {
				member = orDefault(member, child)
			}
			members = append(members, value.Member{Name: name, Value: fillDefaults(member, child)})
		}
		return value.Object(members...)
	case value.KindList:
		items := make([]value.Value, 0, v.Len())
		for item := range v.Items() {
			items = append(items, fillDefaults(orDefault(item, s.items), s.items))
		}
		return value.List(items...)
	}
	return v
}

// orDefault returns v, or the default of s where v is null, which s does not admit.
func orDefault(v value.Value, s *structural) value.Value {
	if v.IsNull() && s != nil && !s.nullable && !s.dflt.IsAbsent() {
		return s.dflt
	}
	return v
}
