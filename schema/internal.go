package schema

import "github.com/deed-project/deed/internal/door"

// Internal gives the other packages of this module access to functions outside the API. Other
// modules cannot open it: see docs/decisions/0025.
type Internal = door.Door[internal]

// internal holds the functions behind the door, as methods of a struct without fields.
type internal struct{}

// LookupNext is [Map.Lookup] for a walk of members in the order of their names. Members mostly
// match consecutive fields, so that it tries field number *next first. The caller sets *next to 0
// before the first member, and passes it on for the next members.
func (internal) LookupNext(m *Map, next *int, name string) (t *Type, declared bool) {
	return m.lookupNext(next, name)
}

// IsSound reports whether no type of the schema that t belongs to has a defect.
func (internal) IsSound(t *Type) bool { return t.isSound() }

// AdmitsAnything reports whether t is a map without fields whose members are deduced or untyped. No
// schema change can alter the topology of such a map.
func (internal) AdmitsAnything(t *Type) bool { return t.admitsAnything() }

// ScalarWord returns the word for [Type.Scalar] in the schema document. For an [UnknownScalar], the
// word can be any text.
func (internal) ScalarWord(t *Type) string { return t.scalarWord() }

// ParseScalar returns the scalar that word names, and [UnknownScalar] for any other word.
func (internal) ParseScalar(word string) Scalar { return parseScalar(word) }

// DeducedTypes returns the definitions of the two types for values without a schema:
// [UntypedAtomicName] and [DeducedName]. Converters add them to their documents.
func (internal) DeducedTypes() []TypeDef { return deducedTypes() }

// CompileBeside is [Compile] for a document that also refers to compiled types, by their names. The
// compiled types must have no defects. The returned map contains them, too.
func (internal) CompileBeside(d *Document, compiled map[string]*Type) (map[string]*Type, error) {
	return compileBeside(d, compiled)
}

// RequireKeys returns a copy of types in which an item of a keyed list must have every key that has
// no default. Otherwise one key is enough.
func (internal) RequireKeys(types map[string]*Type) map[string]*Type { return requireKeys(types) }

// RequiresKeys reports whether an item of l must have every key that has no default.
func (internal) RequiresKeys(l *List) bool { return l.allKeys }

// CompareGVKs orders kinds by group, version and kind.
func (internal) CompareGVKs(g, h GVK) int { return g.compare(h) }
