package fieldpath

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/deed-project/deed/internal/jsontext"
	"github.com/deed-project/deed/internal/slab"
	"github.com/deed-project/deed/internal/work"
	"github.com/deed-project/deed/value"
)

// ParseSet reads a set from the fieldsV1 of managedFields, which [Set.AppendJSON] describes. It
// accepts everything that kube-apiserver accepts:
//
//   - null for an object anywhere;
//   - elements in any order, and repeated elements: these are members if one of them is, and have the
//     content of the last one that has any;
//   - elements of an unknown kind, with any value, which are ignored, and "." with any value;
//   - strings that are no JSON, as json-iterator accepts them: bytes that are not UTF-8, halves of
//     surrogate pairs, and control characters after the first escape;
//   - null as the name of a member that is not the first.
//
// An element is a member if its object has a member named "." or has no element of known kind. Other
// text that is not JSON of this form is an error, and so is nesting deeper than [value.MaxDepth].
// Every error is a [*SyntaxError].
//
// The result shares no memory with fieldsV1. Names in it share one copy of fieldsV1, which lives as
// long as any of them.
func ParseSet(fieldsV1 []byte) (Set, error) {
	s, _, _, err := parseCanonical(jsontext.Lend(fieldsV1))
	return s, err
}

// parseCanonical is ParseSet. canonical reports whether [Set.AppendJSON] would write exactly these
// bytes. copied is the copy of fieldsV1 that names in the set share.
func parseCanonical(fieldsV1 string) (s Set, copied string, canonical bool, err error) {
	p := setParsers.Get().(*setParser)
	defer p.release()
	if s, ok := p.written(fieldsV1); ok {
		return s, s.texts.first[:len(fieldsV1)], true, nil
	}
	p.draft.text = append(p.draft.text, fieldsV1...)
	return p.parse()
}

// parseTrailing is ParseSet as in structured-merge-diff before v6.4: it ignores text after the JSON of a key
// or item.
func parseTrailing(fieldsV1 []byte) (Set, error) {
	p := setParsers.Get().(*setParser)
	defer p.release()
	p.elements.trailing = true
	p.draft.text = append(p.draft.text, fieldsV1...)
	s, _, _, err := p.parse()
	return s, err
}

var setParsers = sync.Pool{New: func() any { return new(setParser) }}

// setParser reads the text of a fieldsV1, by written or else by document. Most elements have one of two
// forms, which are read without making a string. quick reads fields with plain names, and plainElement reads
// keys and items with plain values. elementName and elementParser read all other elements.
type setParser struct {
	scanner
	elements elementParser
	draft    draft           // its text begins with the text that is read
	room     strings.Builder // for the text of the result, beginning with the text that is read
	loose    bool            // the text is not canonical, apart from white space
	wire     []byte          // scratch
	maps     []mapMember     // scratch: members of the open maps
	keys     []sortKey       // scratch: the order of these members
}

// parse is parseCanonical for the text of the draft.
func (p *setParser) parse() (s Set, copied string, canonical bool, err error) {
	work.Add(work.Counts{Sets: 1})
	p.load()
	if err := p.document(); err != nil {
		return Set{}, "", false, syntaxError("fieldsV1", err)
	}
	p.draft.arrange(replace)
	if len(p.draft.text) > maxText {
		return Set{}, "", false, &SyntaxError{What: "fieldsV1", Offset: len(p.Text), Reason: "longer than 1 GiB"}
	}
	work.Add(work.Counts{Elements: len(p.draft.nodes)})
	text := p.whole()
	return setOf(textOf(text), slices.Clone(p.draft.nodes)), text[:len(p.Text)], !p.loose && !p.Spaced, nil
}

// release gives p back to the pool, without the memory of the result.
func (p *setParser) release() {
	p.draft.reset()
	kept := setParser{
		draft: p.draft,
		wire:  slab.Kept(p.wire, maxScratchText),
		maps:  slab.Kept(p.maps, maxScratch),
		keys:  slab.Kept(p.keys, maxScratch),
	}
	kept.elements.text.Scratch = slab.Kept(p.elements.text.Scratch, maxScratchText)
	*p = kept
	setParsers.Put(p)
}

// chunk is the number of bytes of a fieldsV1 that json-iterator reads at once in the reference.
const chunk = 4096

// load makes the text of the draft the text to be read. The text of the result begins with it, followed
// by the texts of keys and items. load reserves room for these by the number of backslashes, because
// each quote in a key or item has one.
func (p *setParser) load() {
	fieldsV1 := p.draft.text
	p.room.Grow(len(fieldsV1) + 8*bytes.Count(fieldsV1, []byte{'\\'}))
	p.room.Write(fieldsV1)
	p.scanner = scan(p.room.String(), 0)
	p.Chunk = chunk
}

// whole returns the text of the result, which begins with the text that was read. It copies the text if
// p.room has much unused memory.
func (p *setParser) whole() string {
	if n := len(p.draft.text); p.room.Cap() < n || p.room.Cap()-n > n/4 {
		return string(p.draft.text)
	}
	p.room.Write(p.draft.text[len(p.Text):])
	return p.room.String()
}

// document reads all of the text. It accepts a member "." of the whole set, which has no meaning.
func (p *setParser) document() *jsontext.Error {
	p.Space()
	if self, err := p.object(); err != nil {
		return err
	} else if self {
		p.loose = true
	}
	return p.End()
}

// level is the state of the entries of one object.
type level struct {
	self     bool // one entry is "."
	last     int  // index of the node of the last element; -1 if there is none
	unsorted bool // elements are not strictly ascending
}

