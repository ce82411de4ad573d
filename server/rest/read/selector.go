package read

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/deed-project/deed/internal/jsontext"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/rest"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

// Selecting objects by labels and fields. The libraries of Kubernetes parse selectors and decide, by interfaces that they ask for labels
// and fields. Here are two implementations of each:
//
//	labelsOf, fieldsOf   of a decoded object
//	labelsIn, fieldsIn   of a stored text and its fact: they scan for what the selector names, and decode nothing else
//
// Invariant: both give the same answers for the same object. Where that cannot be promised, such as for escaped names and derived fields,
// isInTexts is false and the object is decoded.

// selector selects objects of a version.
//
// It is immutable and safe for concurrent use.
type selector struct {
	labels  labels.Selector
	fields  fields.Selector
	version *catalog.Version
	all     bool // it matches every object
	inTexts bool // it only reads fields that can be looked up in texts; see inText
}

// newSelector returns the selector of options. A field that has no selector is a 400.
func newSelector(v *catalog.Version, options api.ListOptions) (*selector, error) {
	inTexts := true
	for _, requirement := range options.Fields.Requirements() {
		inTexts = inTexts && isInTexts(v, requirement.Field)
		if !selectable(v, requirement.Field) {
			return nil, errors.NewBadRequest(fmt.Sprintf(fieldRefusal(v), requirement.Field))
		}
	}
	all := options.Labels.Empty() && options.Fields.Empty()
	return &selector{labels: options.Labels, fields: options.Fields, version: v, all: all, inTexts: inTexts}, nil
}

// namespace returns the namespace that all objects of a request are in: that of its path, or the one that the selector requires. It is "" for
// objects of several namespaces or of none.
func (s *selector) namespace(q *rest.Request) string {
	if q.Target.Namespace != "" || !s.version.Namespaced {
		return q.Target.Namespace
	}
	required, _ := s.fields.RequiresExactMatch("metadata.namespace")
	return required
}

// fieldRefusal returns the format of the refusal of a field.
//
// Kinds without fields of their own get kube-apiserver's default text, and kinds with fields have texts of their own conversions.
func fieldRefusal(v *catalog.Version) string {
	if !v.Custom && len(v.Fields) == 0 {
		return `%q is not a known field selector: only "metadata.name", "metadata.namespace"`
	}
	return cmp.Or(v.FieldRefusal, "field label not supported: %s")
}

// isInTexts reports whether a field can be looked up in texts.
func isInTexts(v *catalog.Version, field string) bool {
	return isPlainPath(field) && v.Derived[field] == nil
}

// isPlainPath reports whether a path leads through names that are printed as they are, to something that is in stored texts.
func isPlainPath(path string) bool {
	return path != "metadata" && path != "metadata.resourceVersion" && !strings.ContainsFunc(path, func(r rune) bool {
		return r != '.' && r != '_' && r != '-' && (r < '0' || '9' < r) && (r < 'A' || 'Z' < r) && (r < 'a' || 'z' < r)
	})
}

// selectable reports whether objects can be selected by a field: by their name, by their namespace, and by the fields of the version.
func selectable(v *catalog.Version, name string) bool {
	namespace := name == "metadata.namespace" && !v.NoNamespaceField && (v.Namespaced || !v.Custom && len(v.Fields) == 0) // objects of the cluster have none
	return name == "metadata.name" || namespace || slices.Contains(v.Fields, name)
}

// Select returns the objects of a virtual resource that the selectors match. The error is a 400 for a field that has no selector.
func Select(v *catalog.Version, options api.ListOptions, objects []value.Value) ([]value.Value, error) {
	s, err := newSelector(v, options)
	if err != nil {
		return nil, err
	}
	selected := []value.Value{}
	for _, object := range objects {
		if s.matches(object) {
			selected = append(selected, object)
		}
	}
	return selected, nil
}

// matches reports whether content matches.
func (s *selector) matches(content value.Value) bool {
	return s.labels.Matches(labelsOf{content.Get("metadata", "labels")}) && s.fields.Matches(fieldsOf{s.version, content})
}

// matchesText reports whether the text of an object matches; s.inTexts must be set. seen is passed by reference to avoid an allocation.
//
// An empty selector is not asked: that would cost a scan of the labels.
func (s *selector) matchesText(seen *inText) bool {
	return (s.labels.Empty() || s.labels.Matches((*labelsIn)(seen))) && (s.fields.Empty() || s.fields.Matches((*fieldsIn)(seen)))
}

