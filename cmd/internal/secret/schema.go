package secret

import (
	"maps"
	"slices"
	"strings"

	"github.com/deed-project/deed/value"
)

// schemaAt is a schema in a document, which it may refer to.
type schemaAt struct{ schema, document value.Value }

// compile returns what is secret by schemas, nil if nothing is. A schema may refer to itself; then so
// does the part.
func compile(schemas []schemaAt) *part {
	root := &part{}
	for _, s := range schemas {
		c := compiler{document: s.document, known: map[string]*part{}, open: map[string]bool{}}
		c.add(root, s.schema)
	}
	return prune(root, reaching(root), map[*part]*part{})
}

// compiler makes parts of schemas.
type compiler struct {
	document value.Value
	known    map[string]*part // by the reference that stands for it
	open     map[string]bool  // references that are being added, as parts of something else
}

// secretFormat is the format of values that are secret.
const secretFormat = "password"

// add adds to p what is secret by schema.
func (c *compiler) add(p *part, schema value.Value) {
	p.whole = p.whole || schema.Get("format").Str() == secretFormat
	for name, member := range schema.Get("properties").Members() {
		if p.members == nil {
			p.members = map[string]*part{}
		}
		p.members[name] = c.below(p.members[name], member)
	}
	if others := schema.Get("additionalProperties"); others.Kind() == value.KindObject {
		p.others = c.below(p.others, others)
	}
	if items := schema.Get("items"); items.Kind() == value.KindObject {
		p.items = c.below(p.items, items)
	}
	for _, junctor := range []string{"allOf", "anyOf", "oneOf"} {
		for alternative := range schema.Get(junctor).Items() {
			c.add(p, alternative)
		}
	}
	if ref, target := c.target(schema); !target.IsAbsent() && !c.open[ref] {
		c.open[ref] = true
		c.add(p, target)
		delete(c.open, ref)
	}
}

// below returns p, nil if there is none yet, with what is secret by schema.
func (c *compiler) below(p *part, schema value.Value) *part {
	if alone := schema.Get("allOf"); alone.Len() == 1 { // how version 3 refers to what has a default or a description
		schema = alone.Item(0)
	}
	ref, target := c.target(schema)
	switch {
	case target.IsAbsent():
		if p == nil {
			p = &part{}
		}
		c.add(p, schema)
		return p
	case c.known[ref] == nil:
		c.known[ref] = &part{}
		c.add(c.known[ref], target)
	}
	if p == nil {
		return c.known[ref]
	}
	c.add(p, target)
	return p
}

// target returns what schema refers to, with the reference. It is absent if schema is none.
func (c *compiler) target(schema value.Value) (ref string, target value.Value) {
	ref = schema.Get("$ref").Str()
	steps, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		return "", value.Value{}
	}
	target = c.document
	for step := range strings.SplitSeq(steps, "/") {
		target = target.Get(strings.NewReplacer("~1", "/", "~0", "~").Replace(step))
	}
	return ref, target
}

// parts returns what is one step below p.
func (p *part) parts() []*part {
	return append(slices.Collect(maps.Values(p.members)), p.others, p.items)
}

// reaching returns the parts from which a secret can be reached. It follows the steps backwards, so
// that the cost is that of all parts.
func reaching(root *part) map[*part]bool {
	above := map[*part][]*part{root: nil}
	found := []*part{root}
	for i := 0; i < len(found); i++ {
		for _, below := range found[i].parts() {
			if below == nil {
				continue
			}
			if _, known := above[below]; !known {
				found = append(found, below)
			}
			above[below] = append(above[below], found[i])
		}
	}
	reach := map[*part]bool{}
	var mark func(*part)
	mark = func(p *part) {
		if reach[p] {
			return
		}
		reach[p] = true
		for _, q := range above[p] {
			mark(q)
		}
	}
	for _, p := range found {
		if p.whole {
			mark(p)
		}
	}
	return reach
}

// prune returns p without the parts that reach no secret.
func prune(p *part, reach map[*part]bool, done map[*part]*part) *part {
	if p == nil || !reach[p] {
		return nil
	}
	if out, ok := done[p]; ok {
		return out
	}
	out := &part{whole: p.whole}
	done[p] = out
	out.others, out.items = prune(p.others, reach, done), prune(p.items, reach, done)
	for name, member := range p.members {
		if out.members == nil {
			out.members = map[string]*part{}
		}
		out.members[name] = prune(member, reach, done)
	}
	return out
}
