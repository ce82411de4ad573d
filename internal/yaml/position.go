package yaml

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// position is a place in a file: one-based, with the column in characters.
type position struct{ line, column int }

// source finds positions in the text of a document.
type source interface {
	// find returns the positions of the key and the value at path, or those of the nearest existing ancestor. The root and the items of a
	// list have no key; the position of the value stands for it.
	find(path []any) (key, content position)
}

// Position returns the one-based line and column, in characters, of the value at path. Each step of the path is the name of a member, a
// string, or the index of an item, an int. If the value does not exist, it is the position of the nearest existing ancestor. A member from
// << has its position in the object that << refers to.
func (d Document) Position(path ...any) (line, column int) {
	_, content := d.find(path)
	return content.line, content.column
}

// KeyPosition returns the position of the name of the member at path, for messages about the name. See [Document.Position].
func (d Document) KeyPosition(path ...any) (line, column int) {
	key, _ := d.find(path)
	return key.line, key.column
}

func (d Document) find(path []any) (key, content position) {
	if d.source == nil {
		return position{}, position{}
	}
	return d.source.find(path)
}

// BooleanWord returns the unquoted word at path if it is a boolean in YAML 1.1 but a string in newer YAML: y, yes, on, n, no or off in any
// case. Otherwise it returns "". Kubernetes reads such a word as a boolean.
func (d Document) BooleanWord(path ...any) string {
	_, content := d.nodes(path)
	return booleanWord(content)
}

// BooleanName returns what [Document.BooleanWord] returns, but for the name of the member at path.
func (d Document) BooleanName(path ...any) string {
	key, _ := d.nodes(path)
	return booleanWord(key)
}

// PlainWord returns the text of the scalar at path if it is neither quoted nor tagged, as in the document. Otherwise, and if the document was
// not parsed as YAML, it returns "".
func (d Document) PlainWord(path ...any) string {
	if _, content := d.nodes(path); isPlain(content) {
		return scalarOf(content).Value
	}
	return ""
}

// nodes returns the nodes of the name and the value at path. They are nil if there are none, or if the document was not parsed as YAML.
func (d Document) nodes(path []any) (key, content *yaml.Node) {
	s, ok := d.source.(*nodeSource)
	if !ok {
		return nil, nil
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	content = s.tree()
	for _, step := range path {
		if key, content = s.child(content, step); content == nil {
			return nil, nil
		}
	}
	return key, content
}

// booleanWord returns the text of n if it is a boolean other than true or false.
func booleanWord(n *yaml.Node) string {
	if !isPlain(n) {
		return ""
	}
	word := scalarOf(n).Value
	if _, isBool := words[word].(bool); !isBool || slices.Contains([]string{"true", "false"}, strings.ToLower(word)) {
		return ""
	}
	return word
}

// isPlain reports whether n is a scalar, or an alias of one, that is neither quoted nor tagged.
func isPlain(n *yaml.Node) bool {
	n = scalarOf(n)
	return n != nil && n.Kind == yaml.ScalarNode && n.Style&(quotedStyle|yaml.TaggedStyle) == 0
}

// scalarOf returns the node that n is an alias of, or else n.
func scalarOf(n *yaml.Node) *yaml.Node {
	if n != nil && n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}
