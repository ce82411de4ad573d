package report

import (
	"bufio"
	"fmt"
	"strings"

	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/cmd/internal/types"
	"github.com/deed-project/deed/schema"
)

// TypePrinter prints types as trees.
type TypePrinter struct {
	Out   *bufio.Writer
	Depth int
	Seen  map[*schema.Type]bool // types that are already printed, in trees of unlimited depth
}

// Fields prints the fields of values of type t.
func (p *TypePrinter) Fields(t *schema.Type, level int) {
	if p.Depth > 0 && level > p.Depth || types.IsDeduced(t) {
		return
	}
	indent := strings.Repeat("  ", level)
	if p.Depth == 0 && t.Map() != nil {
		if p.Seen[t] && t.Name() != "" {
			fmt.Fprintf(p.Out, "%s… as above\n", indent)
			return
		}
		p.Seen[t] = true
	}
	if l := t.List(); l != nil {
		if l.Element().Map() != nil {
			p.Fields(l.Element(), level)
		}
		return
	}
	m := t.Map()
	if m == nil {
		return
	}
	for _, f := range m.Fields() {
		fallback := ""
		if !f.Default.IsAbsent() {
			fallback = ", " + secret.Public(f.Default).String() + " by default"
		}
		fmt.Fprintf(p.Out, "%s%s: %s%s\n", indent, f.Name, Shape(f.Type), fallback)
		p.Fields(f.Type, level+1)
	}
	if e := m.Element(); e != nil && !types.IsDeduced(e) {
		fmt.Fprintf(p.Out, "%s*: %s\n", indent, Shape(e))
		p.Fields(e, level+1)
	}
}

// Shape describes briefly which values t admits and how they are merged.
func Shape(t *schema.Type) string {
	if types.IsDeduced(t) {
		return "any value"
	}
	text := types.Admitted(t)
	if l := t.List(); l != nil && text == "list" {
		item := types.Admitted(l.Element())
		switch l.Topology() {
		case schema.AtomicList:
			text = "atomic list of " + item
		case schema.SetList:
			text = "set of " + item
		case schema.KeyedList:
			text = "list of " + item + " by " + types.KeyNames(l.Keys())
		}
		t = l.Element()
	} else if m := t.Map(); m != nil && m.Atomic() && text == "object" {
		text = "atomic object"
	}
	if name := t.Name(); name != "" && !strings.HasPrefix(name, "__untyped") {
		text += " (" + types.QuoteUnlessPlain(name) + ")"
	}
	return text
}
