package structs

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// candidate is a field that is a member unless another field with the same name hides it.
type candidate struct {
	field
	index  []int // of the fields from the struct to this field; all but the last are embedded
	tagged bool  // the name is from the tag
}

// fieldsOf returns the members of the struct type t in name order. It applies the rules of
// encoding/json:
//
//  1. A field's name is the name in its json tag, or its Go name if the tag has none. A field with
//     the tag "-" is no member.
//  2. Unexported fields are no members. An embedded struct, exported or not, or a pointer to one
//     gives its own fields in its place, unless a tag names it. The option "inline" has no effect.
//  3. Among fields with the same name, the field at the smallest depth is the member. At the same
//     depth, the field whose name is from a tag is the member. If several fields remain, none of
//     them is a member.
func fieldsOf(t reflect.Type) []candidate {
	all := candidatesOf(t)
	slices.SortFunc(all, func(a, b candidate) int {
		return cmp.Or(strings.Compare(a.name, b.name), a.compareDominance(b), slices.Compare(a.index, b.index))
	})
	var out []candidate
	for len(all) > 0 {
		same := 1
		for same < len(all) && all[same].name == all[0].name {
			same++
		}
		if same == 1 || all[0].compareDominance(all[1]) < 0 {
			out = append(out, all[0])
		}
		all = all[same:]
	}
	return out
}

// compareDominance returns -1 if c hides d, 1 if d hides c, and 0 if both hide each other. Both
// have the same name.
func (c candidate) compareDominance(d candidate) int {
	if depth := cmp.Compare(len(c.index), len(d.index)); depth != 0 || c.tagged == d.tagged {
		return depth
	}
	if c.tagged {
		return -1
	}
	return 1
}

// embedded is the root struct type, or a struct type that is embedded in it.
type embedded struct {
	typ   reflect.Type
	index []int
}

// candidatesOf walks t and its embedded structs, one depth after the other. It walks each type at
// its smallest depth only, so recursion ends. The fields of a type that is embedded twice at one
// depth are in the result twice, and hide each other.
func candidatesOf(t reflect.Type) []candidate {
	var found []candidate
	seen := map[reflect.Type]bool{}
	for level := []embedded{{typ: t}}; len(level) > 0; {
		times := map[reflect.Type]int{}
		for _, e := range level {
			times[e.typ]++
		}
		var next []embedded
		for _, e := range level {
			if seen[e.typ] {
				continue
			}
			seen[e.typ] = true
			for i := range e.typ.NumField() {
				c, inner := e.fieldAt(i)
				if inner != nil {
					next = append(next, embedded{inner, c.index})
				}
				if c.name != "" {
					found = append(found, slices.Repeat([]candidate{c}, times[e.typ])...)
				}
			}
		}
		level = next
	}
	return found
}

// fieldAt returns field i of e. c has a name if the field may be a member. inner is the struct type
// if the field is an embedded struct to walk.
func (e embedded) fieldAt(i int) (c candidate, inner reflect.Type) {
	f := e.typ.Field(i)
	tag := f.Tag.Get("json")
	if !mayBeMember(f) || tag == "-" {
		return candidate{}, nil
	}
	name, options, _ := strings.Cut(tag, ",")
	if !isName(name) {
		name = ""
	}
	target := f.Type
	if target.Name() == "" && target.Kind() == reflect.Pointer {
		target = target.Elem()
	}
	c.tagged = name != ""
	c.index = append(slices.Clone(e.index), i)
	if f.Anonymous && !c.tagged && target.Kind() == reflect.Struct {
		return c, target
	}
	c.name = cmp.Or(name, f.Name)
	for option := range strings.SplitSeq(options, ",") {
		switch option {
		case "omitempty":
			c.empty, c.word = emptyTestOf(f.Type)
		case "omitzero":
			c.omitZero = zeroTestOf(f.Type)
		case "string":
			c.quoted = isScalar(target.Kind())
		}
	}
	return c, nil
}

// mayBeMember reports whether f is exported, or an embedded struct or a pointer to one. An
// unexported embedded struct may have exported fields.
func mayBeMember(f reflect.StructField) bool {
	if f.IsExported() {
		return true
	}
	t := f.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return f.Anonymous && t.Kind() == reflect.Struct
}

// isName reports whether encoding/json accepts s in a tag as a name.
func isName(s string) bool {
	for _, r := range s {
		if !strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", r) && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return false
		}
	}
	return s != ""
}

func isScalar(k reflect.Kind) bool {
	return k >= reflect.Bool && k <= reflect.Float64 || k == reflect.String
}

// locate sets the offset and the hops of the member in a struct of type t, and returns its type.
func (c *candidate) locate(t reflect.Type) reflect.Type {
	sealed := false
	for _, i := range c.index {
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
			c.hops = append(c.hops, hop{c.offset, t, sealed})
			c.offset = 0
		}
		step := t.Field(i)
		c.offset += step.Offset
		t, sealed = step.Type, !step.IsExported()
	}
	return t
}
