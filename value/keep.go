package value

import (
	"strings"

	"github.com/deed-project/deed/internal/jsontext"
)

// onPath reports whether step leads from where the parser is along the path to what is kept.
func (p *parser) onPath(step string) bool {
	return p.matched == p.Depth-1 && p.matched < len(p.keep) && p.keep[p.matched] == step
}

// step reads the value one step further along the path.
func (p *parser) step() (v Value, err *jsontext.Error) {
	if p.matched++; p.matched == len(p.keep) {
		start := p.Pos
		if err = p.Skip(); err == nil {
			v = fromString(strings.Clone(p.Text[start:p.Pos]))
		}
	} else {
		v, err = p.value()
	}
	p.matched--
	return v, err
}
