package managedfields

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/typed"
	"github.com/deed-project/deed/value"
)

// Config describes the endpoint that a [FieldManager] serves.
type Config struct {
	// GVK is the kind that the endpoint stores and the version that it speaks.
	GVK schema.GVK
	// Types has the type of the kind in each of its versions, by apiVersion, that of GVK among them.
	Types map[string]*schema.Type
	// Subresource is what the endpoint writes through, such as status, and empty for the object itself.
	Subresource string
	// Empty is an object of the kind in which nothing is set yet. For kinds that Kubernetes implements as Go structs that is
	// more than apiVersion and kind, because it prints fields that are not set: see package schema/builtin. Absent means
	// just apiVersion and kind.
	Empty value.Value
	// Default returns the object with default values filled in. It sees the outcome of each apply; what it adds has no owner.
	// nil leaves objects as they are.
	Default func(value.Value) value.Value
	// Hub is, for kinds that Kubernetes implements as Go structs, the apiVersion in which the server holds objects between
	// writes. It matters in two places only: the size of all annotations, see syncLastApplied, is counted in this version; and
	// see Plan.Changed. Empty means that objects are held as the endpoint's clients see them, as custom resources are.
	Hub string
	// Converter converts between the versions in Types. nil means [ChangeVersion].
	Converter Converter
	// ResetFields has, by apiVersion, the fields that the endpoint does not write. An apply merges them, but neither owns them nor
	// finds conflicts on them; the caller restores them in the outcome.
	ResetFields map[string]merge.Filter
	// MaxUpdateManagers is how many updaters an object keeps apart, see capUpdaters. 0 means 10, as in kube-apiserver.
	MaxUpdateManagers int
	// Recent is how many objects the field manager remembers, as it last wrote them, so that what has not changed since is not
	// checked again: see [FieldManager.Recent]. That pays where the same objects are written again and again by callers that
	// hold them as maps or Go structs. Such an object takes about twice the memory of its JSON text. 0 means none.
	Recent int
	// Now returns the current time. nil means time.Now.
	Now func() time.Time
}

// FieldManager computes what an endpoint stores. It is safe for concurrent use, and never modifies its inputs. Its answers depend on
// nothing but its configuration.
type FieldManager struct {
	config     Config
	apiVersion string
	typ        *schema.Type
	engine     *merge.Engine
	recent     recents
}

// New returns the field manager for the endpoint that c describes. It is an error when c has no type for its GVK.
func New(c Config) (*FieldManager, error) {
	apiVersion := c.GVK.APIVersion()
	typ, ok := c.Types[apiVersion]
	if !ok {
		return nil, fmt.Errorf("no type for %v", c.GVK)
	}
	if c.Now == nil {
		c.Now = time.Now
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
		}),
		recent: make(recents, c.Recent),
	}, nil
}

// Config returns what m serves, with what [New] filled in. Its maps must not be modified.
func (m *FieldManager) Config() Config { return m.config }

// write is one request on its way through the steps. Each step is told what it may rely on and what it leaves behind.
type write struct {
	*FieldManager
	operation merge.Operation
	live      Object        // as stored; its Content is that of Config.Empty when nothing is
	object    Object        // the applied configuration, or the new object
	manager   merge.Manager // who writes

	entries  decoded        // by decodeLive and decodeNewOrLive
	before   merge.Managers // by adopt and track: who owns the live object
	plan     *merge.Plan    // by mergeConfig
	takeover fieldpath.Set  // by takeOver: conflicts on these paths are decided for the applier
	managers merge.Managers // by Settle of an apply, and by mergeUpdate: who owns the outcome
	stored   typed.Value    // likewise: what is to be remembered
	changed  bool           // likewise: whether the outcome differs from the live object
	outcome  value.Value    // likewise: what is to be stored
}

// step is one part of a write. An error ends the write.
type step func(*write) error

