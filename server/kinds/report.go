package kinds

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/schema/form"
	"github.com/deed-project/deed/value"
)

// report is what was found wrong, in the order in which it was found, and what kube-apiserver finds by the tags of its types, which it
// tells after the rest. The zero report is empty.
type report struct {
	errs, last field.ErrorList
	group      string                       // of the kind of the object
	kind       string                       // "" if no part of the object is shown
	pods       string                       // the path to the spec of the pods that the object is or makes; empty if it has none
	compiler   func(composed bool) Compiler // of expressions; nil if they are not compiled
	namespace  Namespace                    // returns stored namespaces; nil if there is no store
	minor      int                          // the minor release of Kubernetes; 0 for the current one
	live       value.Value                  // the object that is replaced
}

// before reports whether the release is one before v1.N.
func (r *report) before(minor int) bool { return r.minor != 0 && r.minor < minor }

// add adds an error.
func (r *report) add(e *field.Error) { r.errs = append(r.errs, e) }

// required refuses what is not there.
func (r *report) required(p place, detail string) { r.add(field.Required(p.path(), detail)) }

// later is required for what is told after the rest.
func (r *report) later(p place, detail string) {
	r.last = append(r.last, field.Required(p.path(), detail))
}

// laterInvalid is invalidAs for what is told after the rest.
func (r *report) laterInvalid(p place, shown any, detail string) {
	r.last = append(r.last, field.Invalid(p.path(), shown, detail))
}

// forbiddenLater is forbidden for what is told after the rest.
func (r *report) forbiddenLater(p place, detail string) {
	r.last = append(r.last, field.Forbidden(p.path(), detail))
}

// forbidden refuses what must not be there.
func (r *report) forbidden(p place, detail string) { r.add(field.Forbidden(p.path(), detail)) }

// duplicate refuses what is there twice.
func (r *report) duplicate(p place) { r.add(field.Duplicate(p.path(), r.shown(p))) }

// invalid refuses a value as it is.
func (r *report) invalid(p place, details ...string) {
	if len(details) > 0 {
		r.invalidAs(p, r.shown(p), details...)
	}
}

// shown returns a value as refusals show it.
func (r *report) shown(p place) any {
	switch p.Kind() {
	case value.KindObject, value.KindList, value.KindNull, value.KindAbsent:
	case value.KindString:
		if !isPlainText(p.Str()) || form.HasFraction(p.Str()) {
			break
		}
		fallthrough
	default:
		return p.ToAny() // without looking for its type
	}
	return r.inside(p.path().String(), p.Value)
}

// isPlainText reports whether a text looks the same as a Go string and as JSON, so that the type of its field does not matter.
func isPlainText(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f || c == '<' || c == '>' || c == '&' {
			return false
		}
	}
	return true
}

// invalidAs refuses a value that is shown as another one, once for each detail. The text of the place itself is shown as its type shows it.
func (r *report) invalidAs(p place, shown any, details ...string) {
	if text, ok := shown.(string); ok && len(details) > 0 && p.Kind() == value.KindString && text == p.Str() {
		shown = r.shown(p)
	}
	for _, detail := range details {
		r.add(field.Invalid(p.path(), shown, detail))
	}
}

// invalidPointer refuses a text that kube-apiserver has behind a pointer, and shows as JSON.
func (r *report) invalidPointer(p place, details ...string) {
	r.invalidAs(p, Enumeration(p.Str()), details...)
}

// present refuses an empty text, and reports whether it is not.
func (r *report) present(p place) bool {
	if p.Str() == "" {
		r.required(p, "")
	}
	return p.Str() != ""
}

// among refuses a text that is none of some; one that is empty is required.
func (r *report) among(p place, values ...string) {
	if r.present(p) {
		r.onlyAmong(p, values...)
	}
}

// onlyAmong refuses a text that is none of some.
func (r *report) onlyAmong(p place, values ...string) {
	if slices.Contains(values, p.Str()) {
		return
	}
	r.add(field.NotSupported(p.path(), Enumeration(p.Str()), values))
}

// Enumeration is a text of a type that has some values. The library escapes it as JSON has it, and not as it does other texts.
type Enumeration string

// textAmong is onlyAmong for a text that has no type of its own.
func (r *report) textAmong(p place, values ...string) {
	if !slices.Contains(values, p.Str()) {
		r.notOneOf(p, values...)
	}
}

