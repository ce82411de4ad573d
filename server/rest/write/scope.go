package write

import (
	"encoding/json"
	stderrors "errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/kjson"
	"github.com/deed-project/deed/server/rest"
	"github.com/deed-project/deed/value"
	"github.com/deed-project/deed/value/structs"
)

// scope answers what plugins ask about a write: admission.Scope.
type scope struct {
	task      *Task
	operation admission.Operation
	unread    func() bool
}

// Unread reports whether the object is not yet what its text reads as.
func (s *scope) Unread() bool { return s.unread != nil && s.unread() }

// Options returns the options of the write, as kube-apiserver passes them on: those of a patch are the options of what it does. A
// connection has none.
func (s *scope) Options() value.Value {
	typed := any(s.task.deletion)
	kind := "DeleteOptions"
	switch s.operation {
	case admission.Connect:
		return value.Null()
	case admission.Create:
		kind = "CreateOptions"
		typed = &metav1.CreateOptions{
			DryRun: s.task.Request.Query["dryRun"], FieldManager: s.task.Request.Query.Get("fieldManager"), FieldValidation: s.task.Request.Query.Get("fieldValidation"),
		}
	case admission.Update:
		kind = "UpdateOptions"
		typed = &metav1.UpdateOptions{
			DryRun: s.task.Request.Query["dryRun"], FieldManager: s.task.Request.Query.Get("fieldManager"), FieldValidation: s.task.Request.Query.Get("fieldValidation"),
		}
	}
	options, err := structs.From(typed)
	if err != nil {
		panic(err) // options are plain data
	}
	return options.With("kind", value.String(kind)).With("apiVersion", value.String("meta.k8s.io/v1"))
}

// Equivalents returns the endpoints of all other versions of the objects.
func (s *scope) Equivalents() []admission.Endpoint {
	q, known := s.task.Request, &s.task.equivalents
	known.once.Do(func() {
		for _, v := range s.alike() {
			if v != q.Version && v.HasSubresource(q.Target.Subresource) {
				known.of = append(known.of, endpoint(q, v))
			}
		}
	})
	return known.of
}

// endpoint returns the endpoint of a request, if the request were made to a version.
func endpoint(q *rest.Request, v *catalog.Version) admission.Endpoint {
	gvk := v.GVK()
	if action := v.Actions[q.Target.Subresource]; action != nil {
		gvk = action.GVK()
	} else if q.IsScale() {
		gvk = catalog.ScaleKind
	}
	return admission.Endpoint{
		Resource: kschema.GroupVersionResource{Group: v.Group, Version: v.Name, Resource: v.Plural},
		Kind:     kschema.GroupVersionKind{Group: gvk.Group, Version: gvk.Version, Kind: gvk.Kind},
	}
}

// Served identifies the version that is written: one that is defined anew is another.
func (s *scope) Served() any { return s.task.Request.Version }

// alike returns the versions that the objects are served in, of this resource and of others, as they are declared.
func (s *scope) alike() []*catalog.Version {
	return s.task.Writer.Host.Alike(s.task.Request.Version.Resource)
}

// version returns the version of the object at an endpoint.
func (s *scope) version(at admission.Endpoint) (*catalog.Version, error) {
	for _, v := range s.alike() {
		if v.Group == at.Resource.Group && v.Name == at.Resource.Version && v.Plural == at.Resource.Resource {
			return v, nil
		}
	}
	return nil, fmt.Errorf("unable to convert to %v: unknown kind", at.Resource)
}

// Convert returns an object as an endpoint has it. Custom resources are told by their apiVersion only; objects of built-in kinds are
// printed anew by their Go types.
func (s *scope) Convert(object value.Value, from, to admission.Endpoint) (value.Value, error) {
	if s.task.Request.Version.Custom && s.task.Request.IsScale() {
		return readTyped(object.AppendJSON(nil), catalog.ScaleKind, catalog.EmptyScale()) // it is the same in all versions
	}
	v, err := s.version(to)
	if err != nil {
		return object, err
	}
	if v.Custom {
		return s.relabelled(object, v)
	}
	if q := s.task.Request; !q.IsScale() && q.Version.Actions[q.Target.Subresource] == nil {
		object, err = s.reprinted(object, from, v)
	}
	gvk := to.Kind
	return object.With("apiVersion", value.String(gvk.GroupVersion().String())).With("kind", value.String(gvk.Kind)), err
}

