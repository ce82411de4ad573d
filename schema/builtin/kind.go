package builtin

import (
	_ "embed"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/form"
	"github.com/deed-project/deed/value"
)

//go:embed kinds.json
var writtenKinds []byte

//go:embed forms.txt
var writtenForms string

//go:embed defaults.txt
var defaults string

// Kind is a built-in kind in one version. It is immutable. The caller must not modify its slices. [Lookup], [Kinds]
// and [Siblings] return Kinds. The nil Kind and the zero Kind are not built-in kinds: their methods return an
// [*UnservedError] if they can fail, and change nothing otherwise.
type Kind struct {
	GVK  schema.GVK
	Hub  string // the apiVersion in which a server stores objects of the kind
	hub  bool   // whether Hub is this version
	form string // the name of its struct type
	now  func() time.Time

	release *Release // nil for the current one

	// Since is the first release of Kubernetes with the version, such as v1.9. Removed is the first published release
	// that does not serve it any more. Replacement is the served kind to use instead, such as apps/v1 Deployment. All
	// are empty if unknown.
	Since, Removed, Replacement string
	// Served says whether servers serve the version: by default, on request, or not at all.
	Served Serving

	// The fields below are known for served versions only.

	Resource, Singular     string
	ShortNames, Categories []string
	Namespaced             bool
	Verbs                  []string
	Subresources           []Subresource
	reset                  map[string]merge.Filter // by subresource: the fields that the endpoint does not write
	unowned                map[string]merge.Filter // by subresource: the fields that managers do not own; nil means reset
}

// Serving says whether servers serve a version.
type Serving uint8

// The values of Serving. --runtime-config turns on a version that is ServedOnRequest.
const (
	NotServed Serving = iota
	ServedOnRequest
	ServedByDefault
)

// Subresource is a part of an object, or an action, with a path of its own.
type Subresource struct {
	Name  string
	GVK   schema.GVK // the kind that it reads and writes
	Verbs []string
}

// Lookup returns the Kind of gvk, and whether it is a built-in one.
func Lookup(gvk schema.GVK) (*Kind, bool) {
	k, ok := kindIndex().kinds[gvk]
	return k, ok
}

// Kinds yields the built-in kinds in all their versions, sorted by group, kind and version.
func Kinds() iter.Seq[*Kind] { return slices.Values(kindIndex().sorted) }

// Siblings returns all versions in which objects of the kind of gvk can be written, gvk itself among them. They are
// sorted by group and version. Events are in two groups. Every other kind is in one.
func Siblings(gvk schema.GVK) []*Kind { return siblings(kindIndex().sorted, gvk) }

// siblings is Siblings among kinds, those of a release.
func siblings(kinds []*Kind, gvk schema.GVK) []*Kind {
	var out []*Kind
	for _, k := range kinds {
		if k.GVK.Kind == gvk.Kind && family(k.GVK) == family(gvk) {
			out = append(out, k)
		}
	}
	return out
}

// family returns the group whose objects a server stores for gvk.
func family(gvk schema.GVK) string {
	if gvk.Group == "events.k8s.io" && gvk.Kind == "Event" {
		return ""
	}
	return gvk.Group
}

// indexOfKinds is the content of kinds.json.
type indexOfKinds struct {
	sorted []*Kind
	kinds  map[schema.GVK]*Kind
}

// kindIndex returns the content of kinds.json. It panics if the file is damaged.
var kindIndex = sync.OnceValue(func() indexOfKinds {
	list, err := value.Parse(writtenKinds)
	if err != nil {
		panic("builtin: " + err.Error())
	}
	x := indexOfKinds{kinds: map[schema.GVK]*Kind{}}
	hubs := map[[2]string]string{} // by family and kind
	for v := range list.Items() {
		k := kindOf(v)
		x.sorted, x.kinds[k.GVK] = append(x.sorted, k), k
		if v.Get("hub").Bool() && family(k.GVK) == k.GVK.Group {
			hubs[[2]string{k.GVK.Group, k.GVK.Kind}] = k.GVK.APIVersion()
		}
	}
	for _, k := range x.sorted {
		k.Hub = hubs[[2]string{family(k.GVK), k.GVK.Kind}]
		k.hub = k.Hub == k.GVK.APIVersion()
	}
	return x
})

