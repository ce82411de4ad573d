package walk

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/value"
)

// What kube-apiserver finds by the tags of its types is told after everything else. The methods of this file add such errors. Before v1.36,
// code finds them, in their place among the others.

// TaggedSince is the minor release since which tags count.
const TaggedSince = 36

// Later adds an error after the rest.
func (r *Report) Later(e *field.Error) {
	if r.Before(TaggedSince) {
		r.Add(e)
	} else {
		r.Last = append(r.Last, e)
	}
}

// AllLater puts the errors that were added after the first n of them after the rest.
func (r *Report) AllLater(n int) {
	if !r.Before(TaggedSince) {
		r.Last = append(r.Last, r.Errs[n:]...)
		r.Errs = r.Errs[:n]
	}
}

// Worded returns the detail that the release has for an error: coded before v1.36, and tagged since then.
func (r *Report) Worded(coded, tagged string) string {
	if r.Before(TaggedSince) {
		return coded
	}
	return tagged
}

// RequiredLater is Required for what is told after the rest.
func (r *Report) RequiredLater(p Place, detail string) {
	r.Later(field.Required(p.Path(), detail))
}

// InvalidLater is InvalidAs for what is told after the rest.
func (r *Report) InvalidLater(p Place, shown any, detail string) {
	r.Later(field.Invalid(p.Path(), shown, detail))
}

// ForbiddenLater is Forbidden for what is told after the rest.
func (r *Report) ForbiddenLater(p Place, detail string) {
	r.Later(field.Forbidden(p.Path(), detail))
}

// UnchangedLater refuses another value than was, as kube-apiserver refuses it by a tag of the type: after the rest, and shown as null.
func (r *Report) UnchangedLater(p Place, was value.Value) {
	switch {
	case r.Before(TaggedSince):
		r.Unchanged(p, was)
	case !r.Same(p, was):
		r.InvalidLater(p, nil, "field is immutable")
	}
}

// AmongLater is OnlyAmong for what is told after the rest.
func (r *Report) AmongLater(p Place, values ...string) {
	if !slices.Contains(values, p.Str()) {
		r.Later(field.NotSupported(p.Path(), Enumeration(p.Str()), values))
	}
}

// SubdomainLater is Subdomain for what is told after the rest, and required.
func (r *Report) SubdomainLater(p Place) {
	if p.Str() == "" {
		r.RequiredLater(p, "")
		return
	}
	for _, detail := range content.IsDNS1123Subdomain(p.Str()) {
		r.InvalidLater(p, p.Str(), detail)
	}
}

// DriverNameLater is DriverName for what is told after the rest. Tags tell the length behind the form, and in characters.
func (r *Report) DriverNameLater(p Place) {
	switch {
	case r.Before(TaggedSince):
		r.DriverName(p)
		return
	case p.Str() == "":
		r.RequiredLater(p, "")
		return
	}
	//lint:ignore SA1019 kube-apiserver validates the names of drivers with this rule
	for _, detail := range content.IsDNS1123SubdomainCaseless(p.Str()) {
		r.InvalidLater(p, p.Str(), detail)
	}
	if len(p.Str()) > LongestDriver {
		r.Later(field.TooLongCharacters(p.Path(), p.Str(), LongestDriver))
	}
}

// LabelLater refuses a text that is no DNS label, after the rest.
func (r *Report) LabelLater(p Place, text string) {
	for _, detail := range content.IsDNS1123Label(text) {
		r.InvalidLater(p, text, detail)
	}
}

// BytesLater refuses a text of too many bytes, after the rest.
func (r *Report) BytesLater(p Place, most int) {
	if len(p.Str()) > most {
		r.Later(field.TooLong(p.Path(), "", most))
	}
}
