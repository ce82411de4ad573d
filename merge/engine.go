package merge

import (
	"errors"
	"fmt"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/typed"
)

// The common part of all writes. A call is the state of one write. It sees the object in each
// version of a manager's fields, the request's own version first. It makes each conversion and
// comparison once, for all managers.
//
// Invariants of a call:
//
//	versions[0], if it exists, is the request's own version
//	known has all other versions, by name
//	lives[v] is the live object in version v, or the error of its conversion

// ErrNoVersion is the error of a [Converter], wrapped or not, for a version that does not exist, or
// no longer exists. The engine then drops the managers of that version.
var ErrNoVersion = errors.New("no such version")

// Converter converts objects between the versions of an API. It must be safe for concurrent use.
type Converter interface {
	// Convert returns v in the given version. v is null, or in another version.
	Convert(v typed.Value, apiVersion string) (typed.Value, error)
}

// Filter keeps fields out of ownership: a server resets these fields because the endpoint may not
// write them. They are merged like all other fields, and the caller restores them. The zero Filter
// keeps no fields out.
type Filter struct {
	Exclude fieldpath.Set      // these fields and the fields below them are kept out
	Include *fieldpath.Pattern // when not nil, fields that it does not match are kept out
	// Keep returns the paths of a set that are not kept out. It serves filters that neither Exclude
	// nor Include can express. It must be safe for concurrent use. nil keeps all paths.
	Keep func(fieldpath.Set) fieldpath.Set
}

// keep returns the paths of s that f does not keep out.
func (f Filter) keep(s fieldpath.Set) fieldpath.Set {
	if !f.Exclude.IsEmpty() {
		s = s.Without(f.Exclude)
	}
	if f.Include != nil {
		s = paths.Filter(s, *f.Include)
	}
	if f.Keep != nil && !s.IsEmpty() {
		s = f.Keep(s)
	}
	return s
}

// inItems reports whether f may keep a list item and keep a part of it out.
func (f Filter) inItems() bool { return f.Include != nil || f.Keep != nil || hasItems(f.Exclude) }

// hasItems reports whether s has paths of list items, or of their parts.
func hasItems(s fieldpath.Set) bool {
	for e := range s.Entries() {
		if e.Element.Kind() != fieldpath.KindField || hasItems(e.Sub) {
			return true
		}
	}
	return false
}

// keepDiff returns the paths of d that f does not keep out.
func (f Filter) keepDiff(d typed.Diff) typed.Diff {
	return typed.Diff{Added: f.keep(d.Added), Modified: f.keep(d.Modified), Removed: f.keep(d.Removed)}
}

// Config configures an [Engine].
type Config struct {
	Converter   Converter         // nil when there is only one version, or when all versions have the same fields
	ResetFields map[string]Filter // by version
	Unowned     fieldpath.Set     // writing these fields gives no ownership
	KeepEmptied bool              // an object or list that loses all its parts to an apply becomes empty, not null
}

// Engine computes the outcome of writes. It is immutable and safe for concurrent use. The nil
// Engine and the zero Engine work like an Engine of the zero [Config].
type Engine struct {
	converter Converter
	reset     map[string]Filter
	unowned   fieldpath.Set

	keepEmptied bool
}

// New returns an engine of configuration c.
func New(c Config) *Engine {
	return &Engine{converter: c.Converter, reset: c.ResetFields, unowned: c.Unowned, keepEmptied: c.KeepEmptied}
}

// Request is a write.
type Request struct {
	Live       typed.Value // the stored object; null, of its type, if there is none yet
	Object     typed.Value // the applied configuration, or the new object of an update; of the type of Live
	Managers   Managers    // of the live object
	Manager    Manager     // the manager that writes
	APIVersion string      // of Live and Object

	former  Manager // unless it is the zero Manager: see internal.Former
	adapted bool    // see internal.Adapted
}

// Result is the outcome of a write.
type Result struct {
	Object   typed.Value
	Managers Managers
	Changed  bool // whether Object differs from the live object; Managers may differ in any case
}

// Update replaces the live object, by these rules:
//
//	O1  Sets are adapted to the schema first, by R1 to R3. Managers of versions that are gone lose
//	    their fields.
//	U1  The updater owns the fields that it adds or modifies, see [typed.Compare]. These include
//	    containers that it adds.
//	U2  Every other manager loses these fields, without any conflict.
//	U3  The updater keeps the fields that it owned before, as a set of the request's version.
//	O2  Every manager loses the fields that are removed.
//	O3  Reset fields change no ownership.
//	O4  A manager without fields is dropped.
//
// Result.Object is always r.Object. Errors come from typed.Reconcile, typed.Compare and the
// converter.
func (e *Engine) Update(r Request) (Result, error) {
	c := e.call(r)
	managers, err := c.reconcile()
	if err != nil {
		return Result{}, err
	}
	c.object = c.Request.Object
	if len(managers.entries) == 0 { // no manager can lose a field
		c.unseen = c.unowned
	}
	losses, err := c.losses(managers)
	if err != nil {
		return Result{}, err
	}
	return c.updated(managers, losses), nil
}

// updated returns the outcome of an update. managers are adapted to the schema, and losses are the
// fields that they lose.
func (c *call) updated(managers Managers, losses []loss) Result {
	v := c.versions[0]
	own, _ := managers.Get(c.Manager)
	fields := own.Fields.Minus(v.diff.Removed).Union(v.changed).Minus(v.changed.Intersect(c.unowned))
	managers = settle(managers, losses, Entry{
		Manager: c.Manager, Fields: c.reset[c.APIVersion].keep(fields), APIVersion: c.APIVersion, Time: own.Time,
	})
	return Result{Object: c.Object, Managers: managers, Changed: !c.Live.Content().Equal(c.Object.Content())}
}

