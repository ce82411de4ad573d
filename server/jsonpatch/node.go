package jsonpatch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	library "gopkg.in/evanphx/json-patch.v4"

	"github.com/deed-project/deed/value"
)

// node is a part of a document, in one of three forms. A nil node is a null of the document, or the missing value of an operation.
//
//	no path leads into it      whole
//	an operation wrote it      text without white space, and also whole once it was decoded
//	a path leads into it       members or items
//
// Invariant: a node has exactly one of the forms. A node changes its form from the first or second to the third when a path leads into it,
// and never back.
type node struct {
	whole   value.Value
	text    json.RawMessage
	members *members
	items   *items
}

// whole returns the node of a part of a document.
func whole(v value.Value) *node {
	if v.IsNull() {
		return nil
	}
	return &node{whole: v}
}

// members are the members of an object.
//
// Invariant: a name is in now or in gone, or in neither, and never in both. count is the number of members of the outcome.
type members struct {
	were  value.Value      // the original members, except those in now
	now   map[string]*node // members that a path leads to
	gone  map[string]bool  // original members that were removed
	count int
}

// items are the items of a list.
//
// now has an element for each item of the outcome; were is kept only to find out whether anything changed.
type items struct {
	were value.Value
	now  sequence
}

// item is an original part, or a node if a path leads to it.
type item struct {
	was  value.Value
	node *node
	led  bool
}

var (
	errNoParts  = errors.New("it is neither an object nor a list")
	errTooSplit = fmt.Errorf("the paths of a patch lead through more than %d bytes of what the patch writes", MaxSplit)
)

// find returns the node that contains the target of a path, and the target's name in it. It returns nil if there is no such node.
//
// It opens each node on the way, and keeps it in its parent, so that changes to it are part of the document. The target itself need not
// exist.
func (d *draft) find(path string) (in *node, key string) {
	parts := strings.Split(path, "/")
	if len(parts) < 2 {
		return nil, ""
	}
	in = d.root
	last := len(parts) - 1
	for _, part := range parts[1:last] {
		key := unescaped.Replace(part)
		next, err := in.get(key)
		if next == nil || err != nil || d.open(next) != nil {
			return nil, ""
		}
		in.keep(key, next)
		in = next
	}
	return in, unescaped.Replace(parts[last])
}

// unescaped replaces the escapes of RFC 6901.
var unescaped = strings.NewReplacer("~1", "/", "~0", "~")

// open splits an object or a list into parts. It fails for other values, and if the patch exceeds MaxSplit.
//
// Opening a value of the document costs nothing for an object, and a copy of the items for a list.
func (d *draft) open(n *node) error {
	switch {
	case n == nil:
		return errNoParts
	case n.members != nil || n.items != nil:
		return nil
	case n.text != nil:
		return d.split(n)
	}
	switch n.whole.Kind() {
	case value.KindObject:
		n.members = &members{were: n.whole, count: n.whole.Len()}
	case value.KindList:
		n.items = &items{n.whole, sequenceOf(n.whole)}
	default:
		return errNoParts
	}
	return nil
}

// split splits a value that an operation wrote. The texts of the parts keep their spelling.
//
// Each level that a path opens costs the text of that level, which is what MaxSplit bounds.
func (d *draft) split(n *node) error {
	text := n.text
	if text[0] != '{' && text[0] != '[' {
		return errNoParts
	}
	if d.splits += len(text); d.splits > MaxSplit {
		return errTooSplit
	}
	part := func(text *json.RawMessage) *node {
		if text == nil {
			return nil
		}
		return &node{text: *text}
	}
	if text[0] == '[' {
		var parts []*json.RawMessage
		if err := json.Unmarshal(text, &parts); err != nil {
			return err
		}
		all := make([]item, len(parts))
		for i, text := range parts {
			all[i] = item{node: part(text), led: true}
		}
		n.items = &items{value.List(), cut(all)}
	} else {
		var parts map[string]*json.RawMessage
		if err := json.Unmarshal(text, &parts); err != nil {
			return err
		}
		n.members = &members{were: value.Object(), now: make(map[string]*node, len(parts)), count: len(parts)}
		for name, text := range parts {
			n.members.now[name] = part(text)
		}
	}
	// The parts are the value from now on.
	n.text, n.whole = nil, value.Value{}
	return nil
}

