package managedfields

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/schema"
)

// Entries as managers, and back. readEntry reads every entry: the field manager reads all entries
// of an object at once, other callers read single entries. The outcome remembers its entry. So
// encode gives back the fieldsV1 of every unchanged set in its form, if that form was canonical:
//
//	entries in    ann {"f:a":{}}    bob {"f:b":{}}
//	the write     bob loses .b and gets .c
//	entries out   ann, with the same fieldsV1    bob, with a new one for .c

// Decode reads the entries of an object. If a manager has several entries, the last one counts. An
// entry without fieldsV1 owns nothing. The error is an [*EntryError] for the first invalid entry:
//
//   - its operation is neither Apply nor Update, its apiVersion is empty, or its fieldsType is not
//     FieldsV1;
//   - its fieldsV1 is no field set, see [fieldpath.ParseSet].
func Decode(entries []Entry) (merge.Managers, error) {
	d, err := decode(entries, nil, processCache, Profile{})
	if err != nil {
		return merge.Managers{}, err
	}
	return d.managers, nil
}

// decoded is the outcome of reading entries.
type decoded struct {
	managers merge.Managers
	entries  []Entry
	origins  []uint32 // for each of managers, its entry: see originOf
	adapted  bool     // all sets are adapted to the types of their versions
}

// originOf returns a number for entry i and for whether its fieldsV1 is canonical.
func originOf(i int, canonical bool) uint32 {
	if canonical {
		return uint32(i)<<1 | 1
	}
	return uint32(i) << 1
}

// fieldsOf returns the fieldsV1 of what m owns. It reuses the fieldsV1 of m's entry if the set is
// the same and the form is canonical. The search for m starts at place from, where m mostly is.
// next is the place after m.
func (d *decoded) fieldsOf(m *merge.Entry, from int) (_ Fields, next int) {
	i, found := merging.Search(d.managers, m.Manager, from)
	if !found {
		return FieldsOf(m.Fields), i
	}
	if o := d.origins[i]; o&1 != 0 && merging.Entries(d.managers)[i].Fields.Equal(m.Fields) {
		return d.entries[o>>1].FieldsV1, i + 1
	}
	return FieldsOf(m.Fields), i + 1
}

// manyEntries is the number of entries above which the sets of an object are not cached. They would
// push out the sets of other objects, and half of their own, so that later reads find none.
const manyEntries = 128

// decode is Decode with all details, given the types of the versions, a cache and a profile.
func decode(entries []Entry, types map[string]*schema.Type, c *Cache, profile Profile) (decoded, error) {
	if len(entries) > manyEntries {
		c = noCache
	}
	d := decoded{entries: entries, origins: make([]uint32, len(entries)), adapted: true}
	out := make([]merge.Entry, len(entries))
	for i := range entries {
		r, err := readEntry(entries, i, c, profile, &out[i])
		if err != nil {
			return decoded{}, err
		}
		d.origins[i] = originOf(i, r.canonical)
		d.adapted = d.adapted && r.fitsTo(types[entries[i].APIVersion])
	}
	d.managers = merging.Tagged(out, d.origins)
	return d, nil
}

// readOne reads entry i of entries alone. The error is an [*EntryError], for the same reasons as in
// [Decode]. The manager of the entry is returned also with an error.
func readOne(entries []Entry, i int) (e merge.Entry, err error) {
	_, err = readEntry(entries, i, processCache, Profile{}, &e)
	return e, err
}

// readEntry reads entry i into out. It returns what it read of the fieldsV1.
func readEntry(entries []Entry, i int, c *Cache, profile Profile, out *merge.Entry) (reading, error) {
	e := &entries[i]
	out.Manager, out.APIVersion, out.Time = e.identity(), e.APIVersion, e.Time
	if err := e.check(i); err != nil {
		return reading{}, &EntryError{Index: i, Manager: e.Manager, Err: err, plain: true}
	}
	fields, err := e.read(c)
	if err != nil && profile.PassOverTrailing {
		fields = reading{}
		fields.set, err = paths.ParseTrailing(e.FieldsV1.appendJSON(nil))
	}
	if err != nil {
		return reading{}, &EntryError{Index: i, Manager: e.Manager, Err: fmt.Errorf("error decoding set: %w", err)}
	}
	out.Fields = fields.set
	return fields, nil
}

// check returns the defect of e, entry number i, apart from its fields, in the words of
// kube-apiserver.
func (e *Entry) check(i int) error {
	switch {
	case e.Operation != merge.Apply && e.Operation != merge.Update:
		return errors.New("operation must be `Apply` or `Update`")
	case e.APIVersion == "":
		return errors.New("apiVersion must not be empty")
	case e.FieldsType == "":
		return fmt.Errorf("missing fieldsType in managed fields entry %d", i)
	case e.FieldsType != fieldsV1:
		return fmt.Errorf("invalid fieldsType %q in managed fields entry %d", e.FieldsType, i)
	}
	return nil
}

// Encode returns the entries for managers in the order of kube-apiserver, and nil for no managers:
//
//	S12  Entries are sorted: appliers before updaters, then by time in whole seconds, unknown
//	     times first, then by name, version and subresource.
func Encode(managers merge.Managers) []Entry { return encode(managers, &decoded{}) }

// encode is Encode after a write that began with former. Sets that did not change keep their
// fieldsV1.
func encode(managers merge.Managers, former *decoded) []Entry {
	if merging.Len(managers) == 0 {
		return nil
	}
	owned, next := merging.Entries(managers), 0
	entries := make([]Entry, len(owned))
	for i := range owned {
		m, e := &owned[i], &entries[i]
		*e = Entry{
			Manager: m.Manager.Name, Operation: m.Manager.Operation, APIVersion: m.APIVersion, Time: m.Time,
			FieldsType: fieldsV1, Subresource: m.Manager.Subresource,
		}
		e.FieldsV1, next = former.fieldsOf(m, next)
	}
	slices.SortStableFunc(entries, compareEntries)
	return entries
}

// compareEntries implements the order of rule S12.
func compareEntries(a, b Entry) int {
	return cmp.Or(
		cmp.Compare(a.Operation, b.Operation),
		cmp.Compare(unixSeconds(a.Time), unixSeconds(b.Time)),
		cmp.Compare(a.Manager, b.Manager),
		cmp.Compare(a.APIVersion, b.APIVersion),
		cmp.Compare(a.Subresource, b.Subresource),
	)
}

// unixSeconds returns the sort key of a time in S12. Unknown times come first.
func unixSeconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix()
}
