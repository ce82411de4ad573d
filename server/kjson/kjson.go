// Package kjson reads JSON text as kube-apiserver does: names are case-sensitive, integers stay integers, and strict decoding says which names
// stand twice in an object, and which fields the Go type does not have.
//
// The library behind it spells the whole path of each such name. A request of 3 MB can have a name of 160 kB and tens of thousands of names
// below it that stand twice, which are 5 GB of paths. Texts are refused whose paths are longer than a bound; kube-apiserver reads them.
package kjson

import (
	"errors"
	"reflect"

	"sigs.k8s.io/json"

	"github.com/deed-project/deed/internal/jsontext"
	"github.com/deed-project/deed/server/structsize"
)

// ErrPaths is the error of a text whose paths are too long.
var ErrPaths = errors.New("the paths of all fields together have more than 67108864 characters")

const (
	// maxPaths is how many bytes the paths of all members of a text may have together.
	maxPaths = 64 << 20
	// surely is a length up to which no text has paths beyond maxPaths: a quarter of its bytes are members at most, with paths shorter than it.
	surely = 16 << 10
	// maxDepth is up to which depth the library reads. It looks before it spells any path.
	maxDepth = 10000
	// indexLength is how much of a path an index counts for, brackets included.
	indexLength = 8
)

// Unmarshal reads a text into what into points to.
func Unmarshal(text []byte, into any) error {
	if err := structsize.JSON(text, reflect.TypeOf(into).Elem()); err != nil {
		return err
	}
	return json.UnmarshalCaseSensitivePreserveInts(text, into)
}

// UnmarshalStrict reads a text into what into points to, and returns what strict decoding finds, at most the first hundred, in their order. The
// error is [ErrPaths], or that of a text that cannot be read.
func UnmarshalStrict(text []byte, into any) (found []error, err error) {
	if err := structsize.JSON(text, reflect.TypeOf(into).Elem()); err != nil {
		return nil, err
	}
	if err := CheckPaths(text); err != nil {
		return nil, err
	}
	return json.UnmarshalStrict(text, into)
}

// Fields returns the paths of the fields that strict decoding found something about.
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

// CheckPaths returns [ErrPaths] for a text with paths beyond the bound, and nil for all others, whether or not they can be read. The cost is one
// pass over the text.
func CheckPaths(text []byte) error {
	if len(text) <= surely {
		return nil
	}
	var (
		within []int // the lengths of the paths of the containers that are open
		path   int   // that of the innermost one
		all    int
		name   int // the length of the string that was read last
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
