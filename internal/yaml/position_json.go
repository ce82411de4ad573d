package yaml

import (
	"bytes"
	"encoding/json"
	"sync"
	"unicode/utf8"
)

// placeOf returns the place in text of the byte at offset.
func placeOf(text []byte, offset int) position {
	before := text[:offset]
	line := bytes.LastIndexByte(before, '\n') + 1
	return position{bytes.Count(before, []byte("\n")) + 1, utf8.RuneCount(before[line:]) + 1}
}

// jsonSource is a document in JSON, which is known to be valid: the text of the file, and where in it the document begins.
// The first question about it makes an index for all of them.
type jsonSource struct {
	text  []byte
	start int

	once sync.Once
	root *jsonNode
}

// jsonNode is a value with its place and that of its name, if it is a member.
type jsonNode struct {
	key, content position
	members      map[string]*jsonNode
	items        []*jsonNode
}

// child returns what is one step below n, nil when there is no such thing.
func (n *jsonNode) child(step any) *jsonNode {
	switch step := step.(type) {
	case string:
		return n.members[step]
	case int:
		if 0 <= step && step < len(n.items) {
			return n.items[step]
		}
	}
	return nil
}

func (s *jsonSource) find(path []any) (key, content position) {
	s.once.Do(func() {
		decoder := json.NewDecoder(bytes.NewReader(s.text[s.start:]))
		x := jsonIndexer{jsonSource: s, decoder: decoder, offset: s.start, place: placeOf(s.text, s.start)}
		s.root = x.node(x.place, x.place)
	})
	n := s.root
	for _, step := range path {
		next := n.child(step)
		if next == nil {
			break
		}
		n = next
	}
	return n.key, n.content
}

// jsonIndexer reads a document once, and goes through its text to count lines and characters.
type jsonIndexer struct {
	*jsonSource
	decoder *json.Decoder
	offset  int
	place   position // of offset
}

// node reads the value that the decoder is in front of. As the document is valid, the decoder does not fail.
func (x *jsonIndexer) node(key, content position) *jsonNode {
	n := &jsonNode{key: key, content: content}
	open, err := x.decoder.Token()
	if err != nil || open != json.Delim('{') && open != json.Delim('[') {
		return n
	}
	if open == json.Delim('{') {
		n.members = map[string]*jsonNode{}
	}
	for x.decoder.More() {
		at := x.next()
		if open == json.Delim('[') {
			n.items = append(n.items, x.node(at, at))
			continue
		}
		name, err := x.decoder.Token()
		if err != nil {
			return n
		}
		n.members[name.(string)] = x.node(at, x.next())
	}
	x.decoder.Token() // the bracket that closes
	return n
}

// next returns the place of what the decoder reads next: behind white space and punctuation.
func (x *jsonIndexer) next() position {
	rest := x.text[x.start+int(x.decoder.InputOffset()):]
	end := len(x.text) - len(bytes.TrimLeft(rest, " \t\r\n,:"))
	passed := x.text[x.offset:end]
	if line := bytes.LastIndexByte(passed, '\n') + 1; line > 0 {
		x.place.line += bytes.Count(passed, []byte("\n"))
		x.place.column, passed = 1, passed[line:]
	}
	x.place.column += utf8.RuneCount(passed)
	x.offset = end
	return x.place
}
