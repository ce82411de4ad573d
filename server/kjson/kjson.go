// Package kjson decodes JSON as kube-apiserver does. Names are case-sensitive, and integers stay integers. Strict decoding reports
// duplicate names and fields that the Go type does not have.
//
// The library behind it builds the whole path of each such name. A request of 3 MB can have a name of 160 kB with tens of thousands of
// duplicate names below it: 5 GB of paths. This package refuses texts whose paths exceed a bound; kube-apiserver accepts them.
package kjson

import (
	"errors"
	"reflect"

	"sigs.k8s.io/json"

	"github.com/deed-project/deed/internal/jsontext"
	"github.com/deed-project/deed/server/structsize"
)

// Why the bound on paths: strict decoding builds the path of each member that it visits, and a path contains the names of all containers
// around it. A megabyte of text whose outermost name has half a megabyte has paths of many gigabytes.

// ErrPaths is the error of a text whose paths exceed the bound.
var ErrPaths = errors.New("the paths of all fields together have more than 67108864 characters")

const (
	// maxPaths bounds the bytes of the paths of all members of a text together.
	maxPaths = 64 << 20
	// surely is a length of texts whose paths cannot exceed maxPaths: at most a quarter of the bytes are members, each with a path shorter
	// than the text.
	surely = 16 << 10
	// maxDepth is the depth that the library accepts. It checks the depth before it builds paths.
	maxDepth = 10000
	// indexLength is the length that an index adds to a path, with brackets.
	indexLength = 8
)

// Unmarshal decodes a text into into.
//
// Names are case-sensitive, and integers stay integers in values of type any, as in kube-apiserver. into must be a pointer.
func Unmarshal(text []byte, into any) error {
	if err := structsize.JSON(text, reflect.TypeOf(into).Elem()); err != nil {
		return err
	}
	return json.UnmarshalCaseSensitivePreserveInts(text, into)
}

// UnmarshalStrict decodes a text into into, and returns the first hundred findings of strict decoding in order. The error is [ErrPaths], or
// that of an invalid text.
//
// The bounds are checked first, as they are about the work of decoding. Later findings are dropped by the library.
func UnmarshalStrict(text []byte, into any) (found []error, err error) {
	if err := CheckCost(text, into); err != nil {
		return nil, err
	}
	return json.UnmarshalStrict(text, into)
}

// CheckCost returns the error that UnmarshalStrict returns before it decodes: that of a text that costs too much.
func CheckCost(text []byte, into any) error {
	if err := structsize.JSON(text, reflect.TypeOf(into).Elem()); err != nil {
		return err
	}
	return CheckPaths(text)
}

// Fields returns the paths of the fields in the findings of strict decoding.
func Fields(found []error) []string {
	var out []string
	for _, e := range found {
		var at json.FieldError
		if errors.As(e, &at) {
			out = append(out, at.FieldPath())
		}
	}
	return out
}

// CheckPaths returns [ErrPaths] for a text whose paths exceed the bound, and nil for any other text, even an invalid one. Its cost is one
// pass over the text.
//
// It adds up what the paths would have: for each member, the path of its container and its name. The names of members in lists contain an
// index.
func CheckPaths(text []byte) error {
	if len(text) <= surely {
		return nil
	}
	var (
		within []int // lengths of the paths of the open containers
		path   int   // length of the path of the innermost one
		all    int
		name   int // length of the last string
	)
	s := jsontext.Skim(text)
	for len(within) <= maxDepth {
		switch c, start := s.Token(); c {
		case 0:
			if all > maxPaths {
				return ErrPaths
			}
			return nil
		case '"':
			// The string may be a value. Then no colon follows, and the next comma forgets it.
			name = s.Pos - 1 - start
		case ':':
			all += path + name
		case '{':
			within = append(within, path)
			path += name
		case '[':
			within = append(within, path)
			path += name + indexLength
		case '}', ']':
			if n := len(within); n > 0 {
				path, within = within[n-1], within[:n-1]
			}
			name = 0
		case ',':
			name = 0
		}
	}
	return nil
}
