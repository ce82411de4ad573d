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

// The field manager: the configuration of an endpoint, and the two writes, apply and update, as
// lists of steps. Each step is a function of the request and of the results of earlier steps. The
// steps are in the files step_*.go.

// Config describes the endpoint that a [FieldManager] serves.
type Config struct {
	// GVK is the kind that the endpoint stores, and the version that it serves.
	GVK schema.GVK
	// Types maps each apiVersion of the kind to its type. It includes the version of GVK.
	Types map[string]*schema.Type
	// Subresource is the subresource of the endpoint, such as status. It is empty for the object
	// itself.
	Subresource string
	// Empty is an object of the kind in which no field is set yet. Absent means just apiVersion and
	// kind. Kinds that Kubernetes implements as Go structs need more, because Kubernetes prints
	// some fields that are not set: see package schema/builtin.
	Empty value.Value
	// Default returns the object with default values filled in. Each apply that changes the object
	// calls it. The values that it adds have no owner. nil leaves objects as they are.
	Default func(value.Value) value.Value
	// Hold returns the outcome of an apply as the server holds it, for kinds that Kubernetes
	// implements as Go structs. It fills in default values, which have no owner. It leaves out
	// content that the Go type cannot hold. Hold runs before Default. Its error states what the
	// type refuses, and fails the apply. nil leaves objects as they are.
	Hold func(value.Value) (value.Value, error)
	// Read is Hold for the new object of an update. The managed fields then describe the object
	// that Read returns. Its error is an error in the request, and fails the update.
	Read func(value.Value) (value.Value, error)
	// Store returns the object to be stored, after its owners are known. It restores content that
	// the endpoint does not write from the live object, and updates counts of changes. nil stores
	// objects as they are.
	Store func(Change) (value.Value, error)
	// Hub is the apiVersion in which the server holds objects between writes, for kinds that
	// Kubernetes implements as Go structs. It has two uses: syncLastApplied counts the size of all
	// annotations in this version, and Plan.Changed depends on whether it is set. Empty means that
	// the server holds objects as clients see them, like custom resources.
	Hub string
	// Converter converts between the versions in Types. nil means [ChangeVersion]. A Converter may have
	// a method ConvertApplied with the parameters and results of Convert. It is then called instead for
	// the outcome of an apply in the version of the endpoint.
	Converter Converter
	// ResetFields maps an apiVersion to the fields that the endpoint does not write. An apply
	// merges these fields, but neither owns them nor finds conflicts on them. The caller restores
	// them in the outcome.
	ResetFields map[string]merge.Filter
	// MaxUpdateManagers is the number of updaters that an object keeps apart, see capUpdaters. 0
	// means 10, as in kube-apiserver.
	MaxUpdateManagers int
	// Profile selects the behaviour of a release of Kubernetes. The zero Profile is that of v1.37.
	Profile Profile
	// Cache stores the field sets of entries that are read repeatedly. nil means the cache of the
	// process, which holds at most [DefaultBudget] bytes. A cache of 0 bytes stores nothing.
	Cache *Cache
	// Now returns the current time. nil means time.Now.
	Now func() time.Time
}

// Change holds the states of an object in a write.
type Change struct {
	Operation merge.Operation
	Live      value.Value // the live object; absent when the object is created
	Sent      value.Value // the argument of Config.Hold in an apply, or of Config.Read in an update
	Held      value.Value // the result of that function
	Object    value.Value // the object to be stored
}

// FieldManager computes what an endpoint stores. It is safe for concurrent use, and never modifies
// its inputs. Its answers depend on its configuration alone. [New] makes field managers. All
// methods of a nil or zero FieldManager return an error.
type FieldManager struct {
	config     Config
	apiVersion string
	typ        *schema.Type
	applying   *merge.Engine
	updating   *merge.Engine
}

// New returns the field manager for the endpoint that c describes. It returns an error if c has no
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
	engine := func(convert convertFunc) *merge.Engine {
		return merge.New(merge.Config{
			Converter: typedConverter{convert, c.Types, c.GVK.Kind}, ResetFields: c.ResetFields, Unowned: systemFields,
			KeepEmptied: c.Profile.KeepEmptied,
		})
	}
	m := &FieldManager{config: c, apiVersion: apiVersion, typ: typ, updating: engine(c.Converter.Convert)}
	m.applying = m.updating
	if converter, ok := c.Converter.(applyConverter); ok {
		m.applying = engine(func(object value.Value, to string) (value.Value, error) {
			if object.Get("apiVersion").Str() == apiVersion {
				return converter.ConvertApplied(object, to)
			}
			return converter.Convert(object, to) // back from a version in which it was pruned
		})
	}
	return m, nil
}

// errNotMade is the error of a FieldManager that [New] did not make.
var errNotMade = errors.New("the field manager was not made by New")

// check returns an error unless [New] made m.
func (m *FieldManager) check() error {
	if m == nil || m.updating == nil {
		return errNotMade
	}
	return nil
}

// Plan computes an apply of config to live, without deciding conflicts. The zero Object as live
// means that no object is stored yet.
//
// The steps, with the numbers of their rules in docs/rules.md:
//
//   - Decode (S2): read live's managed fields.
//   - Check (S1): check the kind and version of the configuration.
//   - Adopt (S3): if live has no managers, give everything in it to "before-first-apply".
//   - Check (S1): check that the configuration has no managed fields.
//   - Merge (S7, S11, S13): call merge.Engine.Apply.
//   - TakeOver (S5): let kubectl take over the fields of its client-side apply.
//
// The error is a [*BadRequestError] for a configuration of another kind or with managed fields. It
// wraps an [*EntryError] for invalid managed fields of live. It is a [*TypeError] for a
// configuration or live object that does not conform to the kind's type.
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

// Apply applies config to live and returns the object to be stored. The zero Object as live means
// that no object is stored yet. Conflicts are an error of type [merge.Conflicts], unless force
// decides them for the manager. All other errors are those of [FieldManager.Plan] and [Plan.Force].
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

// Update replaces live by object, and returns the object to be stored: object with its managed
// fields brought up to date. The zero Object as live means that no object is stored yet.
//
// The steps, with the numbers of their rules:
//
//   - Read: convert the new object by Config.Read.
//   - Decode (S2): read the managed fields of object, or else of live.
//   - Track (S4): leave an existing object without managers untracked.
//   - Merge (S7 to S9, S11): call merge.Engine.Update.
//   - Cap (S10): join the oldest updaters if there are too many.
//   - Store: restore what the endpoint does not write.
//
// Errors are [*BadRequestError] for the zero Object and for an object that Config.Read refuses, and
// those of Config.Store. With any other error, Update also returns what kube-apiserver stores if it
// cannot update managed fields. That is the object with live's managed fields as they are, or
// without any by [Profile].ForgetOnFailure. Such an error is a [*TypeError] for an object that does
// not conform to the kind's type, or an error of merge.Engine.Update.
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
	out.changed = true // metadata at least may differ
	if out, err = r.store(out, object.Content, held.Content); err != nil {
		return Object{}, err
	}
	made := r.encode(out, &stored, held.source)
	made.sent = object.sent
	return made, nil
}

// untouched returns the new object with the given entries, which are not brought up to date. sent
// is the document from which the object was read.
func (r *request) untouched(sent value.Value, entries []Entry) (Object, error) {
	out, err := r.store(outcome{content: r.object.Content, changed: true}, sent, r.object.Content)
	if err != nil {
		return Object{}, err
	}
	return Object{Content: out.content, Entries: entries, source: r.object.source, memory: r.object.memory, sent: r.object.sent}, nil
}
