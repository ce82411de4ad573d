package managedfields

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// The field manager: what an endpoint is, and the two writes, apply and update, as lists of steps.
// Each step is a function of the request and of what earlier steps found out, in the files
// step_*.go.

// Config describes the endpoint that a [FieldManager] serves.
type Config struct {
	// GVK is the kind that the endpoint stores and the version that it speaks.
	GVK schema.GVK
	// Types has the type of the kind in each of its versions, by apiVersion, that of GVK among them.
	Types map[string]*schema.Type
	// Subresource is what the endpoint writes through, such as status, and empty for the object
	// itself.
	Subresource string
	// Empty is an object of the kind in which nothing is set yet. For kinds that Kubernetes
	// implements as Go structs that is more than apiVersion and kind, because it prints fields that
	// are not set: see package schema/builtin. Absent means just apiVersion and kind.
	Empty value.Value
	// Default returns the object with default values filled in. It sees the outcome of each apply;
	// what it adds has no owner. nil leaves objects as they are.
	Default func(value.Value) value.Value
	// Hold returns what the server holds of the outcome of an apply, for kinds that Kubernetes
	// implements as Go structs: with default values filled in, which have no owner, and without
	// what its Go type cannot hold. It comes before Default. The error, which says what the type
	// refuses, fails the apply. nil leaves objects as they are.
	Hold func(value.Value) (value.Value, error)
	// Read is Hold for the new object of an update, whose managed fields then tell of what Read
	// returns. Its error, which is that of reading the request, fails the update.
	Read func(value.Value) (value.Value, error)
	// Store returns what the server stores of an object, once it is known who owns its fields: what
	// the endpoint does not write is as it is in the live object, and counts of changes are up to
	// date. nil stores objects as they are.
	Store func(Change) (value.Value, error)
	// Hub is, for kinds that Kubernetes implements as Go structs, the apiVersion in which the
	// server holds objects between writes. It matters in two places only: the size of all
	// annotations, see syncLastApplied, is counted in this version; and see Plan.Changed. Empty
	// means that objects are held as the endpoint's clients see them, as custom resources are.
	Hub string
	// Converter converts between the versions in Types. nil means [ChangeVersion].
	Converter Converter
	// ResetFields has, by apiVersion, the fields that the endpoint does not write. An apply merges
	// them, but neither owns them nor finds conflicts on them; the caller restores them in the
	// outcome.
	ResetFields map[string]merge.Filter
	// MaxUpdateManagers is how many updaters an object keeps apart, see capUpdaters. 0 means 10, as
	// in kube-apiserver.
	MaxUpdateManagers int
	// Profile is the behaviour of a release of Kubernetes. The zero Profile is that of v1.37.
	Profile Profile
	// Cache remembers the field sets of entries that come again. nil means that of the process,
	// which holds [DefaultBudget] bytes at most; one of no bytes remembers nothing.
	Cache *Cache
	// Now returns the current time. nil means time.Now.
	Now func() time.Time
}

// Change is what becomes of an object in a write.
type Change struct {
	Operation merge.Operation
	Live      value.Value // the live object; absent when the object is created
	Sent      value.Value // what Config.Hold was given by an apply, or Config.Read by an update
	Held      value.Value // what it returned
	Object    value.Value // what is to be stored
}

// FieldManager computes what an endpoint stores. It is safe for concurrent use, and never modifies
// its inputs. Its answers depend on nothing but its configuration. It is made by [New]: all that a nil
// or zero FieldManager returns is an error.
type FieldManager struct {
	config     Config
	apiVersion string
	typ        *schema.Type
	engine     *merge.Engine
}

