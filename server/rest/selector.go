package rest

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/value"
)

// selector tells which objects of a version a request is about.
type selector struct {
	labels  labels.Selector
	fields  fields.Selector
	version *catalog.Version
}

// newSelector returns the selector of options. The error is a 400 for a field that cannot be selected by.
func newSelector(v *catalog.Version, options api.ListOptions) (*selector, error) {
	for _, requirement := range options.Fields.Requirements() {
		if !selectable(v, requirement.Field) {
			if !v.Custom && len(v.Fields) == 0 {
				return nil, errors.NewBadRequest(fmt.Sprintf(
					`%q is not a known field selector: only "metadata.name", "metadata.namespace"`, requirement.Field))
			}
			return nil, errors.NewBadRequest(fmt.Sprintf("field label not supported: %s", requirement.Field))
		}
	}
	return &selector{options.Labels, options.Fields, v}, nil
}

func selectable(v *catalog.Version, name string) bool {
	return name == "metadata.name" || name == "metadata.namespace" && v.Namespaced || slices.Contains(v.Fields, name)
}

// all reports whether the selector is about every object.
func (s *selector) all() bool { return s.labels.Empty() && s.fields.Empty() }

// byLabels reports whether the selector looks at labels only.
func (s *selector) byLabels() bool { return s.fields.Empty() }

// matches reports whether the selector is about content.
func (s *selector) matches(content value.Value) bool {
	return s.labels.Matches(labelsOf{content.Get("metadata", "labels")}) && s.fields.Matches(fieldsOf{s.version, content})
}

// matchesLabels reports whether the selector is about the labels that l has. It is passed by reference so that nothing is allocated.
func (s *selector) matchesLabels(l *labelsOf) bool { return s.labels.Matches(l) }

// labelsOf is the labels of an object: labels.Labels.
type labelsOf struct{ value.Value }

// Has reports whether there is a label.
func (l labelsOf) Has(label string) bool { return !l.Value.Get(label).IsAbsent() }

// Get returns the value of a label.
func (l labelsOf) Get(label string) string { return l.Value.Get(label).Str() }

// Lookup returns the value of a label, and whether there is one.
func (l labelsOf) Lookup(label string) (string, bool) {
	v := l.Value.Get(label)
	return v.Str(), !v.IsAbsent()
}

// fieldsOf is the selectable fields of an object: fields.Fields.
type fieldsOf struct {
	version *catalog.Version
	content value.Value
}

// Has reports whether a field can be selected by.
func (f fieldsOf) Has(name string) bool { return selectable(f.version, name) }

// Get returns the value of a field as text, "" if there is none.
func (f fieldsOf) Get(name string) string {
	v := catalog.Lookup(f.content, name)
	switch {
	case v.IsAbsent() || v.IsNull():
		return ""
	case v.Kind() == value.KindString:
		return v.Str()
	}
	return fmt.Sprint(v.ToAny())
}
