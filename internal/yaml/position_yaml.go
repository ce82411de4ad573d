package yaml

import (
	"bytes"
	"sync"

	"gopkg.in/yaml.v3"
)

// nodeSource is a document in YAML. If [plainReader] parsed the document, its nodes are built on the first call.
type nodeSource struct {
	at   position // of the root
	text []byte   // only this document; used while root is nil

	lock    sync.Mutex // guards the fields below
	root    *yaml.Node
	indexes map[*yaml.Node]*memberIndex // of objects on earlier paths
}

// tree returns the root.
func (s *nodeSource) tree() *yaml.Node {
	if s.root == nil {
		s.root = &yaml.Node{Line: s.at.line, Column: s.at.column} // for a text that cannot be scanned; plainReader refuses such a text
		if nodes, err := scan(bytes.NewReader(s.text)); err == nil && len(nodes) == 1 {
			s.root = nodes[0].Content[0]
		}
		s.text = nil
	}
	return s.root
}

func positionOf(n *yaml.Node) position { return position{n.Line, n.Column} }

// find implements [source]. Its cost is the length of the path, plus one index for each object on it that has none.
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
			content = key // the scanner puts an omitted value at the start of the next construct
		}
	}
	return key, content
}

// child returns the key and the value one step below n, or nil. An item is its own key.
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

// member returns the key and the value of a member of the object n. Its own members precede those of the last <<.
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

// memberIndex holds the positions of members among the nodes of an object.
type memberIndex struct {
	own    map[string]int // last key with each name
	merges []int          // keys that are <<, in reverse order
}

// index returns the index of the object n.
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
