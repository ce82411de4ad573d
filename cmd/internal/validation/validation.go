// Package validation is the validation of deed-apiserver, as package types asks for it. It stands apart because it imports the server's rules
// and, with them, large libraries. Those of CEL and of definitions take longer to start than most commands take altogether: see [Checks].
package validation

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/cmd/internal/types"
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
	"github.com/deed-project/deed/server/kinds"
	"github.com/deed-project/deed/server/kinds/walk"
	"github.com/deed-project/deed/server/structural/keywords"
	"github.com/deed-project/deed/value"
)

// Server is the [types.Validation] of deed-apiserver: see package kinds of the server.
type Server struct {
	Checks Checks // nil if nothing makes them
}

var _ types.Validation = Server{}

// Validate implements [types.Validation]. It takes time in proportion to both objects.
func (s Server) Validate(kind *builtin.Kind, typ *schema.Type, subresource string, live, object, sent value.Value) types.Validated {
	k, stays := kinds.Of(kind).WithFamilies(familiesOf(live)...), live.Same(object)
	if k.CheckConversion != nil {
		if err := k.CheckConversion(sent); err != nil {
			return types.Validated{Findings: []types.Finding{types.NewFinding(nil, types.UnreadableClass, secret.RawText(err.Error()))}}
		}
	}
	if held, err := k.Held(live); err == nil && !live.IsAbsent() {
		live = held // files may lack values that a server has filled in
	}
	if held, err := k.Held(object); err == nil {
		object = held // likewise, if an apply changes nothing
	}
	live, object = requested(k, live, object, subresource)
	object = k.WithEmpties(subresource, live.IsAbsent(), k.Admit(object, live), sent)
	if stays {
		return types.Validated{Warnings: WarningsAbout(typ, object, k.Warnings(context.Background(), object, live, subresource))}
	}
	k = k.WithFamilies(families...) // the cluster may have both
	checked, unchecked := s.check(k, object, live, subresource)
	var fresh Checked
	if len(checked.Errors) > 0 && !live.IsAbsent() {
		fresh, _ = s.check(k, object, value.Value{}, subresource)
	}
	if k.WarnOfNew != nil && live.IsAbsent() && subresource == "" {
		checked.Warnings = append(k.WarnOfNew(sent), checked.Warnings...)
	}
	return validated(typ, live, object, checked, fresh, unchecked)
}

// check returns what a server finds in object, of kind k, in place of live, and what is not checked.
func (s Server) check(k kinds.Kind, object, live value.Value, subresource string) (out Checked, unchecked string) {
	var found noting
	ctx := context.Background()
	if out.Errors = k.WithExpressions(found.compiler).Refused(ctx, object, live, subresource); len(out.Errors) == 0 {
		out.Warnings = k.Warnings(ctx, object, live, subresource)
	}
	unchecked, isApart := Apart(k.GVK)
	switch {
	case isApart:
	case found.expression:
		unchecked = "the expressions in CEL"
	default:
		return out, ""
	}
	all, err := s.checks().Whole(k.GVK, subresource, object, live)
	if err != nil {
		return out, because(unchecked, err)
	}
	return all, ""
}

// Apart returns what [Checks] validate of the objects of a kind. ok is false for a kind that package kinds of the server validates alone.
func Apart(gvk schema.GVK) (what string, ok bool) {
	what, ok = apart[gvk]
	return what, ok
}

// apart holds the answers of [Apart].
var apart = map[schema.GVK]string{
	{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}:               "the schemas of the definition",
	{Group: "admissionregistration.k8s.io", Version: "v1", Kind: "MutatingWebhookConfiguration"}:   "the webhooks",
	{Group: "admissionregistration.k8s.io", Version: "v1", Kind: "ValidatingWebhookConfiguration"}: "the webhooks",
}

// noting is a [walk.Compiler] that takes all expressions, and notes whether there are any.
type noting struct{ expression bool }

func (n *noting) compiler(bool) walk.Compiler { return n }

// Compile implements [walk.Compiler].
func (n *noting) Compile(walk.Use, string, string, bool) *field.Error {
	n.expression = true
	return nil
}

// validated returns what checks found in an object of a type that replaces live. fresh is what they find in the same object if it is new.
func validated(typ *schema.Type, live, object value.Value, checked, fresh Checked, unchecked string) types.Validated {
	out := types.Validated{Warnings: WarningsAbout(typ, object, checked.Warnings), Unchecked: unchecked}
	said := map[string]bool{}
	for _, err := range checked.Errors {
		text := err.ErrorBody()
		if said[err.Field+text] {
			continue // a server says it once, too
		}
		said[err.Field+text] = true
		path := types.Named(typ, object, walk.PathIn(object, types.InVersion(object, keywords.Place(err.Field, text))))
		out.Findings = append(out.Findings, types.NewFinding(path, classOf(err, live, fresh.Errors), secret.RawText(text)))
	}
	return out
}

