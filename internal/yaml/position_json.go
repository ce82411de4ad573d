package yaml

import (
	"bytes"
	"encoding/json"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/deed-project/deed/internal/jsontext"
)

// placeOf returns the position of the byte at offset in text.
func placeOf(text []byte, offset int) position {
	before := text[:offset]
	line := bytes.LastIndexByte(before, '\n') + 1
	return position{bytes.Count(before, []byte("\n")) + 1, utf8.RuneCount(before[line:]) + 1}
}

// jsonSource is a valid JSON document within the text of a file. The first call of find builds an index for all calls.
type jsonSource struct {
	text  []byte
	start int
	at    position // of start

	lock   sync.Mutex // guards the fields below
	nodes  []jsonNode // in the order of the text
	inside map[int]*jsonInside
}

// jsonNode is a value with its position. For a member it also has the position and the offset of the name.
//
// Invariant: node i and its descendants are the nodes with the indexes [i, i+size).
type jsonNode struct {
	key, content position
	name         int // offset
	size         int
	list         bool
}

// find implements [source]. All calls together cost one pass over the text, and one pass over the members of each object on their paths.
func (s *jsonSource) find(path []any) (key, content position) {
	if len(path) == 0 {
		return s.at, s.at
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.nodes == nil {
		x := jsonIndexer{jsonSource: s, Scanner: jsontext.Skim(s.text), offset: s.start, place: s.at}
		x.Pos = s.start
		x.node(s.at, s.start)
	}
	i := 0
	for _, step := range path {
		next := s.child(i, step)
		if next == 0 {
			break
		}
		i = next
	}
	return s.nodes[i].key, s.nodes[i].content
}

// jsonInside has the nodes of the children of a list or object, by index or by member name. The last of members with one name counts.
type jsonInside struct {
	members map[string]int
	items   []int
}

// child returns the node one step below node i, or 0.
func (s *jsonSource) child(i int, step any) int {
	in := s.insideOf(i)
	switch step := step.(type) {
	case string:
		return in.members[step]
	case int:
		if 0 <= step && step < len(in.items) {
			return in.items[step]
		}
	}
	return 0
}

// insideOf returns the children of node i.
func (s *jsonSource) insideOf(i int) *jsonInside {
	if in := s.inside[i]; in != nil {
		return in
	}
	in := &jsonInside{}
	for at := i + 1; at < i+s.nodes[i].size; at += s.nodes[at].size {
		if s.nodes[i].list {
			in.items = append(in.items, at)
			continue
		}
		if in.members == nil {
			in.members = map[string]int{}
		}
		in.members[s.nameAt(s.nodes[at].name)] = at
	}
	if s.inside == nil {
		s.inside = map[int]*jsonInside{}
	}
	s.inside[i] = in
	return in
}

// nameAt returns the name whose quote is at offset.
func (s *jsonSource) nameAt(offset int) (name string) {
	r := jsontext.Skim(s.text)
	r.Pos = offset
	r.Token()
	raw := s.text[offset:r.Pos]
	if err := json.Unmarshal(raw, &name); err != nil {
		return string(raw) // no path has such a name, because paths are valid UTF-8
	}
	return name
}

// jsonIndexer parses a document once, and counts its lines and characters.
type jsonIndexer struct {
	*jsonSource
	jsontext.Scanner
	offset int
	place  position // of offset
}

// node parses the value at the current offset. key and name are the position and the offset of its name. The document is valid, so nothing
// fails.
func (x *jsonIndexer) node(key position, name int) bool {
	i := len(x.nodes)
	x.nodes = append(x.nodes, jsonNode{key: key, content: x.here(x.Pos), name: name})
	switch x.Text[x.Pos] {
	case '{':
		x.Members(func(start, _ int) bool { return x.node(x.here(start), start) })
	case '[':
		x.nodes[i].list = true
		x.Items(func() bool { return x.node(x.here(x.Pos), x.Pos) })
	default:
		_ = x.Skip()
	}
	x.nodes[i].size = len(x.nodes) - i
	return true
}

// here returns the position of offset. Offsets must not decrease between calls.
func (x *jsonIndexer) here(offset int) position {
	passed := x.Text[x.offset:offset]
	if line := strings.LastIndexByte(passed, '\n') + 1; line > 0 {
		x.place.line += strings.Count(passed, "\n")
		x.place.column, passed = 1, passed[line:]
	}
	x.place.column += utf8.RuneCountInString(passed)
	x.offset = offset
	return x.place
}
