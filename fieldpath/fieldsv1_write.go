package fieldpath

import (
	"encoding/binary"
	"slices"
	"sync"

	"github.com/deed-project/deed/internal/jsontext"
	"github.com/deed-project/deed/internal/slab"
)

// Printing fieldsV1. The nodes of a parsed set know the places of their elements, with quotes, in
// the text that was read. Runs of leaves are printed by copying that text:
//
//	text     {"f:a":{},"f:b":{},"k:{\"port\":80}":{"f:x":{}}}
//	lone     f:a, f:b            printed as one run: "f:a":{},"f:b":{}
//	quoted   the key             its spelling is copied, its children are printed in turn
//
// All other elements are printed from their encoding. This file prints simple ones, eight bytes at
// a time. The escaper of jsontext prints the rest.

// AppendJSON appends s to b as the fieldsV1 of managedFields, byte for byte as kube-apiserver
// writes it. The text is an object with one member per element, named by [Element.Wire]. The value
// of that member is the object of the paths below the element. If the element is a member of s and
// has members below it, this object begins with a member named ".". AppendJSON leaves out members
// of s whose paths have the zero [Element], because that has no name.
func (s Set) AppendJSON(b []byte) []byte {
	if s.IsEmpty() {
		return append(b, "{}"...)
	}
	scratch := printers.Get().(*[]byte)
	out := s.print(scratch)
	b = append(b, out...)
	printers.Put(scratch)
	return b
}

// json returns s as [Set.AppendJSON] writes it.
func (s Set) json() string {
	if s.IsEmpty() {
		return "{}"
	}
	scratch := printers.Get().(*[]byte)
	text := string(s.print(scratch))
	printers.Put(scratch)
	return text
}

// printers holds scratch memory to which sets are printed. The slice that gets the text then grows
// once, to the size that it needs.
var printers = sync.Pool{New: func() any { return new([]byte) }}

// print prints s, which is not empty, to scratch. It does not keep scratch that is too large.
func (s Set) print(scratch *[]byte) []byte {
	room := len(s.texts.first) + len(s.nodes)*len(`"f:":{".":{},},`)
	w := textWriter{texts: s.texts}
	out := appendNodes(append(slices.Grow(*scratch, room), '{'), &w, s.nodes)
	out[len(out)-1] = '}'
	if w.nameless {
		if s = s.named(); s.IsEmpty() {
			return append(out[:0], "{}"...)
		}
		return s.print(scratch)
	}
	*scratch = slab.Kept(out, maxScratchText)
	return out
}

// textWriter prints the nodes of a set.
type textWriter struct {
	texts         // of the set
	nameless bool // the set has the zero Element, which has no name
}

// appendNodes appends the entries of nodes, with a comma after each.
func appendNodes(b []byte, w *textWriter, nodes []node) []byte {
	t := &w.texts
	for i := 0; i < len(nodes); {
		n := &nodes[i]
		// A run of leaves that are next to each other in a text: that part of the text is copied.
		if n.has(lone) && n.skip == 1 {
			i = loneRun(nodes, i)
			last := &nodes[i-1]
			b = append(b, n.around(t, len(`"f:`), int(last.at+last.len-n.at-n.len)+len(`":{}`))...)
			b = append(b, ',')
			continue
		}
		// A quoted element has its spelling in its text. Other spellings are made.
		if n.has(quoted) {
			spelling := n.spelling(t)
			b = append(append(b, spelling...), ":{"...)
		} else {
			var opened bool
			if b, i, opened = appendFields(b, t, nodes, i); i == len(nodes) {
				break
			}
			if n = &nodes[i]; !opened {
				b = append(appendSpelled(b, w, n), ":{"...)
			}
		}
		if n.skip == 1 {
			b = append(b, "},"...)
			i++
			continue
		}
		if n.has(included) {
			b = append(b, `".":{},`...)
		}
		next := i + int(n.skip)
		b = appendNodes(b, w, nodes[i+1:next])
		b[len(b)-1] = '}'
		b = append(b, ',')
		i = next
	}
	return b
}

