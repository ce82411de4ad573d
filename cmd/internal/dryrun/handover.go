package dryrun

import (
	"cmp"
	"iter"
	"slices"

	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/cmd/internal/types"
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/ownership"
	"github.com/deed-project/deed/typed"
	"github.com/deed-project/deed/value"
)

// Handover is an object before and after its fields have changed owners.
type Handover struct {
	Live      *manifest.Object
	After     managedfields.Object
	Config    *manifest.Object // the configuration that the receiver applies next; nil if unknown
	Note      string           // the reason why there is nothing to do
	Removed   []Leftover
	Kept      []Leftover
	Conflicts merge.Conflicts
}

// Leftover is a live value that the configuration lacks.
type Leftover struct {
	Path   fieldpath.Path
	Value  value.Value
	Owners []merge.Manager // the owners besides the receiver

	// Default is the value that a server fills in after the removal; absent if it fills in none.
	Default value.Value
}

// Configured maps stored objects to their configurations.
type Configured struct {
	*types.Library
	of map[manifest.ID]*manifest.Stored // by the identity of the stored object
}

// Targets finds the stored object of each configuration in configs, and reports configurations without one. It holds neither objects nor
// configurations. namespace is the namespace of configurations that lack one; it is empty if unknown.
func Targets(c *types.Library, objects, configs *manifest.Live, namespace string) *Configured {
	out := &Configured{c, map[manifest.ID]*manifest.Stored{}}
	for s := range configs.All() {
		sought := s.ID
		sought.Namespace = cmp.Or(sought.Namespace, namespace)
		found, err := objects.Find(sought)
		if err == nil && found != nil && out.of[found.ID] == nil {
			out.of[found.ID] = s
			continue
		}
		config := s.Read(c.Loader)
		switch {
		case config == nil:
		case err != nil:
			c.Problem(config.At(), "%s", config.View().Error(err))
		case found == nil:
			c.Warn(config.At(), "%v is not among the stored objects", config)
		default:
			c.Problem(config.At(), "%v is already configured at %v", config, out.of[found.ID].Read(c.Loader).At())
		}
	}
	return out
}

// Of returns the configuration of a stored object, or nil if there is none. It returns false if the configuration cannot be read, which it
// reports.
func (c *Configured) Of(o *manifest.Object) (config *manifest.Object, ok bool) {
	s := c.of[o.Id]
	if s == nil {
		return nil, true
	}
	config = s.Read(c.Loader)
	return config, config != nil
}

// Record is the path of the annotation in which kubectl's client-side apply records the applied configuration.
var Record = fieldpath.Path{
	fieldpath.Field("metadata"), fieldpath.Field("annotations"), fieldpath.Field("kubectl.kubernetes.io/last-applied-configuration"),
}

// OwnersChange is a set of paths whose owners change in the same way.
type OwnersChange struct {
	Before, After []merge.Manager
	Paths         fieldpath.Set
}

// Changes groups the paths whose owners change, in the order of the first path of each group. It walks all entries at the same time: the
// cost grows with the owned paths and with the number of groups.
func (h *Handover) Changes() []*OwnersChange {
	before, after := setsOf(h.Live.Entries), setsOf(h.After.Entries)
	var union fieldpath.Set
	var sets []fieldpath.Set
	for _, e := range slices.Concat(before, after) {
		union = union.Union(e.Fields)
		sets = append(sets, e.Fields)
	}
	var all []*OwnersChange
	var paths []*fieldpath.Builder
	for step := range typed.Walk(union, nil, sets...) {
		n, _ := slices.BinarySearch(step.Sets, len(before))
		b, a := holders(before, step.Sets[:n], 0), holders(after, step.Sets[n:], len(before))
		if slices.Equal(b, a) {
			continue
		}
		i := slices.IndexFunc(all, func(g *OwnersChange) bool { return slices.Equal(g.Before, b) && slices.Equal(g.After, a) })
		if i < 0 {
			i, all, paths = len(all), append(all, &OwnersChange{Before: b, After: a}), append(paths, new(fieldpath.Builder))
		}
		paths[i].Add(step.Path)
	}
	for i, g := range all {
		g.Paths = paths[i].Set()
	}
	return all
}

