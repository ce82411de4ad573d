package schema

// Names that converters give to the two types for values without a schema.
const (
	DeducedName       = "__untyped_deduced_"
	UntypedAtomicName = "__untyped_atomic_"
)

// DeducedTypes returns the definitions of the two types for values without a schema: UntypedAtomicName, any value as one
// leaf, and DeducedName, where objects merge member by member while lists and scalars are leaves.
func DeducedTypes() []TypeDef {
	atomic := TypeRef{NamedType: UntypedAtomicName}
	deduced := TypeRef{NamedType: DeducedName}
	list := &ListDef{ElementType: atomic, Relationship: Atomic}
	return []TypeDef{
		{Name: UntypedAtomicName, Atom: Atom{
			Scalar: Untyped, List: list, Map: &MapDef{ElementType: atomic, Relationship: Atomic},
		}},
		{Name: DeducedName, Atom: Atom{
			Scalar: Untyped, List: list, Map: &MapDef{ElementType: deduced, Relationship: Separable},
		}},
	}
}

// Deduced is the type of values without a schema; see [DeducedTypes].
var Deduced = func() *Type {
	s, err := Compile(&Document{Types: DeducedTypes()})
	if err != nil {
		panic(err)
	}
	t, _ := s.Type(DeducedName)
	return t
}()
