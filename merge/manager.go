package merge

import (
	"cmp"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/jsontext"
)

// Managers, and the fields that they own. Conflicts have the order of managers, which is the order
// of JSON texts. The comparison does not make these texts if plain bytes decide.

// Operation is how a manager writes.
type Operation string

// The two operations of Kubernetes.
const (
	Apply  Operation = "Apply"
	Update Operation = "Update"
)

// Manager is the identity of an actor. Two managers are the same exactly if they are equal with ==.
// Equal names are not enough.
type Manager struct {
	Name        string
	Operation   Operation
	APIVersion  string // of an updater; empty for an applier, which is the same in all versions
	Subresource string // that it writes through; empty for the object itself
}

// String returns the manager as the conflict messages of kube-apiserver name it: the quoted name,
// the subresource, and the version of an updater.
func (m Manager) String() string {
	out := strconv.Quote(m.Name)
	if m.Subresource != "" {
		out += " with subresource " + strconv.Quote(m.Subresource)
	}
	if m.Operation == Update {
		out += " using " + m.APIVersion
	}
	return out
}

// compare orders managers as kube-apiserver orders their identities: by their JSON texts. This is
// mostly the order of names. Appliers come before updaters of the same name.
func (m Manager) compare(n Manager) int {
	if m == n {
		return 0
	}
	if m.Name != n.Name && m.Name != "" && n.Name != "" {
		if c := compareJSON(m.Name, n.Name); c != 0 {
			return c
		}
	}
	var a, b [192]byte
	return slices.Compare(m.appendJSON(a[:0]), n.appendJSON(b[:0]))
}

// compareJSON compares two strings in the order of their JSON texts. It returns 0 if the first byte
// in which the strings differ does not decide.
func compareJSON(a, b string) int {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	x, y := plainByte(a, i), plainByte(b, i)
	if x == 0 || y == 0 {
		return 0
	}
	return cmp.Compare(x, y)
}

// plainByte returns the byte that the JSON text of s has for byte i of s. It returns a quote for
// the end of s, and 0 for a byte that may have to be escaped.
func plainByte(s string, i int) byte {
	switch {
	case i == len(s):
		return '"'
	case s[i] < ' ', s[i] >= utf8.RuneSelf, strings.IndexByte(`"\<>&`, s[i]) >= 0:
		return 0
	}
	return s[i]
}

