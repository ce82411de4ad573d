package write

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/internal/door"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/kjson"
	"github.com/deed-project/deed/server/rest"
	"github.com/deed-project/deed/value"
	"github.com/deed-project/deed/value/structs"
)

// What plugins may ask about a write beyond the object: its options, the other versions of the object, and the object in such a version.
// All of it is computed on demand, because most writes meet no webhook that asks.

// scope implements admission.Scope for a write.
type scope struct {
	// task is the write. It caches the equivalents, since a write has several scopes: for mutating and for validating plugins.
	task      *Task
	operation admission.Operation
	unread    func() bool
}

// Unread reports whether the object differs from what its text decodes to.
func (s *scope) Unread() bool { return s.unread != nil && s.unread() }

// Options returns the options of the write as kube-apiserver passes them on. A patch has the options of a create or an update. A connection
// has none.
//
// They are taken from the query as it was sent, since its values were checked before. The options of a delete are those of the task, for
// they may come from the body.
func (s *scope) Options() value.Value {
	query, typed, kind := s.task.Request.Query, any(s.task.deletion), "DeleteOptions"
	switch s.operation {
	case admission.Connect:
		return value.Null()
	case admission.Create:
		kind = "CreateOptions"
		typed = &metav1.CreateOptions{
			DryRun: query["dryRun"], FieldManager: query.Get("fieldManager"), FieldValidation: query.Get("fieldValidation"),
		}
	case admission.Update:
		kind = "UpdateOptions"
		typed = &metav1.UpdateOptions{
			DryRun: query["dryRun"], FieldManager: query.Get("fieldManager"), FieldValidation: query.Get("fieldValidation"),
		}
	}
	options, err := structs.From(typed)
	if err != nil {
		panic(err) // options are plain data
	}
	return options.With("kind", value.String(kind)).With("apiVersion", value.String("meta.k8s.io/v1"))
}

// Equivalents returns the endpoints of all other versions of the objects.
//
// Versions of other groups count too, if they share the stored objects. A version without the subresource of the request does not count.
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

// endpoint returns the endpoint that a request has in a version.
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

// Served identifies the version that is written. A version that is defined anew is another one.
func (s *scope) Served() any { return s.task.Request.Version }

