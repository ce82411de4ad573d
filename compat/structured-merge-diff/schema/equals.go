package schema

import (
	"reflect"
	"slices"
)

// Equality compares the written form. An inlined atom differs from a named atom, even if both admit the same values.

// both compares two pointers if one of them is nil. Otherwise look reports that the caller must compare the targets.
func both[T any](a, b *T) (equal, look bool) {
	if a == nil || b == nil {
		return a == b, false
	}
	return true, true
}

// same reports whether both pointers are nil, or both targets are equal.
func same[T comparable](a, b *T) bool {
	equal, look := both(a, b)
	return equal && (!look || *a == *b)
}

// Equals reports whether both schemas have equal types in the same order.
func (a *Schema) Equals(b *Schema) bool {
	equal, look := both(a, b)
	return equal && (!look || slices.EqualFunc(a.Types, b.Types, func(x, y TypeDef) bool { return x.Equals(&y) }))
}

// Equals reports whether both references are written alike. It compares relationships by their pointers.
func (a *TypeRef) Equals(b *TypeRef) bool {
	if equal, look := both(a, b); !look {
		return equal
	}
	return same(a.NamedType, b.NamedType) && a.ElementRelationship == b.ElementRelationship && a.Nullable == b.Nullable &&
		a.Inlined.Equals(&b.Inlined)
}

// Equals reports whether both types have the same name and equal atoms.
func (a *TypeDef) Equals(b *TypeDef) bool {
	equal, look := both(a, b)
	return equal && (!look || a.Name == b.Name && a.Atom.Equals(&b.Atom))
}

// Equals reports whether both atoms have the same parts. It compares only the first of the parts that they have: scalar, list
// or map.
func (a *Atom) Equals(b *Atom) bool {
	if equal, look := both(a, b); !look {
		return equal
	}
	if (a.Scalar == nil) != (b.Scalar == nil) || (a.List == nil) != (b.List == nil) || (a.Map == nil) != (b.Map == nil) {
		return false
	}
	switch {
	case a.Scalar != nil:
		return *a.Scalar == *b.Scalar
	case a.List != nil:
		return a.List.Equals(b.List)
	case a.Map != nil:
		return a.Map.Equals(b.Map)
	}
	return true
}

// Equals reports whether both maps are written alike.
func (a *Map) Equals(b *Map) bool {
	if equal, look := both(a, b); !look {
		return equal
	}
	return a.ElementRelationship == b.ElementRelationship && a.ElementType.Equals(&b.ElementType) &&
		slices.EqualFunc(a.Fields, b.Fields, func(x, y StructField) bool { return x.Equals(&y) }) &&
		slices.EqualFunc(a.Unions, b.Unions, func(x, y Union) bool { return x.Equals(&y) })
}

// Equals reports whether both unions are written alike.
func (a *Union) Equals(b *Union) bool {
	if equal, look := both(a, b); !look {
		return equal
	}
	return same(a.Discriminator, b.Discriminator) && a.DeduceInvalidDiscriminator == b.DeduceInvalidDiscriminator &&
		slices.Equal(a.Fields, b.Fields)
}

// Equals reports whether both fields are equal.
func (a *UnionField) Equals(b *UnionField) bool { return same(a, b) }

// Equals reports whether both fields are written alike.
func (a *StructField) Equals(b *StructField) bool {
	if equal, look := both(a, b); !look {
		return equal
	}
	return a.Name == b.Name && reflect.DeepEqual(a.Default, b.Default) && a.Type.Equals(&b.Type)
}

// Equals reports whether both lists are written alike.
func (a *List) Equals(b *List) bool {
	if equal, look := both(a, b); !look {
		return equal
	}
	return a.ElementRelationship == b.ElementRelationship && a.ElementType.Equals(&b.ElementType) && slices.Equal(a.Keys, b.Keys)
}
