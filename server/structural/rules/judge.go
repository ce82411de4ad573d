package rules

import (
	"math"
	"unicode/utf8"

	"github.com/deed-project/deed/internal/beside"
	"github.com/deed-project/deed/value"
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

// judge judges a value. It is good if everything that applies to it is good; otherwise the verdict
// is the first that is not. What is the same storage in known, a value that is good, absent for
// none, is not looked at again.
//
// Its cost is that of a walk of v, which stops at the first part that is not good.
//
// Why not leave out whatever an update does not change: where something is wrong in it, the library
// reports that unless it takes the value for unchanged, which depends on the schemas of all parts.
// To look at them costs as much as to judge them.
func (n *node) judge(v, known value.Value) verdict {
	switch {
	case n == nil || v.Same(known) && !v.IsAbsent():
		return good
	case n.opaque:
		return unsure
	case v.IsNull():
		return verdictOf((!n.typed || n.nullable || n.types&isNull != 0) && len(n.enum) == 0)
	}
	if found := n.kind(v); found != good {
		return found
	}
	if found := n.member(v); found != good {
		return found
	}
	if found := n.content(v, known); found != good {
		return found
	}
	return n.junctors.judge(v)
}

// kind judges the type of a value that is not null. What type and format mean together is
// intricate: only what is plain is judged.
func (n *node) kind(v value.Value) verdict {
	var is kinds
	switch v.Kind() {
	case value.KindBool:
		is = isBoolean
	case value.KindInt:
		if is = isInteger; n.types&isNumber != 0 {
			return good
		}
	case value.KindFloat:
		f := v.Float()
		switch {
		case n.types&isNumber != 0:
			return good
		case n.types&isInteger != 0 && f == math.Trunc(f) && math.Abs(f) < 1<<53:
			return good
		case n.types&isInteger != 0:
			return unsure // the library puts up with rounding
		}
		is = isNumber
	case value.KindString:
		is = isString
	case value.KindList:
		is = isArray
	case value.KindObject:
		is = isObject
	}
	switch {
	case n.types&is != 0:
		return good
	case n.format != "":
		return unsure
	}
	return verdictOf(!n.typed)
}

// member judges a value by enum. The library converts values before it compares them, so that what
// is not found is bad only for texts among texts.
func (n *node) member(v value.Value) verdict {
	if len(n.enum) == 0 {
		return good
	}
	texts := v.Kind() == value.KindString
	for _, e := range n.enum {
		if e.Kind() == v.Kind() && e.Equal(v) {
			return good
		}
		texts = texts && e.Kind() == value.KindString
	}
	if texts {
		return bad
	}
	return unsure
}

// content judges a value by what is said about its kind.
func (n *node) content(v, known value.Value) verdict {
	switch v.Kind() {
	case value.KindString:
		return n.judgeText(v.Str())
	case value.KindInt, value.KindFloat:
		return n.judgeNumber(v)
	case value.KindList:
		return n.list(v, known)
	case value.KindObject:
		return n.object(v, known)
	}
	return good
}

func (n *node) judgeText(s string) verdict {
	if n.known && !strfmt.Default.Validates(n.format, s) {
		return bad
	}
	if n.text == nil {
		return good
	}
	length := int64(utf8.RuneCountInString(s))
	return verdictOf(within(length, n.text.minLength, n.text.maxLength) &&
		(n.text.pattern == nil || n.text.pattern.MatchString(s)))
}

// within reports whether a length is between two bounds, which may be nil.
func within(length int64, least, most *int64) bool {
	return (least == nil || length >= *least) && (most == nil || length <= *most)
}

// judgeNumber lets the library's functions judge a number, where there is more to it than that it
// is one.
func (n *node) judgeNumber(v value.Value) verdict {
	typ := ""
	switch n.types {
	case isInteger:
		typ = "integer"
	case isNumber:
		typ = "number"
	}
	fitting := typ == "" || typ == "number" && n.format != "float" ||
		typ == "integer" && v.Kind() == value.KindInt && n.format != "int32"
	if n.number == nil && fitting {
		return good
	}
	number := v.ToAny()
	fits := func(x any, what string) bool {
		return validate.IsValueValidAgainstRange(x, typ, n.format, what, "") == nil
	}
	if r := n.number; r != nil {
		for _, bound := range []*float64{r.minimum, r.maximum, r.multipleOf} {
			if bound != nil && !fits(*bound, "") {
				return unsure
			}
		}
		if r.minimum != nil && validate.MinimumNativeType("", "", number, *r.minimum, r.exclusiveMinimum) != nil ||
			r.maximum != nil && validate.MaximumNativeType("", "", number, *r.maximum, r.exclusiveMaximum) != nil ||
			r.multipleOf != nil && validate.MultipleOfNativeType("", "", number, *r.multipleOf) != nil {
			return bad
		}
	}
	return verdictOf(fits(number, ""))
}

func (n *node) list(v, known value.Value) verdict {
	if n.size != nil && !within(int64(v.Len()), n.size.minItems, n.size.maxItems) {
		return bad
	}
	if n.items == nil {
		return good
	}
	for i := range v.Len() {
		if found := n.items.judge(v.Item(i), beside.Item(known, i)); found != good {
			return found
		}
	}
	return good
}

func (n *node) object(v, known value.Value) verdict {
	if n.size != nil && !within(int64(v.Len()), n.size.minProperties, n.size.maxProperties) {
		return bad
	}
	for _, name := range n.required {
		if v.Get(name).IsAbsent() {
			return bad
		}
	}
	if len(n.properties) == 0 && n.additional == nil && !n.closed {
		return good
	}
	others := beside.Of(known)
	for i := range v.Len() {
		m := v.Member(i)
		child, declared := n.properties[m.Name]
		if !declared {
			if n.closed {
				return bad
			}
			child = n.additional
		}
		if found := child.judge(m.Value, others.Get(m.Name)); found != good {
			return found
		}
	}
	return good
}

// judge judges a value by allOf, anyOf, oneOf and not. A value that is good may be bad by one of them, so nothing is known.
func (j *junctors) judge(v value.Value) verdict {
	if j == nil {
		return good
	}
	for _, n := range j.all {
		if found := n.judge(v, value.Value{}); found != good {
			return found
		}
	}
	if len(j.any) > 0 {
		if found := anyOf(j.any, v); found != good {
			return found
		}
	}
	if len(j.one) > 0 {
		if found := oneOf(j.one, v); found != good {
			return found
		}
	}
	if j.not == nil {
		return good
	}
	return [...]verdict{good: bad, bad: good, unsure: unsure}[j.not.judge(v, value.Value{})]
}

func anyOf(nodes []*node, v value.Value) verdict {
	all := bad
	for _, n := range nodes {
		switch n.judge(v, value.Value{}) {
		case good:
			return good
		case unsure:
			all = unsure
		}
	}
	return all
}

func oneOf(nodes []*node, v value.Value) verdict {
	n := 0
	for _, alternative := range nodes {
		switch alternative.judge(v, value.Value{}) {
		case good:
			n++
		case unsure:
			return unsure
		}
	}
	return verdictOf(n == 1)
}
