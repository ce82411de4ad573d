package schema

// Values that no schema describes still have to be merged: custom resources with unknown fields,
// and kinds that nobody published. They merge as follows, {x: 1} being live and {y: 2} applied:
//
//	deduced     {x: 1, y: 2}    objects merge member by member, lists are replaced
//	atomic      {y: 2}          all of it is one value

// Names that converters give to the two types for values without a schema.
const (
	DeducedName       = "__untyped_deduced_"
	UntypedAtomicName = "__untyped_atomic_"
)

// deducedTypes returns the definitions of the two types for values without a schema:
// UntypedAtomicName, any value as one leaf, and DeducedName, where objects merge member by member
// while lists and scalars are leaves.
func deducedTypes() []TypeDef {
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

// Deduced is the type of values without a schema: objects merge member by member, while lists and
// scalars are leaves.
var Deduced = func() *Type {
	types, err := Compile(&Document{Types: deducedTypes()})
	if err != nil {
		panic(err)
	}
	return types[DeducedName]
}()
