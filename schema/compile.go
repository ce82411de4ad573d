package schema

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Compiling turns names into pointers. Compile makes an empty type for every definition first. Then
// it fills each type with its parts. A reference can therefore find its type before that type is
// filled, and recursive schemas become graphs with cycles:
//
//	types:                                 spec ──fields──> replicas: numeric
//	- name: spec                             │
//	  map: {fields: [                        └──fields──> children: list ──element──> spec
//	    {name: replicas, scalar: numeric},
//	    {name: children, list of spec}]}
//
// Two steps need complete types, and wait until all types are filled. These are the overrides of a
// relationship, and the keys of lists. A key has the default of its field in the items.
//
// Invariants, once Compile returns:
//
//	a type that has an err has no parts
//	each override of one base by one relationship is one type, wherever it is written
//	defects is true exactly if some type of the document, or one made for a reference, has an err

// Compile resolves every reference and override of d. It returns the types by the names that d
// gives them, in a map that belongs to the caller. It reports all problems, joined, each a
// [*Error]:
//
//   - two types, or two fields of one map, with the same name (the last one counts);
//   - a reference to a type that is not defined, and a reference without name and atom where a type
//     is needed;
//   - a type without any atom, and an unknown scalar or relationship;
//   - an override on a type that has neither map nor list;
//   - a list without relationship, a keyed list whose items are not objects, and a key that the
//     items do not declare.
//
// Compile returns the types along with the problems. They are as usable as they are in Kubernetes,
// where a defect shows only when a value meets it. See [Type.Err] and [IncompleteList].
//
// Cost: linear in the size of d, with a factor log n for the fields of each map.
func Compile(d *Document) (map[string]*Type, error) { return compileBeside(d, nil) }

// compileBeside is Compile for a document that also refers to compiled types, by their names. The
// compiled types must have no defects. The returned map contains them, too.
func compileBeside(d *Document, compiled map[string]*Type) (map[string]*Type, error) {
	if d == nil {
		d = &Document{}
	}
	c := compiler{
		types:      make(map[string]*Type, len(compiled)+len(d.Types)),
		overridden: make(map[override]*pendingOverride),
		keys:       make(map[*List][]string),
		defects:    new(bool),
	}
	maps.Copy(c.types, compiled)
	defs := make(map[string]*TypeDef, len(d.Types))
	for i := range d.Types {
		def := &d.Types[i]
		if defs[def.Name] != nil {
			c.report(place{def: def.Name}, "defined twice")
		}
		defs[def.Name] = def
		c.types[def.Name] = &Type{name: def.Name, defects: c.defects}
	}
	for i := range d.Types {
		if def := &d.Types[i]; defs[def.Name] == def {
			c.fill(c.types[def.Name], def.Atom, place{def: def.Name})
		}
	}
	c.finish()
	return c.types, errors.Join(c.problems...)
}

// compiler is the state of Compile.
type compiler struct {
	types      map[string]*Type
	overridden map[override]*pendingOverride
	pending    []*pendingOverride
	keys       map[*List][]string // the key names of each pending keyed list
	keyed      []pendingKeys
	problems   []error
	defects    *bool // whether any type has a defect; shared by all types
}

// defective returns a type that admits nothing.
func (c *compiler) defective(name string, err error) *Type {
	*c.defects = true
	return &Type{name: name, err: err, defects: c.defects}
}

// override is a base type with another relationship for its map or list.
type override struct {
	base         *Type
	relationship Relationship
}

// pendingOverride is an override whose base is not complete yet.
type pendingOverride struct {
	override
	out    *Type
	places []place // the places in the document that write the override
}

// pendingKeys is a keyed list whose item type is not complete yet.
type pendingKeys struct {
	list *List
	at   place
	copy bool // the list is a copy with another relationship; the original reports defects of its keys
}

// place is a position in the document: the definition of a type, and steps into it. It becomes text
// only for problems.
type place struct {
	def string
	at  *step // nil for the whole definition
}