// notOneOf refuses a text that is none of some.
func (r *report) notOneOf(p place, values ...string) {
	r.add(field.NotSupported(p.path(), p.Str(), values))
}

// notSupported refuses a value that is none of some, a text as an enumeration.
func (r *report) notSupported(p place, values ...string) {
	shown := r.shown(p)
	if text, ok := shown.(string); ok {
		shown = Enumeration(text)
	}
	r.add(field.NotSupported(p.path(), shown, values))
}

// natural refuses a number below zero, which may be left out.
func (r *report) natural(p place) {
	if p.Int() < 0 {
		r.invalid(p, "must be greater than or equal to 0")
	}
}

// within refuses a number outside of a range; it may be left out.
func (r *report) within(p place, least, most int64) {
	if n := p.Int(); p.is() && (n < least || n > most) {
		r.invalid(p, validation.InclusiveRangeError(int(least), int(most)))
	}
}

// port refuses a number that is none of a port.
func (r *report) port(p place) {
	if n := p.Int(); n < 1 || n > math.MaxUint16 {
		r.invalidAs(p, n, validation.InclusiveRangeError(1, math.MaxUint16))
	}
}

// portOrName refuses what is neither the number of a port nor a name for one.
func (r *report) portOrName(p place) {
	if p.Kind() != value.KindString {
		r.port(p)
		return
	}
	r.invalid(p, validation.IsValidPortName(p.Str())...)
}

// label refuses what is no label of a domain name.
func (r *report) label(p place) {
	if !isLabel(p.Str()) {
		r.invalid(p, validation.IsDNS1123Label(p.Str())...)
	}
}

// isLabel reports whether a text is surely a label of a domain name: the library compares with a regular expression.
func isLabel(s string) bool {
	for i := range len(s) {
		if c := s[i]; !('a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' && 0 < i && i < len(s)-1) {
			return false
		}
	}
	return s != "" && len(s) <= validation.DNS1123LabelMaxLength
}

// subdomain refuses what is no domain name.
func (r *report) subdomain(p place) {
	if !isLabel(p.Str()) { // which is one
		r.invalid(p, validation.IsDNS1123Subdomain(p.Str())...)
	}
}

// optionalSubdomain is subdomain for what may be left out.
func (r *report) optionalSubdomain(p place) {
	if p.Str() != "" {
		r.subdomain(p)
	}
}

// address refuses what is no IP address. What was there before may stay; had is nil for nothing.
func (r *report) address(p place, had *names) {
	if had != nil && had.has(p.Str()) {
		return
	}
	r.errs = append(r.errs, validation.IsValidIPForLegacyField(p.path(), p.Str(), true, nil)...)
}

// unchangedLater refuses another value than was, as kube-apiserver refuses it by a tag of the type: after the rest, and shown as null.
func (r *report) unchangedLater(p place, was value.Value) {
	if !r.same(p, was) {
		r.laterInvalid(p, nil, "field is immutable")
	}
}

// unchanged refuses another value than was.
func (r *report) unchanged(p place, was value.Value) {
	if !r.same(p, was) {
		r.invalidAs(p, r.inside(p.path().String(), p.Value), "field is immutable")
	}
}

// same reports whether what p leads to equals was, as kube-apiserver compares Go values: see sameInside.
func (r *report) same(p place, was value.Value) bool {
	return same(p.Value, was) || r.kind != "" && sameInside(r.insideTypeAt(p.path().String()), p.Value, was)
}

// same reports whether two values say the same: nothing, null and an empty list or object are not told apart.
func same(a, b value.Value) bool { return a.Equal(b) || isEmpty(a) && isEmpty(b) }

// identical reports whether two values are the same to kube-apiserver where it tells absent lists and maps from empty ones.
func identical(a, b value.Value) bool { return a.Equal(b) || !isSet(a) && !isSet(b) }

// isEmpty reports whether a value is nothing, null, or an empty list or object.
func isEmpty(v value.Value) bool {
	return !isSet(v) || (v.Kind() == value.KindObject || v.Kind() == value.KindList) && v.Len() == 0
}