// WarningsAbout returns the warnings in texts of a server about an object of type typ. Most texts begin with the path of a value.
func WarningsAbout(typ *schema.Type, object value.Value, texts []string) []types.Warning {
	var out []types.Warning
	for _, text := range texts {
		var path fieldpath.Path
		if at, _, ok := strings.Cut(text, ": "); ok && !strings.Contains(at, " ") {
			path = types.Named(typ, object, walk.PathIn(object, types.InVersion(object, at)))
		}
		out = append(out, types.NewWarning(path, secret.RawText(text)))
	}
	return out
}

// requested returns live and object as requests and answers have them: see [identified]. Objects of built-in kinds also get what the server
// generates from their UID. It generates nothing for an object that a write through a subresource creates.
func requested(k kinds.Kind, live, object value.Value, subresource string) (value.Value, value.Value) {
	live, object, ok := identified(k.Namespaced, live, object)
	if !ok || live.IsAbsent() && subresource != "" {
		return live, object
	}
	uid := object.Get("metadata", "uid")
	if live.IsAbsent() {
		return live, k.Complete(object, live, uid)
	}
	if whole := k.Complete(live, value.Value{}, uid); !whole.Equal(live) { // no server has stored it
		return whole, k.Complete(object, value.Value{}, uid)
	}
	return live, k.Complete(object, live, value.Value{})
}

// identified returns live and object with what objects in files lack, and objects of requests have: a name instead of generateName, a
// namespace, and the metadata that only the server writes. It returns false, and both as they are, if one has no metadata.
func identified(namespaced bool, live, object value.Value) (_, _ value.Value, ok bool) {
	metadata, was := object.Get("metadata"), live.Get("metadata")
	generation := metadata.Get("generation")
	if metadata.Kind() != value.KindObject || !live.IsAbsent() && was.Kind() != value.KindObject {
		return live, object, false
	}
	if prefix := metadata.Get("generateName").Str(); prefix != "" && metadata.Get("name").Str() == "" {
		metadata = metadata.With("name", value.String(prefix[:min(len(prefix), 58)]+"00000"))
	}
	fill := func(metadata value.Value, name, otherwise string) value.Value {
		if metadata.Get(name).Str() != "" {
			return metadata
		}
		return metadata.With(name, value.String(otherwise))
	}
	namespace := metadata.Get("namespace").Str()
	if namespaced {
		namespace = cmp.Or(namespace, was.Get("namespace").Str(), "default")
	}
	metadata = metadata.With("namespace", value.Value{})
	if namespaced {
		metadata = metadata.With("namespace", value.String(namespace))
	}
	if live.IsAbsent() {
		return live, object.With("metadata", fill(metadata, "uid", madeUpUID)), true
	}
	was = fill(fill(fill(was, "uid", madeUpUID), "resourceVersion", "1"), "name", metadata.Get("name").Str())
	was = was.With("namespace", metadata.Get("namespace"))
	for _, name := range serverWritten {
		metadata = metadata.With(name, was.Get(name))
	}
	if !generation.IsAbsent() { // the outcome of a write; warnings depend on whether it changes
		metadata = metadata.With("generation", generation)
	}
	return live.With("metadata", was), object.With("metadata", metadata), true
}

// madeUpUID stands for the UID of an object that has none yet.
const madeUpUID = "00000000-0000-0000-0000-000000000000"

// serverWritten are the members of metadata that only the server writes.
var serverWritten = []string{
	"uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds",
}

// families are the families of the addresses of Services. A cluster has one of them or both.
var families = []string{"IPv4", "IPv6"}

// familiesOf returns the families that the cluster of a stored Service has, as far as the service shows them, and both if it shows none.
func familiesOf(live value.Value) []string {
	var out []string
	for family := range live.Get("spec", "ipFamilies").Items() {
		out = append(out, family.Str())
	}
	if len(out) == 0 {
		return families
	}
	return out
}

// StatusCreates implements [types.Validation].
func (Server) StatusCreates(kind *builtin.Kind, apply bool) bool {
	k := kinds.Of(kind)
	return k.CreateOnUpdate || apply && k.CreateOnApply
}

// Allocates implements [types.Validation].
func (Server) Allocates(kind *builtin.Kind, live, object value.Value) []types.Allocated {
	var out []types.Allocated
	for _, a := range kinds.Of(kind).Allocates(live, object) {
		out = append(out, types.Allocated{Paths: a.Paths, Reason: a.Reason})
	}
	return out
}

// classOf returns the class of an error about an object that replaces live. fresh holds the errors of the same object if it is new: an error
// that is not among them is about a change.
func classOf(err *field.Error, live value.Value, fresh field.ErrorList) string {
	same := func(other *field.Error) bool {
		return other.Field == err.Field && other.Type == err.Type && other.Detail == err.Detail
	}
	switch {
	case !live.IsAbsent() && !slices.ContainsFunc(fresh, same):
		return types.ImmutableClass
	case err.Type == field.ErrorTypeRequired:
		return types.RequiredClass
	case err.Type == field.ErrorTypeNotSupported:
		return types.UnsupportedClass
	case err.Type == field.ErrorTypeForbidden:
		return types.ForbiddenClass
	}
	return types.InvalidClass
}
