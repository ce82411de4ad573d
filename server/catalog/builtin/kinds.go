package builtin

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/deprecation"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/catalog/tables"
	"github.com/deed-project/deed/server/catalog/validation"
	"github.com/deed-project/deed/value"
)

// apart lists the resources that other packages make, or that need more than storage.
var apart = []string{"namespaces", "customresourcedefinitions.apiextensions.k8s.io", "apiservices.apiregistration.k8s.io"}

// Kinds returns the resources of the built-in kinds whose objects are only stored, in the versions that are served by default. now is the
// clock for managed fields and for defaults that depend on the time.
//
// Package schema/builtin decodes, defaults, prepares and converts the objects. Two things are missing: a part of the validation of each
// kind's own fields, and everything that a server allocates, such as the addresses of services.
func Kinds(now func() time.Time) ([]*catalog.Resource, error) {
	var out []*catalog.Resource
	made := map[string]*catalog.Resource{}
	for kind := range builtin.Kinds() {
		name := kschema.GroupResource{Group: kind.GVK.Group, Resource: kind.Resource}.String()
		if kind.Served != builtin.ServedByDefault || !slices.Contains(kind.Verbs, "create") || !slices.Contains(kind.Verbs, "list") ||
			slices.Contains(apart, name) {
			continue
		}
		r := made[name]
		if r == nil {
			r = resourceOf(kind)
			made[name], out = r, append(out, r)
		}
		v, err := versionOf(r, kind.WithClock(now), now)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", kind.GVK.APIVersion(), kind.GVK.Kind, err)
		}
		r.Versions = append(r.Versions, v)
	}
	for _, r := range out {
		catalog.SortVersions(r.Versions)
	}
	return out, nil
}

func resourceOf(kind *builtin.Kind) *catalog.Resource {
	r := &catalog.Resource{
		Group: kind.GVK.Group, Plural: kind.Resource, Singular: kind.Singular, Kind: kind.GVK.Kind, ListKind: kind.GVK.Kind + "List",
		ShortNames: kind.ShortNames, Categories: kind.Categories, Namespaced: kind.Namespaced, Verbs: kind.Verbs,
		Stored: hubOf(kind).Version, Hashed: hubOf(kind).Group + "/" + hubOf(kind).Version, Prefix: prefixOf(kind),
		CreateOnUpdate: slices.Contains(createdOnUpdate, kind.Resource),
		Brief:          kind.Resource == "events",
		AnswersDeleted: slices.Contains(answeredDeleted, kind.Resource),
		Orphans:        slices.Contains(orphaning, kind.GVK), OrphanWarning: orphanWarnings[kind.GVK],
	}
	switch kind.GVK {
	case pod:
		r.Grace = podGrace
	case schema.GVK{Version: "v1", Kind: "Namespace"}:
		r.PreconditionFailed = "Precondition failed"
	}
	r.Uncollected = kind.GVK.Kind == "Event"
	return r
}

// hubOf returns the kind in its stored version.
func hubOf(kind *builtin.Kind) schema.GVK { return schema.ParseGVK(kind.Hub, kind.GVK.Kind) }

// prefixOf returns the key prefix of a kind, as in etcd. It does not contain the group.
func prefixOf(kind *builtin.Kind) string {
	switch kind.Resource {
	case "services":
		return "/registry/services/specs/"
	case "endpoints":
		return "/registry/services/endpoints/"
	case "nodes":
		return "/registry/minions/"
	case "replicationcontrollers":
		return "/registry/controllers/"
	case "ingresses":
		return "/registry/ingress/"
	}
	return "/registry/" + kind.Resource + "/"
}

// createdOnUpdate lists the resources whose updates create objects that do not exist.
var createdOnUpdate = []string{
	"leases", "endpoints", "events", "limitranges", "services", "runtimeclasses", "clusterroles", "clusterrolebindings", "roles",
	"rolebindings",
}

// answeredDeleted lists the resources whose deletes answer with the object.
var answeredDeleted = []string{
	"csidrivers", "csinodes", "deviceclasses", "namespaces", "persistentvolumeclaims", "persistentvolumes", "pods", "podtemplates",
	"resourceclaims", "resourceclaimtemplates", "resourcepoolstatusrequests", "resourcequotas", "resourceslices", "serviceaccounts",
	"services", "storageclasses", "volumeattachments", "volumeattributesclasses",
}

// orphaning lists the kinds whose deletes orphan dependents by default, for compatibility.
var orphaning = []schema.GVK{
	{Version: "v1", Kind: "ReplicationController"}, {Group: "batch", Version: "v1", Kind: "Job"},
}

// orphanWarnings holds the warnings of deletes that orphan by default.
var orphanWarnings = map[schema.GVK]string{
	{Group: "batch", Version: "v1", Kind: "Job"}: "child pods are preserved by default when jobs are deleted; set " +
		"propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning",
}

// conditional lists the resources whose updates require a resource version.
var conditional = []string{
	"leases", "poddisruptionbudgets", "runtimeclasses", "csidrivers", "csinodes", "csistoragecapacities", "volumeattachments",
	"mutatingwebhookconfigurations", "validatingwebhookconfigurations", "mutatingadmissionpolicies", "mutatingadmissionpolicybindings",
	"validatingadmissionpolicies", "validatingadmissionpolicybindings", "clustertrustbundles", "devicetaintrules",
	"podcertificaterequests", "storageversionmigrations",
}

// anyFinalizer reports whether objects of a kind may have finalizers that are neither known nor qualified by a domain. The validation of
// these kinds does not include the core group's validation of metadata.
func anyFinalizer(kind *builtin.Kind) bool {
	switch kind.GVK.Group {
	case "admissionregistration.k8s.io", "coordination.k8s.io", "node.k8s.io", "policy":
		return true
	}
	return kind.GVK.Group == "" && kind.GVK.Kind == "Event"
}

