package builtin

import (
	_ "embed"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/door"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// Releases before the current one. Each is a difference from the next release: the types that differ, and the kinds that are missing.
// Forms, default values and reset fields are those of the current release, without the fields that a type does not have.

// earlier holds the differences, from the latest release to the earliest, as oracle/releases/generate writes them:
//
//	release 36                             the differences from v1.37 to v1.36
//	{"name":"io.k8s…","map":…}             a type that differs, or that only v1.36 has
//	kind {"group":"",…}                    a kind that differs, or that only v1.36 has: see load
//	without batch/v1 Job                   a kind that v1.36 does not have
//
//go:embed releases.txt
var earlier string

// Release has the built-in kinds of a minor release of Kubernetes. It is immutable and safe for concurrent use. [ReleaseOf], [Emulated] and
// [Current] return Releases. The nil Release and the zero Release have no kinds.
type Release struct {
	minor    int
	emulated bool // a server of the current release emulates it
	profile  managedfields.Profile
	schemas  *kinds
	index    indexOfKinds
}

// ReleaseOf returns the built-in kinds of a release. name is a minor release such as 1.33, or a patch release such as v1.36.2, whose
// [managedfields.Profile] may differ. The error says that the release is not one of v1.31 to v1.37. The first use of a minor release takes
// some milliseconds.
func ReleaseOf(name string) (*Release, error) {
	profile, err := managedfields.ProfileOf(name)
	if err != nil {
		return nil, err
	}
	minor := door.Open(managedfields.Internal{}).Minor(name)
	if minor == CurrentMinor {
		return Current(), nil
	}
	return makeRelease(Release{minor: minor, profile: profile, schemas: schemasOf(minor)}), nil
}

// Emulated returns the built-in kinds of a server of the current release that emulates a minor release such as 1.36. kube-apiserver does
// this with --emulated-version. The kinds have the schemas of the current release, and merge in the same way. Versions that came later are
// not served. Fields whose feature gate was off are not stored. The error says that the release is not one of v1.31 to v1.37.
func Emulated(name string) (*Release, error) {
	if _, err := managedfields.ProfileOf(name); err != nil {
		return nil, err
	}
	minor := door.Open(managedfields.Internal{}).Minor(name)
	if minor == CurrentMinor {
		return Current(), nil
	}
	return makeRelease(Release{minor: minor, emulated: true, schemas: all()}), nil
}

// Current returns the built-in kinds of the release that the package describes.
var Current = sync.OnceValue(func() *Release { return makeRelease(Release{minor: CurrentMinor, schemas: all()}) })

// makeRelease returns a copy of a release with all kinds, including those that it does not serve.
func makeRelease(of Release) *Release {
	r := &of
	r.index = indexOfKinds{kinds: map[schema.GVK]*Kind{}}
	for _, current := range kindIndex().sorted {
		k := *current
		k.release = r
		k.Served = r.serves(current)
		if k.Served != NotServed && k.Resource == "" {
			k.describeLike(current)
		}
		k.writeAsBefore()
		r.index.sorted, r.index.kinds[k.GVK] = append(r.index.sorted, &k), &k
	}
	return r
}

// known returns r, and the zero Release for nil.
func (r *Release) known() *Release {
	if r == nil {
		return &Release{}
	}
	return r
}

// Profile returns the behaviour of the release where releases differ.
func (r *Release) Profile() managedfields.Profile { return r.known().profile }

// Lookup returns the Kind of gvk, and whether it is a built-in one. Its [Kind.Served] is that of the release. Its [Kind.Config] has the
// types and the profile of the release.
func (r *Release) Lookup(gvk schema.GVK) (*Kind, bool) {
	k, ok := r.known().index.kinds[gvk]
	return k, ok
}

// Kinds yields the built-in kinds in all their versions, sorted by group, kind and version. It includes versions that the release does not
// serve.
func (r *Release) Kinds() iter.Seq[*Kind] { return slices.Values(r.known().index.sorted) }

// Type returns the type of a kind in the release, and whether it has one.
func (r *Release) Type(gvk schema.GVK) (*schema.Type, bool) {
	if r.known().schemas == nil {
		return nil, false
	}
	return r.schemas.typeOf(gvk)
}

// Typed yields the kinds that have a type in the release, in any order. Unlike [Release.Catalog], it compiles no type.
func (r *Release) Typed() iter.Seq[schema.GVK] {
	if r.known().schemas == nil {
		return func(func(schema.GVK) bool) {}
	}
	return maps.Keys(r.schemas.entries)
}

// Catalog returns the types of the kinds of the release. The first call for a minor release compiles all of them. It panics if the embedded
// file is damaged.
func (r *Release) Catalog() *schema.Catalog {
	if r.known().schemas == nil {
		return schema.NewCatalog(nil)
	}
	if r.schemas == all() {
		return Catalog()
	}
	c, err := r.schemas.catalog()
	if err != nil {
		panic("builtin: " + err.Error())
	}
	return c
}

// Empty is [Empty] for the kinds of the release.
func (r *Release) Empty(gvk schema.GVK) (object value.Value, ok bool) {
	if r.known().schemas == nil {
		return value.Value{}, false
	}
	return r.schemas.empty(gvk)
}

// Minor returns the number of the minor release, such as 33 for v1.33.
func (r *Release) Minor() int { return r.known().minor }

// String returns the name of the minor release, such as v1.33.
func (r *Release) String() string { return fmt.Sprintf("v1.%d", r.known().minor) }

// serves returns whether the release serves a version of a kind.
//
// Kinds of requests have no type in any release. Versions that were removed later are served on request, like all beta versions since
// v1.24. Those of priority and fairness are served by default.
func (r *Release) serves(k *Kind) Serving {
	_, typed := all().entries[k.GVK]
	if _, ok := r.schemas.entries[k.GVK]; typed && !ok || k.SinceMinor() > r.minor {
		return NotServed
	}
	switch removed := minorOf(k.Removed); {
	case r.emulated: // the server has no code for removed versions
		return k.Served
	case removed == 0 || removed > CurrentMinor:
		return k.Served
	case removed <= r.minor:
		return NotServed
	case k.GVK.Group == "flowcontrol.apiserver.k8s.io":
		return ServedByDefault
	}
	return ServedOnRequest
}

// CurrentMinor is the number of the minor release of [Current].
const CurrentMinor = 37

// FirstEmulated is the number of the earliest minor release that a kube-apiserver of the current one can emulate.
const FirstEmulated = 34

// SinceMinor returns the number of the first minor release with the version of k, or 0 if it is not known.
func (k *Kind) SinceMinor() int { return minorOf(k.known().Since) }

// minorOf returns the number of a minor release such as v1.33. It returns 0 for other texts.
func minorOf(release string) int {
	n, err := strconv.Atoi(strings.TrimPrefix(release, "v1."))
	if err != nil {
		return 0
	}
	return n
}

// describeLike copies the fields that are known for served versions only. It takes them from another version of current in the same group.
func (k *Kind) describeLike(current *Kind) {
	for _, s := range Siblings(current.GVK) {
		if s.Resource != "" && s.GVK.Group == k.GVK.Group {
			k.Resource, k.Singular, k.ShortNames, k.Categories = s.Resource, s.Singular, s.ShortNames, s.Categories
			k.Namespaced, k.Verbs, k.Subresources, k.reset = s.Namespaced, s.Verbs, s.Subresources, s.reset
			return
		}
	}
}

// formerResets are endpoints that differ in earlier releases.
var formerResets = []struct {
	group, kind, subresource string
	until                    string
	gated                    bool     // the current release does the same if it emulates an earlier one
	restored, unowned        []string // the fields that the endpoint does not write, and that its managers do not own
}{
	{"networking.k8s.io", "ServiceCIDR", "", "v1.36", true, nil, nil},
	{"networking.k8s.io", "ServiceCIDR", "status", "v1.36", false, []string{"metadata", "spec"}, nil},
	{"resource.k8s.io", "ResourceClaim", "status", "v1.35", false, []string{"metadata", "spec"}, []string{"spec"}},
	{"certificates.k8s.io", "PodCertificateRequest", "", "v1.37", false, []string{"status"}, nil},
	{"certificates.k8s.io", "PodCertificateRequest", "status", "v1.37", false, []string{"metadata", "spec"}, []string{"spec"}},
}

// writeAsBefore sets the endpoints of k to those of its release.
func (k *Kind) writeAsBefore() {
	for _, f := range formerResets {
		if f.group != k.GVK.Group || f.kind != k.GVK.Kind || minorOf(f.until) <= k.release.minor || k.release.emulated && !f.gated {
			continue
		}
		if k.unowned == nil {
			k.reset, k.unowned = maps.Clone(k.reset), maps.Clone(k.reset)
		}
		k.reset[f.subresource], k.unowned[f.subresource] = excluding(f.restored), excluding(f.unowned)
	}
}

// excluding returns the filter that leaves out members of the root.
func excluding(names []string) merge.Filter {
	var paths []fieldpath.Path
	for _, name := range names {
		paths = append(paths, fieldpath.Path{fieldpath.Field(name)})
	}
	return merge.Filter{Exclude: fieldpath.SetOf(paths...)}
}

// releases caches the schemas of minor releases.
var releases struct {
	sync.Mutex
	schemas map[int]*kinds
}

// schemasOf returns the schemas of a minor release. It panics if the embedded file is damaged.
func schemasOf(minor int) *kinds {
	releases.Lock()
	defer releases.Unlock()
	if known, ok := releases.schemas[minor]; ok {
		return known
	}
	k := &kinds{entries: maps.Clone(all().entries), written: maps.Clone(all().written)}
	for section := range strings.SplitSeq(earlier, "release ") {
		head, lines, _ := strings.Cut(section, "\n")
		if of, err := strconv.Atoi(head); err != nil || of < minor {
			continue
		}
		if err := k.change(lines); err != nil {
			panic("builtin: releases.txt: " + err.Error())
		}
	}
	if releases.schemas == nil {
		releases.schemas = map[int]*kinds{}
	}
	releases.schemas[minor] = k
	return k
}

// change applies the differences of one release.
func (k *kinds) change(lines string) error {
	for line := range strings.Lines(lines) {
		line = strings.TrimSuffix(line, "\n")
		if gone, ok := strings.CutPrefix(line, "without "); ok {
			apiVersion, kind, _ := strings.Cut(gone, " ")
			delete(k.entries, schema.ParseGVK(apiVersion, kind))
			continue
		}
		text, isKind := strings.CutPrefix(line, "kind ")
		v, err := value.Parse([]byte(text))
		switch {
		case err != nil:
			return err
		case isKind:
			k.addEntry(v)
		default:
			k.written[v.Get("name").Str()] = text
		}
	}
	return nil
}

// declaredBy returns object without the members that its type does not have.
func declaredBy(t *schema.Type, v value.Value) value.Value {
	switch {
	case v.Kind() == value.KindObject && t.Map() != nil:
		var members []value.Member
		same := true
		for name, member := range v.Members() {
			inner, _ := t.Map().Lookup(name)
			if inner == nil {
				same = false
				continue
			}
			part := declaredBy(inner, member)
			same = same && part.Same(member)
			members = append(members, value.Member{Name: name, Value: part})
		}
		if !same {
			return value.Object(members...)
		}
	case v.Kind() == value.KindList && t.List() != nil:
		items := make([]value.Value, 0, v.Len())
		same := true
		for item := range v.Items() {
			part := declaredBy(t.List().Element(), item)
			same = same && part.Same(item)
			items = append(items, part)
		}
		if !same {
			return value.List(items...)
		}
	}
	return v
}
