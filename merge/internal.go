package merge

import (
	"iter"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/door"
	"github.com/deed-project/deed/typed"
)

// paths and typing are what this package needs of fieldpath and typed beyond their API.
var (
	paths  = door.Open(fieldpath.Internal{})
	typing = door.Open(typed.Internal{})
)

// Internal gives the other packages of this module access to functions outside the API. No other
// module can open it: see docs/decisions/0025.
type Internal = door.Door[internal]

// internal is what is behind the door: a struct without fields, so that its methods are functions.
type internal struct{}

// Compare orders managers as kube-apiserver does wherever it orders their identities: by the JSON
// text that it has for them. That is mostly the order of names, and appliers come before updaters of
// the same name.
func (internal) Compare(m, n Manager) int { return m.compare(n) }

// Kept returns the paths of s that f does not keep out of ownership.
func (internal) Kept(f Filter, s fieldpath.Set) fieldpath.Set { return f.keep(s) }

// Len returns how many managers there are.
func (internal) Len(ms Managers) int { return ms.size() }

// Tagged is [ManagersOf] with a tag for each entry, which goes where the entry goes: in the end
// tags[i] is that of entry i of the managers.
func (internal) Tagged(entries []Entry, tags []uint32) Managers { return tagged(entries, tags) }

// Search returns the place of m among the entries of ms from place from on, and whether it is
// there; if not, it is where it would be.
func (internal) Search(ms Managers, m Manager, from int) (int, bool) {
	if from == len(ms.entries) || ms.entries[from].Manager == m {
		return from, from < len(ms.entries)
	}
	i, found := Managers{ms.entries[from:]}.search(m)
	return from + i, found
}

// Entries returns the entries in the order of their managers. They must not be modified.
func (internal) Entries(ms Managers) []Entry { return ms.entries }

// With returns ms with the entry of e.Manager set to e.
func (internal) With(ms Managers, e Entry) Managers { return ms.with(e) }

// Without returns ms without m.
func (internal) Without(ms Managers, m Manager) Managers { return ms.without(m) }

// Replace returns ms, which it takes over, without m and with the entry of e.Manager set to e.
func (internal) Replace(ms Managers, m Manager, e Entry) Managers { return ms.replace(m, e) }

// Equal reports whether ms and other hold the same managers with the same fields, versions and
// times.
func (internal) Equal(ms, other Managers) bool { return ms.equal(other) }

// OwnersOf yields the entries that own path itself.
func (internal) OwnersOf(ms Managers, path fieldpath.Path) iter.Seq[Entry] { return ms.ownersOf(path) }

// Adapted notes in r that the sets of all managers are adapted to the types of their versions
// already, see O1.
func (internal) Adapted(r *Request) { r.adapted = true }

// Former notes in r, an update, that the caller is going to unite the entry of m with that of
// r.Manager. It is spared U2, so that it need not lose what it gets back.
func (internal) Former(r *Request, m Manager) { r.former = m }

// Live returns the object as it is, as the request had it.
func (internal) Live(p *Plan) typed.Value { return p.call.Live }

// Config returns the applied configuration, as the request had it.
func (internal) Config(p *Plan) typed.Value { return p.call.Request.Object }

// Object returns the object as it will be, conflicts forced.
func (internal) Object(p *Plan) typed.Value { return p.call.object }

// Changed reports whether Object differs from the live object.
func (internal) Changed(p *Plan) bool { return p.changed() }

// Detour reports whether Object was converted to another version and back, to be pruned of what the
// applier's last apply had in that version. A server that holds objects as Go structs may see a
// change in that alone.
func (internal) Detour(p *Plan) bool { return p.call.detour }

// TakeOver returns p with its conflicts on the paths of s decided for the applier: they are no
// conflicts any more, see TakenOver. A path counts as the owner's version has it.
func (internal) TakeOver(p *Plan, s fieldpath.Set) *Plan { return p.takeOver(s) }

// TakenOver returns what would be conflicts, had TakeOver not decided them. It costs what
// [Plan.Conflicts] costs.
func (internal) TakenOver(p *Plan) Conflicts { return p.takenOver() }

// Refusal returns the conflicts of p as an error, nil if there are none: [Conflicts], or [*ManyConflicts]
// where there are too many for memory to tell them apart.
func (internal) Refusal(p *Plan) error { return p.refusal() }

// Unstored says of c that its owner was not read but found: it stands for what was in an object
// that nobody managed. It matters only for Field.
func (internal) Unstored(c *Conflict) { c.unstored = true }

// Field returns the path of c as kube-apiserver prints it: as [fieldpath.Path.String] does for
// owners that were read, and with integers in decimal for those that were not.
func (internal) Field(c Conflict) string { return c.field() }
