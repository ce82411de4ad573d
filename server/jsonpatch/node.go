package jsonpatch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	library "gopkg.in/evanphx/json-patch.v4"

	"github.com/deed-project/deed/value"
)

// node is a part of a document. A nil node is a null that the document had, or an operation without a value.
//
//	a part that no path leads into   whole
//	a value that an operation wrote  text, and whole once that was read
//	a part that a path leads into    members or items
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

// members are those of an object.
type members struct {
	were  value.Value      // all of them, unless they are in now
	now   map[string]*node // those that a path leads to
	gone  map[string]bool  // those of were that were removed
	count int
}

// items are those of a list.
type items struct {
	were value.Value
	now  []item
}

// item is an item or a member as it was, unless a path leads to it.
type item struct {
	was  value.Value
	node *node
	led  bool
}

var (
	errNoParts  = errors.New("it is neither an object nor a list")
	errTooSplit = fmt.Errorf("the paths of a patch lead through more than %d bytes of what the patch writes", MaxSplit)
)

// find returns the node that holds what a path names, and the name of that in it; nil if there is none.
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

// open makes the parts of an object or a list available. The error is that it is neither, or that there is too much to split.
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
		n.items = &items{were: n.whole, now: make([]item, 0, n.whole.Len()+1)}
		for was := range n.whole.Items() {
			n.items.now = append(n.items.now, item{was: was})
		}
	default:
		return errNoParts
	}
	return nil
}

// split makes parts of what an operation wrote, whose texts stay as they are.
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
		n.items = &items{were: value.List(), now: make([]item, len(parts))}
		for i, text := range parts {
			n.items.now[i] = item{node: part(text), led: true}
		}
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
	n.text, n.whole = nil, value.Value{}
	return nil
}

// read makes whole of text. Of members with one name the last counts, as in encoding/json.
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

// parseLast parses a text in which names may stand twice. err is the error if the text is wrong otherwise.
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

// get returns a part. A member that is not there is nil.
func (n *node) get(key string) (*node, error) {
	if m := n.members; m != nil {
		if part, ok := m.now[key]; ok || m.gone[key] {
			return part, nil
		}
		return whole(m.were.Get(key)).orNil(), nil
	}
	i, err := n.items.index(key, len(n.items.now))
	if err != nil {
		return nil, err
	}
	if at := n.items.now[i]; !at.led {
		return whole(at.was), nil
	} else {
		return at.node, nil
	}
}

// orNil returns n, or nil if it is absent.
func (n *node) orNil() *node {
	if n == nil || n.whole.IsAbsent() {
		return nil
	}
	return n
}

// keep makes part, which get returned, the part that it returns from now on.
func (n *node) keep(key string, part *node) {
	if m := n.members; m != nil {
		m.put(key, part)
		return
	}
	i, _ := n.items.index(key, len(n.items.now)) // get found it
	n.items.now[i] = item{node: part, led: true}
}

// set replaces a part that get finds, or adds a member.
func (n *node) set(key string, part *node) {
	if n.members != nil {
		_ = n.add(key, part) // which fails for lists only
		return
	}
	n.keep(key, part)
}

// add adds a member, or an item in front of the one with an index.
func (n *node) add(key string, part *node) error {
	if m := n.members; m != nil {
		if !m.has(key) {
			m.count++
		}
		m.put(key, part)
		return nil
	}
	l := n.items
	i := len(l.now)
	if key != "-" {
		if _, err := strconv.Atoi(key); err != nil {
			return fmt.Errorf("value was not a proper array index: '%s': %w", key, err)
		}
		var err error
		if i, err = l.index(key, len(l.now)+1); err != nil {
			return err
		}
	}
	l.now = slices.Insert(l.now, i, item{node: part, led: true})
	return nil
}

// remove removes a part.
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
	i, err := n.items.index(key, len(n.items.now))
	if err != nil {
		return err
	}
	n.items.now = slices.Delete(n.items.now, i, i+1)
	return nil
}

func (m *members) has(key string) bool {
	_, ok := m.now[key]
	return ok || !m.gone[key] && !m.were.Get(key).IsAbsent()
}

func (m *members) put(key string, part *node) {
	if m.now == nil {
		m.now = map[string]*node{}
	}
	m.now[key] = part
	delete(m.gone, key)
}

// index returns the index that key names among the first n items; a negative one counts from the end.
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
