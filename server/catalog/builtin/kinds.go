package builtin

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/deprecation"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/kinds"
	"github.com/deed-project/deed/server/kinds/expressions"
	"github.com/deed-project/deed/server/kinds/walk"
	"github.com/deed-project/deed/value"
	"github.com/deed-project/deed/value/structs"
)

// apart lists the resources that other packages make, or that need more than storage.
var apart = []string{"namespaces", "customresourcedefinitions.apiextensions.k8s.io"}

// Cluster is what the built-in kinds depend on.
type Cluster struct {
	Release      *builtin.Release // nil for the current one
	Now          func() time.Time // the clock for managed fields, and for defaults that depend on the time
	Namespace    walk.Namespace   // returns a stored Namespace, absent if there is none; if it is nil, no rule asks for one
	Families     []string         // of the addresses of services, the default one first; none means IPv4
	Unprivileged bool             // privileged containers are refused

	RuntimeConfig RuntimeConfig // which versions are served
}

// Kinds returns the resources of the built-in kinds of a cluster whose objects are only stored, and of component statuses, which are computed.
//
// Package schema/builtin decodes, defaults, prepares and converts the objects. Package kinds validates and shows them. A part of the
// validation is missing, and so is everything that a server allocates, such as the addresses of services.
//
// A resource is made at its first kind, and gets a version for each kind. Unused kinds cost little: field managers and columns
// are made on demand.
func Kinds(c Cluster) ([]*catalog.Resource, error) {
	var out []*catalog.Resource
	made := map[string]*catalog.Resource{}
	all, lookup := builtin.Kinds(), builtin.Lookup
	if c.Release != nil {
		all, lookup = c.Release.Kinds(), c.Release.Lookup
	}
	for kind := range all {
		name := kschema.GroupResource{Group: kind.GVK.Group, Resource: kind.Resource}.String()
		// A kind that has no lists is neither stored nor computed.
		if !c.RuntimeConfig.serves(kind) || !slices.Contains(kind.Verbs, "list") ||
			slices.Contains(apart, name) {
			continue
		}
		r := made[name]
		if r == nil {
			r = resourceOf(kinds.Of(kind))
			made[name], out = r, append(out, r)
		}
		k := kinds.Of(kind.WithClock(c.Now)).WithExpressions(expressions.New).WithNamespace(c.Namespace).WithFamilies(c.Families...)
		if c.Unprivileged {
			k = k.WithoutPrivileges()
		}
		v, err := versionOf(lookup, r, k, c.Now)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", kind.GVK.APIVersion(), kind.GVK.Kind, err)
		}
		r.Versions = append(r.Versions, v)
	}
	for _, r := range out {
		catalog.SortVersions(r.Versions)
		r.Hashed = hashedIn(c.Release, r)
	}
	return out, nil
}

// hashedIn returns the storage version of a resource in a release: the hub's, unless servers of the release before, with which it shares the
// store, do not know that version. Then it is the latest one that they know.
func hashedIn(release *builtin.Release, r *catalog.Resource) string {
	if release == nil {
		return r.Hashed
	}
	compatible := max(release.Minor()-1, builtin.FirstEmulated)
	var latest *builtin.Kind
	for k := range release.Kinds() {
		switch {
		case k.GVK.Group != r.Group || k.GVK.Kind != r.Kind:
		case k.GVK.Version == r.Stored && k.SinceMinor() <= compatible:
			return r.Hashed
		case k.SinceMinor() <= compatible && (latest == nil || k.SinceMinor() > latest.SinceMinor()):
			latest = k
		}
	}
	if latest == nil {
		return r.Hashed
	}
	return latest.GVK.Group + "/" + latest.GVK.Version
}

// resourceOf returns the resource of a kind, without versions. What it says is the same for all versions.
func resourceOf(kind kinds.Kind) *catalog.Resource {
	return &catalog.Resource{
		Group: kind.GVK.Group, Plural: kind.Resource, Singular: kind.Singular, Kind: kind.GVK.Kind, ListKind: kind.GVK.Kind + "List",
		ShortNames: kind.ShortNames, Categories: kind.Categories, Namespaced: kind.Namespaced, Verbs: kind.Verbs,
		Stored: hubOf(kind).Version, Hashed: hubOf(kind).Group + "/" + hubOf(kind).Version,
		Prefix:         "/registry/" + cmp.Or(kind.Prefix, kind.Resource) + "/",
		CreateOnUpdate: kind.CreateOnUpdate, CreateOnApply: kind.CreateOnApply, HasTTL: kind.HasTTL, PrefixAsName: kind.PrefixAsName,
		Orphans: kind.Orphans, OrphanWarning: kind.OrphanWarning, NoDependents: kind.NoDependents, Grace: kind.Grace, Kept: kind.Kept,
		PreconditionFailed: kind.PreconditionFailed, Virtual: !slices.Contains(kind.Verbs, "create"),
	}
}

