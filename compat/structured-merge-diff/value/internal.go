package value

import (
	"errors"
	"fmt"
	"math"

	deed "github.com/deed-project/deed/value"
	"github.com/deed-project/deed/value/structs"
)

// Reader reads views into documents of deed. Each document shares with the one before what is the same, as those of a
// [deed.Decoder] do. It is exported for the other packages of this module. The zero Reader is ready. A Reader must not be used by two
// goroutines at once.
type Reader struct {
	decoder deed.Decoder
	odd     bool // what is read holds something that ToAny of the document would not give back
}

// Read returns v as a document. plain reports that [deed.Value.ToAny] would give back what v shows, as it is in v: of map[string]any
// and []any, with every integer an int64 and every float a float64. The error says what in v is no document.
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

// other reads what decoders of JSON do not make.
func (r *Reader) other(x any) (deed.Value, error) {
	r.odd = true
	return r.any(x, 0)
}

var errDeep = errors.New("nested too deep")

// any reads what unstructured objects hold, maps of decoders of YAML and all types of numbers included.
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
