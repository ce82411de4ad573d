package ownership

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/typed"
)

// Check and the order of its findings. check_entries.go checks entries without a schema.
// check_paths.go checks the paths of entries, which needs a schema. docs/check.md explains each
// code.

// Code names a kind of [Finding], such as orphan-item: see [Codes].
type Code string

const (
	undecodable        Code = "undecodable"         // the entry cannot be read
	invalidManager     Code = "invalid-manager"     // the manager's name is too long or not printable
	invalidSubresource Code = "invalid-subresource" // the subresource's name is too long
	duplicateIdentity  Code = "duplicate-identity"  // a later entry has the same manager
	unknownVersion     Code = "unknown-version"     // the kind has no such version
	unconvertible      Code = "unconvertible"       // the object cannot be read in the entry's version
	emptySet           Code = "empty-set"           // the entry owns nothing
	notCanonical       Code = "not-canonical"       // the set is not written as kube-apiserver writes it
	undeclaredPath     Code = "undeclared-path"     // the schema has no such field
	stalePath          Code = "stale-path"          // the path leads into a value that is atomic now
	absentPath         Code = "absent-path"         // the object has no such field
	orphanItem         Code = "orphan-item"         // the manager owns an item and at most the keys in it
	clientSideApplied  Code = "client-side-apply"   // client-side apply holds fields
	splitManager       Code = "split-manager"       // a manager that applies also holds fields by an update
	beforeFirstApply   Code = "before-first-apply"  // the owner invented at the first apply holds fields
	ancientChanges     Code = "ancient-changes"     // the manager for joined updaters holds fields
	tooManyUpdaters    Code = "too-many-updaters"   // the next update joins some updaters
	lostOwners         Code = "lost-owners"         // client-side apply wrote the object, and no managed fields are left
	invalidObject      Code = "invalid-object"      // the object does not conform to its type
)

// Codes returns all codes, in the order of docs/check.md, which explains each.
func Codes() []Code {
	return []Code{
		undecodable, invalidManager, invalidSubresource, duplicateIdentity, unknownVersion, unconvertible, emptySet, notCanonical,
		undeclaredPath, stalePath, absentPath, orphanItem, clientSideApplied, splitManager, beforeFirstApply, ancientChanges,
		tooManyUpdaters, lostOwners, invalidObject,
	}
}

// needsSchema reports whether [Check] finds c only with the type of the object's kind.
func (c Code) needsSchema() bool {
	switch c {
	case unknownVersion, unconvertible, undeclaredPath, stalePath, absentPath, orphanItem, invalidObject:
		return true
	}
	return false
}

// Finding is one problem in an object's managed fields, or one that will come soon.
type Finding struct {
	Code    Code
	Entry   int            // the index of the entry; -1 if the finding is about the object as a whole
	Manager string         // of the entry
	Path    fieldpath.Path // nil if the finding is not about a field
	Fields  fieldpath.Set  // all fields of a finding about several, in the entry's version
	Detail  string         // the problem, in words
	Remedy  string         // the remedy, in words
	Err     error          // the error whose text is Detail; nil if Detail shows no values of the object
}

// String returns the finding in one line, without the remedy.
func (f Finding) String() string {
	out := string(f.Code)
	if f.Entry >= 0 {
		out += fmt.Sprintf(": metadata.managedFields[%d], manager %q", f.Entry, f.Manager)
	}
	if f.Path != nil {
		out += ": " + f.Path.Text()
	}
	return out + ": " + f.Detail
}

// CheckConfig configures [Check].
type CheckConfig struct {
	// Versions has the types of the object's kind. Without a type for the object's own version,
	// Check finds only problems that need no schema.
	Versions Versions
	// MaxUpdateManagers is the number of updaters that the server keeps apart. 0 means 10, as in
	// kube-apiserver.
	MaxUpdateManagers int
}

// Check returns the problems in the managed fields of o. They are sorted by entry, with the object
// as a whole last, then by code in the order of docs/check.md, then by path. Check reports problems
// in the content of o only if they prevent a check.
func Check(o managedfields.Object, c CheckConfig) []Finding {
	k := checker{object: o, config: c, again: repetitions(o.Entries), appliers: map[merge.Manager]bool{}}
	for _, e := range o.Entries {
		if e.Operation == merge.Apply {
			k.appliers[managing.Identity(e)] = true
		}
	}
	for i := range o.Entries {
		k.checkEntry(i)
	}
	k.checkWhole()
	if t := c.Versions.Types[o.Content.Get("apiVersion").Str()]; t != nil {
		k.checkFields(t)
	}
	place := map[Code]int{}
	for i, c := range Codes() {
		place[c] = i
	}
	slices.SortStableFunc(k.found, func(a, b Finding) int {
		// As unsigned numbers, -1 comes last.
		return cmp.Or(cmp.Compare(uint(a.Entry), uint(b.Entry)), cmp.Compare(place[a.Code], place[b.Code]),
			comparePaths(a.Path, b.Path))
	})
	return k.found
}

// checker is the state of Check.
type checker struct {
	object managedfields.Object
	config CheckConfig
	found  []Finding

	again    map[int]int            // see repetitions
	appliers map[merge.Manager]bool // the managers that have an entry as an applier
}

// add records a finding about entry i, or about the object if i is -1.
func (k *checker) add(c Code, i int, path fieldpath.Path, detail, remedy string) {
	f := Finding{Code: c, Entry: i, Path: path, Detail: detail, Remedy: remedy}
	if i >= 0 {
		f.Manager = k.object.Entries[i].Manager
	}
	k.found = append(k.found, f)
}

// addError is add for a finding whose detail is the text of err.
func (k *checker) addError(c Code, i int, err error, remedy string) {
	k.add(c, i, nil, err.Error(), remedy)
	k.found[len(k.found)-1].Err = err
}

// checkFields checks the sets of the entries. The object is a value of type t.
func (k *checker) checkFields(t *schema.Type) {
	all := holdings(k.object, t, &k.config.Versions)
	for _, h := range all {
		switch {
		case h.err == nil:
			k.checkPaths(h)
		case errors.Is(h.err, merge.ErrNoVersion):
			k.add(unknownVersion, h.index, nil, fmt.Sprintf("the kind has no version %s", k.object.Entries[h.index].APIVersion),
				"The next write drops the entry. Let the manager write again in a served version.")
		case !h.written.IsEmpty(): // checkEntry has reported the entries that cannot be read
			k.addError(unconvertible, h.index, h.err,
				"Every apply fails until the object can be converted. Repair the object, or transfer the fields.")
		}
	}
	w := newOwnerWalk(k.object, all)
	w.item = k.checkItem
	w.root(t, k.object.Content)
}

// inVersion returns the object in the version of an entry.
func (k *checker) inVersion(apiVersion string) (typed.Value, error) {
	content := k.object.Content
	if content.Get("apiVersion").Str() != apiVersion {
		var err error
		if content, err = k.config.Versions.converter().Convert(content, apiVersion); err != nil {
			return typed.Value{}, err
		}
	}
	return typed.New(content, k.config.Versions.Types[apiVersion], typed.AllowDuplicates)
}