// appendJSON appends the text by which kube-apiserver identifies m. Empty fields are left out.
func (m Manager) appendJSON(b []byte) []byte {
	b = append(b, '{')
	for _, f := range [...][2]string{
		{"manager", m.Name}, {"operation", string(m.Operation)}, {"apiVersion", m.APIVersion}, {"subresource", m.Subresource},
	} {
		if f[1] == "" {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(append(append(b, '"'), f[0]...), `":`...)
		b = jsontext.AppendString(b, f[1], jsontext.Standard)
	}
	return append(b, '}')
}

// Entry holds the fields that a manager owns.
type Entry struct {
	Manager    Manager
	Fields     fieldpath.Set
	APIVersion string    // of the paths in Fields
	Time       time.Time // of the manager's last change; the zero Time when it is not known
}

// Managers holds the entries of the managers of an object. It is immutable. The zero Managers has
// no entries.
type Managers struct {
	entries []Entry // sorted by manager
}

// ManagersOf returns the managers of entries. It reuses the slice, which the caller must not use
// any more. If a manager has several entries, the last one counts.
func ManagersOf(entries ...Entry) Managers { return tagged(entries, make([]uint32, len(entries))) }

// tagged is ManagersOf with a tag for each entry. It moves the tags with the entries: in the end,
// tags[i] is the tag of entry i of the managers.
func tagged(entries []Entry, tags []uint32) Managers {
	sortEntries(entries, tags)
	kept := 0
	for i := range entries {
		if i+1 < len(entries) && entries[i+1].Manager == entries[i].Manager {
			continue
		}
		if kept < i {
			entries[kept], tags[kept] = entries[i], tags[i]
		}
		kept++
	}
	return Managers{entries: entries[:kept]}
}

// sortEntries sorts entries by manager, stably, and tags with them. Mostly they are sorted already.
// Otherwise it sorts their places first, and then moves each entry once, because entries are large.
func sortEntries(entries []Entry, tags []uint32) {
	compare := func(a, b uint32) int { return entries[a].Manager.compare(entries[b].Manager) }
	sorted := true
	for i := 1; i < len(entries) && sorted; i++ {
		sorted = compare(uint32(i-1), uint32(i)) <= 0
	}
	if sorted {
		return
	}
	var room [few]uint32
	places := room[:0]
	for i := range entries {
		places = append(places, uint32(i))
	}
	slices.SortStableFunc(places, compare)
	for start := range places { // the entry for place i is at places[i]
		first, tag, i := entries[start], tags[start], start
		for int(places[i]) != start {
			from := int(places[i])
			entries[i], tags[i], places[i] = entries[from], tags[from], uint32(i)
			i = from
		}
		entries[i], tags[i], places[i] = first, tag, uint32(i)
	}
}

// search returns the place of the entry of m, or the place where it belongs. It reports whether the
// entry is there.
func (ms Managers) search(m Manager) (int, bool) {
	if len(ms.entries) <= few {
		for i := range ms.entries { // a scan: most objects have few managers, and == is cheaper than compare
			if ms.entries[i].Manager == m {
				return i, true
			}
		}
	}
	place, found := slices.BinarySearchFunc(ms.entries, m, func(e Entry, m Manager) int { return e.Manager.compare(m) })
	for i := place; found && i < len(ms.entries) && ms.entries[i].Manager.compare(m) == 0; i++ {
		if ms.entries[i].Manager == m { // another manager may have the same JSON text
			return i, true
		}
	}
	return place, false
}

// size returns how many managers there are.
func (ms Managers) size() int { return len(ms.entries) }

// onlyOf reports whether ms holds no manager but m.
func (ms Managers) onlyOf(m Manager) bool {
	return !slices.ContainsFunc(ms.entries, func(e Entry) bool { return e.Manager != m })
}

// Get returns the entry of m, and whether there is one.
func (ms Managers) Get(m Manager) (Entry, bool) {
	if i, ok := ms.search(m); ok {
		return ms.entries[i], true
	}
	return Entry{}, false
}

// All yields the entries in the order of their managers.
func (ms Managers) All() iter.Seq[Entry] { return slices.Values(ms.entries) }

// with returns ms with the entry of e.Manager set to e.
func (ms Managers) with(e Entry) Managers {
	i, found := ms.search(e.Manager)
	if !found {
		return Managers{entries: slices.Concat(ms.entries[:i], []Entry{e}, ms.entries[i:])}
	}
	out := slices.Clone(ms.entries)
	out[i] = e
	return Managers{entries: out}
}

// replace returns ms without m, and with the entry of e.Manager set to e. It reuses the memory of
// ms, which the caller must not use any more.
func (ms Managers) replace(m Manager, e Entry) Managers {
	out := ms.entries
	if i, found := ms.search(m); found {
		out = slices.Delete(out, i, i+1)
	}
	i, found := Managers{out}.search(e.Manager)
	if !found {
		return Managers{slices.Insert(out, i, e)}
	}
	out[i] = e
	return Managers{out}
}

// without returns ms without m.
func (ms Managers) without(m Manager) Managers {
	i, ok := ms.search(m)
	if !ok {
		return ms
	}
	return Managers{entries: slices.Delete(slices.Clone(ms.entries), i, i+1)}
}

// ownersOf yields the entries that own path itself.
func (ms Managers) ownersOf(path fieldpath.Path) iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		for _, e := range ms.entries {
			if e.Fields.Has(path) && !yield(e) {
				return
			}
		}
	}
}

// equal reports whether ms and other hold the same managers with the same fields, versions and
// times.
func (ms Managers) equal(other Managers) bool {
	return slices.EqualFunc(ms.entries, other.entries, func(a, b Entry) bool {
		return a.Manager == b.Manager && a.APIVersion == b.APIVersion && a.Time.Equal(b.Time) && a.Fields.Equal(b.Fields)
	})
}
