package keywords

import (
	"context"
	"reflect"
	"slices"
	"unicode/utf8"

	"github.com/deed-project/deed/internal/beside"
	"github.com/deed-project/deed/value"
	"github.com/go-openapi/swag/conv"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"
)

// Judging a value along a compiled schema. The outcome is what the library would find, without its texts:
//
//	judge          the value, its parts, and its alternatives
//	  own          type, format, enum, and the bounds of the kind of the value
//	  parts        items, or members by their properties
//	  alternatives allOf, anyOf, oneOf, not
//
// Several rules of the library are odd, for example that a format can replace a type. They are part of what kube-apiserver accepts.

// verdict is the outcome of judging a value: the library finds no error in it (good), finds one (bad), or the walk cannot tell (unsure).
type verdict uint8

const (
	good verdict = iota
	bad
	unsure
)

func verdictOf(ok bool) verdict {
	if ok {
		return good
	}
	return bad
}

// judging is the state of a walk that judges a value. The zero judging has no context and never ends early.
//
// It belongs to one call.
type judging struct {
	ctx    context.Context // ends the walk when done; may be nil
	looked int             // number of values visited
	ended  bool            // the context ended the walk, so that verdicts are unsure
	steps  int64           // taken by patterns
}

// MaxPatternSteps bounds the steps of all patterns on one object: characters times instructions. The bound is reached after seconds of
// matching. A value beyond it is invalid.
const MaxPatternSteps = 1 << 29

// judge judges a value. The verdict is good if every keyword that applies is good; otherwise it is the first other verdict. known is a
// value that is good, or absent. judge does not visit parts that share storage with known.
//
// Its cost is a walk of v that stops at the first part that is not good.
//
// Why judge does not skip all unchanged parts of an update: the library reports an error in a part unless it regards the part as unchanged,
// and that depends on the schemas of all parts. Deciding it costs as much as judging the part.
func (j *judging) judge(n *node, v, known value.Value) verdict {
	switch {
	case n == nil || v.Same(known) && !v.IsAbsent():
		return good
	case n.opaque || j.over():
		return unsure
	}
	if !j.own(n, v) {
		return bad
	}
	if found := j.parts(n, v, known); found != good {
		return found
	}
	return j.alternatives(n.junctors, v)
}

// over reports whether the walk has ended. It checks the context once in a number of visits.
func (j *judging) over() bool {
	if j.looked++; j.looked&1023 == 0 && j.ctx != nil && j.ctx.Err() != nil {
		j.ended = true
	}
	return j.ended
}

// own reports whether v is good apart from its parts and alternatives.
//
// A null has no bounds to meet. Without a type in the schema, it is admitted.
func (j *judging) own(n *node, v value.Value) bool {
	if v.IsNull() {
		return (!n.typed || n.nullable || n.types&isNull != 0) && len(n.enum) == 0
	}
	return n.fits(v) && j.content(n, v) && n.has(v)
}

// fits reports whether a value that is not null has the type and format of n. The library checks both together.
//
// Beside the type it knows two exceptions. A number that is whole fits integer, and an integer fits number. Text or a list with a format
// fits any type but integer and number.
func (n *node) fits(v value.Value) bool {
	if !n.typed && n.format == "" {
		return true
	}
	is, format := kindOfValue(v)
	admitted := n.types&is != 0 || is == isInteger && n.types&isNumber != 0 ||
		is == isNumber && n.types&isInteger != 0 && conv.IsFloat64AJSONInteger(v.Float())
	textual := is == isString || is == isArray
	switch {
	case !textual && n.format != "" && !admitted && format != n.format:
		return false
	case textual && n.format != "" && n.types&(isInteger|isNumber) == 0:
		return true
	}
	return admitted
}

// kindOfValue returns the JSON type of a value that is not null, and the format that the library derives from it.
func kindOfValue(v value.Value) (is kinds, format string) {
	switch v.Kind() {
	case value.KindBool:
		return isBoolean, ""
	case value.KindInt:
		return isInteger, "int64"
	case value.KindFloat:
		return isNumber, "double"
	case value.KindString:
		return isString, ""
	case value.KindList:
		return isArray, ""
	}
	return isObject, ""
}

// has reports whether enum contains a value. Like the library, it converts scalars before it compares them, even numbers to characters.
//
// The conversion is that of Go's reflection, and so has the same outcome.
func (n *node) has(v value.Value) bool {
	if len(n.enum) == 0 {
		return true
	}
	// The usual case, without reflection.
	if v.Kind() == value.KindString {
		return slices.ContainsFunc(n.enum, func(e any) bool {
			text, ok := e.(string)
			return ok && text == v.Str()
		})
	}
	data := reflect.ValueOf(v.ToAny())
	return slices.ContainsFunc(n.enum, func(e any) bool {
		to := reflect.TypeOf(e)
		return to != nil && data.Type().ConvertibleTo(to) && reflect.DeepEqual(data.Convert(to).Interface(), e)
	})
}

// content reports whether the keywords for the kind of v are met, apart from those about its parts.
func (j *judging) content(n *node, v value.Value) bool {
	switch v.Kind() {
	case value.KindString:
		return j.text(n, v.Str())
	case value.KindInt, value.KindFloat:
		return n.number.holds(n, v)
	case value.KindList:
		return n.size == nil || within(int64(v.Len()), n.size.minItems, n.size.maxItems)
	case value.KindObject:
		return n.members(v)
	}
	return true
}

