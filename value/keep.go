package value

import (
	"strings"

	"github.com/deed-project/deed/internal/jsontext"
)

// Values that stay text: the path of [Decoder.Text], on which the parser knows how far it has gone.
// With the path metadata, managedFields, *, fieldsV1:
//
//	p.matched  p.Depth  the parser stands in front of
//	0          1        a member of the root: metadata is on the path
//	1          2        a member of metadata: managedFields is
//	2          3        an item of managedFields: every item is
//	3          4        a member of an entry: fieldsV1 is, and is the last step, so it is kept
//
// Invariants: matched <= Depth; and what the parser reads is inside of something that is not on the
// path exactly if matched < Depth-1.

// onPath reports whether step leads from where the parser is along the path to what is kept.
func (p *parser) onPath(step string) bool {
	return p.matched == p.Depth-1 && p.matched < len(p.keep) && p.keep[p.matched] == step
}

// step reads the value one step further along the path.
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

// kept returns text in memory of its own, or in memory where it is known already.
func (p *parser) kept(text string) string {
	if p.known != nil {
		if known := p.known(text); known != "" {
			return known
		}
	}
	return strings.Clone(text)
}
