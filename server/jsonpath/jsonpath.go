package jsonpath

import (
	"errors"
	"fmt"

	"k8s.io/client-go/util/jsonpath"

	"github.com/deed-project/deed/value"
)

// Searching along JSON paths. The library of kube-apiserver parses a path to a tree, and that tree is followed here on documents:
//
//	path     .status.conditions[?(@.type=="Ready")].status
//	nodes    Field status, Field conditions, Filter, Field status
//	values   object -> object -> list -> the items that pass -> their status
//
// Each node turns a list of values into another one. The library does so on maps and slices, without a bound; here each value that is
// looked at counts.

// MaxSteps bounds the values that the searches for all columns of an object visit.
const MaxSteps = 100_000

// ErrGivenUp is the error of a search that exceeds the bound.
var ErrGivenUp = errors.New("the path leads to too many values")

// Path is a path of a definition, such as .status.conditions[?(@.type=="Ready")].status. It is safe for concurrent use.
type Path struct{ nodes []jsonpath.Node }

// Compile parses a path. The error is that of the library.
func Compile(path string) (*Path, error) {
	parser, err := jsonpath.Parse("column", "{"+path+"}")
	if err != nil {
		return nil, err
	}
	return &Path{parser.Root.Nodes}, nil
}

// First returns the first value at the path, or an absent value. It visits at most *left values, and subtracts the number of visited values
// from *left. The error is [ErrGivenUp], or says that a value has the wrong kind for the path. It is also an error for a loop (range),
// which First does not support.
//
// left is shared by the paths of all columns of an object, so that many columns cost no more than one.
func (p *Path) First(v value.Value, left *int) (value.Value, error) {
	s := search{left: *left}
	found, err := s.all(v, p)
	*left = max(0, s.left)
	if err != nil || len(found) == 0 {
		return value.Value{}, err
	}
	return found[0], nil
}

// all returns all values at a path. Only the first pair of braces selects values; the rest is evaluated for its errors.
func (s *search) all(v value.Value, p *Path) (first []value.Value, err error) {
	for i, n := range p.nodes {
		found, err := s.walk([]value.Value{v}, n)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			first = found
		}
	}
	return first, nil
}

// search is a walk along a path. left is the number of values that it may still visit.
type search struct{ left int } // values that it may visit

// walk returns the values that a node of a path selects from given values. With an error it also returns the values that the library has
// found by then, because a filter checks whether there are any.
func (s *search) walk(from []value.Value, n jsonpath.Node) ([]value.Value, error) {
	if s.left -= 1 + len(from); s.left < 0 {
		return nil, ErrGivenUp
	}
	switch n := n.(type) {
	case *jsonpath.ListNode:
		return s.list(from, n)
	case *jsonpath.TextNode:
		return []value.Value{value.String(n.Text)}, nil
	case *jsonpath.FieldNode:
		return field(from, n.Value), nil
	case *jsonpath.ArrayNode:
		return s.slice(from, n.Params)
	case *jsonpath.FilterNode:
		return s.filter(from, n)
	case *jsonpath.IntNode:
		return constant(from, value.Int(int64(n.Value))), nil
	case *jsonpath.BoolNode:
		return constant(from, value.Bool(n.Value)), nil
	case *jsonpath.FloatNode:
		return constant(from, value.Float(n.Value)), nil
	case *jsonpath.WildcardNode:
		return s.children(from)
	case *jsonpath.RecursiveNode:
		return s.descendants(nil, from)
	case *jsonpath.UnionNode:
		return s.union(from, n)
	}
	return from, fmt.Errorf("%v is not followed", n)
}

// list follows the steps of a part of a path, one after the other. With an error it returns what the last step has found.
func (s *search) list(from []value.Value, n *jsonpath.ListNode) ([]value.Value, error) {
	for _, step := range n.Nodes {
		var err error
		if from, err = s.walk(from, step); err != nil {
			return from, err
		}
	}
	return from, nil
}

