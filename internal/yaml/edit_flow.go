package yaml

import (
	"bytes"
	"regexp"
	"sync"

	"gopkg.in/yaml.v3"

	"github.com/deed-project/deed/internal/jsontext"
	"github.com/deed-project/deed/value"
)

// flow changes the list or object n in brackets from old to new. It works part by part if n keeps its member names or number of items,
// and otherwise as a whole. In a block it returns false if the line would become too long.
func (e *editor) flow(n *yaml.Node, old, new value.Value, inBlock bool) bool {
	before := len(e.spans)
	if sameShape(old, new) && e.flowParts(n, old, new) {
		return true
	}
	e.spans = e.spans[:before]
	from := e.offset(n)
	to, ok := e.endOf(n, from)
	if !ok {
		return false
	}
	text := appendFlow(nil, new)
	if inBlock && len(text) > max(to-from, foldColumn-column(n)) {
		return false
	}
	e.replace(from, to, text)
	return true
}

// sameShape reports whether old and new have the same member names, or the same number of items.
func sameShape(old, new value.Value) bool {
	if old.Kind() != new.Kind() || old.Len() != new.Len() {
		return false
	}
	if old.Kind() != value.KindObject {
		return true
	}
	for i := range old.Len() {
		if old.Member(i).Name != new.Member(i).Name {
			return false
		}
	}
	return true
}

func (e *editor) flowParts(n *yaml.Node, old, new value.Value) bool {
	if n.Kind == yaml.SequenceNode {
		for i, item := range n.Content {
			if !e.flowPart(item, old.Item(i), new.Item(i)) {
				return false
			}
		}
		return true
	}
	index := newMemberIndex(n)
	for name, member := range old.Members() {
		i, ok := index.own[name]
		if !ok || !e.flowPart(n.Content[i+1], member, new.Get(name)) {
			return false
		}
	}
	return true
}

func (e *editor) flowPart(n *yaml.Node, old, new value.Value) bool {
	switch {
	case old.Equal(new):
		return true
	case n.Anchor != "" || n.Style&yaml.TaggedStyle != 0 || isEmpty(n):
		return false
	case n.Kind == yaml.MappingNode || n.Kind == yaml.SequenceNode:
		return e.flow(n, old, new, false)
	}
	from := e.offset(n)
	to, ok := e.endOf(n, from)
	if ok {
		e.replace(from, to, appendFlow(nil, new))
	}
	return ok
}

// simple matches texts that need quotes in brackets only if they need quotes in blocks.
var simple = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z0-9_./](?:[-A-Za-z0-9_./]|:[A-Za-z0-9])*$`)
})

// appendFlow appends v in brackets, on one line.
func appendFlow(b []byte, v value.Value) []byte {
	text := func(b []byte, s string) []byte {
		if simple().MatchString(s) && !isOther(s) {
			return append(b, s...)
		}
		return jsontext.AppendString(b, s, jsontext.Standard)
	}
	switch v.Kind() {
	case value.KindString:
		return text(b, v.Str())
	case value.KindObject:
		b = append(b, '{')
		for i := range v.Len() {
			if i > 0 {
				b = append(b, ", "...)
			}
			m := v.Member(i)
			b = appendFlow(append(text(b, m.Name), ": "...), m.Value)
		}
		return append(b, '}')
	case value.KindList:
		b = append(b, '[')
		for i := range v.Len() {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = appendFlow(b, v.Item(i))
		}
		return append(b, ']')
	}
	return append(b, appendBlockLeaf(v)...)
}

// endOf returns the end of the text of n, which begins at from. It knows aliases, scalars on one line or in quotes, and lists and objects
// in brackets. It returns false for all others.
func (e *editor) endOf(n *yaml.Node, from int) (to int, ok bool) {
	rest := e.data[from:e.to]
	switch {
	case len(rest) == 0:
		return 0, false
	case n.Kind == yaml.AliasNode:
		return from + 1 + len(n.Value), rest[0] == '*'
	case n.Kind != yaml.ScalarNode:
		to, ok = endOfBrackets(rest)
	case n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0:
		to, ok = endOfQuotes(rest)
	case n.Style == 0 && n.Value != "":
		to, ok = len(n.Value), bytes.HasPrefix(rest, []byte(n.Value))
	}
	return from + to, ok
}

// endOfQuotes returns the length of the quoted text at the start of text.
func endOfQuotes(text []byte) (int, bool) {
	quote := text[0]
	if quote != '"' && quote != '\'' {
		return 0, false
	}
	for i := 1; i < len(text); i++ {
		switch {
		case quote == '"' && text[i] == '\\':
			i++
		case text[i] == quote && quote == '\'' && i+1 < len(text) && text[i+1] == quote:
			i++
		case text[i] == quote:
			return i + 1, true
		}
	}
	return 0, false
}

// endOfBrackets returns the length of the list or object in brackets at the start of text.
func endOfBrackets(text []byte) (int, bool) {
	depth, begins := 0, true // a scalar can begin here
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			depth--
		case begins && (c == '"' || c == '\''):
			n, ok := endOfQuotes(text[i:])
			if !ok {
				return 0, false
			}
			i += n - 1
		case c == '#' && i > 0 && bytes.IndexByte([]byte(" \t\n"), text[i-1]) >= 0:
			for i+1 < len(text) && text[i+1] != '\n' {
				i++
			}
		}
		if depth == 0 {
			return i + 1, i > 0
		}
		begins = bytes.IndexByte([]byte("[{,: \t\r\n"), c) >= 0 && (begins || c != ' ' && c != '\t')
	}
	return 0, false
}
