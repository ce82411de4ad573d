package rules

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

// verdict is what is known about a value: that the library finds nothing wrong with it, that it
// finds something, or neither.
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

// judging is the state of a walk that judges. The zero judging never ends.
type judging struct {
	ctx    context.Context // ends the walk; it may be nil
	looked int             // at so many values
	ended  bool            // the context did: verdicts are unsure
	steps  int64           // that patterns took
}

// MaxPatternSteps is how many steps the patterns of a schema may take on one object: characters times instructions, which takes
// seconds. What is beyond is bad.
const MaxPatternSteps = 1 << 29

// judge judges a value. It is good if everything that applies to it is good; otherwise the verdict
// is the first that is not. What is the same storage in known, a value that is good, absent for
// none, is not looked at again.
//
// Its cost is that of a walk of v, which stops at the first part that is not good.
//
// Why not leave out whatever an update does not change: where something is wrong in it, the library
// reports that unless it takes the value for unchanged, which depends on the schemas of all parts.
// To look at them costs as much as to judge them.
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

// over reports whether the walk has ended. It asks the context from time to time.
func (j *judging) over() bool {
	if j.looked++; j.looked&1023 == 0 && j.ctx != nil && j.ctx.Err() != nil {
		j.ended = true
	}
	return j.ended
}

// own reports whether v is good apart from its parts and from alternatives.
func (j *judging) own(n *node, v value.Value) bool {
	if v.IsNull() {
		return (!n.typed || n.nullable || n.types&isNull != 0) && len(n.enum) == 0
	}
	return n.fits(v) && j.content(n, v) && n.has(v)
}

// fits reports whether a value that is not null has the type and format of n, as the library understands them together.
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

// kindOfValue returns the JSON type of a value that is not null, and the format that the library takes it to have.
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

// has reports whether enum has a value. The library converts scalars before it compares them, even numbers to characters.
func (n *node) has(v value.Value) bool {
	if len(n.enum) == 0 {
		return true
	}
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

// content reports whether a value is good by what is said about its kind, apart from its parts.
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

// matches reports whether the pattern of t matches s. It does not if patterns took too many steps by now.
func (j *judging) matches(t *textRules, s string) bool {
	j.steps += int64(len(s)) * t.instructions
	return j.steps <= MaxPatternSteps && t.pattern().MatchString(s)
}

// within reports whether a length is between two bounds, which may be nil.
func within(length int64, least, most *int64) bool {
	return (least == nil || length >= *least) && (most == nil || length <= *most)
}

// holds lets the library's functions judge a number of the node n, where there is more to it than that it
// is one. A bound that is beyond the format is wrong by itself.
func (r *numberRules) holds(n *node, v value.Value) bool {
	typ := ""
	switch n.types {
	case isInteger:
		typ = "integer"
	case isNumber:
		typ = "number"
	}
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

// numberFormat returns the format of numbers, if it goes with their type.
func (n *node) numberFormat() string {
	switch {
	case n.types == isInteger && (n.format == "int32" || n.format == "int64"), n.types == isNumber && (n.format == "float" || n.format == "double"):
		return n.format
	}
	return ""
}

// members reports whether an object has as many members as it may, those that it must, and no others than it may.
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

// child returns the node of a member, nil for one of which nothing is said.
func (n *node) child(name string) *node {
	if child, declared := n.properties[name]; declared {
		return child
	}
	return n.additional
}

// alternatives judges a value by allOf, anyOf, oneOf and not. A value that is good may be bad by one of them, so nothing is known.
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

// oneOf returns how many of nodes find a value good, unless it is unsure.
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
