package cel

import (
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"k8s.io/apiserver/pkg/cel/common"

	"github.com/deed-project/deed/value"
)

// Objects of Go types. The library shows them by reflection, and some operations differ from those of documents:
//
//	{limits: {cpu: 1}} == {limits: {cpu: 1000m}}    structs are equal by their meaning, here true
//	configMapKeyRef == secretKeyRef                 structs of two types are not equal, whatever they hold
//	spec == 1, 1 in labels, labels[1]               errors, with texts of their own
//
// These operations need the Go object, which is read when the first of them asks for it. All others work on the document.

// typed is the shape of one place in an object of a Go type.
type typed struct {
	within *typed              // nil at the root
	step   ref.Val             // from there: a name or an index
	read   func() (any, error) // the Go object, only at the root
	whole  ref.Val             // cache of val
}

// NewTyped returns an object of a Go type as expressions without a schema see it. v is its document, and read returns the Go object. It belongs
// to one evaluation, and is not safe for concurrent use.
func NewTyped(v value.Value, read func() (any, error)) ref.Val {
	return NewObject(v, &typed{read: read})
}

// val returns what is at the place, in the form of the library.
func (t *typed) val() ref.Val {
	if t.whole == nil {
		t.whole = t.find()
	}
	return t.whole
}

func (t *typed) find() ref.Val {
	if t.within == nil {
		object, err := t.read()
		if err != nil {
			return types.WrapErr(err)
		}
		return common.SchemalessTypedToVal(object)
	}
	within := t.within.val()
	if of, ok := within.(traits.Indexer); ok {
		return of.Get(t.step)
	}
	return within // an error of read
}

// Library implements [Shape].
func (t *typed) Library(value.Value) ref.Val { return t.val() }

// Member implements [Shape].
func (t *typed) Member(object value.Value, name string) (member ref.Val, found, ok bool) {
	m := object.Get(name)
	if m.IsAbsent() {
		return nil, false, true
	}
	return t.below(m, types.String(name)), true, true
}

// Item implements [Shape].
func (t *typed) Item(list value.Value, i int) ref.Val { return t.below(list.Item(i), types.Int(i)) }

// below returns a member or an item.
func (t *typed) below(v value.Value, step ref.Val) ref.Val {
	switch v.Kind() {
	case value.KindObject:
		return NewObject(v, &typed{within: t, step: step})
	case value.KindList:
		return NewList(v, &typed{within: t, step: step})
	}
	return NewValue(v)
}

// concatenation returns a list with the items of two lists.
func (l *list) concatenation(with ref.Val) ref.Val {
	if _, isList := with.(traits.Lister); !isList {
		return types.MaybeNoSuchOverloadErr(with)
	}
	var all []ref.Val
	for _, of := range []traits.Lister{l, with.(traits.Lister)} {
		for it := of.Iterator(); it.HasNext() == types.True; {
			all = append(all, it.Next())
		}
	}
	return types.NewRefValList(types.DefaultTypeAdapter, all)
}