// reprinted returns an object of a built-in kind in another version.
func (s *scope) reprinted(object value.Value, from admission.Endpoint, to *catalog.Version) (value.Value, error) {
	was, err := s.version(from)
	switch {
	case err != nil:
		return object, err
	case was == to:
		return to.Form.Complete(object)
	}
	stored, err := was.Form.Store(object)
	if err != nil {
		return object, err
	}
	return to.Form.Load(stored)
}

// relabelled returns a custom resource in another version, which is all that it says then, unless a webhook converts it. The error is
// that it is of none that is known, or of another group.
func (s *scope) relabelled(object value.Value, to *catalog.Version) (value.Value, error) {
	from := schema.ParseGVK(object.Get("apiVersion").Str(), object.Get("kind").Str())
	switch {
	case from.Group != to.Group:
		return object, fmt.Errorf("%s/%s, Kind=%s is unstructured and is not suitable for converting to %q",
			from.Group, from.Version, from.Kind, to.APIVersion())
	case !slices.ContainsFunc(s.alike(), func(v *catalog.Version) bool { return v.APIVersion() == from.APIVersion() }):
		return object, fmt.Errorf("request to convert CR from an invalid group/version: %s", from.APIVersion())
	}
	if batch, ok := to.Form.(catalog.Batch); ok {
		return batch.Convert(object)
	}
	return object.With("apiVersion", value.String(to.APIVersion())), nil
}

// Read returns the object that a text is at an endpoint. It is read as its Go type reads it, or as it is if there is none.
func (s *scope) Read(text []byte, at admission.Endpoint) (sent, defaulted value.Value, err error) {
	v, err := s.version(at)
	if err != nil {
		return sent, sent, err
	}
	scale, action := s.task.Request.IsScale(), v.Actions[s.task.Request.Target.Subresource]
	switch {
	case action != nil:
		sent, err = readTyped(text, action.GVK(), action.New())
		return sent, sent, err
	case v.Custom:
		sent, err = readUntyped(text)
	case scale:
		sent, err = readTyped(text, catalog.ScaleKind, catalog.EmptyScale())
	default:
		if err := checkQuantities(v, text); err != nil {
			return sent, sent, err
		}
		sent, err = readTyped(text, v.GVK(), v.New())
	}
	if err != nil || scale {
		return sent, sent, err
	}
	defaulted, err = v.Form.Complete(sent)
	return sent, defaulted, err
}

// readUntyped reads a text that must say of which kind it is.
func readUntyped(text []byte) (value.Value, error) {
	var found struct {
		Kind string `json:"kind"`
	}
	if err := json.Unmarshal(text, &found); err != nil {
		return value.Value{}, err
	}
	if found.Kind == "" {
		return value.Value{}, runtime.NewMissingKindErr(string(text))
	}
	return value.Parse(text)
}

// readTyped reads a text by the Go type of a built-in kind, of which object is an empty one. It need not say of which kind it is, and then
// what it is read as says it neither.
func readTyped(text []byte, gvk schema.GVK, object any) (value.Value, error) {
	var found metav1.TypeMeta
	if err := json.Unmarshal(text, &found); err != nil {
		return value.Value{}, fmt.Errorf("couldn't get version/kind; json parse error: %w", err)
	}
	if found.APIVersion == "" {
		found.APIVersion = gvk.APIVersion()
	}
	if found.Kind == "" {
		found.Kind = gvk.Kind
	}
	if found.APIVersion != gvk.APIVersion() || found.Kind != gvk.Kind {
		return value.Value{}, unregistered(found)
	}
	if err := kjson.Unmarshal(text, object); err != nil {
		return value.Value{}, err
	}
	return structs.From(object)
}

// unregistered is the error of kube-apiserver about a kind that it does not know.
func unregistered(t metav1.TypeMeta) error {
	group, version, found := strings.Cut(t.APIVersion, "/")
	if !found {
		group, version = "", t.APIVersion
	}
	if strings.Contains(version, "/") {
		return stderrors.New("unexpected GroupVersion string: " + t.APIVersion)
	}
	name := version
	if group != "" {
		name = group + "/" + version
	}
	return fmt.Errorf(`no kind %q is registered for version %q in scheme "pkg/runtime/scheme.go:111"`, t.Kind, name)
}