// step leads from the place at up to a member, or to the type of a field.
type step struct {
	up   *step
	name string
	into bool // whether name is that of a field
}

// in returns the place of a member.
func (p place) in(member string) place { return place{p.def, &step{up: p.at, name: member}} }

// ofField returns the place of the type of a field.
func (p place) ofField(name string) place { return place{p.def, &step{p.at, name, true}} }

// path returns the steps as text, such as map.fields[a].type.
func (p place) path() string {
	var steps []string
	for at := p.at; at != nil; at = at.up {
		text := at.name
		if at.into {
			text = fmt.Sprintf("fields[%s].type", at.name)
		}
		steps = append(steps, text)
	}
	slices.Reverse(steps)
	return strings.Join(steps, ".")
}

// report records a problem at a place.
func (c *compiler) report(at place, format string, args ...any) {
	path := at.path()
	if at.def == "" { // the empty name prints nothing, so that the path includes it
		path = strings.TrimSuffix(`.types[name=""].`+path, ".")
	}
	c.problems = append(c.problems, &Error{Type: at.def, Path: path, Reason: fmt.Sprintf(format, args...)})
}

// fill gives t the parts of atom.
func (c *compiler) fill(t *Type, atom Atom, at place) {
	if atom == (Atom{}) {
		*t = *c.defective(t.name, invalidAtom(t.name))
		c.report(at, "admits neither scalar, list nor map")
		return
	}
	t.word = atom.Scalar.String()
	if t.scalar = atom.Scalar; t.scalar == UnknownScalar {
		t.word = atom.Word
		c.report(at, "unknown scalar")
	}
	if atom.List != nil {
		t.list = c.list(atom.List, at.in("list"))
	}
	if atom.Map != nil {
		t.object = c.object(atom.Map, at.in("map"))
		t.anything = len(atom.Map.Fields) == 0 && isAnything(atom.Map.ElementType)
	}
}

// invalidAtom returns the error of a type without any atom, in the words of Kubernetes.
func invalidAtom(name string) error {
	if name == "" {
		return errors.New("schema error: invalid atom: inlined")
	}
	return errors.New("schema error: invalid atom: named type: " + name)
}

// isAnything reports whether r means any value. Converters write that as the deduced type, or as
// untyped scalars written in place.
func isAnything(r TypeRef) bool {
	return r.NamedType == DeducedName || r.NamedType == "" && r.Inlined.Scalar == Untyped
}

// list returns the list that def describes. finish completes its keys.
func (c *compiler) list(def *ListDef, at place) *List {
	l := &List{
		topology: topologyOf(def.Relationship, def.Keys),
		element:  c.resolve(def.ElementType, at.in("elementType")),
	}
	if l.topology == IncompleteList {
		c.report(at, "a list needs the relationship atomic or associative, not %q", def.Relationship)
	}
	c.addKeys(def.Keys, pendingKeys{list: l, at: at})
	return l
}

// addKeys records the keys of a list. completeKeys completes them when all types have their parts.
func (c *compiler) addKeys(keys []string, of pendingKeys) {
	if len(keys) > 0 {
		c.keys[of.list] = keys
		c.keyed = append(c.keyed, of)
	}
}

// object returns the map that def describes, with its fields sorted by name.
func (c *compiler) object(def *MapDef, at place) *Map {
	switch def.Relationship {
	case "", Atomic, Separable, Associative:
	default:
		c.report(at, "unknown relationship %q", def.Relationship)
	}
	m := &Map{atomic: def.Relationship == Atomic}
	fields := slices.Clone(def.Fields)
	slices.SortStableFunc(fields, func(a, b FieldDef) int { return strings.Compare(a.Name, b.Name) })
	for i, f := range fields {
		if i+1 < len(fields) && fields[i+1].Name == f.Name {
			c.report(at, "field %q is declared twice", f.Name)
			continue // the last one counts
		}
		m.fields = append(m.fields, Field{f.Name, c.resolve(f.Type, at.ofField(f.Name)), f.Default})
	}
	m.index = newNameIndex(m.fields)
	if def.ElementType != (TypeRef{}) {
		m.element = c.resolve(def.ElementType, at.in("elementType"))
	}
	return m
}

