package schema

import "github.com/deed-project/deed/internal/door"

// Internal gives the other packages of this module access to functions outside the API. No other
// module can open it: see docs/decisions/0025.
type Internal = door.Door[internal]

// internal is what is behind the door: a struct without fields, so that its methods are functions.
type internal struct{}

// LookupNext is [Map.Lookup] for who walks members in the order of their names: declared fields
// mostly come one after the other, so the one with number *next is tried first. *next is 0 to begin
// with, and the caller keeps it for the next member.
func (internal) LookupNext(m *Map, next *int, name string) (t *Type, declared bool) {
	return m.lookupNext(next, name)
}

// IsSound reports whether no type of the schema that t belongs to has a defect.
func (internal) IsSound(t *Type) bool { return t.isSound() }

// AdmitsAnything reports whether t is a map without fields whose members are deduced or untyped:
// one whose topology no schema change can alter.
func (internal) AdmitsAnything(t *Type) bool { return t.admitsAnything() }

// ScalarWord returns the word that the schema document has for [Type.Scalar], which for an
// [UnknownScalar] is any.
func (internal) ScalarWord(t *Type) string { return t.scalarWord() }

// ParseScalar returns the scalar that word names, and [UnknownScalar] for any other word.
func (internal) ParseScalar(word string) Scalar { return parseScalar(word) }

// DeducedTypes returns the definitions of the two types for values without a schema, which
// converters add to what they convert: [UntypedAtomicName] and [DeducedName].
func (internal) DeducedTypes() []TypeDef { return deducedTypes() }

// CompileBeside is [Compile] for a document that refers by their names to types that are compiled
// already and sound. The map that it returns has those, too.
func (internal) CompileBeside(d *Document, compiled map[string]*Type) (map[string]*Type, error) {
	return compileBeside(d, compiled)
}

// RequireKeys returns types with all that they are made of, in which an item of a keyed list must have every key that has no default.
// Otherwise one key is enough.
func (internal) RequireKeys(types map[string]*Type) map[string]*Type { return requireKeys(types) }

// RequiresKeys reports whether an item of l must have every key that has no default.
func (internal) RequiresKeys(l *List) bool { return l.allKeys }

// CompareGVKs orders kinds by group, version and kind.
func (internal) CompareGVKs(g, h GVK) int { return g.compare(h) }
