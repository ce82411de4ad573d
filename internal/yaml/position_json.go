package yaml

import (
	"bytes"
	"encoding/json"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/deed-project/deed/internal/jsontext"
)

// placeOf returns the place in text of the byte at offset.
func placeOf(text []byte, offset int) position {
	before := text[:offset]
	line := bytes.LastIndexByte(before, '\n') + 1
	return position{bytes.Count(before, []byte("\n")) + 1, utf8.RuneCount(before[line:]) + 1}
}

// jsonSource is a document in JSON, which is known to be valid: the text of the file, and where in it the document begins.
// The first question about what is inside makes an index for all of them.
type jsonSource struct {
	text  []byte
	start int
	at    position // of start

	lock   sync.Mutex // of what follows
	nodes  []jsonNode // in the order of the text
	inside map[int]*jsonInside
}

// jsonNode is a value: its place and that of its name, which begins at an offset, if it is a member.
//
// Invariant: the size nodes from a node on are itself and what is inside.
type jsonNode struct {
	key, content position
	name         int // offset
	size         int
	list         bool
}

// find is the one of [source]. It costs one walk through the text, and one through the members of each object that is asked about,
// however many questions there are.
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

// jsonInside is what is in a list or object: nodes, by the names of members, of which the last counts, or as items.
type jsonInside struct {
	members map[string]int
	items   []int
}

// child returns the node one step below node i, and 0 when there is no such thing.
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

// insideOf returns what is in node i.
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
		return string(raw) // which is in no path, as text is valid
	}
	return name
}

// jsonIndexer reads a document once, and goes through its text to count lines and characters.
type jsonIndexer struct {
	*jsonSource
	jsontext.Scanner
	offset int
	place  position // of offset
}

// node reads the value at the position, whose key is at a place and begins at name. As the document is valid, nothing fails.
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

// here returns the place of offset, which is not in front of the one that was asked for before.
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