// fieldOf returns path as errors have it.
func fieldOf(path fieldpath.Path) *field.Path {
	var out *field.Path
	for _, step := range path {
		switch {
		case step.Kind() == fieldpath.KindIndex:
			out = out.Index(step.Index())
		case out == nil:
			out = field.NewPath(step.Name())
		default:
			out = out.Child(step.Name())
		}
	}
	return out
}

// PathIn returns the path that a field of an error leads to in object.
//
//	spec.containers[0].name      a member of an item of a list
//	data[a.key]                  a key of a map, which may have any characters
//	spec.attachedRequired        some names are kube-apiserver's own: the path leads nowhere
//	[]                           the object itself
func PathIn(object value.Value, text string) fieldpath.Path {
	var out fieldpath.Path
	if text == "[]" {
		return out
	}
	for rest := text; rest != ""; {
		var step fieldpath.Element
		if step, rest = nextStep(object, rest); step.Kind() == fieldpath.KindIndex {
			object = object.Item(step.Index())
		} else {
			object = object.Get(step.Name())
		}
		out = append(out, step)
	}
	return out
}

// nextStep returns the first step of text, which leads into v, and the rest of text.
func nextStep(v value.Value, text string) (fieldpath.Element, string) {
	inner, bracketed := strings.CutPrefix(text, "[")
	if !bracketed {
		text = strings.TrimPrefix(text, ".")
		end := strings.IndexAny(text, ".[")
		if end < 0 {
			end = len(text)
		}
		return fieldpath.Field(text[:end]), text[end:]
	}
	end := max(strings.IndexByte(inner, ']'), 0)
	if i, err := strconv.Atoi(inner[:end]); err == nil && v.Kind() == value.KindList && 0 <= i && i < v.Len() {
		return fieldpath.Index(i), inner[end+1:]
	}
	for name := range v.Members() { // of which the longest counts, as names may have brackets
		if strings.HasPrefix(inner, name+"]") && len(name) > end {
			end = len(name)
		}
	}
	return fieldpath.Field(inner[:end]), inner[min(end+1, len(inner)):]
}

// labels refuses names and values of labels.
func (r *report) labels(p place) {
	for name, text := range p.Members() {
		if isLabel(name) && isLabel(text.Str()) {
			continue // which are both
		}
		r.invalidAs(p, name, validation.IsQualifiedName(name)...)
		r.invalidAs(p, text.Str(), validation.IsValidLabelValue(text.Str())...)
	}
}

// selector refuses a selector of labels.
func (r *report) selector(p place) {
	r.labels(p.at("matchLabels"))
	expressions := p.at("matchExpressions")
	for i := range expressions.indexes() {
		e := expressions.item(i)
		values := e.at("values")
		switch operator := e.at("operator"); operator.Str() {
		case "In", "NotIn":
			if values.Len() == 0 {
				r.required(values, "must be specified when `operator` is 'In' or 'NotIn'")
			}
		case "Exists", "DoesNotExist":
			if values.Len() > 0 {
				r.forbidden(values, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")
			}
		default:
			r.invalidAs(operator, operator.Str(), "not a valid selector operator")
		}
		key := e.at("key")
		r.invalidAs(key, key.Str(), validation.IsQualifiedName(key.Str())...)
		for i := range values.indexes() {
			v := values.item(i)
			r.invalidAs(v, v.Str(), validation.IsValidLabelValue(v.Str())...)
		}
	}
}

// selects reports whether a selector asks for anything.
func selects(selector value.Value) bool {
	return selector.Get("matchLabels").Len() > 0 || selector.Get("matchExpressions").Len() > 0
}

// selected reports whether labels are as a selector asks for, which asks for nothing wrong.
func selected(selector, labels value.Value) bool {
	for name, text := range selector.Get("matchLabels").Members() {
		if !labels.Get(name).Equal(text) {
			return false
		}
	}
	for e := range selector.Get("matchExpressions").Items() {
		if !meets(e, labels.Get(e.Get("key").Str())) {
			return false
		}
	}
	return true
}

// meets reports whether a label is as an expression of a selector asks for.
func meets(e, label value.Value) bool {
	in := false
	for v := range e.Get("values").Items() {
		in = in || v.Equal(label)
	}
	switch e.Get("operator").Str() {
	case "In":
		return in
	case "NotIn":
		return !in
	case "Exists":
		return isSet(label)
	}
	return !isSet(label)
}
