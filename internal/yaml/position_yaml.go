package yaml

import (
	"bytes"
	"sync"

	"gopkg.in/yaml.v3"
)

// nodeSource is a document in YAML. Its nodes are what was read, or are scanned when they are first asked for, where it was read
// without them, see [plainReader].
type nodeSource struct {
	at   position // of the root
	text []byte   // with this document alone; used where root is not there yet

	lock    sync.Mutex // of what follows
	root    *yaml.Node
	indexes map[*yaml.Node]*memberIndex // of objects that were asked about
}

// tree returns the root.
func (s *nodeSource) tree() *yaml.Node {
	if s.root == nil {
		s.root = &yaml.Node{Line: s.at.line, Column: s.at.column} // for a text that cannot be scanned, which plainReader refuses
		if nodes, err := scan(bytes.NewReader(s.text)); err == nil && len(nodes) == 1 {
			s.root = nodes[0].Content[0]
		}
		s.text = nil
	}
	return s.root
}

func positionOf(n *yaml.Node) position { return position{n.Line, n.Column} }

// find is the one of [source]. Its cost is that of the path: an object is indexed when it is first asked about.
func (s *nodeSource) find(path []any) (key, content position) {
	key, content = s.at, s.at
	if len(path) == 0 {
		return key, content
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	n := s.tree()
	for _, step := range path {
		k, v := s.child(n, step)
		if v == nil {
			break
		}
		key, content, n = positionOf(k), positionOf(v), v
		if isEmpty(v) {
			content = key // the scanner puts what is not there where the next thing begins
		}
	}
	return key, content
}

// child returns the key and the value of one step from n, and nil when there is none. An item is its own key.
func (s *nodeSource) child(n *yaml.Node, step any) (key, content *yaml.Node) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	switch step := step.(type) {
	case int:
		if n.Kind == yaml.SequenceNode && 0 <= step && step < len(n.Content) {
			return n.Content[step], n.Content[step]
		}
	case string:
		if n.Kind == yaml.MappingNode {
			return s.member(n, step)
		}
	}
	return nil, nil
}

// member returns the key and the value of the member called name of the object n, its own before those of the last <<.
func (s *nodeSource) member(n *yaml.Node, name string) (key, content *yaml.Node) {
	x := s.index(n)
	if i, ok := x.own[name]; ok {
		return n.Content[i], n.Content[i+1]
	}
	for _, i := range x.merges {
		sources := n.Content[i+1 : i+2]
		if sources[0].Kind == yaml.SequenceNode {
			sources = sources[0].Content
		}
		for _, from := range sources {
			if k, v := s.child(from, name); v != nil {
				return k, v
			}
		}
	}
	return nil, nil
}

// memberIndex says where the members of an object are among its nodes.
type memberIndex struct {
	own    map[string]int // the last key with each name
	merges []int          // the keys that are <<, the last first
}

// index returns where the members of the object n are.
func (s *nodeSource) index(n *yaml.Node) *memberIndex {
	x := s.indexes[n]
	if x == nil {
		x = newMemberIndex(n)
		if s.indexes == nil {
			s.indexes = map[*yaml.Node]*memberIndex{}
		}
		s.indexes[n] = x
	}
	return x
}

func newMemberIndex(n *yaml.Node) *memberIndex {
	x := &memberIndex{own: make(map[string]int, len(n.Content)/2)}
	for i := len(n.Content) - 2; i >= 0; i -= 2 {
		k := n.Content[i]
		if isMerge(k) {
			x.merges = append(x.merges, i)
			continue
		}
		if k.Kind == yaml.AliasNode {
			k = k.Alias
		}
		name, reason := nameOf(k)
		if _, later := x.own[name]; reason == "" && !later {
			x.own[name] = i
		}
	}
	return x
}