// The steps of a write, in order. An apply is planned first and then finished, as its conflicts are decided in between.
var (
	planSteps = []step{
		(*write).decodeLive, (*write).checkVersion, (*write).adopt, (*write).checkConfig, (*write).mergeConfig,
		(*write).takeOver,
	}
	finishSteps = []step{(*write).strip, (*write).stampApply, (*write).fillDefaults, (*write).syncLastApplied}
	updateSteps = []step{(*write).decodeNewOrLive, (*write).track, (*write).mergeUpdate, (*write).capUpdaters}
)

func (w *write) run(steps []step) error {
	for _, s := range steps {
		if err := s(w); err != nil {
			return err
		}
	}
	return nil
}

// newWrite returns the request of manager name. The zero Object as live stands for an object that does not exist.
func (m *FieldManager) newWrite(live, object Object, name string, op merge.Operation) *write {
	if live.Content.IsAbsent() {
		live.Content = m.config.Empty
	} else if live.Entries != nil && live.Content.Get("metadata").Kind() != value.KindObject {
		live.Content = live.Content.With("metadata", value.Object()) // where its managed fields are
	}
	return &write{FieldManager: m, operation: op, live: live, object: object, manager: m.identity(name, op)}
}

// identity returns the manager that the endpoint knows by name; an empty name becomes "unknown".
//
//	S14  Sets stay in the version that they were written in, and objects are converted to it. An applier is the same in all
//	     versions and has the version of its last apply; an updater is another one in each version.
func (m *FieldManager) identity(name string, op merge.Operation) merge.Manager {
	if name == "" {
		name = "unknown"
	}
	id := merge.Manager{Name: name, Operation: op, Subresource: m.config.Subresource}
	if op == merge.Update {
		id.APIVersion = m.apiVersion
	}
	return id
}

// Plan computes an apply of config to live, the zero Object if nothing is stored yet, without deciding about conflicts.
//
// Steps: live's managed fields are read (Decode, S2); the configuration is of the endpoint's version (Check, S1); if nobody
// manages live, everything in it becomes owned by "before-first-apply" (Adopt, S3); the configuration has no managed fields
// (Check); merge.Engine.Apply (Merge, S11, S13); kubectl takes over what it applied on the client side (TakeOver, S5). The
// numbers are those of docs/rules.md, and stand with their rules in the comments of the steps.
//
// Errors are [*BadRequestError] for a configuration of another kind or with managed fields, [*EntryError] for managed fields
// that cannot be read, [*TypeError] for a configuration or live object that does not conform to the kind's type.
func (m *FieldManager) Plan(live, config Object, manager string) (*Plan, error) {
	w := m.newWrite(live, config, manager, merge.Apply)
	if err := w.run(planSteps); err != nil {
		return nil, err
	}
	return &Plan{write: w}, nil
}

// Apply applies config to live, the zero Object if nothing is stored yet, and returns what is to be stored. Conflicts are an
// error of type [merge.Conflicts] unless force decides them for the manager; all other errors are those of [FieldManager.Plan].
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

// UpdateOption changes what [FieldManager.Update] does.
type UpdateOption uint8

// KeepEntries makes Update return, along with an error, the object with live's managed fields as they are: what
// kube-apiserver stores when it cannot keep managed fields up to date.
const KeepEntries UpdateOption = 1

// Update replaces live, the zero Object if nothing is stored yet, by object, and returns what is to be stored: object with
// its managed fields brought up to date.
//
// Steps: the managed fields to start from are those of object, or else of live (Decode, S2); an object that nobody manages yet
// is only tracked from its creation on (Track, S4); merge.Engine.Update (Merge, S7 to S9, S11); the oldest updaters become one
// when there are too many (Cap, S10).
//
// Errors are [*TypeError] for an object that does not conform to the kind's type, and those of merge.Engine.Update.
func (m *FieldManager) Update(live, object Object, manager string, opts ...UpdateOption) (Object, error) {
	w := m.newWrite(live, object, manager, merge.Update)
	switch err := w.run(updateSteps); {
	case err == nil:
	case errors.Is(err, errUntracked):
		return Object{Content: object.Content, source: object.source}, nil
	case slices.Contains(opts, KeepEntries):
		return Object{Content: object.Content, Entries: live.Entries, source: object.source}, err
	default:
		return Object{}, err
	}
	m.recent.store(w.stored)
	return Object{Content: object.Content, Entries: encode(w.managers, &w.entries), source: object.source}, nil
}

