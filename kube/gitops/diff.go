package gitops

import (
	"errors"
	"fmt"
	"sync"

	gvkschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/internal/door"
	"github.com/deed-project/deed/kube"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
	"github.com/deed-project/deed/value"
)

// Options names the applier, and the fields that do not count as differences.
type Options struct {
	// Manager is the name of the field manager that applies. It must not be empty.
	Manager string
	// Subresource is the subresource of the apply, such as status. It is empty for the object itself.
	Subresource string
	// Ignore selects the fields that do not count. nil selects none.
	Ignore *Rules
}

// Result describes the changes of an apply. It is immutable.
type Result struct {
	// Object is the object that a server would store, with all conflicts decided for the manager. Its times are those of the call.
	Object managedfields.Object
	// Live is the live object without managed fields, in the version of the desired one. If the apply changes it, Live has the default
	// values and normal forms that a server adds when it reads the object.
	Live value.Value
	// Creates says that there is no live object.
	Creates bool
	// Changes are the fields that the apply changes, in the order of the object. A container that is added or removed is one change.
	// Changes leaves out bookkeeping fields, such as metadata.generation, and the status of an object that is created.
	Changes []Change
	// Ignored are the changes that [Options.Ignore] leaves out. Excluded says that a rule leaves out the whole object.
	Ignored  []Change
	Excluded bool
	// Unknown are the fields of both objects that the schema of the kind lacks. They are merged as values without a schema. Those that
	// change are also among Changes.
	Unknown []Unknown
	// Conflicts are the changes of fields that other managers own. Without force, a server answers with them and changes nothing.
	Conflicts []Conflict
	// Ownership says whether the apply changes the owners of fields. Such an apply has an effect even if no value changes.
	Ownership bool
	// Refused is the reason for which the schema refuses the desired object, such as a text in place of a number. The objects are then
	// compared without a schema. Unknown fields are no such reason.
	Refused error
	// Untyped says that no schema of the kind is known. Lists are then compared as a whole.
	Untyped bool

	kind    *schema.Type
	desired value.Value
}

// Modified reports whether the apply would create the object, or change a field that is not ignored.
func (r *Result) Modified() bool { return !r.Excluded && (r.Creates || len(r.Changes) > 0) }

// builtins is the registry of the kinds that need no source.
var builtins = sync.OnceValues(func() (*kube.Registry, error) { return kube.NewRegistry(kube.Sources{}) })

// Diff returns the changes that a server-side apply of desired by a manager would make in live. live is nil if no object is stored yet.
// Both are in a form that [kube.ObjectOf] reads. Diff ignores the managed fields of desired, which a server would refuse. registry has
// the schemas; a nil registry has the built-in kinds only.
//
//  1. The live object is converted to the version of the desired one.
//  2. The field manager of the kind applies the desired object with force: see [managedfields.FieldManager.Plan].
//  3. If the schema lacks a field, the field manager of [kube.Registry.Lenient] applies it, and [Result.Unknown] lists the field. If an
//     object has values of a wrong type, the objects are compared without a schema, and [Result.Refused] has the reason.
//  4. The outcome and the live object get the default values and normal forms that a server would give, such as those of quantities. They
//     are then compared.
//  5. The fields that o.Ignore selects are removed from both objects, which are then compared again.
//
// The error names the invalid argument: a value that is no object, a manager without a name, or invalid managed fields of live.
func Diff(live, desired any, registry *kube.Registry, o Options) (*Result, error) {
	if o.Manager == "" {
		return nil, errors.New("the manager that applies has no name")
	}
	if registry == nil {
		var err error
		if registry, err = builtins(); err != nil {
			return nil, err
		}
	}
	before, err := kube.ObjectOf(live)
	if err != nil {
		return nil, fmt.Errorf("live object: %w", err)
	}
	config, err := kube.ObjectOf(desired)
	if err != nil {
		return nil, fmt.Errorf("desired object: %w", err)
	}
	if config.GVK().Kind == "" {
		return nil, errors.New("the desired object has no kind")
	}
	config.Entries = nil
	d := differ{registry: registry, options: o, gvk: gvkschema.GroupVersionKind(config.GVK())}
	return d.diff(before, config)
}

// differ compares the objects of a kind.
type differ struct {
	registry *kube.Registry
	options  Options
	gvk      gvkschema.GroupVersionKind
}

// diff returns the result for two objects.
func (d differ) diff(live, config managedfields.Object) (*Result, error) {
	r := &Result{Creates: live.Content.IsAbsent(), desired: config.Content}
	to, err := d.registry.Endpoint(d.gvk, d.options.Subresource)
	var unserved *builtin.UnservedError
	if errors.As(err, &unserved) {
		to, err = d.registry.Lenient(d.gvk, d.options.Subresource)
	}
	if err != nil {
		return nil, err
	}
	r.kind = to.Config.Types[d.gvk.GroupVersion().String()]
	r.Untyped = r.kind == schema.Deduced
	if live, err = d.converted(live, to.Config); err != nil {
		return nil, err
	}
	r.Live = live.Content
	plan, to, err := d.apply(r, to, live, config)
	if err != nil {
		return nil, err
	}
	r.Ownership = !kube.SameOwners(live.Entries, r.Object.Entries)
	r.Conflicts = conflictsOf(plan.Conflicts(), d.options.Manager)
	rules := d.options.Ignore.of(r.Live, config.Content)
	r.Excluded = rules.whole
	if !plan.Changed() {
		return r, nil
	}
	if r.Changes = r.changes(r.Live, r.Object.Content); len(r.Changes) == 0 {
		return r, nil
	}
	// The live object may come from a file, and lack the values that a server adds when it reads the object.
	if held, err := normalized(to.Config, r.Live); err == nil && !r.Creates && !held.Equal(r.Live) {
		r.Live = held
		r.Changes = r.changes(held, r.Object.Content)
	}
	if !rules.empty() {
		r.ignore(rules, live.Entries)
	}
	return r, nil
}

