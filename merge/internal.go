package merge

import (
	"iter"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/door"
	"github.com/deed-project/deed/typed"
)

// paths and typing have functions of fieldpath and typed outside their API.
var (
	paths  = door.Open(fieldpath.Internal{})
	typing = door.Open(typed.Internal{})
)

// Internal gives the other packages of this module access to functions outside the API. No other
// module can open it: see docs/decisions/0025.
type Internal = door.Door[internal]

// internal is the type behind the door. It has no fields, so that its methods are plain functions.
type internal struct{}

// Compare orders managers as kube-apiserver orders their identities: by their JSON texts. This is
// mostly the order of names. Appliers come before updaters of the same name.
func (internal) Compare(m, n Manager) int { return m.compare(n) }

// Kept returns the paths of s that f does not keep out of ownership.
func (internal) Kept(f Filter, s fieldpath.Set) fieldpath.Set { return f.keep(s) }

// Len returns how many managers there are.
func (internal) Len(ms Managers) int { return ms.size() }

// Tagged is [ManagersOf] with a tag for each entry. It moves the tags with the entries: in the end,
// tags[i] is the tag of entry i of the managers.
func (internal) Tagged(entries []Entry, tags []uint32) Managers { return tagged(entries, tags) }

// Search returns the place of m among the entries of ms from place from on, or the place where m
// belongs. It reports whether m is there.
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

// Replace returns ms without m, and with the entry of e.Manager set to e. It reuses the memory of
// ms, which the caller must not use any more.
func (internal) Replace(ms Managers, m Manager, e Entry) Managers { return ms.replace(m, e) }

// Equal reports whether ms and other hold the same managers with the same fields, versions and
// times.
func (internal) Equal(ms, other Managers) bool { return ms.equal(other) }

// OwnersOf yields the entries that own path itself.
func (internal) OwnersOf(ms Managers, path fieldpath.Path) iter.Seq[Entry] { return ms.ownersOf(path) }

// Adapted records in r that the sets of all managers are already adapted to the types of their
// versions, see O1.
func (internal) Adapted(r *Request) { r.adapted = true }

// Former records in r, an update, that the caller will unite the entry of m with the entry of
// r.Manager. U2 applies to m only for fields of Config.Unowned. The union would restore all others.
func (internal) Former(r *Request, m Manager) { r.former = m }

// Live returns the live object of the request.
func (internal) Live(p *Plan) typed.Value { return p.call.Live }

// Config returns the applied configuration of the request.
func (internal) Config(p *Plan) typed.Value { return p.call.Request.Object }

// Object returns the new object, with all conflicts forced.
func (internal) Object(p *Plan) typed.Value { return p.call.object }

// Changed reports whether Object differs from the live object.
func (internal) Changed(p *Plan) bool { return p.changed() }

// Detour reports whether Object was converted to another version and back, because the applier's
// last apply was in that version. If a server holds objects as Go structs, the conversion alone may
// change the object.
func (internal) Detour(p *Plan) bool { return p.call.detour }

// TakeOver returns p with the conflicts on the paths of s decided for the applier. These are no
// conflicts any more, see TakenOver. The paths are in the versions of the owners.
func (internal) TakeOver(p *Plan, s fieldpath.Set) *Plan { return p.takeOver(s) }

// TakenOver returns the conflicts that TakeOver has decided. It costs as much as [Plan.Conflicts].
func (internal) TakenOver(p *Plan) Conflicts { return p.takenOver() }

// Refusal returns the conflicts of p as an error: [Conflicts], or [*ManyConflicts] if a list of all
// would need too much memory. It returns nil if there are none.
func (internal) Refusal(p *Plan) error { return p.refusal() }

// Unstored marks the owner of c as not read from managed fields: the owner stands for the fields of
// an object without managers. The mark matters only for Field.
func (internal) Unstored(c *Conflict) { c.unstored = true }

// Field returns the path of c as kube-apiserver prints it. If the owner was read from managed
// fields, this is [fieldpath.Path.String]. For other owners, integers are in decimal.
func (internal) Field(c Conflict) string { return c.field() }
