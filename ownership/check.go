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

// Checking: what is a finding, and in which order they come. What is wrong with an entry by itself
// is in check_entries.go; what is wrong with its paths, which takes a schema, in check_paths.go.
// Each code is explained in docs/check.md.

// Code names a kind of [Finding], such as orphan-item: see [Codes].
type Code string

const (
	undecodable        Code = "undecodable"         // the entry cannot be read
	invalidManager     Code = "invalid-manager"     // the manager's name is too long or not printable
	invalidSubresource Code = "invalid-subresource" // the subresource's name is too long
	duplicateIdentity  Code = "duplicate-identity"  // a later entry is of the same manager
	unknownVersion     Code = "unknown-version"     // the kind has no such version
	unconvertible      Code = "unconvertible"       // the object cannot be read in the entry's version
	emptySet           Code = "empty-set"           // the entry owns nothing
	notCanonical       Code = "not-canonical"       // the set is not written as kube-apiserver writes it
	undeclaredPath     Code = "undeclared-path"     // the schema has no such field
	stalePath          Code = "stale-path"          // the path leads into what is atomic now
	absentPath         Code = "absent-path"         // the object has no such field
	orphanItem         Code = "orphan-item"         // the manager keeps an item of which it owns nothing but the keys
	clientSideApplied  Code = "client-side-apply"   // fields are held by who applied on the client side
	splitManager       Code = "split-manager"       // a manager that applies holds fields by an update, too
	beforeFirstApply   Code = "before-first-apply"  // fields are held by the owner invented at the first apply
	ancientChanges     Code = "ancient-changes"     // fields are held by the bucket of forgotten updaters
	tooManyUpdaters    Code = "too-many-updaters"   // the next update joins some
	lostOwners         Code = "lost-owners"         // client-side apply wrote the object and no managed fields are left
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

// needsSchema reports whether [Check] finds what c is about only with the type of the object's kind.
func (c Code) needsSchema() bool {
	switch c {
	case unknownVersion, unconvertible, undeclaredPath, stalePath, absentPath, orphanItem, invalidObject:
		return true
	}
	return false
}

// Finding is one thing that is wrong with an object's managed fields, or will be soon.
type Finding struct {
	Code    Code
	Entry   int            // its index; -1 when the finding is about the object as a whole
	Manager string         // of the entry
	Path    fieldpath.Path // nil when the finding is not about a field
	Fields  fieldpath.Set  // when it is about several, all of them, in the entry's version
	Detail  string         // what is wrong, in words
	Remedy  string         // what to do about it, in words
	Err     error          // the error whose text Detail is; nil when Detail shows nothing of the object's values
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

// CheckConfig is what [Check] checks an object against.
type CheckConfig struct {
	// Versions has the types of the object's kind. Without one for the object's own version, only
	// that is found for which no schema is needed.
	Versions Versions
	// MaxUpdateManagers is how many updaters an object keeps apart. 0 means 10, as in
	// kube-apiserver.
	MaxUpdateManagers int
}

// Check returns what is wrong with the managed fields of o, sorted by entry, the object as a whole
// last, then by code in the order of docs/check.md, then by path. It says nothing of what o holds,
// except where that keeps it from checking.
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
	appliers map[merge.Manager]bool // who has an entry as an applier
}

// add records a finding about entry i, or about the object when i is -1.
func (k *checker) add(c Code, i int, path fieldpath.Path, detail, remedy string) {
	f := Finding{Code: c, Entry: i, Path: path, Detail: detail, Remedy: remedy}
	if i >= 0 {
		f.Manager = k.object.Entries[i].Manager
	}
	k.found = append(k.found, f)
}

// addError is add for a finding whose detail is what an error says.
func (k *checker) addError(c Code, i int, err error, remedy string) {
	k.add(c, i, nil, err.Error(), remedy)
	k.found[len(k.found)-1].Err = err
}

// checkFields finds what is wrong with the sets of the entries, object being a t.
func (k *checker) checkFields(t *schema.Type) {
	all := holdings(k.object, t, &k.config.Versions)
	for _, h := range all {
		switch {
		case h.err == nil:
			k.checkPaths(h)
		case errors.Is(h.err, merge.ErrNoVersion):
			k.add(unknownVersion, h.index, nil, fmt.Sprintf("the kind has no version %s", k.object.Entries[h.index].APIVersion),
				"The next write drops the entry. Let the manager write again in a served version.")
		case !h.written.IsEmpty(): // of the others checkEntry has said that they cannot be read
			k.addError(unconvertible, h.index, h.err,
				"Every apply fails until the object can be converted. Repair the object, or transfer the fields.")
		}
	}
	w := newOwnerWalk(k.object, all)
	w.item = k.checkItem
	w.root(t, k.object.Content)
}

// inVersion returns the object as the entries of a version see it.
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