// apply applies config to live with force, and sets the object of r. It returns the plan and its endpoint: to, or an endpoint that
// accepts the fields and values that to refuses.
func (d differ) apply(r *Result, to kube.Endpoint, live, config managedfields.Object) (*managedfields.Plan, kube.Endpoint, error) {
	plan, err := d.force(r, to, live, config)
	if err != nil { // decoders of YAML may hold all numbers as floats
		live.Content, config.Content = integral(live.Content), integral(config.Content)
		r.Live = live.Content
		plan, err = d.force(r, to, live, config)
	}
	var entry *managedfields.EntryError
	if err == nil || r.Untyped || errors.As(err, &entry) {
		return plan, to, err
	}
	if r.Unknown = unknownIn(r.kind, live.Content, config.Content); len(r.Unknown) > 0 {
		lenient, lenientErr := d.registry.Lenient(d.gvk, d.options.Subresource)
		if lenientErr != nil {
			return nil, to, lenientErr
		}
		if plan, err = d.force(r, lenient, live, config); err == nil {
			return plan, lenient, nil
		}
	}
	r.Refused, r.kind = err, schema.Deduced
	types := map[string]*schema.Type{d.gvk.GroupVersion().String(): schema.Deduced}
	to.Config = managedfields.Config{GVK: schema.GVK(d.gvk), Subresource: d.options.Subresource, Types: types}
	if to.Manager, err = managedfields.New(to.Config); err != nil {
		return nil, to, err
	}
	plan, err = d.force(r, to, live, config)
	return plan, to, err
}

// integral returns v with whole floats as integers, like a decoder of JSON text.
func integral(v value.Value) value.Value {
	switch v.Kind() {
	case value.KindFloat:
		if i := int64(v.Float()); float64(i) == v.Float() && i > -1<<53 && i < 1<<53 {
			return value.Int(i)
		}
	case value.KindObject:
		out := v
		for name, member := range v.Members() {
			if whole := integral(member); !whole.Same(member) {
				out = out.With(name, whole)
			}
		}
		return out
	case value.KindList:
		items, same := []value.Value(nil), true
		for item := range v.Items() {
			whole := integral(item)
			items, same = append(items, whole), same && whole.Same(item)
		}
		if !same {
			return value.List(items...)
		}
	}
	return v
}

// force applies config to live with the field manager of an endpoint.
func (d differ) force(r *Result, to kube.Endpoint, live, config managedfields.Object) (*managedfields.Plan, error) {
	plan, err := to.Manager.Plan(live, config, d.options.Manager)
	if err != nil {
		return nil, err
	}
	if r.Object = live; changesNothing(plan) {
		return plan, nil
	}
	r.Object, err = plan.Force()
	return plan, err
}

var managing = door.Open(managedfields.Internal{})

// changesNothing reports whether a server would store the live object unchanged. Then there is no outcome to compute.
func changesNothing(plan *managedfields.Plan) bool {
	if plan.Changed() {
		return false
	}
	before, after := managing.Stored(plan), managing.Merge(plan).Force().Managers
	left := 0
	for range before.All() {
		left++
	}
	for e := range after.All() {
		was, ok := before.Get(e.Manager)
		if left--; !ok || was.APIVersion != e.APIVersion || !was.Fields.Equal(e.Fields) {
			return false
		}
	}
	return left == 0
}

// converted returns live in the version of the desired object.
func (d differ) converted(live managedfields.Object, config managedfields.Config) (managedfields.Object, error) {
	from, to := live.Content.Get("apiVersion").Str(), d.gvk.GroupVersion().String()
	if live.Content.IsAbsent() || from == to {
		return live, nil
	}
	converter := config.Converter
	if converter == nil || config.Types[from] == nil {
		return managedfields.Object{Content: live.Content.With("apiVersion", value.String(to)), Entries: live.Entries}, nil
	}
	content, err := converter.Convert(live.Content, to)
	if err != nil {
		return live, fmt.Errorf("live object: cannot convert %s to %s: %w", from, to, err)
	}
	return managedfields.Object{Content: content, Entries: live.Entries}, nil
}

// normalized returns the object that a server with the configuration c reads after it has stored object.
func normalized(c managedfields.Config, object value.Value) (value.Value, error) {
	if c.Hold != nil {
		held, err := c.Hold(object)
		if err != nil {
			return object, err
		}
		object = held
	}
	if c.Default != nil {
		object = c.Default(object)
	}
	return object, nil
}