// union returns what the alternatives of a union select, one alternative after the other. A value may be in it several times.
func (s *search) union(from []value.Value, n *jsonpath.UnionNode) ([]value.Value, error) {
	var out []value.Value
	for _, alternative := range n.Nodes {
		found, err := s.list(from, alternative)
		if err != nil {
			return from, err
		}
		out = append(out, found...)
	}
	return out, nil
}

// constant returns a constant for each of the values, as the library does.
func constant(from []value.Value, v value.Value) []value.Value {
	out := make([]value.Value, len(from))
	for i := range out {
		out[i] = v
	}
	return out
}

// field returns the members with a name. Values without it are left out.
func field(from []value.Value, name string) []value.Value {
	var out []value.Value
	for _, v := range from {
		if member := v.Get(name); !member.IsAbsent() {
			out = append(out, member)
		}
	}
	return out
}

// children returns the members and items of values. The children of a string are its bytes.
func (s *search) children(from []value.Value) ([]value.Value, error) {
	var out []value.Value
	for _, v := range from {
		if s.left -= sizeOf(v); s.left < 0 {
			return nil, ErrGivenUp
		}
		out = appendChildren(out, v)
	}
	return out, nil
}

// appendChildren appends the children of a value, members by name.
func appendChildren(out []value.Value, v value.Value) []value.Value {
	switch v.Kind() {
	case value.KindObject:
		for _, member := range v.Members() {
			out = append(out, member)
		}
	case value.KindList:
		for item := range v.Items() {
			out = append(out, item)
		}
	case value.KindString:
		for _, c := range []byte(v.Str()) {
			out = append(out, value.Int(int64(c)))
		}
	}
	return out
}

// sizeOf returns the number of children of a value.
func sizeOf(v value.Value) int {
	switch v.Kind() {
	case value.KindObject, value.KindList:
		return v.Len()
	case value.KindString:
		return len(v.Str())
	}
	return 0
}

// descendants appends the values and all their descendants that have children.
//
// The order is that of a walk from the top. A string that is not empty has children, its bytes, which are not visited.
func (s *search) descendants(out, from []value.Value) (_ []value.Value, err error) {
	for _, v := range from {
		size, text := sizeOf(v), v.Kind() == value.KindString
		if s.left--; !text {
			s.left -= size
		}
		if s.left < 0 {
			return out, ErrGivenUp
		}
		if size == 0 {
			continue
		}
		if out = append(out, v); text {
			continue // bytes have no children
		}
		if out, err = s.descendants(out, appendChildren(nil, v)); err != nil {
			return out, err
		}
	}
	return out, nil
}

var (
	errNoList      = errors.New("it is no list")
	errOutOfBounds = errors.New("the index is out of bounds")
	errStep        = errors.New("the step must be above zero")
)

// slice returns the items of lists between two indexes.
//
// The cost is counted before the items are taken. An index alone, [2], is a slice of one item.
func (s *search) slice(from []value.Value, params [3]jsonpath.ParamsEntry) ([]value.Value, error) {
	var out []value.Value
	for _, v := range from {
		if v.IsNull() {
			continue
		}
		if v.Kind() != value.KindList {
			return from, errNoList
		}
		begin, end := bounds(params, v.Len())
		switch {
		case begin == end:
			return out, nil // ends the search in all lists, as in the library
		case begin < 0, end < 0, begin >= v.Len(), end > v.Len(), begin > end:
			return from, errOutOfBounds
		}
		step := 1
		if params[2].Known {
			step = params[2].Value
		}
		if step <= 0 {
			return from, errStep
		}
		if s.left -= (end - begin) / step; s.left < 0 {
			return nil, ErrGivenUp
		}
		for i := begin; i < end; i += step {
			out = append(out, v.Item(i))
		}
	}
	return out, nil
}

// bounds returns the first two parameters for a list of n items. Negative ones count from the end.
func bounds(params [3]jsonpath.ParamsEntry, n int) (begin, end int) {
	if params[0].Known {
		begin = params[0].Value
	}
	if begin < 0 {
		begin += n
	}
	if end = n; params[1].Known {
		end = params[1].Value
	}
	if end < 0 || end == 0 && params[1].Derived {
		end += n
	}
	return begin, end
}
