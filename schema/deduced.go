package schema

// Values without a schema must merge, too: unknown fields of custom resources, and kinds without a
// published schema. If {x: 1} is live and {y: 2} is applied, the two types merge as follows:
//
//	deduced     {x: 1, y: 2}    objects merge member by member, lists are replaced
//	atomic      {y: 2}          the whole is one value

// The names of the two types for values without a schema, as converters write them.
const (
	DeducedName       = "__untyped_deduced_"
	UntypedAtomicName = "__untyped_atomic_"
)

// deducedTypes returns the definitions of the two types for values without a schema. With
// UntypedAtomicName, any value is one leaf. With DeducedName, objects merge member by member, and
// lists and scalars are leaves.
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

// Deduced is the type of values without a schema. Objects merge member by member. Lists and scalars
// are leaves.
var Deduced = func() *Type {
	types, err := Compile(&Document{Types: deducedTypes()})
	if err != nil {
		panic(err)
	}
	return types[DeducedName]
}()
