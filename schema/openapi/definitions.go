package openapi

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/deed-project/deed/schema"
)

// Definitions is the result of a conversion. Equal inputs give equal Definitions, byte for byte. The nil Definitions have
// neither types nor kinds.
type Definitions struct {
	Document *schema.Document // types and their fields sorted by name
	Kinds    []Kind           // sorted

	// Warnings are defects that Kubernetes accepts silently. Each is a [*SchemaError] about the schema of a version that
	// breaks a rule of structural schemas, and therefore counts as absent.
	Warnings []error
}

// Kind is a kind with the name of its type in the document.
type Kind struct {
	schema.GVK
	Type string
}

// Catalog compiles the document and returns the types of all kinds. It returns the catalog along with the problems of
// [schema.Compile]. The catalog is usable as long as no value meets a problem. It lacks the kinds whose type is not in the
// document. Each of them is a problem, too.
func (d *Definitions) Catalog() (*schema.Catalog, error) {
	if d == nil {
		return schema.NewCatalog(nil), nil
	}
	s, err := schema.Compile(d.Document)
	problems := []error{err}
	types := make(map[schema.GVK]*schema.Type, len(d.Kinds))
	for _, kind := range d.Kinds {
		if t, ok := s[kind.Type]; ok {
			types[kind.GVK] = t
		} else {
			problems = append(problems, fmt.Errorf("%v has the type %q, which is not defined", kind.GVK, kind.Type))
		}
	}
	return schema.NewCatalog(types), errors.Join(problems...)
}

// newDefinitions returns definitions with types and the two types for values without a schema.
func newDefinitions(types []schema.TypeDef, kinds map[schema.GVK]string) *Definitions {
	byName := map[string][]schema.TypeDef{}
	for _, t := range append(types, schemas.DeducedTypes()...) {
		byName[t.Name] = append(byName[t.Name], t)
	}
	d := &Definitions{Document: &schema.Document{}}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		d.Document.Types = append(d.Document.Types, byName[name]...)
	}
	for _, gvk := range slices.SortedStableFunc(maps.Keys(kinds), schemas.CompareGVKs) {
		d.Kinds = append(d.Kinds, Kind{gvk, kinds[gvk]})
	}
	return d
}

// Problem is one defect of an OpenAPI schema. A defect of one type fails the whole conversion.
type Problem struct {
	Type   string // the name of the definition
	Depth  int    // the number of schemas without a name around the defect
	Path   string // in the definition, such as properties[spec].items; empty for the definition itself
	Reason string
}

// Error returns the defect in the words of Kubernetes, followed by the path.
func (p *Problem) Error() string {
	if p == nil {
		return "<nil>"
	}
	text := strings.Repeat("inlined in ", max(p.Depth, 0)) + p.Type + ": " + p.Reason
	if p.Path != "" {
		text += " (at " + p.Path + ")"
	}
	return text
}

// place is the position of a converter in a definition.
type place struct {
	def   string
	path  *path
	depth int
}

// in returns the place of a part of the schema at p.
func (p place) in(step string) place { return place{p.def, p.path.in(step), p.depth} }

// inlined returns p for the content of the schema without a name at p.
func (p place) inlined() place {
	p.depth++
	return p
}

// problems collects defects.
type problems []error

func (p *problems) report(at place, format string, args ...any) {
	*p = append(*p, &Problem{at.def, at.depth, at.path.String(), fmt.Sprintf(format, args...)})
}
