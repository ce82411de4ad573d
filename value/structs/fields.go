package structs

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// candidate is a field that is a member unless another of the same name hides it.
type candidate struct {
	field
	index  []int // of the fields to walk from the struct; all but the last are embedded
	tagged bool  // its name is from its tag
}

// fieldsOf returns the members that values of the struct type t have, in name order, as
// encoding/json sees them:
//
//  1. A field's name is the one in its json tag, and its Go name where the tag has none. A field
//     tagged "-" is no member.
//  2. Fields that are not exported are no members. Embedded structs, exported or not, and pointers
//     to them give their own fields in their place, unless a tag names them; the option "inline"
//     adds nothing to that.
//  3. Of several fields with one name, the one that is embedded least deep counts; of several of
//     those, the one whose name is from a tag. Where that still leaves several, none of them is a
//     member.
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

// compareDominance returns -1 when c hides d, which has the same name.
func (c candidate) compareDominance(d candidate) int {
	if depth := cmp.Compare(len(c.index), len(d.index)); depth != 0 || c.tagged == d.tagged {
		return depth
	}
	if c.tagged {
		return -1
	}
	return 1
}

// embedded is a struct type that gives its fields to the one that it is embedded in.
type embedded struct {
	typ   reflect.Type
	index []int
}

// candidatesOf walks t and what it embeds, one depth after the other. Of a type that stands at
// several depths only the first counts, so recursion ends; the fields of a type that stands twice
// at one depth are found twice, and hide each other.
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

// fieldAt judges field i of e: it has a name if it may be a member, and an inner type if it is to
// be walked in its turn.
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

// mayBeMember reports whether f is exported, or an embedded struct, which may have exported fields
// all the same.
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

// isName reports whether encoding/json takes s in a tag for a name.
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

// locate finds where the member lies in a struct of type t, and returns its type.
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