// resolve returns the type that r refers to. finish completes types that override a relationship.
func (c *compiler) resolve(r TypeRef, at place) *Type {
	t := c.types[r.NamedType]
	switch {
	case r.NamedType == "":
		t = &Type{defects: c.defects}
		c.fill(t, r.Inlined, at)
	case t == nil:
		c.report(at, "refers to type %q, which is not defined", r.NamedType)
		return c.defective(r.NamedType, unresolvable(r.NamedType))
	}
	if r.Relationship == "" {
		return t
	}
	key := override{t, r.Relationship}
	o := c.overridden[key]
	if o == nil {
		o = &pendingOverride{override: key, out: &Type{name: t.name, defects: c.defects}}
		c.overridden[key] = o
		c.pending = append(c.pending, o)
	}
	o.places = append(o.places, at)
	return o.out
}

// finish completes the overrides and then the keys of lists. Both need the parts of all types.
func (c *compiler) finish() {
	for _, o := range c.pending {
		c.apply(o)
	}
	for _, k := range c.keyed {
		c.completeKeys(k)
	}
}

// apply copies the base of o to o.out and replaces the relationship: that of the base's map, or
// else that of its list.
func (c *compiler) apply(o *pendingOverride) {
	*o.out = *o.base
	switch {
	case o.base.object != nil:
		m := *o.base.object
		m.atomic = o.relationship == Atomic
		o.out.object = &m
	case o.base.list != nil:
		l := *o.base.list
		keys := c.keysOf(o.base.list)
		l.topology = topologyOf(o.relationship, keys)
		o.out.list = &l
		c.addKeys(keys, pendingKeys{list: &l, copy: true})
	default:
		*o.out = *c.defective(o.base.name, unresolvable(o.base.name))
		for _, at := range o.places {
			c.report(at, "overrides the relationship of a type that has neither map nor list")
		}
	}
}

// keysOf returns the names of the keys of a list. The list may be complete or pending.
func (c *compiler) keysOf(l *List) []string {
	if keys, pending := c.keys[l]; pending {
		return keys
	}
	var names []string
	for _, key := range l.keys {
		names = append(names, key.Name)
	}
	return names
}

// unresolvable returns the error of a reference without a type, in the words of Kubernetes.
func unresolvable(name string) error {
	if name == "" {
		name = "inlined type"
	}
	return errors.New("schema error: no type found matching: " + name)
}

// topologyOf returns the topology of a list with this relationship and these keys.
func topologyOf(r Relationship, keys []string) Topology {
	switch {
	case r == Atomic:
		return AtomicList
	case r != Associative:
		return IncompleteList
	case len(keys) == 0:
		return SetList
	}
	return KeyedList
}

// completeKeys gives a list its keys. The default of a key is that of the item field with the key's
// name. A null default counts as absent.
func (c *compiler) completeKeys(k pendingKeys) {
	names := c.keys[k.list]
	k.list.keys = make([]Key, len(names))
	element := k.list.element.object
	if element == nil && k.list.element.err == nil && !k.copy {
		c.report(k.at, "has keys, but its items are no objects")
	}
	for i, name := range names {
		key := Key{Name: name}
		if element != nil {
			field := element.index.find(element.fields, name)
			switch {
			case field >= 0 && !element.fields[field].Default.IsNull():
				key.Default = element.fields[field].Default
			case field < 0 && element.element == nil && !k.copy:
				c.report(k.at, "has the key %q, which its items do not declare", name)
			}
		}
		k.list.keys[i] = key
	}
}