// hubOf returns the kind in its stored version.
func hubOf(kind kinds.Kind) schema.GVK { return schema.ParseGVK(kind.Hub, kind.GVK.Kind) }

// lookup finds kinds of a release.
type lookup = func(schema.GVK) (*builtin.Kind, bool)

// versionOf returns the version of a resource that a kind is, with its subresources.
func versionOf(lookup lookup, r *catalog.Resource, kind kinds.Kind, now func() time.Time) (*catalog.Version, error) {
	hub, ok := lookup(hubOf(kind))
	if !ok {
		return nil, fmt.Errorf("it is stored as %s, which is not known", kind.Hub)
	}
	empty, ok := goTypes[kind.GVK.APIVersion()][kind.GVK.Kind]
	if !ok {
		return nil, errors.New("its Go type is not known")
	}
	var err error
	v := &catalog.Version{
		Resource: r, Name: kind.GVK.Version, New: empty,
		Form:            &kindForm{kind: kind, hub: hub.WithClock(now), empty: empty, late: sync.OnceValue(func() bool { return defaultsLate(kinds.Of(hub)) })},
		Empty:           sync.OnceValue(func() value.Value { return kind.Empty(EmptyOf(empty())) }),
		CheckConversion: kind.CheckConversion, WarnOfNew: kind.WarnOfNew,
		Default: kind.Default,
		Fields:  slices.AppendSeq(slices.Clip(kind.Fields), maps.Keys(kind.Derived)), Derived: kind.Derived,
		AnswersDeleted: kind.AnswersDeleted(), NoNamespaceField: kind.NoNamespaceField, NoStatusTable: kind.NoStatusTable, ShownAs: kind.ShownAs(),
		FieldRefusal: strings.Replace(kind.FieldRefusal, "VERSION", kind.GVK.Version, 1),
	}
	v.Deprecation, v.Removed = deprecationOf(kind.GVK, empty().(runtime.Object))
	v.Columns, v.Row = tableOf(kind)
	if kind.GVK == signingRequest {
		v.Sign = withCreator
	}
	v.Main = managerOf(kind.Kind, "")
	// Subresources that are not named below are not made here.
	for _, s := range kind.Subresources {
		switch {
		case err != nil:
		case s.Name == "status":
			v.Status = managerOf(kind.Kind, s.Name)
		case s.Name == "scale":
			v.Scale, err = scaleOf(kind.Kind, now)
		case s.Name == "approval":
			v.Parts = map[string]catalog.Manager{s.Name: managerOf(kind.Kind, s.Name)}
		case proxies[kind.GVK] != nil && s.Name == "proxy":
			v.Actions = map[string]*catalog.Version{s.Name: proxies[kind.GVK]}
		case kind.GVK == serviceAccount && s.Name == "token":
			v.Actions = map[string]*catalog.Version{s.Name: newTokenRequests(now)}
		case kind.GVK == pod:
			addPodSubresource(v, kind.Kind, s.Name, now)
		}
	}
	return v, err
}

// EmptyOf returns what is shown of a new object of a Go type: some members of structs are printed without a value.
func EmptyOf(object any) value.Value {
	v, err := structs.From(object)
	if err != nil {
		panic(err) // cannot happen: an API type is plain data
	}
	return v
}

// deprecationOf returns the warning of responses with objects of a kind that the current release deprecates, whatever release is emulated, and
// the release that removes it; "" for none. empty is an empty object of the kind.
func deprecationOf(gvk schema.GVK, empty runtime.Object) (warning, removed string) {
	if !deprecation.IsDeprecated(empty, 1, builtin.CurrentMinor) {
		return "", ""
	}
	empty.GetObjectKind().SetGroupVersionKind(kschema.GroupVersionKind(gvk))
	return deprecation.WarningMessage(empty), deprecation.RemovedRelease(empty)
}

// managerOf returns the field manager of an endpoint.
func managerOf(kind *builtin.Kind, subresource string) catalog.Manager {
	return onceAsked(kind.GVK, func() (*managedfields.FieldManager, error) { return newManager(kind, subresource) })
}

// newManager makes the field manager of an endpoint. Its objects come from kindForm.Decode. It does not convert to the stored version,
// because admission still runs before the server stores the object.
//
// Read is nil, since objects are decoded before. Store only gives an updated object its defaults.
func newManager(kind *builtin.Kind, subresource string) (*managedfields.FieldManager, error) {
	c, err := kind.Config(subresource)
	if err != nil {
		return nil, err
	}
	c.Read, c.Hold = nil, kind.HeldApplied
	c.Store = func(c managedfields.Change) (value.Value, error) {
		if c.Operation == merge.Update {
			return kind.HeldAgain(c.Object)
		}
		return c.Object, nil
	}
	return managedfields.New(c)
}