func kindOf(v value.Value) *Kind {
	k := &Kind{
		GVK:  schema.GVK{Group: v.Get("group").Str(), Version: v.Get("version").Str(), Kind: v.Get("kind").Str()},
		form: v.Get("form").Str(), Since: v.Get("since").Str(), Removed: v.Get("removed").Str(),
		Replacement: v.Get("replacement").Str(), Resource: v.Get("resource").Str(), Singular: v.Get("singular").Str(),
		ShortNames: texts(v.Get("shortNames")), Categories: texts(v.Get("categories")), Verbs: texts(v.Get("verbs")),
		Namespaced: v.Get("namespaced").Bool(), reset: map[string]merge.Filter{},
	}
	switch v.Get("served").Str() {
	case "default":
		k.Served = ServedByDefault
	case "option":
		k.Served = ServedOnRequest
	}
	for s := range v.Get("subresources").Items() {
		sub := Subresource{Name: s.Get("name").Str(), GVK: k.GVK, Verbs: texts(s.Get("verbs"))}
		sub.GVK.Kind = s.Get("kind").Str()
		if version := s.Get("version").Str(); version != "" {
			sub.GVK.Group, sub.GVK.Version = s.Get("group").Str(), version
		}
		k.Subresources = append(k.Subresources, sub)
	}
	for name, paths := range v.Get("reset").Members() {
		k.reset[name] = merge.Filter{Exclude: pathsOf(paths)}
	}
	return k
}

func texts(list value.Value) []string {
	var out []string
	for item := range list.Items() {
		out = append(out, item.Str())
	}
	return out
}

// pathsOf reads a list of paths, each a list of the names of fields.
func pathsOf(list value.Value) fieldpath.Set {
	var paths []fieldpath.Path
	for names := range list.Items() {
		var p fieldpath.Path
		for name := range names.Items() {
			p = append(p, fieldpath.Field(name.Str()))
		}
		paths = append(paths, p)
	}
	return fieldpath.SetOf(paths...)
}

// forms returns the current forms. It panics if an embedded file is damaged.
var forms = sync.OnceValue(func() *form.Types { return parseForms(writtenForms) })

// formerForms are fields that print as null before a release if they are not set. Since that release, they are left
// out. The time is that of metadata inside of objects, such as templates.
var formerForms = []struct{ until, in, is, was string }{
	{"v1.33", "resource/v1beta1.AllocatedDeviceStatus", "data? *raw", "data raw"},
	{"v1.34", "meta/v1.ObjectMeta", "creationTimestamp?! ", "creationTimestamp? "},
	{"v1.34", "resource/v1beta1.DeviceRequestAllocationResult", "adminAccess? ", "adminAccess "},
	{"v1.34", "resource/v1beta2.DeviceRequestAllocationResult", "adminAccess? ", "adminAccess "},
	{"v1.35", "resource/v1.ResourceSliceSpec", "devices? ", "devices "},
	{"v1.35", "resource/v1beta1.ResourceSliceSpec", "devices? ", "devices "},
	{"v1.35", "resource/v1beta2.ResourceSliceSpec", "devices? ", "devices "},
}

// formsOf has the forms by minor release.
var formsOf = func() (out [CurrentMinor + 1]func() *form.Types) {
	for minor := range out {
		out[minor] = sync.OnceValue(func() *form.Types { return formsIn(minor) })
	}
	return out
}()

// formsIn returns the forms of a minor release.
func formsIn(minor int) *form.Types {
	text := writtenForms
	for _, f := range formerForms {
		if minor < minorOf(f.until) {
			before, fields, _ := strings.Cut(text, "\n"+f.in+"\n")
			text = before + "\n" + f.in + "\n" + strings.Replace(fields, "\t"+f.is, "\t"+f.was, 1)
		}
	}
	if text == writtenForms {
		return forms()
	}
	return parseForms(text)
}

func parseForms(text string) *form.Types {
	types := form.Parse(text)
	called := functions
	called.Print = printed
	if err := types.SetRules(defaults, called); err != nil {
		panic(fmt.Sprintf("builtin: defaults.txt: %v", err))
	}
	return types
}

