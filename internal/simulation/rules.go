package simulation

import "github.com/deed-project/deed/value"

// rules are the schema of a version as the server validates by it. Nil rules say nothing.
type rules struct {
	types      []string // that are admitted; none admit all
	nullable   bool
	properties map[string]*rules
	additional *additional // nil when additionalProperties is not there
	items      *rules
	required   []string
	listType   string
	listKeys   []string
}

// additional is what additionalProperties says: a schema, or nil for true and false.
type additional struct{ *rules }

// rulesOf reads a schema; absent and null give nil.
func rulesOf(v value.Value) *rules {
	if v.Kind() != value.KindObject {
		return nil
	}
	s := &rules{
		nullable: v.Get("nullable").Bool(),
		items:    rulesOf(v.Get("items")),
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
	if a := v.Get("additionalProperties"); !a.IsAbsent() && !a.IsNull() {
		s.additional = &additional{rulesOf(a)}
	}
	s.properties = make(map[string]*rules, v.Get("properties").Len())
	for name, property := range v.Get("properties").Members() {
		s.properties[name] = rulesOf(property)
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
func (s *rules) child(name string) (*rules, bool) {
	if s == nil {
		return nil, false
	}
	if p, ok := s.properties[name]; ok {
		return p, true
	}
	if s.additional != nil {
		return s.additional.rules, true
	}
	return nil, false
}

func (s *rules) item() *rules {
	if s == nil {
		return nil
	}
	return s.items
}