// terms returns the requirements that an index can answer: for each, the terms of which an object must have one.
//
// Only requirements of equality and membership are in it. Others, such as "!=" and "exists", select too many objects for an index to help.
func (s *selector) terms() [][]term {
	var all [][]term
	requirements, _ := s.labels.Requirements()
	for _, r := range requirements {
		switch r.Operator() {
		case selection.Equals, selection.DoubleEquals, selection.In:
			var terms []term
			for text := range r.Values() {
				terms = append(terms, term{r.Key(), text})
			}
			all = append(all, terms)
		}
	}
	for _, r := range s.fields.Requirements() {
		isTerm := slices.Contains(s.version.Fields, r.Field) && isInTexts(s.version, r.Field)
		if isTerm && (r.Operator == selection.Equals || r.Operator == selection.DoubleEquals) {
			all = append(all, []term{{"." + r.Field, r.Value}})
		}
	}
	return all
}

// termsOf returns the terms of an object: its labels and selectable fields.
//
// Each object has a term for each selectable field, with "" where it has no value: "spec.nodeName=" selects pods without a node.
func termsOf(seen *inText) []term {
	var terms []term
	text := seen.known.labels.in(seen.Text)
	r := jsontext.Skim(text)
	r.Members(func(start, end int) bool {
		name, from := string(text[start+1:end-1]), r.Pos
		if r.Skip() != nil {
			return false
		}
		terms = append(terms, term{name, textOf(text[from:r.Pos])})
		return true
	})
	for _, name := range seen.known.version.Fields {
		if seen.known.version.Derived[name] == nil {
			terms = append(terms, term{"." + name, (*fieldsIn)(seen).Get(name)})
		}
	}
	return terms
}

// labelsOf implements labels.Labels for the labels of an object.
type labelsOf struct{ value.Value }

// Has reports whether a label exists.
func (l labelsOf) Has(label string) bool { return !l.Value.Get(label).IsAbsent() }

// Get returns the value of a label.
func (l labelsOf) Get(label string) string { return l.Value.Get(label).Str() }

// Lookup returns the value of a label, and whether the label exists.
func (l labelsOf) Lookup(label string) (string, bool) {
	v := l.Value.Get(label)
	return v.Str(), !v.IsAbsent()
}

// fieldsOf implements fields.Fields for the selectable fields of an object.
type fieldsOf struct {
	version *catalog.Version
	content value.Value
}

// Has reports whether a field is selectable.
func (f fieldsOf) Has(name string) bool { return selectable(f.version, name) }

// Get returns the value of a field as text, or "".
func (f fieldsOf) Get(name string) string {
	if derived := f.version.Derived[name]; derived != nil {
		return derived(f.content)
	}
	return fieldText(catalog.Lookup(f.content, name))
}

// fieldText returns the value of a field as text, or "".
func fieldText(v value.Value) string {
	switch {
	case v.IsAbsent() || v.IsNull():
		return ""
	case v.Kind() == value.KindString:
		return v.Str()
	}
	return fmt.Sprint(v.ToAny())
}

// inText is the part of a record that selectors read: with its fact, labels and fields are looked up in the text.
type inText struct {
	store.Record
	known *fact
}

// labelsIn implements labels.Labels for the labels in the text of an object.
type labelsIn inText

// Has reports whether a label exists.
func (l *labelsIn) Has(label string) bool {
	_, ok := l.Lookup(label)
	return ok
}

// Get returns the value of a label.
func (l *labelsIn) Get(label string) string {
	text, _ := l.Lookup(label)
	return text
}

// Lookup returns the value of a label, and whether the label exists.
//
// It scans labels until the one that is asked for. Names are compared as printed: labels that are valid have no escapes.
func (l *labelsIn) Lookup(label string) (string, bool) {
	labels := l.known.labels.in(l.Text)
	r := jsontext.Skim(labels)
	var found []byte
	r.Members(func(start, end int) bool {
		is, from := r.Text[start+1:end-1] == label, r.Pos
		if r.Skip() != nil {
			return false
		}
		if is {
			found = labels[from:r.Pos]
		}
		return !is
	})
	return textOf(found), found != nil
}

// fieldsIn implements fields.Fields for the selectable fields in the text of an object.
type fieldsIn inText

// Has reports whether a field is selectable.
func (f *fieldsIn) Has(name string) bool { return selectable(f.known.version, name) }

// Get returns the value of a field as text, or "".
//
// The name is in the key, so it costs no scan.
func (f *fieldsIn) Get(name string) string {
	path := strings.Split(name, ".")
	if isName(path) {
		return NameIn(f.Key)
	}
	return textOf(f.known.lookup(f.Text, path))
}

// textOf returns the text of a value in the form that selectors compare, or "" for none.
//
// A string without escapes is cut out of its quotes; anything else is decoded.
func textOf(json []byte) string {
	if n := len(json); n >= 2 && json[0] == '"' && bytes.IndexByte(json, '\\') < 0 {
		return string(json[1 : n-1])
	}
	if json == nil {
		return ""
	}
	v, err := value.Parse(json)
	if err != nil {
		return "" // cannot happen: the whole text was decoded or written as JSON
	}
	return fieldText(v)
}