// read decodes text into whole. As in encoding/json, the last of several members with one name counts.
func (n *node) read() error {
	if n.text == nil || !n.whole.IsAbsent() {
		return nil
	}
	v, err := value.Parse(n.text)
	if err != nil {
		if v, err = parseLast(n.text, err); err != nil {
			return err
		}
	}
	n.whole = v
	return nil
}

// parseLast parses a text with duplicate names. It returns err if the text has another error.
//
// Numbers keep their text on the way.
func parseLast(text []byte, err error) (value.Value, error) {
	var loose any
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if decoder.Decode(&loose) != nil {
		return value.Value{}, err
	}
	once, failed := json.Marshal(loose)
	if failed != nil {
		return value.Value{}, err
	}
	return value.Parse(once)
}

// get returns a part. An absent member is nil.
//
// n must be open. An item that does not exist is an error.
func (n *node) get(key string) (*node, error) {
	if m := n.members; m != nil {
		if part, ok := m.now[key]; ok || m.gone[key] {
			return part, nil
		}
		return whole(m.were.Get(key)).orNil(), nil
	}
	i, err := n.items.index(key, n.items.now.count)
	if err != nil {
		return nil, err
	}
	at := n.items.now.at(i)
	if !at.led {
		return whole(at.was), nil
	}
	return at.node, nil
}

// orNil returns n, or nil if n is absent.
func (n *node) orNil() *node {
	if n == nil || n.whole.IsAbsent() {
		return nil
	}
	return n
}

// keep stores part, which get returned, so that get returns the same node from now on.
func (n *node) keep(key string, part *node) {
	if m := n.members; m != nil {
		m.put(key, part)
		return
	}
	i, _ := n.items.index(key, n.items.now.count) // get has found it
	*n.items.now.at(i) = item{node: part, led: true}
}

// set replaces an existing part, or adds a member.
//
// n must be open, and get must have found an item of that index.
func (n *node) set(key string, part *node) {
	if n.members != nil {
		_ = n.add(key, part) // only fails for lists
		return
	}
	n.keep(key, part)
}

// add adds a member, or inserts an item before an index.
//
// The errors about indexes have two forms in the library: for text that is no number, and for a number out of range.
func (n *node) add(key string, part *node) error {
	if m := n.members; m != nil {
		if !m.has(key) {
			m.count++
		}
		m.put(key, part)
		return nil
	}
	l := n.items
	i := l.now.count
	if key != "-" {
		if _, err := strconv.Atoi(key); err != nil {
			return fmt.Errorf("value was not a proper array index: '%s': %w", key, err)
		}
		var err error
		if i, err = l.index(key, l.now.count+1); err != nil {
			return err
		}
	}
	l.now.insert(i, item{node: part, led: true})
	return nil
}

// remove removes a part.
//
// A member is noted in gone even if an operation added it. That does no harm, for it is not among the original ones.
func (n *node) remove(key string) error {
	if m := n.members; m != nil {
		if !m.has(key) {
			//lint:ignore ST1005 the text of the library
			return fmt.Errorf("Unable to remove nonexistent key: %s: %w", key, library.ErrMissing)
		}
		delete(m.now, key)
		if m.gone == nil {
			m.gone = map[string]bool{}
		}
		m.gone[key] = true
		m.count--
		return nil
	}
	i, err := n.items.index(key, n.items.now.count)
	if err != nil {
		return err
	}
	n.items.now.remove(i)
	return nil
}

// has reports whether the object has a member.
func (m *members) has(key string) bool {
	_, ok := m.now[key]
	return ok || !m.gone[key] && !m.were.Get(key).IsAbsent()
}

// put sets a member. It does not count it.
func (m *members) put(key string, part *node) {
	if m.now == nil {
		m.now = map[string]*node{}
	}
	m.now[key] = part
	delete(m.gone, key)
}

// index returns the index that key names in a list of n items. A negative index counts from the end.
func (*items) index(key string, n int) (int, error) {
	i, err := strconv.Atoi(key)
	if err != nil {
		return 0, err
	}
	if i >= n || i < -n {
		//lint:ignore ST1005 the text of the library
		return 0, fmt.Errorf("Unable to access invalid index: %d: %w", i, library.ErrInvalidIndex)
	}
	if i < 0 {
		i += n
	}
	return i, nil
}