// nameRules holds the name rules of resources whose names are not DNS subdomains.
var nameRules = map[string]apivalidation.ValidateNameFunc{
	"statefulsets": apivalidation.NameIsDNSLabel, "services": apivalidation.NameIsDNSLabel,
	"poddisruptionbudgets": api.PathSegment, "roles": api.PathSegment, "rolebindings": api.PathSegment,
	"clusterroles": api.PathSegment, "clusterrolebindings": api.PathSegment,
}

// nameRule returns the name rule of object.
func (f *kindForm) nameRule(object value.Value) apivalidation.ValidateNameFunc {
	switch f.kind.GVK.Group {
	case "admissionregistration.k8s.io":
		return unreserved(f.name)
	case "certificates.k8s.io":
		if f.kind.GVK.Kind == "ClusterTrustBundle" {
			return bundleName(object.Get("spec", "signerName").Str())
		}
	}
	return f.name
}

// unreserved returns rule with the addition that a name must not be one of configurations in files.
func unreserved(rule apivalidation.ValidateNameFunc) apivalidation.ValidateNameFunc {
	const suffix = ".static.k8s.io"
	return func(name string, prefix bool) []string {
		errs := rule(name, prefix)
		if strings.HasSuffix(name, suffix) {
			errs = append(errs, fmt.Sprintf(
				"names ending with %q are reserved for static manifest-based configurations and cannot be managed via the API", suffix))
		}
		return errs
	}
}

// bundleName returns the name rule of trust bundles: the name of one with a signer begins with the name of the signer.
func bundleName(signer string) apivalidation.ValidateNameFunc {
	return func(name string, prefix bool) []string {
		begin := strings.ReplaceAll(signer, "/", ":") + ":"
		switch rest, ok := strings.CutPrefix(name, begin); {
		case signer == "" && strings.Contains(name, ":"):
			return []string{"ClusterTrustBundle without signer name must not have \":\" in its name"}
		case signer == "":
			return apivalidation.NameIsDNSSubdomain(name, prefix)
		case !ok:
			return []string{fmt.Sprintf("ClusterTrustBundle for signerName %s must be named with prefix %s", signer, begin)}
		default:
			return apivalidation.NameIsDNSSubdomain(rest, prefix)
		}
	}
}

func versionOf(r *catalog.Resource, kind *builtin.Kind, now func() time.Time) (*catalog.Version, error) {
	hub, ok := builtin.Lookup(hubOf(kind))
	if !ok {
		return nil, fmt.Errorf("it is stored as %s, which is not known", kind.Hub)
	}
	empty, ok := goTypes[kind.GVK.APIVersion()][kind.GVK.Kind]
	if !ok {
		return nil, errors.New("its Go type is not known")
	}
	nameRule, special := nameRules[kind.Resource]
	if !special {
		nameRule = apivalidation.NameIsDNSSubdomain
	}
	rules, checked := validation.Of(kschema.GroupKind{Group: kind.GVK.Group, Kind: kind.GVK.Kind})
	var err error
	v := &catalog.Version{
		Resource: r, Name: kind.GVK.Version, New: empty,
		Deprecation: deprecationOf(kind.GVK, empty().(runtime.Object)),
		Form: &kindForm{
			kind: kind, hub: hub, empty: empty, name: nameRule,
			conditional: slices.Contains(conditional, kind.Resource), anyFinalizer: anyFinalizer(kind), rules: rules, checked: checked,
		},
	}
	addSelectable(v)
	if v.Columns, v.Row = tables.Of(r.Plural, kind.GVK); v.Row == nil {
		v.Columns = catalog.Listed(NameColumn, AgeColumn)
	}
	if kind.GVK == signingRequest {
		v.Sign = withCreator
	}
	if r.Plural == "storageclasses" {
		v.Default = tables.DefaultClass
	}
	v.Main = managerOf(kind, "")
	for _, s := range kind.Subresources {
		switch {
		case err != nil:
		case s.Name == "status":
			v.Status = managerOf(kind, s.Name)
		case s.Name == "scale":
			v.Scale, err = scaleOf(kind, now)
		case kind.GVK == pod:
			addPodSubresource(v, kind, s.Name, now)
		}
	}
	return v, err
}

// deprecationOf returns the warning of responses with objects of a kind; "" for none. empty is an empty object of the kind.
func deprecationOf(gvk schema.GVK, empty runtime.Object) string {
	if !deprecation.IsDeprecated(empty, 1, release) {
		return ""
	}
	empty.GetObjectKind().SetGroupVersionKind(kschema.GroupVersionKind(gvk))
	return deprecation.WarningMessage(empty)
}

// release is the minor version of Kubernetes that the server emulates.
const release = 37

// managerOf returns the field manager of an endpoint.
func managerOf(kind *builtin.Kind, subresource string) catalog.Manager {
	return onceAsked(kind.GVK, func() (*managedfields.FieldManager, error) { return newManager(kind, subresource) })
}

// newManager makes the field manager of an endpoint. Its objects come from kindForm.Decode. It does not convert to the stored version,
// because admission still runs before the server stores the object.
func newManager(kind *builtin.Kind, subresource string) (*managedfields.FieldManager, error) {
	c, err := kind.Config(subresource)
	if err != nil {
		return nil, err
	}
	c.Read = nil
	count := kind.EmptyCounter()
	c.Store = func(c managedfields.Change) (value.Value, error) {
		object := c.Object
		if c.Operation == merge.Update {
			held, err := kind.Held(object)
			if err != nil {
				return object, err
			}
			object = held
		}
		if count == nil {
			return object, nil
		}
		c.Object = object
		return count(c)
	}
	return managedfields.New(c)
}