// Paths yields the paths to report: those of changes, and those that are removed, kept or in conflict.
func (h *Handover) Paths(changes []*OwnersChange) iter.Seq[fieldpath.Path] {
	return func(yield func(fieldpath.Path) bool) {
		for _, g := range changes {
			for path := range g.Paths.All() {
				if !yield(path) {
					return
				}
			}
		}
		for _, l := range slices.Concat(h.Removed, h.Kept) {
			if !yield(l.Path) {
				return
			}
		}
		for _, c := range h.Conflicts {
			if !yield(c.Path) {
				return
			}
		}
	}
}

// Patch returns the JSON patch of the handover. guarded says whether a server refuses the patch if the object has changed since: see
// [ownership.EntriesPatch].
func (h *Handover) Patch() (patch []byte, guarded bool, err error) {
	return ownership.EntriesPatch(h.Live.Object, h.After.Entries)
}

// setsOf returns the fields of the entries. Entries that cannot be read have none; the callers have reported them already.
func setsOf(entries []managedfields.Entry) []merge.Entry {
	out := make([]merge.Entry, len(entries))
	for i, e := range entries {
		out[i] = merge.Entry{Manager: manifest.Identity(e)}
		if set, err := e.FieldsV1.Set(); err == nil {
			out[i].Fields = set
		}
	}
	return out
}

// holders returns the managers of the entries with the given numbers, sorted. The numbers count from first.
func holders(entries []merge.Entry, numbers []int, first int) []merge.Manager {
	var owners []merge.Manager
	for _, i := range numbers {
		owners = append(owners, entries[i-first].Manager)
	}
	manifest.SortManagers(owners)
	return owners
}

// leftovers converts the leftovers of a migration.
func leftovers(all []ownership.Leftover) []Leftover {
	out := make([]Leftover, len(all))
	for i, l := range all {
		out[i] = Leftover{Path: l.Path, Value: l.Live, Owners: l.Owners}
	}
	return out
}

// Apply computes the next apply of the configuration, if there is one.
func (h *Handover) Apply(e *types.Endpoint, manager string) error {
	if h.Config == nil {
		return nil
	}
	plan, err := e.Manager.Plan(h.After, h.Config.Object, manager)
	if err != nil {
		return err
	}
	h.Conflicts = plan.Conflicts()
	for d := range plan.Decisions() {
		others := slices.DeleteFunc(slices.Clone(d.After), func(m merge.Manager) bool {
			return m.Name == manager && m.Operation == merge.Apply
		})
		switch d.Outcome {
		case merge.Pruned, merge.Dropped:
			h.Removed = append(h.Removed, Leftover{Path: d.Path, Value: d.Live})
		case merge.Released:
			h.Kept = append(h.Kept, Leftover{Path: d.Path, Value: d.Live, Owners: others})
		}
	}
	return h.FillDefaults(e)
}

// FillDefaults sets the defaults of the removed values, which a server fills in again. The error says that the live object does not conform
// to its type.
func (h *Handover) FillDefaults(e *types.Endpoint) error {
	live, err := typed.New(h.Live.Content, e.Typ, typed.AllowDuplicates)
	if err != nil {
		return err
	}
	var removed fieldpath.Builder
	for _, l := range h.Removed {
		removed.Add(l.Path)
	}
	paths := removed.Set()
	without := managedfields.Object{Content: live.Remove(paths).Content()}
	defaults := types.DefaultsAt(without, paths)
	for i := range h.Removed {
		h.Removed[i].Default = defaults[secret.KeyOf(h.Removed[i].Path)]
	}
	return nil
}
