package yaml

import (
	"github.com/deed-project/deed/value"
	"gopkg.in/yaml.v3"
)

// builder collects the members of one object with their lines.
type builder struct {
	members []value.Member
	lines   []int          // of the members' keys; 0 for a member from <<
	index   map[string]int // of the members by name
}

// check returns an error if another key of the object, other than a <<, has already set the member name.
func (b *builder) check(name string, key *yaml.Node) *Error {
	if i, ok := b.index[name]; ok && b.lines[i] > 0 {
		return fail(key, "key %q is already set in line %d", name, b.lines[i])
	}
	return nil
}

// put sets a member.
func (b *builder) put(name string, v value.Value, line int) {
	i, ok := b.index[name]
	if !ok {
		i = len(b.members)
		b.index[name] = i
		b.members = append(b.members, value.Member{Name: name})
		b.lines = append(b.lines, 0)
	}
	b.members[i].Value, b.lines[i] = v, line
}

// putAll sets the members of v, the value of the << at key.
func (b *builder) putAll(v value.Value, key *yaml.Node) *Error {
	for name, member := range v.Members() {
		i, ok := b.index[name]
		if !ok || b.lines[i] == 0 {
			b.put(name, member, 0)
		} else if !b.members[i].Value.Equal(member) {
			return fail(key, "<< would replace key %q of line %d; put it in front of that line", name, b.lines[i])
		}
	}
	return nil
}

// isMerge reports whether key is the << of rule 7.
func isMerge(key *yaml.Node) bool {
	return key.Kind == yaml.ScalarNode && key.Value == "<<" && key.Tag == "!!merge"
}

// merge sets the members of content, the value of a <<: an object, or a list of objects. The first object
// with a name wins.
func (c *converter) merge(o *builder, key, content *yaml.Node) *Error {
	sources := []*yaml.Node{content}
	if content.Kind == yaml.SequenceNode {
		sources = content.Content
	}
	objects := make([]value.Value, len(sources))
	for i, n := range sources {
		v, err := c.node(n)
		if err != nil {
			return err
		}
		if v.Kind() != value.KindObject {
			return fail(n, "<< needs an object or a list of objects")
		}
		objects[i] = v
	}
	for i := len(objects) - 1; i >= 0; i-- {
		if err := o.putAll(objects[i], key); err != nil {
			return err
		}
	}
	return nil
}
