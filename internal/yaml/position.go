package yaml

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// position is a place in a file, both counted from 1, the column in characters.
type position struct{ line, column int }

// source finds things in the text of a document.
type source interface {
	// find returns where the key and the value at path stand, or those of the nearest ancestor that exists. The root and the
	// items of a list have no key; the value's place stands for it.
	find(path []any) (key, content position)
}

// Position returns where the value at path stands in the file, both counted from 1 and the column in characters. Each step
// of the path is the name of a member, a string, or the index of an item, an int. Where there is no such value it is the
// place of the nearest one around it. A member that << brought stands where the object it was taken from has it.
func (d Document) Position(path ...any) (line, column int) {
	_, content := d.find(path)
	return content.line, content.column
}

// KeyPosition returns where the name of the member at path stands, for messages about the name itself; it is otherwise as
// Position.
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

// BooleanWord returns the unquoted word at path that YAML 1.1, and so Kubernetes, reads as true or false, where newer YAML
// reads it as text: y, yes, on, n, no and off, whatever their case. It returns "" where something else stands there.
func (d Document) BooleanWord(path ...any) string {
	_, content := d.nodes(path)
	return booleanWord(content)
}

// BooleanName is [Document.BooleanWord] for the name of the member at path.
func (d Document) BooleanName(path ...any) string {
	key, _ := d.nodes(path)
	return booleanWord(key)
}

// nodes returns the nodes of the name and the value at path, nil where there is none, or the document is not read as YAML.
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

// booleanWord returns the text of n if it is a boolean that is not spelt true or false.
func booleanWord(n *yaml.Node) string {
	if n == nil {
		return ""
	}
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind != yaml.ScalarNode || n.Style&(quotedStyle|yaml.TaggedStyle) != 0 {
		return ""
	}
	if _, isBool := words[n.Value].(bool); !isBool || slices.Contains([]string{"true", "false"}, strings.ToLower(n.Value)) {
		return ""
	}
	return n.Value
}
