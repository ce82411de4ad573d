package jsonpath

import (
	"cmp"
	"errors"

	"k8s.io/client-go/util/jsonpath"

	"github.com/deed-project/deed/value"
)

var (
	errSeveral      = errors.New("only one value can be compared with another one")
	errIncomparable = errors.New("values of these kinds cannot be compared")
	errOperator     = errors.New("there is no such operator")
)

// filter returns the items of lists for which a comparison holds.
//
// The library ends a filter in three ways, and which values it has then found matters, because a filter around it may ask whether there are
// any.
func (s *search) filter(from []value.Value, n *jsonpath.FilterNode) ([]value.Value, error) {
	var out []value.Value
	for _, v := range from {
		if v.Kind() != value.KindList {
			return from, errNoList
		}
		for item := range v.Items() {
			passes, err := s.passes(item, n)
			if err == errSeveral || errors.Is(err, errSide) {
				return from, err
			}
			if err != nil {
				return out, err
			}
			if passes {
				out = append(out, item)
			}
		}
	}
	return out, nil
}

// errSide is wrapped by the error of one side of a comparison.
var errSide = errors.New("a side of a comparison")

// passes reports whether a comparison holds for an item.
//
// Each side is a path from the item, or a constant. The operator "exists" has a left side only, and does not mind its errors.
func (s *search) passes(item value.Value, n *jsonpath.FilterNode) (bool, error) {
	left, err := s.list([]value.Value{item}, n.Left)
	if err == ErrGivenUp {
		return false, err
	}
	if n.Operator == "exists" {
		return len(left) > 0, nil
	}
	if err != nil {
		return false, errors.Join(errSide, err)
	}
	switch {
	case len(left) == 0:
		return false, nil
	case len(left) > 1:
		return false, errSeveral
	}
	right, err := s.list([]value.Value{item}, n.Right)
	switch {
	case err == ErrGivenUp:
		return false, err
	case err != nil:
		return false, errors.Join(errSide, err)
	case len(right) == 0:
		return false, nil
	case len(right) > 1:
		return false, errSeveral
	}
	return compare(left[0], right[0], n.Operator)
}

// compare compares scalars of one kind. Booleans only have equality.
//
// An integer and a float are of different kinds.
func compare(a, b value.Value, operator string) (bool, error) {
	order := 0
	switch k := a.Kind(); {
	case k != b.Kind():
		return false, errIncomparable
	case k == value.KindInt:
		order = cmp.Compare(a.Int(), b.Int())
	case k == value.KindFloat:
		order = cmp.Compare(a.Float(), b.Float())
	case k == value.KindString:
		order = cmp.Compare(a.Str(), b.Str())
	case k == value.KindBool && (operator == "==" || operator == "!="):
		return a.Bool() == b.Bool() == (operator == "=="), nil
	default:
		return false, errIncomparable
	}
	switch operator {
	case "==":
		return order == 0, nil
	case "!=":
		return order != 0, nil
	case "<":
		return order < 0, nil
	case "<=":
		return order <= 0, nil
	case ">":
		return order > 0, nil
	case ">=":
		return order >= 0, nil
	}
	return false, errOperator
}
