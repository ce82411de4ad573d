package value

import (
	"errors"
	"fmt"
	"math"

	deed "github.com/deed-project/deed/value"
	"github.com/deed-project/deed/value/structs"
)

// Reader reads views into documents of deed. Each document shares equal parts with the document before it, like the documents of a
// [deed.Decoder]. It is exported for the other packages of this module. The zero Reader is ready. A Reader must not be used by two
// goroutines at once.
type Reader struct {
	decoder deed.Decoder
	odd     bool // the view has a part that ToAny of the document would return changed
}

// Read returns v as a document. plain reports that [deed.Value.ToAny] would return the Go value of v unchanged: all maps are
// map[string]any, lists []any, integers int64, and floats float64. Read fails if a part of v cannot be a document.
func (r *Reader) Read(v Value) (doc deed.Value, plain bool, err error) {
	if r.decoder.Other == nil {
		r.decoder.Other = r.other
	}
	r.odd = false
	switch v := v.(type) {
	case *valueUnstructured:
		doc, err = r.decoder.FromAny(v.Value)
	case *valueReflect:
		x := v.Value
		if x.CanAddr() {
			x = x.Addr()
		}
		if v.kind == kindNull {
			return deed.Null(), true, nil
		}
		doc, err = structs.Decode(&r.decoder, x.Interface())
	default:
		r.odd = true
		doc, err = r.view(v, 0)
	}
	return doc, !r.odd, err
}

// other reads Go values of types that JSON decoders do not make.
func (r *Reader) other(x any) (deed.Value, error) {
	r.odd = true
	return r.any(x, 0)
}

var errDeep = errors.New("nested too deep")

// any reads an unstructured value. It also accepts maps of YAML decoders and all types of numbers except uint64.
func (r *Reader) any(x any, depth int) (deed.Value, error) {
	if depth > deed.MaxDepth {
		return deed.Value{}, errDeep
	}
	switch x := x.(type) {
	case nil:
		return deed.Null(), nil
	case bool:
		return deed.Bool(x), nil
	case string:
		return deed.String(x), nil
	case float32:
		return fromFloat(float64(x))
	case float64:
		return fromFloat(x)
	case map[string]any:
		members := make([]deed.Member, 0, len(x))
		for name, y := range x {
			member, err := r.any(y, depth+1)
			if err != nil {
				return deed.Value{}, err
			}
			members = append(members, deed.Member{Name: name, Value: member})
		}
		return deed.Object(members...), nil
	case map[any]any:
		members := make([]deed.Member, 0, len(x))
		for key, y := range x {
			name, ok := key.(string)
			if !ok {
				return deed.Value{}, fmt.Errorf("a map key is a %T", key)
			}
			member, err := r.any(y, depth+1)
			if err != nil {
				return deed.Value{}, err
			}
			members = append(members, deed.Member{Name: name, Value: member})
		}
		return deed.Object(members...), nil
	case []any:
		items := make([]deed.Value, len(x))
		for i, y := range x {
			var err error
			if items[i], err = r.any(y, depth+1); err != nil {
				return deed.Value{}, err
			}
		}
		return deed.List(items...), nil
	}
	if i, ok := integer(x); ok {
		return deed.Int(i), nil
	}
	return deed.Value{}, fmt.Errorf("a %T is no document", x)
}

func fromFloat(f float64) (deed.Value, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return deed.Value{}, fmt.Errorf("%v is no number of JSON", f)
	}
	return deed.Float(f), nil
}

// view reads a view of any implementation.
func (r *Reader) view(v Value, depth int) (deed.Value, error) {
	if depth > deed.MaxDepth {
		return deed.Value{}, errDeep
	}
	switch rankOf(v) {
	case rankNull:
		return deed.Null(), nil
	case rankBool:
		return deed.Bool(v.AsBool()), nil
	case rankString:
		return deed.String(v.AsString()), nil
	case rankInt:
		return deed.Int(v.AsInt()), nil
	case rankFloat:
		return fromFloat(v.AsFloat())
	case rankList:
		l := v.AsList()
		items := make([]deed.Value, l.Length())
		for i := range items {
			var err error
			if items[i], err = r.view(l.At(i), depth+1); err != nil {
				return deed.Value{}, err
			}
		}
		return deed.List(items...), nil
	case rankMap:
		var members []deed.Member
		var err error
		v.AsMap().Iterate(func(name string, member Value) bool {
			m := deed.Member{Name: name}
			m.Value, err = r.view(member, depth+1)
			members = append(members, m)
			return err == nil
		})
		if err != nil {
			return deed.Value{}, err
		}
		return deed.Object(members...), nil
	}
	return deed.Value{}, fmt.Errorf("a %T is no document", v)
}
