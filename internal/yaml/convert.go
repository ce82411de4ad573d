package yaml

import (
	"fmt"

	"github.com/deed-project/deed/value"
	"gopkg.in/yaml.v3"
)

// maxAdded bounds the size that aliases add to a document: bytes of text, plus 16 for each value.
const maxAdded = 16 << 20

// converter turns the nodes of one document into values, in the order of the text, so that it meets an anchor before its aliases. Values
// are immutable and can be shared, so an alias costs nothing here. The converter counts size and depth to protect code that walks or prints
// the document.
type converter struct {
	first   int // first line of the document; an earlier anchor belongs to another document
	anchors map[*yaml.Node]*anchor
	depth   int // number of lists and objects around the current node
	deepest int // largest depth so far
	size    int // of the values so far, in the unit of maxAdded
	added   int // the part of size that aliases added

	repeating   bool  // names may be repeated
	path        []any // to the current node, as in the text
	repetitions []Repetition
}

// anchor holds the value of a node with an anchor. done is false while the node itself is being converted.
type anchor struct {
	value  value.Value
	size   int
	height int // nesting of lists and objects in the value
	done   bool
}

// noAnchor is the reason for refusing an alias without an anchor. It does not show the name of the alias, which may be an unquoted secret.
// See [Error].
const noAnchor = "the document has no anchor with this name; quote the value if it is text"

func fail(n *yaml.Node, format string, args ...any) *Error {
	return &Error{Line: n.Line, Column: n.Column, Reason: fmt.Sprintf(format, args...)}
}

func (c *converter) node(n *yaml.Node) (value.Value, *Error) {
	if n.Kind == yaml.AliasNode {
		return c.alias(n)
	}
	if n.Anchor == "" {
		return c.content(n)
	}
	a := new(anchor)
	c.anchors[n] = a
	size, deepest := c.size, c.deepest
	c.deepest = c.depth
	v, err := c.content(n)
	*a = anchor{value: v, size: c.size - size, height: c.deepest - c.depth, done: true}
	c.deepest = max(deepest, c.deepest)
	return v, err
}

func (c *converter) alias(n *yaml.Node) (value.Value, *Error) {
	target, err := c.target(n)
	if err != nil {
		return value.Value{}, err
	}
	a := c.anchors[target]
	if a == nil { // the anchor is on a key
		return c.content(target)
	}
	if !a.done {
		return value.Value{}, fail(n, "the alias stands inside the value that it refers to")
	}
	c.deepest = max(c.deepest, c.depth+a.height)
	if c.deepest > value.MaxDepth {
		return value.Value{}, fail(n, "nested deeper than %d", value.MaxDepth)
	}
	c.size += a.size
	if c.added += a.size; c.added > maxAdded {
		return value.Value{}, fail(n, "aliases make this document larger by more than %d MiB", maxAdded>>20)
	}
	return a.value, nil
}

// target returns the node of the alias n. The scanner knows the anchors of all earlier documents, but an anchor is only valid in its own
// document.
func (c *converter) target(n *yaml.Node) (*yaml.Node, *Error) {
	if n.Alias.Line < c.first {
		return nil, fail(n, noAnchor)
	}
	return n.Alias, nil
}

func (c *converter) content(n *yaml.Node) (value.Value, *Error) {
	c.size += 16
	switch n.Kind {
	case yaml.MappingNode:
		return c.nested(n, c.object)
	case yaml.SequenceNode:
		return c.nested(n, c.list)
	}
	c.size += len(n.Value)
	x, reason := scalar(n)
	if reason != "" {
		return value.Value{}, fail(n, "%s", reason)
	}
	v, reason := toValue(x)
	if reason != "" {
		return value.Value{}, fail(n, "%s", reason)
	}
	return v, nil
}

// nested converts the list or object n with the function for its kind.
func (c *converter) nested(n *yaml.Node, convert func(*yaml.Node) (value.Value, *Error)) (value.Value, *Error) {
	if c.depth++; c.depth > value.MaxDepth {
		return value.Value{}, fail(n, "nested deeper than %d", value.MaxDepth)
	}
	c.deepest = max(c.deepest, c.depth)
	v, err := convert(n)
	c.depth--
	return v, err
}

// step converts n, which is one step below the current node.
func (c *converter) step(step any, n *yaml.Node) (value.Value, *Error) {
	if !c.repeating {
		return c.node(n)
	}
	c.path = append(c.path, step)
	v, err := c.node(n)
	c.path = c.path[:len(c.path)-1]
	return v, err
}

func (c *converter) list(n *yaml.Node) (value.Value, *Error) {
	items := make([]value.Value, len(n.Content))
	for i, item := range n.Content {
		v, err := c.step(i, item)
		if err != nil {
			return value.Value{}, err
		}
		items[i] = v
	}
	return value.List(items...), nil
}

func (c *converter) object(n *yaml.Node) (value.Value, *Error) {
	o := builder{index: make(map[string]int, len(n.Content)/2)}
	for i := 0; i < len(n.Content); i += 2 {
		key, content := n.Content[i], n.Content[i+1]
		if isMerge(key) {
			if err := c.merge(&o, key, content); err != nil {
				return value.Value{}, err
			}
			continue
		}
		name, err := c.name(key)
		if err != nil {
			return value.Value{}, err
		}
		if err := o.check(name, key); err != nil {
			if !c.repeating {
				return value.Value{}, err
			}
			c.repeated(name, key, o.lines[o.index[name]])
		}
		v, err := c.step(name, content)
		if err != nil {
			return value.Value{}, err
		}
		o.put(name, v, key.Line)
	}
	return value.Object(o.members...), nil
}

// name returns the name of a key, by rule 5.
func (c *converter) name(key *yaml.Node) (string, *Error) {
	n := key
	if key.Kind == yaml.AliasNode {
		var err *Error
		if n, err = c.target(key); err != nil {
			return "", err
		}
	}
	if n.Kind != yaml.ScalarNode {
		return "", fail(key, "a list or an object cannot be a key")
	}
	c.size += len(n.Value)
	name, reason := nameOf(n)
	if reason != "" {
		return "", fail(key, "%s", reason)
	}
	return name, nil
}

// nameOf returns the name of the scalar n as a key. The reason is empty if it is a valid name.
func nameOf(n *yaml.Node) (name, reason string) {
	x, reason := scalar(n)
	if reason != "" {
		return "", reason
	}
	return toName(x)
}
