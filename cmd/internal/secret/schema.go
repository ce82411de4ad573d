package secret

import (
	"strings"

	"github.com/deed-project/deed/value"
)

// schemaAt is a schema in a document, which it may refer to.
type schemaAt struct{ schema, document value.Value }

// compile returns what is secret by any of schemas, nothing if nothing is. Where something is, so is
// kubectl's record.
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

// compiler makes parts of schemas. A reference is followed once, so that schemas that refer to
// themselves come to an end.
type compiler struct {
	document value.Value
	referred map[string]*part // by the reference
}

// secretFormat is the format of values that are secret.
const secretFormat = "password"

// part returns what is secret by schema.
func (c *compiler) part(schema value.Value) *part {
	p := &part{}
	c.fill(p, schema)
	return p
}

// fill makes p what is secret by schema.
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

// target returns what the steps of a reference lead to in the document.
func (c *compiler) target(steps string) value.Value {
	v := c.document
	for step := range strings.SplitSeq(steps, "/") {
		v = v.Get(unescapePointer.Replace(step))
	}
	return v
}