// call is the state of one write.
type call struct {
	*Engine
	Request
	object   typed.Value // the new object, in the request's version
	detour   bool        // object was converted to another version and back
	versions []*version  // the request's own first

	// Room for the first version, which is the only one in most writes.
	first version
	room  [1]*version

	lives map[string]conversion // the live object, for each version requested so far
	known map[string]*version   // the versions except the first; nil if there are no others

	// alone is true if only the manager of the request owns fields. Then no manager can lose fields,
	// and the request's own version is compared only when decisions are requested.
	alone bool

	// unseen are added fields that make no difference to the write, so that no set has them.
	unseen fieldpath.Set
}

// version is a write in one version of the API.
type version struct {
	apiVersion string
	gone       bool // there is no such version
	old, new   typed.Value
	compared   bool // the fields below are set; false only if the version is gone or the call is alone
	diff       typed.Diff
	changed    fieldpath.Set // diff.Modified and diff.Added

	manyChanges bool // changed and diff.Removed have more members than few

	// If there are many managers: the losses of the managers of this version that losses has not
	// reached yet.
	taken, removed []fieldpath.Set
}

// call returns the state of a new write.
func (e *Engine) call(r Request) *call {
	if e == nil {
		e = &Engine{}
	}
	return &call{Engine: e, Request: r}
}

// convert returns v, which is in version from, in version to. v is null if all of an object is
// pruned. The converter decides whether it converts null, even to the same version.
func (e *Engine) convert(v typed.Value, from, to string) (typed.Value, error) {
	if e.converter == nil || from == to && !v.Content().IsNull() {
		return v, nil
	}
	return e.converter.Convert(v, to)
}

// reconcile adapts the sets of all managers to the schema: O1.
func (c *call) reconcile() (Managers, error) {
	out := c.Managers.entries
	copied := false
	kept := 0
	for i, entry := range c.Managers.entries {
		reconciled, drop, err := c.reconcileEntry(entry)
		if err != nil {
			return Managers{}, err
		}
		if !copied && (drop || !paths.Same(reconciled.Fields, entry.Fields)) {
			out = append([]Entry(nil), out...)
			copied = true
			kept = i
		}
		if copied && !drop {
			out[kept] = reconciled
			kept++
		}
	}
	if copied {
		out = out[:kept]
	}
	return Managers{entries: out}, nil
}

// reconcileEntry adapts the set of one manager. drop reports that its version is gone, and the
// manager's fields with the version.
func (c *call) reconcileEntry(entry Entry) (_ Entry, drop bool, _ error) {
	live, err := c.liveIn(entry.APIVersion)
	if errors.Is(err, ErrNoVersion) {
		return entry, true, nil
	}
	if err != nil {
		return entry, false, err
	}
	if c.adapted {
		return entry, false, nil
	}
	fields, changed, err := typed.Reconcile(entry.Fields, live.Type())
	if changed {
		entry.Fields = fields
	}
	return entry, false, err
}

// liveIn returns the live object in the given version. It converts the object once for each
// version.
func (c *call) liveIn(apiVersion string) (typed.Value, error) {
	if c.converter == nil || apiVersion == c.APIVersion && !c.Live.Content().IsNull() {
		return c.Live, nil
	}
	known, ok := c.lives[apiVersion]
	if !ok {
		known.object, known.err = c.convert(c.Live, c.APIVersion, apiVersion)
		if c.lives == nil {
			c.lives = map[string]conversion{}
		}
		c.lives[apiVersion] = known
	}
	return known.object, known.err
}

// conversion is an object in a version, or the error of its conversion.
type conversion struct {
	object typed.Value
	err    error
}

// seen returns the write in the given version.
func (c *call) seen(apiVersion string) (*version, error) {
	if v := c.known[apiVersion]; v != nil {
		return v, nil
	}
	if len(c.versions) > 0 && apiVersion == c.APIVersion {
		return c.versions[0], nil
	}
	v := c.remember(apiVersion)
	var err error
	if v.old, err = c.liveIn(apiVersion); err == nil {
		if v.new, err = c.convert(c.object, c.APIVersion, apiVersion); err != nil {
			err = fmt.Errorf("failed to convert new object: %w", err)
		}
	} else {
		err = fmt.Errorf("failed to convert old object: %w", err)
	}
	if errors.Is(err, ErrNoVersion) {
		v.gone = true
		return v, nil
	}
	if err != nil {
		return nil, err
	}
	if c.alone && typing.Comparable(v.old, v.new) {
		return v, nil
	}
	return v, c.compare(v)
}

// compare computes the changes in v.
func (c *call) compare(v *version) error {
	diff, err := typing.CompareWithout(v.old, v.new, c.unseen)
	if err != nil {
		return fmt.Errorf("failed to compare objects: %w", err)
	}
	v.compared = true
	v.diff = c.reset[v.apiVersion].keepDiff(diff)
	v.changed = v.diff.Modified.Union(v.diff.Added)
	v.manyChanges = v.changed.Len()+v.diff.Removed.Len() > few
	return nil
}

// remember adds a version to c.versions, and returns it.
func (c *call) remember(apiVersion string) *version {
	if len(c.versions) == 0 {
		c.first.apiVersion = apiVersion
		c.versions = append(c.room[:0], &c.first)
		return &c.first
	}
	v := &version{apiVersion: apiVersion}
	if c.known == nil {
		c.known = map[string]*version{}
	}
	c.versions, c.known[apiVersion] = append(c.versions, v), v
	return v
}
