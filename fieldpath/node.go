package fieldpath

// node is one path in the tree of a [Set]. It adds one element to the path of its parent. The text
// of the element is in the texts of the set. A node holds no pointer, so trees are copied like
// bytes, and the garbage collector does not scan them.
type node struct {
	at   uint32 // where the element's text begins: the number of a text, and the offset there
	len  uint32 // of the element's text
	skip uint32 // number of nodes in the tree of this node, itself included
	bits uint32 // the order of the element, see orderOf, and flags in the lowest bits
}

// nodeSize is the size of a node in bytes.
const nodeSize = 16

// flags are properties of a node.
type flags uint32

const (
	included flags = 1 << iota // the path of the node is a member of the set

	// The flags below describe the bytes around the text of an element. They do not depend on the
	// position of the node in the tree. A place is two offsets in the text, begin and end.
	//
	//	        a field: its text is inside     other kinds: in front of the text is
	//	quoted  "f:name", as it is printed      the place of its spelling, as printed, in quotes
	//	lone    "f:name":{}, quoted as well     -
	//	named   f:name, its name in fieldsV1    the place of its name; it is not quoted then
	quoted
	lone
	named

	flagBits = iota
)

// has reports whether n has one of the flags in f.
func (n *node) has(f flags) bool { return n.bits&uint32(f) != 0 }

// set sets the flags f of n.
func (n *node) set(f flags) { n.bits |= uint32(f) }

// unset clears the flags f of n.
func (n *node) unset(f flags) { n.bits &^= uint32(f) }

// member returns included if the path of n is a member, and otherwise 0.
func (n *node) member() flags { return flags(n.bits) & included }

// setMember sets or clears the flag included of n.
func (n *node) setMember(is bool) {
	if n.unset(included); is {
		n.set(included)
	}
}

// in returns the text of the element of n.
func (n *node) in(t *texts) string {
	return t.at(n.at >> textBits)[n.at&maxText:][:n.len]
}

// around returns the text of the element of n with the given numbers of bytes before and behind it.
func (n *node) around(t *texts, before, behind int) string {
	start := int(n.at & maxText)
	return t.at(n.at >> textBits)[start-before : start+int(n.len)+behind]
}

// spelling returns the element of n as it is printed, in quotes. The element must be quoted.
func (n *node) spelling(t *texts) string {
	if n.kind() == KindField {
		return n.around(t, len(`"f:`), len(`"`))
	}
	return n.told(t)
}

// name returns the name of the element of n in fieldsV1: a part of t, or a string built in scratch.
func (n *node) name(t *texts, scratch *[]byte) string {
	switch {
	case n.kind() == KindField && n.has(named|quoted):
		return n.around(t, len("f:"), 0)
	case n.has(named):
		return n.told(t)
	}
	*scratch = n.element(t).appendWire((*scratch)[:0])
	return string(*scratch)
}

// told returns the spelling or name whose place is in front of the text of the element of n.
func (n *node) told(t *texts) string {
	text, at := t.at(n.at>>textBits), n.at&maxText
	place := text[at-spellingSize : at]
	return text[littleEndian(place):littleEndian(place[4:])]
}

// spellingSize is the size in bytes of the place of a spelling or name: two offsets.
const spellingSize = 8

// littleEndian returns the little-endian number in the first four bytes of s.
func littleEndian(s string) uint32 {
	_ = s[3]
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

// element returns the element of n, whose text is a part of t.
func (n *node) element(t *texts) Element { return Element{n.kind(), n.in(t)} }

// The order of an element is a number: its kind, followed by the first bytes of its text. If the
// numbers of two elements differ, the elements sort as the numbers do.
const (
	kindShift = 24
	headBytes = kindShift / 8
)

// order returns the order of the element of n. If two elements have the same order, their texts
// decide, as for the fields spec and specs:
//
//	field "spec"   1 s p e
//	field "specs"  1 s p e      the same order: the texts differ behind the third byte
//	key …          2 …          after every field
func (n *node) order() uint32 { return n.bits >> flagBits }

// kind returns the kind of the element of n.
func (n *node) kind() Kind { return Kind(n.bits >> (flagBits + kindShift)) }

// orderOf returns the order of the element with this kind and text.
func orderOf(kind Kind, text string) uint32 {
	order := uint32(kind) << kindShift
	if len(text) < headBytes {
		return order | shortHead(text)
	}
	return order | uint32(text[0])<<16 | uint32(text[1])<<8 | uint32(text[2])
}

// shortHead returns the first bytes of a text shorter than headBytes. Missing bytes count as zeros.
func shortHead(text string) (head uint32) {
	for i := range len(text) {
		head |= uint32(text[i]) << (16 - 8*i)
	}
	return head
}

// bitsOf returns the bits of a node for the element with this kind and text.
func bitsOf(kind Kind, text string, f flags) uint32 { return orderOf(kind, text)<<flagBits | uint32(f) }