// known returns k, and the zero Kind for nil.
func (k *Kind) known() *Kind {
	if k == nil {
		return &Kind{}
	}
	return k
}

// Form returns the Go type of the kind's objects. Its Normalize computes the value that a server reads and prints.
// Form returns nil if k is not a built-in kind.
func (k *Kind) Form() *form.Type {
	k = k.known()
	types := forms
	if r := k.release; r != nil && !r.emulated {
		types = formsOf[r.minor]
	}
	t, _ := types().Struct(k.form)
	return t
}

// WithClock returns the kind with a clock for default values. The default clock is time.Now.
func (k *Kind) WithClock(now func() time.Time) *Kind {
	with := *k.known()
	with.now = now
	return &with
}

// Held returns the object that a server holds after it read object. The result has default values and canonical
// spelling. It lacks fields that the kind does not know. The error is a [*ConvertError] about a value that the kind
// cannot hold.
//
// Cost: linear in the size of object.
func (k *Kind) Held(object value.Value) (value.Value, error) {
	return k.known().normalized(object, form.Held)
}

// HeldAgain is Held for an object that Held returned. [Kind.Spelled] may have changed it.
func (k *Kind) HeldAgain(object value.Value) (value.Value, error) {
	return k.known().normalized(object, form.Held|form.Again)
}

// HeldApplied is Held for the outcome of an apply. A server reads it as a map, and cuts off a number to the size of
// its type.
func (k *Kind) HeldApplied(object value.Value) (value.Value, error) {
	return k.known().normalized(object, form.Held|form.Converted)
}

// Printed returns an object that a server holds in the form that its Go type prints. Unlike Held, it adds no
// defaults.
func (k *Kind) Printed(object value.Value) (value.Value, error) {
	return k.known().normalized(object, form.Printed|form.Again)
}

// normalized reads and prints object.
func (k *Kind) normalized(object value.Value, mode form.Mode) (value.Value, error) {
	return k.normalizedLike(object, value.Value{}, mode)
}

// normalizedLike is normalized for an object that shares members with known, an earlier result.
func (k *Kind) normalizedLike(object, known value.Value, mode form.Mode) (value.Value, error) {
	t := k.Form()
	if t == nil {
		return value.Value{}, &UnservedError{GVK: k.GVK}
	}
	out, err := t.NormalizeLike(object, known, mode, k.clock())
	if err == nil {
		return k.admitted(k.readPodResources(k.undefaulted(object, out))), nil
	}
	var refused *form.Error
	if errors.As(err, &refused) {
		return value.Value{}, &ConvertError{k.GVK, refused}
	}
	return value.Value{}, err
}

// Minor returns the number of the kind's minor release, such as 37 for v1.37.
func (k *Kind) Minor() int {
	if k.known().release == nil {
		return CurrentMinor
	}
	return k.release.minor
}

// schemas returns the schemas of the kind's release.
func (k *Kind) schemas() *kinds {
	if k.release == nil {
		return all()
	}
	return k.release.schemas
}

// admitted returns held without the fields that the kind does not have in its release.
func (k *Kind) admitted(held value.Value) value.Value {
	if k.release == nil || k.release.schemas == all() {
		return held
	}
	t, ok := k.schemas().typeOf(k.GVK)
	if !ok {
		return held
	}
	return declaredBy(t, held)
}

// siblings returns all versions in which objects of the kind can be written, sorted by group and version.
func (k *Kind) siblings() []*Kind {
	if k.release == nil {
		return Siblings(k.GVK)
	}
	return siblings(k.release.index.sorted, k.GVK)
}

// filter returns the filter of fields that managers at an endpoint do not own, and whether there is one.
func (k *Kind) filter(subresource string) (merge.Filter, bool) {
	filters := k.unowned
	if filters == nil {
		filters = k.reset
	}
	filter, ok := filters[subresource]
	return filter, ok
}

// clock returns the clock of the kind.
func (k *Kind) clock() func() time.Time {
	if k.now == nil {
		return time.Now
	}
	return k.now
}
