package fieldpath

import "strings"

// node is a path of the tree of a [Set]: the path of its parent and one more element, whose text lies in the texts of the
// set. It holds no pointer, so that trees are copied like bytes and the garbage collector passes over them.
type node struct {
	at    uint32 // where the element's text lies: the number of one of the texts, and from where on
	len   uint32 // of the element's text
	skip  uint32 // how many nodes the tree below this node has, itself included
	head  uint16 // the first two bytes of the element's text, 0 for those that it does not have
	kind  Kind   // of the element
	flags flags
}

// nodeSize is the size of a node in bytes.
const nodeSize = 16

// flags are what is true of a node.
type flags uint8

const (
	included flags = 1 << iota // the path of the node is a member of the set

	// What surrounds the text of an element where it lies. They are facts of the text, wherever the node is in the tree.
	//
	//	quoted  of a field: it lies in "f:name", as it is printed; of any other: where its spelling, as it is printed, in
	//	        quotes, begins and ends in the same text is told in front of it
	//	lone    it is a field, quoted, and lies in "f:name":{}
	//	named   of a field: it lies in f:name, its name in fieldsV1; of any other, which is not quoted then: where that name begins
	//	        and ends in the same text is told in front of it
	quoted
	lone
	named
)

func (n *node) has(f flags) bool { return n.flags&f != 0 }

// setMember makes the path of n a member or not.
func (n *node) setMember(is bool) {
	if n.flags &^= included; is {
		n.flags |= included
	}
}

// in returns the text of the element of n.
func (n *node) in(t *texts) string {
	start := n.at & maxText
	return t.at(n.at >> textBits)[start : start+n.len]
}

// around returns the text of the element of n and so many bytes before and behind it.
func (n *node) around(t *texts, before, behind int) string {
	start := int(n.at & maxText)
	return t.at(n.at >> textBits)[start-before : start+int(n.len)+behind]
}

// spelling returns how the element of n, which is quoted, is printed, in quotes.
func (n *node) spelling(t *texts) string {
	if n.kind == KindField {
		return n.around(t, len(`"f:`), len(`"`))
	}
	return n.told(t)
}

// name returns the name of the element of n in fieldsV1, which lies in texts or is made in scratch.
func (n *node) name(t *texts, scratch *[]byte) string {
	switch {
	case n.kind == KindField && n.flags&(named|quoted) != 0:
		return n.around(t, len("f:"), 0)
	case n.has(named):
		return n.told(t)
	}
	*scratch = n.element(t).AppendWire((*scratch)[:0])
	return string(*scratch)
}

// told returns the spelling or name whose place is in front of the text of the element of n.
func (n *node) told(t *texts) string {
	text, at := t.at(n.at>>textBits), n.at&maxText
	place := text[at-spellingSize : at]
	return text[littleEndian(place):littleEndian(place[4:])]
}

// spellingSize is the size of the place of a spelling or name: the numbers of the bytes where it begins and ends.
const spellingSize = 8

func littleEndian(s string) uint32 {
	_ = s[3]
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

func (n *node) element(t *texts) Element { return Element{n.kind, n.in(t)} }

// order is a number whose order is that of elements, but for those that have the same order.
func (n *node) order() uint32 { return uint32(n.kind)<<16 | uint32(n.head) }

// orderOf is the order of nodes of the element of this kind and text.
func orderOf(kind Kind, text string) uint32 { return uint32(kind)<<16 | uint32(headOf(text)) }

func headOf(text string) uint16 {
	switch len(text) {
	case 0:
		return 0
	case 1:
		return uint16(text[0]) << 8
	}
	return uint16(text[0])<<8 | uint16(text[1])
}

// compareNodes orders nodes by their elements. Most pairs that are compared differ in the order.
func compareNodes(a *node, aTexts *texts, b *node, bTexts *texts) int {
	if o, p := a.order(), b.order(); o != p {
		return int(o) - int(p)
	}
	return strings.Compare(a.in(aTexts), b.in(bTexts))
}
