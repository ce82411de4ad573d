package merge

import (
	"errors"
	"fmt"
	"slices"

	deedpath "github.com/deed-project/deed/fieldpath"
	deed "github.com/deed-project/deed/merge"
	deedtyped "github.com/deed-project/deed/typed"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/internal/door"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

var (
	paths  = door.Open(fieldpath.Internal{})
	typing = door.Open(typed.Internal{})
)

// Converter converts objects between versions.
type Converter interface {
	// Convert returns object in version.
	Convert(object *typed.TypedValue, version fieldpath.APIVersion) (*typed.TypedValue, error)
	// IsMissingVersionError reports whether an error of Convert means that the version does not exist. Managers of that version lose
	// their fields.
	IsMissingVersionError(error) bool
}

// UpdaterBuilder has the options of an [Updater].
type UpdaterBuilder struct {
	Converter Converter

	// IgnoreFilter has, by version, the filter that keeps fields out of ownership.
	IgnoreFilter map[fieldpath.APIVersion]fieldpath.Filter

	// IgnoredFields has, by version, the fields that are kept out of ownership, with all fields below them. It must be nil if
	// IgnoreFilter is not nil.
	IgnoredFields map[fieldpath.APIVersion]*fieldpath.Set

	// ReturnInputOnNoop makes Apply return an object even if nothing changes.
	ReturnInputOnNoop bool
}

// BuildUpdater returns an Updater with the options of u.
func (u *UpdaterBuilder) BuildUpdater() *Updater {
	s := &Updater{
		Converter: u.Converter, IgnoreFilter: u.IgnoreFilter, IgnoredFields: u.IgnoredFields,
		returnInputOnNoop: u.ReturnInputOnNoop,
	}
	return s
}

// Updater decides how writes change objects and the owners of their fields. It may be used by several goroutines at once.
type Updater struct {
	// Deprecated: set it by an [UpdaterBuilder].
	Converter Converter

	// Deprecated: set it by an [UpdaterBuilder].
	IgnoredFields map[fieldpath.APIVersion]*fieldpath.Set

	// Deprecated: set it by an [UpdaterBuilder].
	IgnoreFilter map[fieldpath.APIVersion]fieldpath.Filter

	returnInputOnNoop bool
}

// filters returns the filters that keep fields out of ownership, by version.
func (s *Updater) filters() (map[string]deed.Filter, error) {
	if s.IgnoredFields != nil && s.IgnoreFilter != nil {
		return nil, errors.New("IgnoreFilter and IgnoreFilter may not both be set")
	}
	if len(s.IgnoredFields)+len(s.IgnoreFilter) == 0 {
		return nil, nil
	}
	out := make(map[string]deed.Filter, len(s.IgnoredFields)+len(s.IgnoreFilter))
	for version, fields := range s.IgnoredFields {
		if fields != nil {
			out[string(version)] = deed.Filter{Exclude: paths.Deed(fields)}
		}
	}
	for version, filter := range s.IgnoreFilter {
		if excluded, ok := paths.Excluded(filter); ok {
			out[string(version)] = deed.Filter{Exclude: paths.Deed(excluded)}
		} else if filter != nil {
			out[string(version)] = deed.Filter{Keep: func(s deedpath.Set) deedpath.Set {
				return paths.Deed(filter.Filter(paths.Wrap(s, false)))
			}}
		}
	}
	return out, nil
}

// Update replaces liveObject by newObject. Both are in the given version. It returns newObject and the owners afterwards. manager
// owns the fields that it owned and the fields that it changes. Other managers keep the fields that manager does not change. managers
// is not modified.
func (s *Updater) Update(liveObject, newObject *typed.TypedValue, version fieldpath.APIVersion, managers fieldpath.ManagedFields, manager string) (*typed.TypedValue, fieldpath.ManagedFields, error) {
	w, err := s.write(liveObject, newObject, version, managers, manager)
	if err != nil {
		return nil, fieldpath.ManagedFields{}, err
	}
	result, err := w.engine.Update(w.request)
	if err != nil {
		return nil, fieldpath.ManagedFields{}, err
	}
	return newObject, w.managed(result.Managers, false), nil
}

// Apply merges configObject into liveObject. Both are in the given version. It returns the merged object, or nil if it equals
// liveObject, and the owners afterwards. manager then owns exactly the fields of configObject. A field that manager applied last time
// and does not apply now is removed, unless another manager owns it. If other managers own fields that change, the error is
// [Conflicts]; with force, they lose these fields. managers is not modified.
func (s *Updater) Apply(liveObject, configObject *typed.TypedValue, version fieldpath.APIVersion, managers fieldpath.ManagedFields, manager string, force bool) (*typed.TypedValue, fieldpath.ManagedFields, error) {
	w, err := s.write(liveObject, configObject, version, managers, manager)
	if err != nil {
		return nil, fieldpath.ManagedFields{}, err
	}
	plan, err := w.engine.Apply(w.request)
	if err != nil {
		return nil, fieldpath.ManagedFields{}, err
	}
	if !force {
		if conflicts := w.conflicts(plan.Conflicts()); len(conflicts) > 0 {
			return nil, fieldpath.ManagedFields{}, conflicts
		}
	}
	result := plan.Force()
	out := w.managed(result.Managers, true)
	if !result.Changed && !s.returnInputOnNoop {
		return nil, out, nil
	}
	return w.computed(result.Object), out, nil
}

// write is one call of Update or Apply. It converts for the engine.
type write struct {
	updater   *Updater
	live, new *typed.TypedValue
	known     []*typed.TypedValue // results of the converter
	version   fieldpath.APIVersion
	managers  fieldpath.ManagedFields
	manager   string
	engine    *deed.Engine
	request   deed.Request
}

// write returns the call for the engine. It fails if there is no document of an object.
func (s *Updater) write(live, object *typed.TypedValue, version fieldpath.APIVersion, managers fieldpath.ManagedFields, manager string) (*write, error) {
	filters, err := s.filters()
	if err != nil {
		return nil, err
	}
	w := &write{updater: s, live: live, new: object, version: version, managers: managers, manager: manager}
	config := deed.Config{ResetFields: filters}
	if len(managers) > 0 { // without managers, nothing has another version
		config.Converter = w
	}
	w.engine = deed.New(config)
	entries := make([]deed.Entry, 0, len(managers))
	for name, owned := range managers {
		entries = append(entries, deed.Entry{
			Manager: deed.Manager{Name: name}, Fields: paths.Deed(owned.Set()), APIVersion: string(owned.APIVersion()),
		})
	}
	w.request = deed.Request{
		Managers: deed.ManagersOf(entries...), Manager: deed.Manager{Name: manager}, APIVersion: string(version),
	}
	if w.request.Live, err = document(live); err != nil {
		return nil, err
	}
	if w.request.Object, err = document(object); err != nil {
		return nil, err
	}
	return w, nil
}

// document returns v as a value of deed.
func document(v *typed.TypedValue) (deedtyped.Value, error) {
	d, ok := typing.Document(v)
	if !ok {
		if err := v.Validate(typed.AllowDuplicates); err != nil {
			return d, err
		}
		return d, fmt.Errorf("a value is no document: %v", v.AsValue().Unstructured())
	}
	return d, nil
}

// wrap returns v as a TypedValue. The engine computed v or got it from the caller.
func (w *write) wrap(v deedtyped.Value) *typed.TypedValue {
	is := func(known *typed.TypedValue) bool {
		d, _ := typing.Document(known)
		return d.Content().Same(v.Content()) && d.Type() == v.Type()
	}
	switch i := slices.IndexFunc(w.known, is); {
	case is(w.new):
		return w.new
	case is(w.live):
		return w.live
	case i >= 0:
		return w.known[i]
	}
	return w.computed(v)
}

// computed returns v, which the engine computed from the objects of the request, as a TypedValue with its own maps.
func (w *write) computed(v deedtyped.Value) *typed.TypedValue {
	like := w.live // any value of v's type
	if i := slices.IndexFunc(w.known, func(known *typed.TypedValue) bool {
		d, _ := typing.Document(known)
		return d.Type() == v.Type()
	}); i >= 0 && w.request.Live.Type() != v.Type() {
		like = w.known[i]
	}
	return typing.Computed(like, v, w.live, w.new)
}

// Convert implements the engine's Converter with the Converter of the Updater.
func (w *write) Convert(v deedtyped.Value, apiVersion string) (deedtyped.Value, error) {
	out, err := w.updater.Converter.Convert(w.wrap(v), fieldpath.APIVersion(apiVersion))
	if err != nil {
		if w.updater.Converter.IsMissingVersionError(err) {
			err = missing{err}
		}
		return deedtyped.Value{}, err
	}
	w.known = append(w.known, out)
	return document(out)
}

// missing is a converter's error for a version that does not exist.
type missing struct{ error }

func (missing) Is(target error) bool { return target == deed.ErrNoVersion }
func (m missing) Unwrap() error      { return m.error }

// conflicts returns the engine's conflicts as conflicts of this package.
func (w *write) conflicts(all deed.Conflicts) Conflicts {
	out := make(Conflicts, len(all))
	for i, c := range all {
		name := c.Owner.Manager.Name
		out[i] = Conflict{name, paths.Path(c.Path, paths.WasRead(w.managers[name].Set()))}
	}
	return out
}

// managed returns the engine's managers as managers of this package. Unchanged entries are reused. applied reports whether the
// writing manager owns its fields by apply.
func (w *write) managed(managers deed.Managers, applied bool) fieldpath.ManagedFields {
	out := make(fieldpath.ManagedFields, len(w.managers)+1)
	for entry := range managers.All() {
		name, version := entry.Manager.Name, fieldpath.APIVersion(entry.APIVersion)
		before := w.managers[name]
		by := applied
		if name != w.manager {
			by = before.Applied()
		}
		read := before != nil && paths.WasRead(before.Set())
		if before != nil && before.APIVersion() == version && before.Applied() == by && paths.Deed(before.Set()).Equal(entry.Fields) {
			out[name] = before
			continue
		}
		out[name] = fieldpath.NewVersionedSet(paths.Wrap(entry.Fields, read), version, by)
	}
	return out
}