// text reports whether a string has the format of n, and the length and pattern that it demands. Length is counted in characters.
func (j *judging) text(n *node, s string) bool {
	if n.known && !strfmt.Default.Validates(n.format, s) {
		return false
	}
	if n.text == nil {
		return true
	}
	length := int64(utf8.RuneCountInString(s))
	return within(length, n.text.minLength, n.text.maxLength) && (n.text.pattern == nil || j.matches(n.text, s))
}

// matches reports whether the pattern of t matches s. It returns false once the patterns exceeded MaxPatternSteps.
//
// Go's regular expressions take linear time, so characters times instructions bounds the steps of a match.
func (j *judging) matches(t *textRules, s string) bool {
	j.steps += int64(len(s)) * t.instructions
	return j.steps <= MaxPatternSteps && t.pattern().MatchString(s)
}

// within reports whether a length is between two bounds; nil is no bound.
func within(length int64, least, most *int64) bool {
	return (least == nil || length >= *least) && (most == nil || length <= *most)
}

// holds calls the library's functions for a number of the node n, because the format and the bounds interact. A bound outside the format's
// range is itself an error.
func (r *numberRules) holds(n *node, v value.Value) bool {
	typ := ""
	switch n.types {
	case isInteger:
		typ = "integer"
	case isNumber:
		typ = "number"
	}
	// The cases in which every number of the kind is within the range of its format.
	fitting := typ == "" || typ == "number" && n.format != "float" ||
		typ == "integer" && v.Kind() == value.KindInt && n.format != "int32"
	if r == nil && fitting {
		return true
	}
	number := v.ToAny()
	fits := func(x any) bool { return validate.IsValueValidAgainstRange(x, typ, n.numberFormat(), "", "") == nil }
	if r != nil {
		for _, bound := range []*float64{r.minimum, r.maximum, r.multipleOf} {
			if bound != nil && !fits(*bound) {
				return false
			}
		}
		if r.minimum != nil && validate.MinimumNativeType("", "", number, *r.minimum, r.exclusiveMinimum) != nil ||
			r.maximum != nil && validate.MaximumNativeType("", "", number, *r.maximum, r.exclusiveMaximum) != nil ||
			r.multipleOf != nil && validate.MultipleOfNativeType("", "", number, *r.multipleOf) != nil {
			return false
		}
	}
	return fits(number)
}

// numberFormat returns the format of numbers if it fits their type.
func (n *node) numberFormat() string {
	switch {
	case n.types == isInteger && (n.format == "int32" || n.format == "int64"), n.types == isNumber && (n.format == "float" || n.format == "double"):
		return n.format
	}
	return ""
}

// members reports whether an object meets its bounds on the number of members, has all required members, and has no forbidden ones.
func (n *node) members(v value.Value) bool {
	if n.size != nil && !within(int64(v.Len()), n.size.minProperties, n.size.maxProperties) {
		return false
	}
	for _, name := range n.required {
		if v.Get(name).IsAbsent() {
			return false
		}
	}
	if !n.closed {
		return true
	}
	for name := range v.Members() {
		if _, declared := n.properties[name]; !declared {
			return false
		}
	}
	return true
}

// parts judges the items or members of a value.
func (j *judging) parts(n *node, v, known value.Value) verdict {
	switch v.Kind() {
	case value.KindList:
		if n.items == nil {
			return good
		}
		for i := range v.Len() {
			if found := j.judge(n.items, v.Item(i), beside.Item(known, i)); found != good {
				return found
			}
		}
	case value.KindObject:
		if len(n.properties) == 0 && n.additional == nil {
			return good
		}
		others := beside.Of(known)
		for i := range v.Len() {
			m := v.Member(i)
			if found := j.judge(n.child(m.Name), m.Value, others.Get(m.Name)); found != good {
				return found
			}
		}
	}
	return good
}

// child returns the node of a member, or nil if the schema does not describe the member.
//
// A property wins over additionalProperties.
func (n *node) child(name string) *node {
	if child, declared := n.properties[name]; declared {
		return child
	}
	return n.additional
}

// alternatives judges a value by allOf, anyOf, oneOf and not. It passes no known value, because a part that is good by its own node may be
// bad by an alternative.
func (j *judging) alternatives(of *junctors, v value.Value) verdict {
	if of == nil || v.IsNull() {
		return good
	}
	for _, n := range of.all {
		if found := j.judge(n, v, value.Value{}); found != good {
			return found
		}
	}
	if len(of.any) > 0 {
		if found := j.anyOf(of.any, v); found != good {
			return found
		}
	}
	if len(of.one) > 0 {
		if found, _ := j.oneOf(of.one, v); found != good {
			return found
		}
	}
	if of.not == nil {
		return good
	}
	return [...]verdict{good: bad, bad: good, unsure: unsure}[j.judge(of.not, v, value.Value{})]
}

// anyOf is good if one node judges a value good, and otherwise unsure if one is unsure.
func (j *judging) anyOf(nodes []*node, v value.Value) verdict {
	all := bad
	for _, n := range nodes {
		switch j.judge(n, v, value.Value{}) {
		case good:
			return good
		case unsure:
			all = unsure
		}
	}
	return all
}

// oneOf returns the number of nodes that judge a value good; found is unsure if a node is unsure.
//
// The number is that of all nodes only if found is not unsure.
func (j *judging) oneOf(nodes []*node, v value.Value) (found verdict, valid int) {
	for _, n := range nodes {
		switch j.judge(n, v, value.Value{}) {
		case good:
			valid++
		case unsure:
			return unsure, valid
		}
	}
	return verdictOf(valid == 1), valid
}