// Plan is an apply whose conflicts are not decided yet. It is immutable.
type Plan struct {
	write *write
}

// Conflicts returns the fields that the apply changes although others own them: see [merge.Plan.Conflicts]. There are none
// on fields that kubectl takes over from its own client-side apply.
func (p *Plan) Conflicts() merge.Conflicts {
	all := p.write.plan.Conflicts()
	for i := range all {
		all[i].Unstored = p.write.entries.managers.Len() == 0 // the owner is who adopt made
	}
	if p.write.takeover.IsEmpty() {
		return all
	}
	return slices.DeleteFunc(all, func(c merge.Conflict) bool { return p.write.takeover.Has(c.Path) })
}

// Decisions yields what the apply does to each path that it affects, and why: see [merge.Plan.Decisions]. Fields of identity
// and bookkeeping, which are nobody's, are left out.
func (p *Plan) Decisions() iter.Seq[merge.Decision] {
	return func(yield func(merge.Decision) bool) {
		for d := range p.write.plan.Decisions() {
			if !systemFields.Has(d.Path) && !yield(d) {
				return
			}
		}
	}
}

// Merge returns the plan of the engine underneath: what the apply makes of the object, before defaults are filled in and before
// kubectl's annotation is brought up to date, and of who owns it. Its conflicts are those that kubectl does not take over, too.
func (p *Plan) Merge() *merge.Plan { return p.write.plan }

// Changed reports whether the apply changes the object, before defaults are filled in. Where objects are held as Go structs, see
// [Config.Hub], one that was converted to another version and back has its managed fields written anew: that is a change, too, when
// it comes to other text.
func (p *Plan) Changed() bool {
	return p.write.plan.Changed() || p.write.config.Hub != "" && p.write.plan.Detour() &&
		slices.ContainsFunc(p.write.live.Entries, Entry.isSortedAsSet)
}

// Commit returns what is to be stored if there is no conflict. Its error is of type [merge.Conflicts].
func (p *Plan) Commit() (Object, error) {
	return p.ForceOnly(func(merge.Conflict) bool { return false })
}

// ForceOnly returns what is to be stored if force accepts every conflict. Its error is of type [merge.Conflicts]: those that
// force refuses.
func (p *Plan) ForceOnly(force func(merge.Conflict) bool) (Object, error) {
	refused := slices.DeleteFunc(p.Conflicts(), force)
	if len(refused) > 0 {
		return Object{}, refused
	}
	return p.Force()
}

// Force returns what is to be stored with all conflicts decided for the applier: in the endpoint's version if the apply changes
// the object, and else the live object as it is, in its own. The error is that of filling in defaults.
//
// Steps: fields of identity and bookkeeping are taken out of the applier's set (Strip, S7); its entry gets the current time if
// the object changes (Stamp, S8); defaults are filled in (Default); kubectl's annotation is kept up to date (Sync, S6).
func (p *Plan) Force() (Object, error) {
	w := *p.write
	result := w.plan.Force()
	w.managers, w.stored, w.changed, w.outcome = result.Managers, result.Object, p.Changed(), w.live.Content
	if w.changed {
		w.outcome = result.Object.Content()
	}
	if err := w.run(finishSteps); err != nil {
		return Object{}, err
	}
	w.recent.store(w.stored)
	return Object{Content: w.outcome, Entries: encode(w.managers, &w.entries), source: w.live.source}, nil
}
