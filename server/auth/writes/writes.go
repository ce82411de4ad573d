// Package writes asks for permissions that a user needs beside the permission to write an object: for signers, for the parameters of admission
// policies, and for parts of the status of a ResourceClaim. [Permissions] asks while an object is validated, and [Signers] in admission.
package writes

import (
	"context"
	"fmt"
	"slices"
	"strings"

	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/server/auth"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/registry"
	"github.com/deed-project/deed/server/request"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

// Permissions asks for them. kube-apiserver asks while it validates an object, and reports what is missing as a fault of the object.
type Permissions struct {
	// Allows decides by all authorizers of the server.
	Allows  auth.Authorizer
	Store   store.Store
	Catalog func() *catalog.Catalog
	Minor   int // the minor release that the server is
}

// endpoint is a resource, and a subresource of it.
type endpoint struct {
	kschema.GroupResource
	subresource string
}

const policyGroup = "admissionregistration.k8s.io"

// check is what is asked about a write. Most are asked only of an object without faults.
type check struct {
	ask    func(Permissions, context.Context, write) (field.ErrorList, error)
	always bool // also of an object with faults, which follow those of permissions
}

// checks are the checks of writes, by what they write. Members of system:masters need none.
var checks = map[endpoint]check{
	at(policyGroup, "validatingadmissionpolicies", ""):       {ask: Permissions.kind},
	at(policyGroup, "mutatingadmissionpolicies", ""):         {ask: Permissions.kind},
	at(policyGroup, "validatingadmissionpolicybindings", ""): {ask: Permissions.validates},
	at(policyGroup, "mutatingadmissionpolicybindings", ""):   {ask: Permissions.mutates},
	at(certificates, "podcertificaterequests", "status"):     {ask: Permissions.signer},
	at("resource.k8s.io", "resourceclaims", "status"):        {ask: Permissions.claim, always: true},
}

func at(group, resource, subresource string) endpoint {
	return endpoint{kschema.GroupResource{Group: group, Resource: resource}, subresource}
}

// write is the write of an object. old is absent for a create.
type write struct {
	user        auth.User
	object, old value.Value
}

// Faults returns the faults that validation found in an object of a resource, with a fault for each permission that the user of the context
// lacks for the write. old is absent for a new object.
func (p Permissions) Faults(ctx context.Context, of kschema.GroupResource, subresource string, object, old value.Value, found field.ErrorList) (field.ErrorList, error) {
	c := checks[endpoint{of, subresource}]
	user := auth.UserOf(ctx)
	if c.ask == nil || user.IsMaster() || len(found) > 0 && !c.always {
		return found, nil
	}
	missing, err := c.ask(p, ctx, write{user, object, old})
	return append(missing, found...), err
}

// kind refuses a policy whose parameters are of a kind that the user may not read.
func (p Permissions) kind(ctx context.Context, w write) (field.ErrorList, error) {
	kind := w.object.Get("spec", "paramKind")
	if kind.IsAbsent() || kind.IsNull() || kind.Equal(w.old.Get("spec", "paramKind")) {
		return nil, nil
	}
	action, _ := p.params(kind)
	action.Verb, action.Namespace, action.Name = "get", "*", "*"
	if ok, _ := p.Allows(ctx, w.user, action); ok {
		return nil, nil
	}
	return field.ErrorList{field.Forbidden(field.NewPath("spec", "paramKind"), fmt.Sprintf(
		`user %v must have "get" permission on all objects of the referenced paramKind (kind=%s, apiVersion=%s)`,
		shown(w.user), kind.Get("kind").Str(), kind.Get("apiVersion").Str()))}, nil
}

// params returns the action on parameters of a kind, without a verb, and whether the kind is served. What is unknown of their resource is a
// star.
func (p Permissions) params(kind value.Value) (action auth.Action, isServed bool) {
	version, err := kschema.ParseGroupVersion(kind.Get("apiVersion").Str())
	if err != nil {
		return auth.Action{Group: "*", Version: "*", Resource: "*"}, false
	}
	for v := range p.Catalog().In(version.Group, version.Version) {
		if v.Kind == kind.Get("kind").Str() {
			return auth.Action{Group: version.Group, Version: version.Version, Resource: v.Plural}, true
		}
	}
	return auth.Action{Group: version.Group, Version: version.Version, Resource: "*"}, false
}

// validates and mutates refuse a binding with parameters that the user may not read. The kind of a policy orders the words of one refusal.
func (p Permissions) validates(ctx context.Context, w write) (field.ErrorList, error) {
	return p.binding(ctx, w, "validatingadmissionpolicies", func(user, verb string) (string, string) { return user, verb })
}

func (p Permissions) mutates(ctx context.Context, w write) (field.ErrorList, error) {
	return p.binding(ctx, w, "mutatingadmissionpolicies", func(user, verb string) (string, string) { return verb, user })
}

// binding checks a binding to a policy of a resource. An update of parameters that a selector or an action describes is always checked, even
// if they stay the same.
func (p Permissions) binding(ctx context.Context, w write, policies string, order func(user, verb string) (string, string)) (field.ErrorList, error) {
	const unknown = ` to determine minimum required permissions and user %v does not have "%v" permission for all groups, versions and resources`
	params, name := w.object.Get("spec", "paramRef"), w.object.Get("spec", "policyName").Str()
	if params.IsAbsent() || params.IsNull() {
		return nil, nil
	}
	isPlain := params.Get("selector").IsAbsent() && params.Get("parameterNotFoundAction").IsAbsent()
	if isPlain && params.Equal(w.old.Get("spec", "paramRef")) && name == w.old.Get("spec", "policyName").Str() {
		return nil, nil
	}
	action := auth.Action{Group: "*", Version: "*", Resource: "*"}
	policy, err := registry.Object(ctx, p.Store, p.Catalog().Lookup(policyGroup, policies).Key("", name))
	if err != nil {
		return nil, err
	}
	kind, isServed := policy.Get("spec", "paramKind"), true
	if !kind.IsAbsent() {
		action, isServed = p.params(kind)
	}
	action.Verb, action.Namespace, action.Name = "get", params.Get("namespace").Str(), params.Get("name").Str()
	if action.Name == "" {
		action.Verb = "list"
	}
	if ok, _ := p.Allows(ctx, w.user, action); ok {
		return nil, nil
	}
	user := shown(w.user)
	var text string
	switch {
	case policy.IsAbsent():
		text = fmt.Sprintf("unable to get policy %s"+unknown, name, user, action.Verb)
	case !isServed:
		text = fmt.Sprintf("unable to resolve paramKind &{%s %s}"+unknown, kind.Get("apiVersion").Str(), kind.Get("kind").Str(), user, action.Verb)
	default:
		first, second := order(user, action.Verb)
		text = fmt.Sprintf(`user %v does not have "%v" permission on the object referenced by paramRef`, first, second)
	}
	return field.ErrorList{field.Forbidden(field.NewPath("spec", "paramRef"), text)}, nil
}

// shown returns a user as refusals about parameters show it.
func shown(u auth.User) string { return fmt.Sprint(&u) }

// signer refuses a change of the status of a PodCertificateRequest by a user who may sign neither for its signer nor for all signers of that
// domain.
func (p Permissions) signer(ctx context.Context, w write) (field.ErrorList, error) {
	if w.object.Get("status").Equal(w.old.Get("status")) {
		return nil, nil
	}
	signer := w.old.Get("spec", "signerName").Str()
	if allowsSigner(ctx, p.Allows, w.user, "sign", signer) {
		return nil, nil
	}
	return field.ErrorList{field.Forbidden(field.NewPath("spec", "signerName"), fmt.Sprintf(
		`User %q is not permitted to "sign" for signer %q`, w.user.Name, signer))}, nil
}

// claimsSince is the minor release that began to ask for permissions for parts of the status of a claim.
const claimsSince = 36

// claim refuses a change of the allocation of a claim, and of what reserves it, without the permission for resourceclaims/binding. Of an
// allocated claim, it refuses a change of the status of a driver's devices without the permission for resourceclaims/driver.
func (p Permissions) claim(ctx context.Context, w write) (errs field.ErrorList, _ error) {
	if p.Minor < claimsSince {
		return nil, nil
	}
	is, was := w.object.Get("status"), w.old.Get("status")
	action := request.From(ctx).Action()
	if !is.Get("allocation").Equal(was.Get("allocation")) || !slices.EqualFunc(items(is, "reservedFor"), items(was, "reservedFor"), value.Value.Equal) {
		binding := action
		binding.Subresource, binding.Namespace, binding.Name = "binding", "", ""
		if ok, reason := p.Allows(ctx, w.user, binding); !ok {
			errs = append(errs, field.Forbidden(field.NewPath("status", "allocation"), fmt.Sprintf(
				`changing status.allocation or status.reservedFor requires resource="resourceclaims/binding", verb="%s" permission: %s`,
				binding.Verb, auth.Forbidden(w.user, binding, reason))))
		}
	}
	if is.Get("allocation").IsAbsent() {
		return errs, nil
	}
	verbs := []string{"arbitrary-node:" + action.Verb}
	if isOn(w.user, nodeOf(is.Get("allocation"))) {
		verbs = slices.Insert(verbs, 0, "associated-node:"+action.Verb)
	}
	for _, driver := range changedDrivers(items(is, "devices"), items(was, "devices")) {
		if err := p.driver(ctx, w.user, action, verbs, driver); err != nil {
			errs = append(errs, field.Forbidden(field.NewPath("status", "devices"), fmt.Sprintf(
				`changing status.devices requires resource="resourceclaims/driver", verb="%s" permission: %s`, verbs, err)))
		}
	}
	return errs, nil
}

// driver returns the refusal of the first verb if the user has none of the verbs for a driver.
func (p Permissions) driver(ctx context.Context, u auth.User, action auth.Action, verbs []string, driver string) (first error) {
	action.Subresource, action.Name = "driver", driver
	for _, action.Verb = range verbs {
		ok, reason := p.Allows(ctx, u, action)
		if ok {
			return nil
		}
		if first == nil {
			first = auth.Forbidden(u, action, reason)
		}
	}
	return first
}

// items returns the items of a list in an object, none if it is absent.
func items(of value.Value, list string) []value.Value { return slices.Collect(of.Get(list).Items()) }

// changedDrivers returns the drivers of devices that one list has otherwise than another, sorted.
func changedDrivers(is, was []value.Value) (out []string) {
	type key struct{ driver, pool, device, share string }
	keyOf := func(v value.Value) key {
		return key{v.Get("driver").Str(), v.Get("pool").Str(), v.Get("device").Str(), v.Get("shareID").Str()}
	}
	before := map[key]value.Value{}
	for _, v := range was {
		before[keyOf(v)] = v
	}
	for _, v := range is {
		if old, ok := before[keyOf(v)]; !ok || !old.Equal(v) {
			out = append(out, keyOf(v).driver)
		}
		delete(before, keyOf(v))
	}
	for k := range before {
		out = append(out, k.driver)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// nodeOf returns the node to which an allocation is bound by its name, "" if there is none.
func nodeOf(allocation value.Value) string {
	term := only(allocation.Get("nodeSelector", "nodeSelectorTerms"))
	names := only(term.Get("matchFields"))
	if term.Get("matchExpressions").Len() != 0 || names.Get("key").Str() != "metadata.name" || names.Get("operator").Str() != "In" {
		return ""
	}
	return only(names.Get("values")).Str()
}

// only returns the item of a list that has one item, absent for other lists.
func only(list value.Value) value.Value {
	if items := slices.Collect(list.Items()); len(items) == 1 {
		return items[0]
	}
	return value.Value{}
}

// isOn reports whether a user is a service account whose token is bound to a node.
func isOn(u auth.User, node string) bool {
	nodes := u.Extra["authentication.kubernetes.io/node-name"]
	account, isAccount := strings.CutPrefix(u.Name, "system:serviceaccount:")
	return isAccount && strings.Count(account, ":") == 1 && node != "" && len(nodes) == 1 && nodes[0] == node
}
