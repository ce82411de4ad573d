package fieldpath

// node is a path of the tree of a [Set]: the path of its parent and one more element, whose text
// lies in the texts of the set. It holds no pointer, so that trees are copied like bytes and the
// garbage collector passes over them.
type node struct {
	at   uint32 // where the element's text lies: the number of one of the texts, and from where on
	len  uint32 // of the element's text
	skip uint32 // how many nodes the tree below this node has, itself included
	bits uint32 // the order of the element, as orderOf has it, and, in the lowest bits, flags
}

// nodeSize is the size of a node in bytes.
const nodeSize = 16

// flags are what is true of a node.
type flags uint32

const (
	included flags = 1 << iota // the path of the node is a member of the set

	// What surrounds the text of an element where it lies. They are facts of the text, wherever the
	// node is in the tree. "Place" is the numbers of the bytes where something begins and ends.
	//
	//	        of a field, its text lies in    of any other, in front of its text is
	//	quoted  "f:name", as it is printed      the place of its spelling, as printed, in quotes
	//	lone    "f:name":{}, quoted as well     -
	//	named   f:name, its name in fieldsV1    the place of its name; it is not quoted then
	quoted
	lone
	named

	flagBits = iota
)

// has reports whether one of the flags in f is true of n.
func (n *node) has(f flags) bool { return n.bits&uint32(f) != 0 }

// set makes f true of n.
func (n *node) set(f flags) { n.bits |= uint32(f) }

// unset makes f untrue of n.
func (n *node) unset(f flags) { n.bits &^= uint32(f) }

// member returns included if the path of n is a member, and else 0.
func (n *node) member() flags { return flags(n.bits) & included }

// setMember makes the path of n a member or not.
func (n *node) setMember(is bool) {
	if n.unset(included); is {
		n.set(included)
	}
}

// in returns the text of the element of n.
func (n *node) in(t *texts) string {
	return t.at(n.at >> textBits)[n.at&maxText:][:n.len]
}

// around returns the text of the element of n and so many bytes before and behind it.
func (n *node) around(t *texts, before, behind int) string {
	start := int(n.at & maxText)
	return t.at(n.at >> textBits)[start-before : start+int(n.len)+behind]
}

// spelling returns how the element of n, which is quoted, is printed, in quotes.
func (n *node) spelling(t *texts) string {
	if n.kind() == KindField {
		return n.around(t, len(`"f:`), len(`"`))
	}
	return n.told(t)
}

// name returns the name of the element of n in fieldsV1, which lies in texts or is made in scratch.
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

// spellingSize is the size of the place of a spelling or name: the numbers of the bytes where it
// begins and ends.
const spellingSize = 8

// littleEndian returns the number in the first four bytes of s, the lowest byte first.
func littleEndian(s string) uint32 {
	_ = s[3]
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

// element returns the element of n, whose text is a part of t.
func (n *node) element(t *texts) Element { return Element{n.kind(), n.in(t)} }

// The order of an element is a number: its kind and, behind that, the first bytes of its text. The
// order of these numbers is that of elements, but for those that have the same one.
const (
	kindShift = 24
	headBytes = kindShift / 8
)

// order returns the order of the element of n. Elements of different orders sort as these; of two
// that have the same, the texts decide, as of the fields spec and specs:
//
//	field "spec"   1 s p e
//	field "specs"  1 s p e      the same order: the texts differ behind the third byte
//	key …          2 …          behind every field
func (n *node) order() uint32 { return n.bits >> flagBits }

// kind returns the kind of the element of n.
func (n *node) kind() Kind { return Kind(n.bits >> (flagBits + kindShift)) }

// orderOf returns the order of the element of this kind and text.
func orderOf(kind Kind, text string) uint32 {
	order := uint32(kind) << kindShift
	if len(text) < headBytes {
		return order | shortHead(text)
	}
	return order | uint32(text[0])<<16 | uint32(text[1])<<8 | uint32(text[2])
}

// shortHead returns the head of a text that is shorter: what is missing counts as zeros.
func shortHead(text string) (head uint32) {
	for i := range len(text) {
		head |= uint32(text[i]) << (16 - 8*i)
	}
	return head
}

// bitsOf returns the bits of a node of the element of this kind and text.
func bitsOf(kind Kind, text string, f flags) uint32 { return orderOf(kind, text)<<flagBits | uint32(f) }
