package managedfields

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/schema"
)

// Entries as managers, and back. Reading is one way for everybody, readEntry: the field manager
// reads all entries of an object at once, others one by one. What is read knows the entry that it
// came from, so that writing gives back the fieldsV1 of every set that did not change, in the form
// in which it came, if that was canonical:
//
//	entries in    ann {"f:a":{}}    bob {"f:b":{}}
//	the write     bob loses .b and gets .c
//	entries out   ann, her fieldsV1 untouched    bob, a new one for .c

// Decode reads the entries of an object. Of several entries for one manager, the last one counts;
// an entry without fieldsV1 owns nothing. The error is an [*EntryError] for the first entry that is
// invalid:
//
//   - its operation is neither Apply nor Update, its apiVersion is empty, or its fieldsType is not
//     FieldsV1;
//   - its fieldsV1 is no field set, see [fieldpath.ParseSet].
func Decode(entries []Entry) (merge.Managers, error) {
	d, err := decode(entries, nil, processCache)
	if err != nil {
		return merge.Managers{}, err
	}
	return d.managers, nil
}

// decoded is what entries stand for.
type decoded struct {
	managers merge.Managers
	entries  []Entry
	sets     []*parsedSet          // of the entries
	index    map[merge.Manager]int // made when it is needed first
	adapted  bool                  // all sets are adapted to the types of their versions already
}

// fieldsOf returns the fieldsV1 of what m owns: that of its entry if it has the same set and is
// written canonically, for that need not be written anew.
func (d *decoded) fieldsOf(m merge.Manager, set fieldpath.Set) Fields {
	if i := d.indexOf(m); i >= 0 && d.sets[i].canonical && d.sets[i].set.Equal(set) {
		return d.entries[i].FieldsV1
	}
	return FieldsOf(set)
}

// fewEntries is how many entries are searched one by one.
const fewEntries = 64

// indexOf returns which entry m has, the last one if it has several, and -1 if it has none. To find
// all managers costs linear time.
func (d *decoded) indexOf(m merge.Manager) int {
	if len(d.entries) <= fewEntries {
		for i := len(d.entries) - 1; i >= 0; i-- {
			if d.entries[i].Manager == m.Name && d.entries[i].identity() == m {
				return i
			}
		}
		return -1
	}
	if d.index == nil {
		d.index = make(map[merge.Manager]int, len(d.entries))
		for i, e := range d.entries {
			d.index[e.identity()] = i
		}
	}
	if i, ok := d.index[m]; ok {
		return i
	}
	return -1
}

// manyEntries is from how many entries on the sets of an object are not remembered: they would push
// out all that others left, and half of their own, so that none is found again.
const manyEntries = 128

// decode is Decode that keeps what else there is to know, given the types of the versions and where
// sets are remembered.
func decode(entries []Entry, types map[string]*schema.Type, c *Cache) (*decoded, error) {
	if len(entries) > manyEntries {
		c = noCache
	}
	d := &decoded{entries: entries, sets: make([]*parsedSet, len(entries)), adapted: true}
	out := make([]merge.Entry, len(entries))
	for i, e := range entries {
		var err error
		if out[i], d.sets[i], err = readEntry(entries, i, c); err != nil {
			return nil, err
		}
		d.adapted = d.adapted && d.sets[i].fitsTo(types[e.APIVersion])
	}
	d.managers = merge.ManagersOf(out...)
	return d, nil
}

// readOne reads entry i of entries alone. The error is an [*EntryError], for the reasons that
// [Decode] has; along with it comes whose entry it is.
func readOne(entries []Entry, i int) (merge.Entry, error) {
	e, _, err := readEntry(entries, i, processCache)
	return e, err
}

// readEntry is the way in which every entry is read: it returns what entry i stands for, with what
// else is known of its set.
func readEntry(entries []Entry, i int, c *Cache) (merge.Entry, *parsedSet, error) {
	e := entries[i]
	out := merge.Entry{Manager: e.identity(), APIVersion: e.APIVersion, Time: e.Time}
	if err := e.check(i); err != nil {
		return out, nil, &EntryError{Index: i, Manager: e.Manager, Err: err, plain: true}
	}
	fields, err := e.parsed(c)
	if err != nil {
		return out, nil, &EntryError{Index: i, Manager: e.Manager, Err: fmt.Errorf("error decoding set: %w", err)}
	}
	out.Fields = fields.set
	return out, fields, nil
}

// check returns what is wrong with e, entry number i, apart from its fields, in the words of
// kube-apiserver.
func (e Entry) check(i int) error {
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

// Encode returns the entries for managers, and nil for none, in the order of kube-apiserver:
//
//	S12  Entries are sorted: appliers before updaters, then by time in whole seconds, unknown
//	     times first, then by name, version and subresource.
func Encode(managers merge.Managers) []Entry { return encode(managers, &decoded{}) }

// encode is Encode that uses the fieldsV1 that was decoded for sets that are still the same.
func encode(managers merge.Managers, was *decoded) []Entry {
	if merging.Len(managers) == 0 {
		return nil
	}
	entries := make([]Entry, 0, merging.Len(managers))
	for m := range managers.All() {
		entries = append(entries, Entry{
			Manager: m.Manager.Name, Operation: m.Manager.Operation, APIVersion: m.APIVersion, Time: m.Time,
			FieldsType: fieldsV1, FieldsV1: was.fieldsOf(m.Manager, m.Fields), Subresource: m.Manager.Subresource,
		})
	}
	slices.SortStableFunc(entries, compareEntries)
	return entries
}

// compareEntries is the order of rule S12.
func compareEntries(a, b Entry) int {
	return cmp.Or(
		cmp.Compare(a.Operation, b.Operation),
		cmp.Compare(unixSeconds(a.Time), unixSeconds(b.Time)),
		cmp.Compare(a.Manager, b.Manager),
		cmp.Compare(a.APIVersion, b.APIVersion),
		cmp.Compare(a.Subresource, b.Subresource),
	)
}

// unixSeconds is a time as the order of entries knows it: an unknown one comes first.
func unixSeconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix()
}
