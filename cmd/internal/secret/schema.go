package secret

import (
	"strings"

	"github.com/deed-project/deed/value"
)

// schemaAt is a schema and the document that its references point into.
type schemaAt struct{ schema, document value.Value }

// compile returns the values that any of schemas makes secret, or nil if there are none. If there are some, kubectl's record is secret too.
func compile(schemas []schemaAt) parts {
	root := &part{}
	for _, s := range schemas {
		c := compiler{document: s.document, referred: map[string]*part{}}
		root.also = append(root.also, c.part(s.schema))
	}
	if len(finished(root)) == 0 {
		return nil
	}
	root.also = append(root.also, recordPart())
	return finished(root)
}

// compiler makes parts of schemas. It follows each reference once, so that recursive schemas terminate.
type compiler struct {
	document value.Value
	referred map[string]*part // by reference
}

// secretFormat is the format of secret values.
const secretFormat = "password"

// part returns the part for schema.
func (c *compiler) part(schema value.Value) *part {
	p := &part{}
	c.fill(p, schema)
	return p
}

// fill fills p with the secrets of schema.
func (c *compiler) fill(p *part, schema value.Value) {
	p.whole = schema.Get("format").Str() == secretFormat
	for name, member := range schema.Get("properties").Members() {
		if p.members == nil {
			p.members = map[string]*part{}
		}
		p.members[name] = c.part(member)
	}
	if others := schema.Get("additionalProperties"); others.Kind() == value.KindObject {
		p.others = c.part(others)
	}
	if items := schema.Get("items"); items.Kind() == value.KindObject {
		p.items = c.part(items)
	}
	for _, junctor := range []string{"allOf", "anyOf", "oneOf"} {
		for alternative := range schema.Get(junctor).Items() {
			p.also = append(p.also, c.part(alternative))
		}
	}
	ref := schema.Get("$ref").Str()
	if steps, ok := strings.CutPrefix(ref, "#/"); ok {
		if c.referred[ref] == nil {
			c.referred[ref] = &part{}
			c.fill(c.referred[ref], c.target(steps))
		}
		p.also = append(p.also, c.referred[ref])
	}
}

// unescapePointer undoes the escapes of JSON pointers.
var unescapePointer = strings.NewReplacer("~1", "/", "~0", "~")

// target returns the value in the document to which the steps of a reference lead.
func (c *compiler) target(steps string) value.Value {
	v := c.document
	for step := range strings.SplitSeq(steps, "/") {
		v = v.Get(unescapePointer.Replace(step))
	}
	return v
}