// New returns the field manager for the endpoint that c describes. It is an error when c has no
// type for its GVK.
func New(c Config) (*FieldManager, error) {
	apiVersion := c.GVK.APIVersion()
	if c.Profile.AllKeys {
		c.Types = schemas.RequireKeys(c.Types)
	}
	typ := c.Types[apiVersion]
	if typ == nil {
		return nil, fmt.Errorf("no type for %v", c.GVK)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Cache == nil {
		c.Cache = processCache
	}
	if c.Converter == nil {
		c.Converter = ChangeVersion
	}
	if c.MaxUpdateManagers == 0 {
		c.MaxUpdateManagers = 10
	}
	if c.Empty.IsAbsent() {
		c.Empty = value.Object(
			value.Member{Name: "apiVersion", Value: value.String(apiVersion)},
			value.Member{Name: "kind", Value: value.String(c.GVK.Kind)},
		)
	}
	return &FieldManager{
		config: c, apiVersion: apiVersion, typ: typ,
		engine: merge.New(merge.Config{
			Converter: typedConverter{c.Converter, c.Types, c.GVK.Kind}, ResetFields: c.ResetFields, Unowned: systemFields,
			KeepEmptied: c.Profile.KeepEmptied,
		}),
	}, nil
}

// errNotMade is the error of a FieldManager that [New] did not make.
var errNotMade = errors.New("the field manager was not made by New")

// check returns an error unless [New] made m.
func (m *FieldManager) check() error {
	if m == nil || m.engine == nil {
		return errNotMade
	}
	return nil
}

// Plan computes an apply of config to live, the zero Object if nothing is stored yet, without
// deciding about conflicts.
//
// Steps: live's managed fields are read (Decode, S2); the configuration is of the endpoint's
// version (Check, S1); if nobody manages live, everything in it becomes owned by
// "before-first-apply" (Adopt, S3); the configuration has no managed fields (Check);
// merge.Engine.Apply (Merge, S11, S13); kubectl takes over what it applied on the client side
// (TakeOver, S5). The numbers are those of docs/rules.md, and stand with their rules in the
// comments of the steps.
//
// Errors are [*BadRequestError] for a configuration of another kind or with managed fields,
// [*EntryError] for managed fields that cannot be read, [*TypeError] for a configuration or live
// object that does not conform to the kind's type.
func (m *FieldManager) Plan(live, config Object, manager string) (*Plan, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	p := &Plan{request: m.request(live, config, manager, merge.Apply)}
	r := p.request
	stored, err := r.decodeLive()
	if err != nil {
		return nil, err
	}
	if err := r.checkVersion(); err != nil {
		return nil, err
	}
	owners, err := r.adopt(stored)
	if err != nil {
		return nil, err
	}
	if err := r.checkConfig(); err != nil {
		return nil, err
	}
	merged, err := r.mergeConfig(owners)
	if err != nil {
		return nil, err
	}
	p.stored, p.owners, p.merge = stored, owners, r.takeOver(merged)
	return p, nil
}

// Apply applies config to live, the zero Object if nothing is stored yet, and returns what is to be
// stored. Conflicts are an error of type [merge.Conflicts] unless force decides them for the
// manager; all other errors are those of [FieldManager.Plan].
func (m *FieldManager) Apply(live, config Object, manager string, force bool) (Object, error) {
	plan, err := m.Plan(live, config, manager)
	if err != nil {
		return Object{}, err
	}
	if force {
		return plan.Force()
	}
	return plan.Commit()
}

// Update replaces live, the zero Object if nothing is stored yet, by object, and returns what is to
// be stored: object with its managed fields brought up to date.
//
// Steps: the object is read (Read); the managed fields to start from are those of object, or else
// of live (Decode, S2); an object that nobody manages yet is only tracked from its creation on
// (Track, S4); merge.Engine.Update (Merge, S7 to S9, S11); the oldest updaters become one when
// there are too many (Cap, S10); what the endpoint does not write stays as it is (Store).
//
// Errors are [*BadRequestError] for the zero Object and for an object that Config.Read refuses, and
// those of Config.Store.
// Along with any other error comes what kube-apiserver stores when it cannot keep managed fields up
// to date: the object with live's managed fields as they are, or without any by
// [Profile].ForgetOnFailure. Such an error is a [*TypeError] for
// an object that does not conform to the kind's type, or that of merge.Engine.Update.
func (m *FieldManager) Update(live, object Object, manager string) (Object, error) {
	if err := m.check(); err != nil {
		return Object{}, err
	}
	if object.Content.IsAbsent() {
		return Object{}, &BadRequestError{Reason: "there is no object to update to"}
	}
	held, err := m.read(object)
	if err != nil {
		return Object{}, err
	}
	r := m.request(live, held, manager, merge.Update)
	stored := r.decodeNewOrLive()
	if r.isUntracked(stored) {
		return r.untouched(object.Content, nil)
	}
	out, err := r.mergeUpdate(owned{managers: stored.managers, adapted: stored.adapted})
	if err != nil {
		var entries []Entry
		if !m.config.Profile.ForgetOnFailure {
			entries = live.Entries
		}
		kept, failed := r.untouched(object.Content, entries)
		return kept, cmp.Or(failed, err)
	}
	out = r.capUpdaters(out)
	out.changed = true // metadata may be, at least
	if out, err = r.store(out, object.Content, held.Content); err != nil {
		return Object{}, err
	}
	made := r.encode(out, &stored, held.source)
	made.sent = object.sent
	return made, nil
}

// untouched returns the new object with the given entries instead of up-to-date ones. sent is what
// it was read from.
func (r *request) untouched(sent value.Value, entries []Entry) (Object, error) {
	out, err := r.store(outcome{content: r.object.Content, changed: true}, sent, r.object.Content)
	if err != nil {
		return Object{}, err
	}
	return Object{Content: out.content, Entries: entries, source: r.object.source, memory: r.object.memory, sent: r.object.sent}, nil
}