// appendFields appends the entries of nodes[i] and the nodes after it, while they are leaves and
// fields with plain names. next is the first other node. If that node is such a field with
// children, its entry is opened: its name, colon and brace are appended. The run ends early if b or
// the text has too little room.
func appendFields(b []byte, t *texts, nodes []node, i int) (out []byte, next int, opened bool) {
	const (
		before = '"' | 'f'<<8 | ':'<<16
		behind = '"' | ':'<<8 | '{'<<16 | '}'<<24 | ','<<32
	)
	at, room := len(b), b[:cap(b)]
	for ; i < len(nodes) && !nodes[i].has(quoted); i++ {
		n := &nodes[i]
		text, start, size := t.at(n.at>>textBits), int(n.at&maxText), int(n.len)
		if n.kind() != KindField || len(text) < start+size+16 || len(room) < at+size+24 {
			break
		}
		text = text[start : start+size+16]
		entry := room[at : at+size+24]
		binary.LittleEndian.PutUint32(entry, before)
		v, w := jsontext.Word(text, 0), jsontext.Word(text, 8)
		binary.LittleEndian.PutUint64(entry[3:], v)
		binary.LittleEndian.PutUint64(entry[11:], w)
		found := jsontext.Special(v)
		if size > 8 {
			found |= jsontext.Special(w)
		}
		for k := 16; k < size; k += 8 {
			w = jsontext.Word(text, k)
			found |= jsontext.Special(w)
			binary.LittleEndian.PutUint64(entry[3+k:], w)
		}
		// found may be about bytes after the name.
		if found != 0 && jsontext.PlainEnd(text[:size], 0) < size {
			break
		}
		binary.LittleEndian.PutUint64(entry[3+size:], behind)
		if n.skip > 1 {
			return room[:at+size+len(`"f:":{`)], i, true
		}
		at += size + len(`"f:":{},`)
	}
	return room[:at], i, false
}

// appendSpelled appends the element of n as it is printed, in quotes.
func appendSpelled(b []byte, w *textWriter, n *node) []byte {
	t := &w.texts
	b = append(b, '"')
	switch n.kind() {
	case KindField:
		b = jsontext.AppendContent(append(b, "f:"...), n.in(t), jsontext.Bare)
	case 0:
		w.nameless = true
	default:
		b = appendWireEscaped(b, n.kind(), t.at(n.at >> textBits)[n.at&maxText:], int(n.len))
	}
	return append(b, '"')
}

// appendWireEscaped appends a key, item or index as it stands within a JSON string. The text of the
// element is text[:size].
func appendWireEscaped(b []byte, kind Kind, text string, size int) []byte {
	start, simple := len(b), false
	switch kind {
	case KindKey:
		b, simple = appendSimpleKey(b, text, size)
	case KindItem:
		b, _, simple = appendScalar(append(b, "v:"...), text, 0)
	}
	if simple {
		return b
	}
	return jsontext.AppendContent(b[:start], Element{kind, text[:size]}.Wire(), jsontext.Bare)
}

// appendSimpleKey appends the key whose text is text[:size]. It fails for the empty key, and if
// appendSimple or appendScalar fails.
func appendSimpleKey(b []byte, text string, size int) (out []byte, ok bool) {
	b = append(b, "k:{"...)
	for pos := 0; pos < size; {
		b = append(b, `\"`...)
		if b, pos, ok = appendSimple(b, text, pos); !ok {
			return b, false
		}
		b = append(b, `\":`...)
		if b, pos, ok = appendScalar(b, text, pos); !ok {
			return b, false
		}
		b = append(b, ',')
	}
	b[len(b)-1] = '}'
	return b, ok
}

// appendScalar appends the value whose encoding is at text[pos:] as it stands within a JSON string.
// next is the place after the encoding. It fails for lists and objects, and if appendSimple fails.
func appendScalar(b []byte, text string, pos int) (out []byte, next int, ok bool) {
	switch text[pos] {
	case tagString:
		b, next, ok = appendSimple(append(b, `\"`...), text, pos+1)
		return append(b, `\"`...), next, ok
	case tagList, tagObject:
		return b, pos, false
	}
	out, rest := appendEncoded(b, text[pos:], styleWire)
	return out, len(text) - len(rest), true
}

// appendSimple appends the string whose encoding by appendText is at text[pos:]. next is the place
// after the encoding. It fails unless all characters are simple.
func appendSimple(b []byte, text string, pos int) (out []byte, next int, ok bool) {
	for ; pos+8 <= len(text) && len(b)+8 <= cap(b); pos += 8 {
		w := jsontext.Word(text, pos)
		room := b[len(b) : len(b)+8]
		binary.LittleEndian.PutUint64(room, w)
		if found := jsontext.Unsimple(w); found != 0 {
			n := jsontext.FirstOf(found)
			b, pos = b[:len(b)+n], pos+n
			break
		}
		b = b[:len(b)+8]
	}
	for ; jsontext.Simple[text[pos]]; pos++ {
		b = append(b, text[pos])
	}
	return b, pos + 2, text[pos] == 0 && text[pos+1] == 1
}

// loneRun returns the end of the run of leaves that begins at i. All of them are lone, with only a
// comma between two of them.
func loneRun(nodes []node, i int) int {
	next := nodes[i].at + nodes[i].len + uint32(len(`":{},"f:`))
	for i++; i < len(nodes); i++ {
		n := &nodes[i]
		if n.at != next || n.skip > 1 || !n.has(lone) {
			break
		}
		next += n.len + uint32(len(`":{},"f:`))
	}
	return i
}
