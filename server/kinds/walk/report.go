package walk

import (
	"context"
	"fmt"
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

// Report is what was found wrong, in the order in which it was found. First is what kube-apiserver tells before what is wrong with the
// metadata of a new object. Last is what it finds by the tags of its types, which it tells after the rest. The zero report is empty.
type Report struct {
	First, Errs, Last field.ErrorList
	Named             int                          // how many of Errs are told before what is wrong with the prefix of generated names
	Group             string                       // of the kind of the object
	Kind              string                       // "" if no part of the object is shown
	Pods              string                       // the path to the spec of the pods that the object is or makes; empty if it has none
	Compiler          func(composed bool) Compiler // of expressions; nil if they are not compiled
	Namespace         Namespace                    // returns stored namespaces; nil if there is no store
	Minor             int                          // the minor release of Kubernetes; 0 for the current one
	Live              value.Value                  // the object that is replaced
	Unprivileged      bool                         // privileged containers are refused
}

// LivePod returns the pod that is replaced, or the template of the object that is replaced. It is absent if there is none.
func (r *Report) LivePod() value.Value {
	if r.Pods == "" {
		return value.Value{}
	}
	steps := strings.Split(r.Pods, ".")
	return r.Live.Get(steps[:len(steps)-1]...)
}

// Before reports whether the release is one before v1.N.
func (r *Report) Before(minor int) bool { return isBefore(r.Minor, minor) }

// isBefore compares minor releases, of which 0 is the current one.
func isBefore(release, minor int) bool { return release != 0 && release < minor }

// Add adds an error.
func (r *Report) Add(e *field.Error) { r.Errs = append(r.Errs, e) }

// Required refuses what is not there.
func (r *Report) Required(p Place, detail string) { r.Add(field.Required(p.Path(), detail)) }

// Forbidden refuses what must not be there.
func (r *Report) Forbidden(p Place, detail string) { r.Add(field.Forbidden(p.Path(), detail)) }

// Duplicate refuses what is there twice.
func (r *Report) Duplicate(p Place) { r.Add(field.Duplicate(p.Path(), r.Shown(p))) }

// Invalid refuses a value as it is.
func (r *Report) Invalid(p Place, details ...string) {
	if len(details) > 0 {
		r.InvalidAs(p, r.Shown(p), details...)
	}
}

// Shown returns a value as refusals show it.
func (r *Report) Shown(p Place) any {
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
	return r.Inside(p.Path().String(), p.Value)
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

// InvalidAs refuses a value that is shown as another one, once for each detail. The text of the place itself is shown as its type shows it.
func (r *Report) InvalidAs(p Place, shown any, details ...string) {
	if text, ok := shown.(string); ok && len(details) > 0 && p.Kind() == value.KindString && text == p.Str() {
		shown = r.Shown(p)
	}
	for _, detail := range details {
		r.Add(field.Invalid(p.Path(), shown, detail))
	}
}

// InvalidString refuses a value that is shown as a Go string, whatever type its field has.
func (r *Report) InvalidString(p Place, shown string, details ...string) {
	for _, detail := range details {
		r.Add(field.Invalid(p.Path(), shown, detail))
	}
}

// InvalidPointer refuses a text that kube-apiserver has behind a pointer, and shows as JSON. An absent one is null.
func (r *Report) InvalidPointer(p Place, details ...string) {
	if p.Kind() != value.KindString {
		r.Invalid(p, details...)
		return
	}
	r.InvalidAs(p, Enumeration(p.Str()), details...)
}

// Present refuses an empty text, and reports whether it is not.
func (r *Report) Present(p Place) bool {
	if p.Str() == "" {
		r.Required(p, "")
	}
	return p.Str() != ""
}

// Among refuses a text that is none of some; one that is empty is required.
func (r *Report) Among(p Place, values ...string) {
	if r.Present(p) {
		r.OnlyAmong(p, values...)
	}
}

// OnlyAmong refuses a text that is none of some.
func (r *Report) OnlyAmong(p Place, values ...string) {
	if slices.Contains(values, p.Str()) {
		return
	}
	r.Add(field.NotSupported(p.Path(), Enumeration(p.Str()), values))
}

// Enumeration is a text of a type that has some values. The library escapes it as JSON has it, and not as it does other texts.
type Enumeration string

// TextAmong is OnlyAmong for a text that has no type of its own.
func (r *Report) TextAmong(p Place, values ...string) {
	if !slices.Contains(values, p.Str()) {
		r.NotOneOf(p, values...)
	}
}

// NotOneOf refuses a text that is none of some.
func (r *Report) NotOneOf(p Place, values ...string) {
	r.Add(field.NotSupported(p.Path(), p.Str(), values))
}

// NotSupported refuses a value that is none of some, a text as an enumeration.
func (r *Report) NotSupported(p Place, values ...string) {
	shown := r.Shown(p)
	if text, ok := shown.(string); ok {
		shown = Enumeration(text)
	}
	r.Add(field.NotSupported(p.Path(), shown, values))
}

// Natural refuses a number below zero, which may be left out.
func (r *Report) Natural(p Place) {
	if p.Int() < 0 {
		r.Invalid(p, "must be greater than or equal to 0")
	}
}

// Within refuses a number outside of a range; it may be left out.
func (r *Report) Within(p Place, least, most int64) {
	if n := p.Int(); p.IsSet() && (n < least || n > most) {
		r.Invalid(p, validation.InclusiveRangeError(int(least), int(most)))
	}
}

// Port refuses a number that is none of a port.
func (r *Report) Port(p Place) {
	if n := p.Int(); n < 1 || n > math.MaxUint16 {
		r.InvalidAs(p, n, validation.InclusiveRangeError(1, math.MaxUint16))
	}
}

// PortOrName refuses what is neither the number of a port nor a name for one.
func (r *Report) PortOrName(p Place) {
	if p.Kind() != value.KindString {
		r.Port(p)
		return
	}
	r.Invalid(p, validation.IsValidPortName(p.Str())...)
}

// Label refuses what is no label of a domain name.
func (r *Report) Label(p Place) {
	if !IsLabel(p.Str()) {
		r.Invalid(p, validation.IsDNS1123Label(p.Str())...)
	}
}

// IsLabel reports whether a text is surely a label of a domain name: the library compares with a regular expression.
func IsLabel(s string) bool {
	for i := range len(s) {
		if c := s[i]; !('a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' && 0 < i && i < len(s)-1) {
			return false
		}
	}
	return s != "" && len(s) <= validation.DNS1123LabelMaxLength
}

// Subdomain refuses what is no domain name.
func (r *Report) Subdomain(p Place) {
	if !IsLabel(p.Str()) { // which is one
		r.Invalid(p, validation.IsDNS1123Subdomain(p.Str())...)
	}
}

// OptionalSubdomain is Subdomain for what may be left out.
func (r *Report) OptionalSubdomain(p Place) {
	if p.Str() != "" {
		r.Subdomain(p)
	}
}

// Address refuses what is no IP address. What was there before may stay; had is nil for nothing.
func (r *Report) Address(p Place, had *Names) {
	if had != nil && had.Has(p.Str()) {
		return
	}
	r.Errs = append(r.Errs, validation.IsValidIPForLegacyField(p.Path(), p.Str(), !r.Before(strictSince), nil)...)
}

// strictSince is the minor release since which addresses in an old form are refused: 010.0.0.1, or 10.0.0.1/8.
const strictSince = 36

// Network refuses a text at p that is no network. What was there before may stay.
func (r *Report) Network(p Place, text string, had ...string) {
	r.Errs = append(r.Errs, validation.IsValidCIDRForLegacyField(p.Path(), text, !r.Before(strictSince), had)...)
}

// Unchanged refuses another value than was.
//
// Kube-apiserver compares pointers as such, so it shows a text behind one as JSON.
func (r *Report) Unchanged(p Place, was value.Value) {
	switch path := p.Path().String(); {
	case r.Same(p, was):
	case p.Kind() == value.KindString && strings.HasPrefix(r.InsideTypeAt(path), "*"):
		r.InvalidPointer(p, "field is immutable")
	default:
		r.InvalidAs(p, r.Inside(path, p.Value), "field is immutable")
	}
}

// Same reports whether what p leads to equals was, as kube-apiserver compares Go values: see SameInside. Without a type, it is as Same.
func (r *Report) Same(p Place, was value.Value) bool {
	if r.Kind == "" || p.Value.Equal(was) {
		return Same(p.Value, was)
	}
	if typ := r.InsideTypeAt(p.Path().String()); typ != "" {
		return SameInside(typ, p.Value, was)
	}
	return Same(p.Value, was)
}

// FieldOf returns path as errors have it.
func FieldOf(path fieldpath.Path) *field.Path {
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
//	metadata.annotations.a.b/c   the same, as some errors have it
//	spec.template.annotations    a member of the metadata, which the errors of templates omit
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
			out = append(out, step)
			continue
		}
		if within := object.Get("metadata"); object.Get(step.Name()).IsAbsent() && !within.Get(step.Name()).IsAbsent() {
			out, object = append(out, fieldpath.Field("metadata")), within
		}
		out, object = append(out, step), object.Get(step.Name())
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
		for name := range v.Members() { // of which the longest counts, as names may have dots
			if rest, is := strings.CutPrefix(text, name); is && len(name) > end && (rest == "" || rest[0] == '.' || rest[0] == '[') {
				end = len(name)
			}
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

// Labels refuses names and values of labels.
func (r *Report) Labels(p Place) {
	for name, text := range p.Members() {
		if IsLabel(name) && IsLabel(text.Str()) {
			continue // which are both
		}
		r.InvalidAs(p, name, validation.IsQualifiedName(name)...)
		r.InvalidAs(p, text.Str(), validation.IsValidLabelValue(text.Str())...)
	}
}

// Selector refuses a selector of labels.
func (r *Report) Selector(p Place) {
	r.Labels(p.At("matchLabels"))
	expressions := p.At("matchExpressions")
	for i := range expressions.Indexes() {
		e := expressions.Index(i)
		values := e.At("values")
		if operator := e.At("operator"); !r.Operands(operator.Str(), values) {
			r.InvalidAs(operator, operator.Str(), "not a valid selector operator")
		}
		key := e.At("key")
		r.InvalidAs(key, key.Str(), validation.IsQualifiedName(key.Str())...)
		for i := range values.Indexes() {
			v := values.Index(i)
			r.InvalidAs(v, v.Str(), validation.IsValidLabelValue(v.Str())...)
		}
	}
}

// Operands refuses a number of values that an operator of selectors does not take. It returns false for an operator that selectors of labels
// do not have.
func (r *Report) Operands(operator string, values Place) bool {
	switch operator {
	case "In", "NotIn":
		if values.Len() == 0 {
			r.Required(values, "must be specified when `operator` is 'In' or 'NotIn'")
		}
	case "Exists", "DoesNotExist":
		if values.Len() > 0 {
			r.Forbidden(values, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")
		}
	default:
		return false
	}
	return true
}

// Selects reports whether a selector asks for anything.
func Selects(selector value.Value) bool {
	return selector.Get("matchLabels").Len() > 0 || selector.Get("matchExpressions").Len() > 0
}

// Selected reports whether labels are as a selector asks for, which asks for nothing wrong.
func Selected(selector, labels value.Value) bool {
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
		return IsSet(label)
	}
	return !IsSet(label)
}

// Namespace returns a stored Namespace, absent if there is none.
type Namespace func(ctx context.Context, name string) (value.Value, error)

// NotAbove refuses a number that is greater than another one.
func (r *Report) NotAbove(p Place, most value.Value, detail string) {
	if p.Int() > most.Int() {
		r.InvalidAs(p, p.Int(), detail)
	}
}

// AtMost refuses a text of more than n characters, without showing it.
func (r *Report) AtMost(p Place, n int) {
	if len(p.Str()) > n {
		r.InvalidAs(p, "", fmt.Sprintf("can have at most %d characters", n))
	}
}

// NoMembers refuses members that an object must not have.
func (r *Report) NoMembers(p Place, why string, members ...string) {
	for _, name := range members {
		if m := p.At(name); m.IsSet() {
			r.Forbidden(m, why)
		}
	}
}

// OnlyNamed refuses a key of a map that is none of some.
func (r *Report) OnlyNamed(p Place, all ...string) {
	r.Add(field.NotSupported(p.Path(), Enumeration(p.Name()), all))
}
