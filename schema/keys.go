package schema

// requireKeys returns a deep copy of types in which an item of a keyed list must have every key
// that has no default. A type that is shared in the input is shared in the copy.
func requireKeys(types map[string]*Type) map[string]*Type {
	c := copier{}
	out := make(map[string]*Type, len(types))
	for name, t := range types {
		out[name] = c.copy(t)
	}
	return out
}

// copier maps each visited type to its copy. Types may be recursive, so that copy adds an entry
// before it copies the parts.
type copier map[*Type]*Type

// copy returns the copy of t.
func (c copier) copy(t *Type) *Type {
	if t == nil {
		return nil
	}
	if out, ok := c[t]; ok {
		return out
	}
	out := *t
	c[t] = &out
	if t.list != nil {
		l := *t.list
		l.element, l.allKeys = c.copy(l.element), true
		out.list = &l
	}
	if t.object != nil {
		m := *t.object
		m.element, m.fields = c.copy(m.element), append([]Field(nil), m.fields...)
		for i := range m.fields {
			m.fields[i].Type = c.copy(m.fields[i].Type)
		}
		out.object = &m
	}
	return &out
}
