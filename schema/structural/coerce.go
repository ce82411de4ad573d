package structural

import (
	"github.com/deed-project/deed/value"
)

// Objects within objects. The metadata of an embedded resource (x-kubernetes-embedded-resource) is
// read like that of a whole object. If template is an embedded resource:
//
//	object   {"template":{"metadata":{"name":"a","labels":{},"nam":1}}}
//	coerced  {"template":{"metadata":{"name":"a"}}}
//	unknown  template.metadata.nam

// Coerce makes the metadata of the embedded resources in object canonical, see [Metadata]. It
// returns the paths of unknown fields in bytewise order. The error is always a [*FieldError]. It is
// about the first embedded resource, in the order of names, whose apiVersion or kind is not a
// string, or whose metadata is malformed.
//
// Cost: linear in the size of the parts of object that may contain embedded resources.
func (s *Schema) Coerce(object value.Value) (value.Value, []string, error) {
	return new(coercer).root(object, value.Value{}, s)
}

// coercer coerces embedded resources. A lenient coercer removes malformed fields and reports
// nothing.
type coercer struct {
	lenient bool
	at      trail
	unknown paths
	err     *FieldError
}

// root coerces an object that shares parts with known. The shared parts are already coerced.
func (c *coercer) root(object, known value.Value, s *Schema) (value.Value, []string, error) {
	out := c.value(object, known, s.rootNode())
	if c.err != nil {
		return value.Value{}, nil, c.err
	}
	return out, c.unknown.sorted(), nil
}

// value coerces v, whose schema is n. After an error it returns v.
func (c *coercer) value(v, known value.Value, n *node) value.Value {
	if n == nil || !n.below.resources || c.err != nil || v.Same(known) {
		return v
	}
	switch v.Kind() {
	case value.KindObject:
		if n.embedded {
			return c.resource(v, known, n)
		}
		return rewriteMembers(v, known, func(name string, member, known value.Value) value.Value {
			return c.member(name, member, known, n)
		})
	case value.KindList:
		return rewriteItems(v, known, func(i int, item, known value.Value) value.Value {
			c.at.enterItem(i)
			defer c.at.leave()
			return c.value(item, known, n.items)
		})
	}
	return v
}

// member coerces the member called name of an object with schema n. known is the value at the same
// place in the known object.
func (c *coercer) member(name string, v, known value.Value, n *node) value.Value {
	if p, declared := n.properties[name]; declared {
		c.at.enterMember(name)
		defer c.at.leave()
		return c.value(v, known, p)
	}
	child, _ := n.child(name)
	c.at.enterKey(name)
	defer c.at.leave()
	return c.value(v, known, child)
}

// resource coerces an embedded resource.
func (c *coercer) resource(v, known value.Value, n *node) value.Value {
	return rewriteMembers(v, known, func(name string, member, known value.Value) value.Value {
		switch {
		case name == "metadata":
			out, canonical := c.metadata(member)
			// Its schema may have embedded resources, too. In canonical metadata they have no place, but their
			// faults count.
			if inner := c.member(name, member, known, n); !canonical {
				return inner
			}
			return out
		case isRootField(name) && member.Kind() != value.KindString && c.lenient:
			return value.Value{}
		case isRootField(name) && member.Kind() != value.KindString:
			c.fail(name, member, "must be a string")
		}
		return c.member(name, member, known, n)
	})
}

// metadata coerces the metadata of an embedded resource, and reports whether the result is canonical.
// A lenient coercer keeps metadata that is not an object.
func (c *coercer) metadata(v value.Value) (out value.Value, canonical bool) {
	if c.lenient {
		if out, err := lenientMetadata(v); err == nil {
			return out, true
		}
		return v, false
	}
	c.at.enterMember("metadata")
	d := metaDecoder{strict: true, at: c.at, unknown: c.unknown}
	out = d.metadata(v)
	c.at.leave()
	if d.err != nil {
		c.fail("metadata", v, d.err.Error())
		return v, false
	}
	c.unknown = d.unknown
	return out, true
}

// fail reports a member of the current object, unless there is an error already.
func (c *coercer) fail(name string, v value.Value, detail string) {
	if c.err == nil {
		c.err = &FieldError{Reason: Invalid, Path: c.at.member(name), Value: v, Detail: detail}
	}
}
