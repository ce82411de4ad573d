package secret

import (
	"errors"
	"strings"
	"sync"

	"github.com/deed-project/deed/internal/yaml"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/value"
)

// Rules says what is secret in a run. A nil *Rules belongs to a run that has read no definitions.
type Rules struct {
	Show bool // nothing is secret, because the user asked for that

	mu       sync.Mutex
	defined  map[kind][]schemaAt // the schemas of kinds in definitions
	compiled map[kind]parts      // the parts of kinds that were used
}

// kind names a kind in all its versions. A value that is secret in one version is secret in all.
type kind struct{ group, name string }

// kindOf returns the kind of an object, as far as the object states it.
func kindOf(object value.Value) kind {
	version, name := object.Get("apiVersion").Str(), object.Get("kind").Str()
	group, _, grouped := strings.Cut(version, "/")
	if !grouped {
		group = ""
	}
	return kind{group, name}
}

// secretKind is the kind of objects with secrets. It applies in any group and any case, because an object that resembles a Secret was
// probably meant to be one.
const secretKind = "Secret"

func (k kind) isSecret() bool { return strings.EqualFold(k.name, secretKind) }

// View returns the view of object.
func (r *Rules) View(object value.Value) View {
	if r != nil && r.Show {
		return Open
	}
	k := kindOf(object)
	switch {
	case k.name == "", k.isSecret(): // an object without a kind may be a Secret
		return View{secrets: secretParts}
	case r != nil:
		if p := r.passwordsOf(k); len(p) > 0 {
			return View{secrets: p}
		}
	}
	return Open
}

// passwordsOf returns the secrets of objects of kind k by their definitions, nil if there are none.
func (r *Rules) passwordsOf(k kind) parts {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p, ok := r.compiled[k]; ok {
		return p
	}
	var p parts
	if schemas := r.defined[k]; len(schemas) > 0 {
		p = compile(schemas)
		if r.compiled == nil {
			r.compiled = map[kind]parts{}
		}
		r.compiled[k] = p
	}
	return p
}

// define records a schema of objects of kind k.
func (r *Rules) define(k kind, s schemaAt) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.defined == nil {
		r.defined = map[kind][]schemaAt{}
	}
	for _, known := range r.defined[k] {
		if known.schema.Same(s.schema) {
			return
		}
	}
	r.defined[k] = append(r.defined[k], s)
	delete(r.compiled, k)
}

// Learn records the schemas of object if it is a CustomResourceDefinition. Every object that is read is passed to Learn, so that no
// definition is missed.
func (r *Rules) Learn(object value.Value) {
	if r == nil || object.Get("kind").Str() != "CustomResourceDefinition" {
		return
	}
	spec := object.Get("spec")
	k := kind{spec.Get("group").Str(), spec.Get("names", "kind").Str()}
	for version := range spec.Get("versions").Items() {
		schema := version.Get("schema", "openAPIV3Schema")
		r.define(k, schemaAt{schema, schema})
	}
}

// LearnOpenAPI records the schemas of an OpenAPI document of version 2 or 3.
func (r *Rules) LearnOpenAPI(document value.Value) {
	if r == nil {
		return
	}
	for _, schemas := range []value.Value{document.Get("definitions"), document.Get("components", "schemas")} {
		for _, schema := range schemas.Members() {
			for gvk := range schema.Get("x-kubernetes-group-version-kind").Items() {
				r.define(kind{gvk.Get("group").Str(), gvk.Get("kind").Str()}, schemaAt{schema, document})
			}
		}
	}
}

// Unread returns the reason why a text could not be read, without its place if that is known. A [yaml.Error] shows only names of members.
// Names in managed fields may contain values, and are left out.
func (r *Rules) Unread(err error) string {
	reason := err.Error()
	var e *yaml.Error
	if errors.As(err, &e) {
		reason = e.Reason
	}
	if r != nil && r.Show {
		return reason
	}
	return withoutKeys(reason)
}

// lastApplied is the annotation in which client-side apply records the applied configuration.
const lastApplied = managedfields.LastAppliedAnnotation
