package value

import (
	"strings"

	"github.com/deed-project/deed/internal/jsontext"
)

// Values that stay text, by the path of [Decoder.Text]. The parser counts the steps of the path
// that it has matched. With the path metadata, managedFields, *, fieldsV1:
//
//	p.matched  p.Depth  the parser is before        on the path
//	0          1        a member of the root        metadata
//	1          2        a member of metadata        managedFields
//	2          3        an item of managedFields    every item
//	3          4        a member of an entry        fieldsV1, the last step: it stays text
//
// Invariants: matched <= Depth. The parser is inside a container that is not on the path exactly if
// matched < Depth-1.

// onPath reports whether step is the next step of the path at the parser's position.
func (p *parser) onPath(step string) bool {
	return p.matched == p.Depth-1 && p.matched < len(p.keep) && p.keep[p.matched] == step
}

// step reads the value of the next step of the path.
func (p *parser) step() (v Value, err *jsontext.Error) {
	if p.matched++; p.matched == len(p.keep) {
		start := p.Pos
		if err = p.Skip(); err == nil {
			v = fromString(p.kept(p.Text[start:p.Pos]))
		}
	} else {
		v, err = p.value()
	}
	p.matched--
	return v, err
}

// kept returns a copy of text, or an equal string that is in memory already.
func (p *parser) kept(text string) string {
	if p.known != nil {
		if known := p.known(text); known != "" {
			return known
		}
	}
	return strings.Clone(text)
}