// alike returns the versions in which the objects are served, of this resource and of others.
func (s *scope) alike() []*catalog.Version {
	return s.task.Writer.Host.SharingStorage(s.task.Request.Version.Resource)
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

// Convert returns an object as an endpoint has it. Custom resources get another apiVersion, unless a webhook converts them. Objects of
// built-in kinds are converted by their Go types.
//
// Only objects of built-in kinds can change their group, as events do. The error of an unknown version names the endpoint.
func (s *scope) Convert(object value.Value, from, to admission.Endpoint) (value.Value, error) {
	if s.task.Request.Version.Custom && s.task.Request.IsScale() {
		return readTyped(object.AppendJSON(nil), catalog.ScaleKind, catalog.EmptyScale()) // a Scale is the same in all versions
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
//
// From one version to another it passes through the stored version, which stands for kube-apiserver's internal version. In the same
// version, an object is printed. Preparing it may have removed defaults, such as the phase of a claim, and they stay away.
func (s *scope) reprinted(object value.Value, from admission.Endpoint, to *catalog.Version) (value.Value, error) {
	was, err := s.version(from)
	switch {
	case err != nil:
		return object, err
	case was == to:
		if form, ok := to.Form.(catalog.PrintingForm); ok {
			return form.Print(object)
		}
		return to.Form.Complete(object)
	}
	stored, err := was.Form.Store(object)
	if err != nil {
		return object, err
	}
	return to.Form.Load(stored)
}

// relabelled returns a custom resource in another version: with another apiVersion, unless a webhook converts it. The error says that the
// object is of an unknown version or of another group.
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

// Read returns the object that a text decodes to at an endpoint, as sent and with defaults. Objects of built-in kinds are decoded by their
// Go types.
//
// A Scale and the object of an action have no defaults, so for these sent and defaulted are the same.
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

// ReadStrict returns the object that a text decodes to at an endpoint, with its defaults.
func (s *scope) ReadStrict(text []byte, at admission.Endpoint) (value.Value, error) {
	_, defaulted, err := s.Read(text, at)
	if err != nil {
		return defaulted, err
	}
	into := s.New(at)
	if into == nil || s.task.Request.Version.Custom {
		into = &map[string]any{} // only fields that stand twice are faults
	}
	found, err := kjson.UnmarshalStrict(text, into)
	if err == nil && len(found) > 0 {
		err = runtime.NewStrictDecodingError(found)
	}
	return defaulted, err
}

// New returns a pointer to an empty object of the Go type at an endpoint.
func (s *scope) New(at admission.Endpoint) any {
	v, err := s.version(at)
	if err != nil {
		return nil
	}
	switch action := v.Actions[s.task.Request.Target.Subresource]; {
	case action != nil:
		return action.New()
	case s.task.Request.IsScale():
		return catalog.EmptyScale()
	case v.New != nil:
		return v.New()
	}
	return nil
}

// fieldManagers opens what managedfields shows to other packages of the module.
var fieldManagers = door.Open(managedfields.Internal{})

// Mutable returns why policies that made an object of what they see at an endpoint cannot change it: objects of built-in kinds at another
// version than that of the request, and the Scales of custom resources.
func (s *scope) Mutable(at admission.Endpoint, made value.Value) error {
	q := s.task.Request
	switch {
	case q.Version.Custom && q.IsScale() && made.IsAbsent():
		return nil
	case q.Version.Custom && q.IsScale():
		if of := schema.ParseGVK(made.Get("apiVersion").Str(), made.Get("kind").Str()); of.Group != catalog.ScaleKind.Group {
			return fmt.Errorf("%v is unstructured and is not suitable for converting to %q", of, catalog.ScaleKind.APIVersion())
		}
		return fmt.Errorf("request to convert CR to an invalid group/version: %s", catalog.ScaleKind.APIVersion())
	case q.Version.Custom || at.Kind == endpoint(q, q.Version).Kind:
		return nil
	}
	return fmt.Errorf("converting (%s) to (%s): unknown conversion", typeName(s.New(at)), typeName(s.New(endpoint(q, q.Version))))
}

// typeName returns the name of the type that a pointer points to, such as v1.Pod.
func typeName(object any) string { return strings.TrimPrefix(fmt.Sprintf("%T", object), "*") }

// Type returns the type of the objects at an endpoint: that of their field manager, or the published one. Scales, and the objects of actions
// other than bindings, have none.
func (s *scope) Type(at admission.Endpoint) (*schema.Type, error) {
	gvk := schema.GVK{Group: at.Kind.Group, Version: at.Kind.Version, Kind: at.Kind.Kind}
	v, err := s.version(at)
	if err != nil {
		return nil, err
	}
	var t *schema.Type
	q := s.task.Request
	switch action := v.Actions[q.Target.Subresource]; {
	case action != nil && action.Published != nil:
		t = action.Published()
	case v.Published != nil:
		t = v.Published()
	case v.Main != nil && !q.IsScale() && action == nil:
		t = fieldManagers.Config(v.Main()).Types[gvk.APIVersion()]
	}
	if t == nil {
		return nil, fieldManagers.NoType(gvk)
	}
	return t, nil
}

// readUntyped decodes a text that must have a kind.
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

// readTyped decodes a text by the Go type of a built-in kind; object is an empty object of that type. A text without apiVersion and kind
// decodes to an object without them.
//
// Another kind is refused in the words of kube-apiserver for a kind that its scheme does not know.
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
		return value.Value{}, api.UnregisteredKind(found.Kind, found.APIVersion)
	}
	if err := kjson.Unmarshal(text, object); err != nil {
		return value.Value{}, err
	}
	return structs.From(object)
}
