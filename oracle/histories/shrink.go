package histories

import (
	"slices"

	"github.com/deed-project/deed/value"
)

// Shrink returns the smallest script that it finds for which fails reports true. It removes writes, and parts of their bodies, one after
// the other. fails must report true for s.
func Shrink(s Script, fails func(Script) bool) Script {
	for shrunk := true; shrunk; {
		shrunk = false
		for size := len(s.Ops); size > 0; size /= 2 {
			for at := len(s.Ops) - size; at >= 0; at -= size {
				smaller := s
				smaller.Ops = slices.Delete(slices.Clone(s.Ops), at, at+size)
				if fails(smaller) {
					s, shrunk = smaller, true
				}
			}
		}
		for i := range s.Ops {
			body, ok := shrinkBody(s, i, fails)
			if ok {
				s, shrunk = withBody(s, i, body), true
			}
		}
	}
	return s
}

func withBody(s Script, i int, body value.Value) Script {
	s.Ops = slices.Clone(s.Ops)
	s.Ops[i].Body = body.AppendJSON(nil)
	return s
}

// shrinkBody removes parts of the body of write i.
func shrinkBody(s Script, i int, fails func(Script) bool) (value.Value, bool) {
	body, err := value.Parse(s.Ops[i].Body)
	if err != nil {
		return body, false
	}
	shrunk := false
	for again := true; again; {
		again = false
		for smaller := range lesser(body) {
			if fails(withBody(s, i, smaller)) {
				body, again, shrunk = smaller, true, true
				break
			}
		}
	}
	return body, shrunk
}

// lesser yields v without one of its parts, the largest parts first.
func lesser(v value.Value) func(yield func(value.Value) bool) {
	return func(yield func(value.Value) bool) {
		switch v.Kind() {
		case value.KindObject:
			lesserObject(v, yield)
		case value.KindList:
			lesserList(slices.Collect(v.Items()), yield)
		}
	}
}

func lesserObject(v value.Value, yield func(value.Value) bool) bool {
	for name := range v.Members() {
		if !yield(v.With(name, value.Value{})) {
			return false
		}
	}
	for name, member := range v.Members() {
		for smaller := range lesser(member) {
			if !yield(v.With(name, smaller)) {
				return false
			}
		}
	}
	return true
}

func lesserList(items []value.Value, yield func(value.Value) bool) bool {
	for i := range items {
		if !yield(value.List(slices.Delete(slices.Clone(items), i, i+1)...)) {
			return false
		}
	}
	for i, item := range items {
		for smaller := range lesser(item) {
			changed := slices.Clone(items)
			changed[i] = smaller
			if !yield(value.List(changed...)) {
				return false
			}
		}
	}
	return true
}
