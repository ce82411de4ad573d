// Package manifest reads API objects from files, locates values in the text, finds the stored object for a configuration, and writes
// outcomes back into the text.
//
// Its nouns: a [Loader] reads files; a [Text] is the content of one; an [Object] is an API object with its [Origin], the place in the input
// that messages name; [Live] finds stored objects; a [Rewriter] edits files. The package does not use schemas.
package manifest

import (
	"errors"
	"fmt"
	"slices"

	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/internal/door"
	"github.com/deed-project/deed/internal/yaml"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/ownership"
	"github.com/deed-project/deed/value"
)

// Ref identifies an object and its place in the input.
type Ref struct {
	File       string `json:"file"`
	Document   int    `json:"document"`
	Line       int    `json:"line"`
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
}

// Ref returns the identity and the place of o.
func (o *Object) Ref() Ref {
	return Ref{o.File, o.Number, o.At().Line, o.GVK().APIVersion(), o.Id.Kind, o.Id.Namespace, o.Id.Name}
}

// Object is an API object that was read. It has an apiVersion, a kind and a name.
type Object struct {
	managedfields.Object
	Origin
	Id      ID
	secrets *secret.Rules // the rules of the run
	found   *Finder       // for the content as it was read, or nil
}

// Find returns the finder of o's content.
func (o *Object) Find() *Finder {
	if o.found != nil && o.found.root.Same(o.Content) {
		return o.found
	}
	return NewFinder(o.Content)
}

// View returns the view of o with its secrets masked.
func (o *Object) View() secret.View { return o.secrets.View(o.Content) }

// ID identifies an object. It has no version.
type ID struct{ Group, Kind, Namespace, Name string }

// IDOf returns the identity that o states.
func IDOf(o managedfields.Object) ID {
	gvk, metadata := o.GVK(), o.Content.Get("metadata")
	return ID{gvk.Group, gvk.Kind, metadata.Get("namespace").Str(), metadata.Get("name").Str()}
}

// String returns the kind, the namespace if there is one, and the name.
func (id ID) String() string {
	if id.Namespace == "" {
		return id.Kind + " " + id.Name
	}
	return id.Kind + " " + id.Namespace + "/" + id.Name
}

// String returns the name of the object for messages: its identity, and its document if the file has several.
func (o *Object) String() string {
	if !o.several {
		return o.Id.String()
	}
	return fmt.Sprintf("%v (document %d)", o.Id, o.Number)
}

// Origin is the place of an object in the input.
type Origin struct {
	File    string
	Part    *part // the part of the file; nil if the document is not read as objects
	Index   int   // the index of the document in the part
	Number  int   // the number of the document in the file, counted from 1
	several bool  // whether the file has more documents
	Doc     yaml.Document
	Within  []any // the path to the object in the document; empty except for items of a list
}

// In returns the origin of the value at path below o.
func (o Origin) In(path ...any) Origin {
	o.Within = slices.Concat(o.Within, path)
	return o
}

// path returns the path to the object in the document of the file. It is Within, extended for an item that was cut out of a list.
func (o Origin) path() []any {
	switch p := o.Part; {
	case p.frame == nil || p.data == nil: // the whole document
		return o.Within
	case o.Doc.Value.Kind() == value.KindList: // a list with this item only
		return slices.Concat([]any{"items", p.item}, o.Within[1:])
	default: // the item
		return slices.Concat([]any{"items", p.item}, o.Within)
	}
}

// At returns the position of the value at path.
func (o Origin) At(path ...any) notice.Position {
	return o.place(o.Doc.Position(slices.Concat(o.Within, path)...))
}

// Key returns the position of the name of the member at path.
func (o Origin) Key(path ...any) notice.Position {
	return o.place(o.Doc.KeyPosition(slices.Concat(o.Within, path)...))
}

// place converts a line and column of the parsed part to a position in the file.
func (o Origin) place(line, column int) notice.Position {
	if o.Part != nil {
		if line == 1 {
			column += o.Part.left
		}
		line += o.Part.above
	}
	return notice.Position{File: o.File, Line: line, Column: column}
}

// Entry returns the position of the managedFields entry that err reports.
func (o Origin) Entry(err error) notice.Position {
	var e *managedfields.EntryError
	if errors.As(err, &e) {
		return o.At("metadata", "managedFields", e.Index)
	}
	return o.At("metadata", "managedFields")
}

// merging gives access to the internals of merge beyond its API.
var merging = door.Open(merge.Internal{})

// SortManagers sorts managers in the order of kube-apiserver, which is mostly the order of their names.
func SortManagers(managers []merge.Manager) { slices.SortStableFunc(managers, merging.Compare) }

// Identity returns the manager of e.
func Identity(e managedfields.Entry) merge.Manager {
	m := merge.Manager{Name: e.Manager, Operation: e.Operation, Subresource: e.Subresource}
	if e.Operation == merge.Update {
		m.APIVersion = e.APIVersion
	}
	return m
}

// Holder is the manager of an entry of managedFields.
type Holder = ownership.Owner

// OwnersOf returns the managers of the entries of o.
func OwnersOf(o *Object) []Holder {
	out := make([]Holder, len(o.Entries))
	for i, e := range o.Entries {
		out[i] = Holder{Index: i, Manager: Identity(e), APIVersion: e.APIVersion, Time: e.Time}
	}
	return out
}

// Untracked warns about an object without managed fields, which were probably left out when it was exported.
func (c *Loader) Untracked(o *Object) {
	if len(o.Entries) == 0 {
		c.Warn(o.At(), "%v has no metadata.managedFields, and so no owners; kubectl get shows them with --show-managed-fields", o)
	}
}

// EntryProblems reports the errors of reading the entries of o, each at its place.
func (c *Loader) EntryProblems(o *Object, err error) {
	notice.EachError(err, func(err error) { c.Problem(o.Entry(err), "%v: %s", o, o.View().Error(err)) })
}

// ManagerNames returns the names of all managers of the objects, sorted.
func ManagerNames(objects []*Object) []string {
	var names []string
	for _, o := range objects {
		for _, e := range o.Entries {
			names = append(names, e.Manager)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// WithNamespace returns o in the namespace called name, or without a namespace if name is empty.
func (o *Object) WithNamespace(name string) *Object {
	if o.Id.Namespace == name {
		return o
	}
	out := *o
	out.Id.Namespace = name
	namespace := value.Value{}
	if name != "" {
		namespace = value.String(name)
	}
	out.Content = o.Content.With("metadata", o.Content.Get("metadata").With("namespace", namespace))
	out.found = NewFinder(out.Content)
	return &out
}
