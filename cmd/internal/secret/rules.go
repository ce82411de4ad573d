package secret

import (
	"errors"
	"strings"
	"sync"

	"github.com/deed-project/deed/internal/yaml"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/value"
)

// Rules say what is secret in a run. nil are the rules of a run that has read no definitions.
type Rules struct {
	Show bool // nothing is secret: it was asked for

	mu       sync.Mutex
	defined  map[kind][]schemaAt // what definitions say of kinds
	compiled map[kind]parts      // of kinds that were looked at
}

// kind names a kind in all its versions: what is secret in one is secret in all.
type kind struct{ group, name string }

// kindOf returns the kind of an object, as far as it says it.
func kindOf(object value.Value) kind {
	version, name := object.Get("apiVersion").Str(), object.Get("kind").Str()
	group, _, grouped := strings.Cut(version, "/")
	if !grouped {
		group = ""
	}
	return kind{group, name}
}

// secretKind is the name of the kind whose objects hold secrets. It counts in any group, and however
// it is written: what is almost a Secret was meant to be one.
const secretKind = "Secret"

func (k kind) isSecret() bool { return strings.EqualFold(k.name, secretKind) }

// View returns object as it may be seen.
func (r *Rules) View(object value.Value) View {
	if r != nil && r.Show {
		return Open
	}
	k := kindOf(object)
	switch {
	case k.name == "", k.isSecret(): // what does not say its kind may be a Secret
		return View{secrets: secretParts}
	case r != nil:
		if p := r.passwordsOf(k); len(p) > 0 {
			return View{secrets: p}
		}
	}
	return Open
}

// passwordsOf returns what is secret in objects of kind k by their definitions, nil if nothing is.
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

// define notes that objects of kind k are as a schema says.
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

// Learn takes note of what object defines, if it is a CustomResourceDefinition. Every object that is
// read comes here, so that no definition is missed.
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

// LearnOpenAPI takes note of what an OpenAPI document defines, of version 2 or 3.
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

// Unread returns why a text could not be read, without its place if that is known. A [yaml.Error]
// shows nothing of the text but names of members. Names in managed fields may hold values, and are
// left out.
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

// lastApplied is the annotation in which client-side apply keeps what it applied.
const lastApplied = managedfields.LastAppliedAnnotation