// object reads the object below an element or of a whole set. self reports whether it has a member
// named ".".
func (p *setParser) object() (self bool, err *jsontext.Error) {
	if p.Peek() == 'n' {
		p.loose = true
		return false, p.Literal("null")
	}
	if p.Peek() != '{' {
		return false, p.Unexpected("an object")
	}
	more, err := p.Open('}')
	first, l := len(p.draft.nodes), level{last: -1}
	for more && err == nil {
		if err = p.entry(&l); err == nil {
			more, err = p.More('}')
		}
	}
	if l.unsorted && err == nil {
		p.loose = true
		p.draft.untidyBelow(first)
	}
	return l.self, err
}

// field appends a node for the field whose name is p.Text[start:end].
func (p *setParser) field(start, end int, f flags) {
	bits := bitsOf(KindField, p.Text[start:end], f)
	p.draft.nodes = append(p.draft.nodes, node{uint32(start), uint32(end - start), 1, bits})
}

// follow makes the node at index the last of l.
func (p *setParser) follow(l *level, index int) {
	if l.last >= 0 && !p.draft.ascend(l.last, index) {
		l.unsorted = true
	}
	l.last = index
}

// entry reads one entry.
func (p *setParser) entry(l *level) *jsontext.Error {
	index := len(p.draft.nodes)
	kind, err := p.element()
	if err != nil {
		return err
	}
	switch kind {
	// An element of a later release, which is ignored with its content.
	case entryUnknown:
		p.loose = true
		return p.Skip()
	case entrySelf:
		p.loose = p.loose || l.self || l.last >= 0 || !p.startsWith("{},")
		l.self = true
		return p.Skip()
	}
	if err := p.below(index); err != nil {
		return err
	}
	p.follow(l, index)
	return nil
}

// below reads the content of the element of the last node, at index, and completes the node.
func (p *setParser) below(index int) *jsontext.Error {
	if p.startsWith("{}") && p.Depth < value.MaxDepth {
		n := &p.draft.nodes[index]
		if n.set(included); n.kind() == KindField && n.has(quoted) && p.Pos == int(n.at+n.len)+len(`":`) {
			n.set(lone)
		}
		p.Pos += 2
		return nil
	}
	self, err := p.object()
	if err != nil {
		return err
	}
	n := &p.draft.nodes[index]
	n.skip = uint32(len(p.draft.nodes) - index)
	n.setMember(self || n.skip == 1)
	return nil
}

// startsWith reports whether the rest of the text begins with s.
func (p *setParser) startsWith(s string) bool { return strings.HasPrefix(p.Text[p.Pos:], s) }

// entryKind classifies an entry of an object in fieldsV1 by its name.
type entryKind uint8

const (
	entryElement entryKind = iota // an element, whose node was appended
	entrySelf                     // "."
	entryUnknown                  // an element of a later release
)

// element reads the name of an entry and the colon after it.
func (p *setParser) element() (entryKind, *jsontext.Error) {
	start := p.Pos
	if p.Peek() != '"' {
		return 0, p.NoName()
	}
	if p.quick() {
		return entryElement, p.Colon()
	}
	name, err := p.elementName()
	if err != nil {
		return 0, err
	}
	end := p.Pos
	if err := p.Colon(); err != nil {
		return 0, err
	}
	if name == "." {
		p.loose = p.loose || end-start != len(`"."`)
		return entrySelf, nil
	}
	e, unknown, err := p.elements.element(name)
	if unknown {
		return entryUnknown, nil
	}
	if err != nil {
		return 0, &jsontext.Error{Offset: start, Reason: "element " + strconv.Quote(name) + ": " + err.Reason}
	}
	p.draft.add(e.kind, e.text, 0)
	p.loose = p.loose || p.elements.unordered
	if !p.loose {
		p.loose = string(jsontext.AppendContent(nil, e.Wire(), jsontext.Bare)) != p.Text[start+1:end-1]
	}
	return entryElement, nil
}

// elementName reads the name of an entry. A name with escapes may be long, so it is read into p.wire.
func (p *setParser) elementName() (string, *jsontext.Error) {
	if name, ok := p.PlainString(); ok {
		return name, nil
	}
	var err *jsontext.Error
	p.wire, err = p.AppendString(p.wire[:0])
	return string(p.wire), err
}

// quick reads the most frequent elements, in which nothing has two spellings, without unquoting them
// first. It appends the node and returns true. If the element has another form, it changes nothing and
// returns false.
func (p *setParser) quick() bool {
	text, pos := p.Text, p.Pos
	if len(text)-pos < len(`"f:"`) || text[pos+2] != ':' {
		return false
	}
	pos += len(`"f:`)
	switch text[pos-2] {
	case 'f':
		end := jsontext.PlainEnd(text, pos)
		if end == len(text) || text[end] != '"' {
			return false
		}
		p.field(pos, end, quoted)
		p.Pos = end + 1
		return true
	case 'k', 'v':
		return p.plainElement(pos)
	}
	return false
}

// plainElement reads a key or item whose JSON begins at pos and has one spelling. It appends the node
// and returns true, or changes nothing and returns false.
func (p *setParser) plainElement(pos int) bool {
	start, kind, ok := p.Pos, KindItem, false
	b := p.draft.reserve()
	if p.Pos = pos; p.Text[pos-2] == 'k' {
		kind = KindKey
		b, ok = p.plainKey(b, `\"`)
	} else {
		b, ok = p.plainScalar(b, `\"`)
	}
	if !ok || !p.Pass(`"`) {
		p.Pos = start
		return false
	}
	p.draft.addSpelled(kind, b, start, p.Pos, quoted)
	return true
}
