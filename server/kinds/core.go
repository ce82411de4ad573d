package kinds

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/kinds/walk"
	"github.com/deed-project/deed/value"
	"github.com/deed-project/deed/value/structs"
)

// limitTypes are what the limits of a namespace without a domain are about.
var limitTypes = map[string]bool{"Pod": true, "Container": true, "PersistentVolumeClaim": true}

// validateLimitRange refuses a LimitRange.
func validateLimitRange(r *walk.Report, object walk.Place, _ value.Value) {
	spec := object.At("spec")
	limits := spec.At("limits")
	var met walk.Names
	for i := range limits.Indexes() {
		limit := limits.Index(i)
		typ := limit.At("type")
		name := typ.Str()
		if wrong := validation.IsQualifiedName(name); len(wrong) > 0 {
			r.InvalidAs(typ, walk.Enumeration(name), wrong...)
		} else if !strings.Contains(name, "/") && !limitTypes[name] {
			r.InvalidAs(typ, walk.Enumeration(name), "must be a standard limit type or fully qualified")
		}
		if !met.Add(name) {
			r.Duplicate(typ)
		}
		for _, member := range [...]string{"max", "min", "default", "defaultRequest", "maxLimitRequestRatio"} {
			validateLimitNames(r, limit, limit.At(member))
		}
		validateLimitAmounts(r, limit)
	}
}

// validateLimitNames validates the names of resources of one member of a limit.
func validateLimitNames(r *walk.Report, limit, p walk.Place) {
	typ := limit.Text("type")
	of := p.Name()
	if typ == "Pod" && strings.HasPrefix(of, "default") {
		if p.Len() > 0 {
			r.Forbidden(p, "may not be specified when `type` is 'Pod'")
		}
		return
	}
	if of == "maxLimitRequestRatio" && typ == "PersistentVolumeClaim" && !walk.IsSet(limit.Get("min", "storage")) && !walk.IsSet(limit.Get("max", "storage")) {
		r.Required(limit.At("limits"), "either minimum or maximum storage value is required, but neither was provided")
	}
	for i := range p.Indexes() {
		if entry := p.Entry(i); typ == "Pod" || typ == "Container" {
			r.ContainerResource(entry)
		} else {
			r.ResourceName(entry)
		}
	}
}

// validateLimitAmounts validates the amounts of a limit against each other.
func validateLimitAmounts(r *walk.Report, limit walk.Place) {
	var met walk.Names
	for _, member := range [...]string{"max", "min", "default", "defaultRequest", "maxLimitRequestRatio"} {
		for name := range limit.Get(member).Members() {
			if met.Add(name) && (limit.Text("type") != "Pod" || !strings.HasPrefix(member, "default")) {
				validateLimitAmount(r, limit, name)
			}
		}
	}
}

func validateLimitAmount(r *walk.Report, limit walk.Place, name string) {
	amount := func(member string) walk.Place {
		if limit.Text("type") == "Pod" && strings.HasPrefix(member, "default") {
			return limit.None()
		}
		p := limit.At(member)
		return p.Below(p.Get(name), name, walk.IsKey)
	}
	least, most, standard, request := amount("min"), amount("max"), amount("default"), amount("defaultRequest")
	above := func(told, a, b walk.Place, format string) {
		if a.IsSet() && b.IsSet() && walk.Compare(a.Value, b.Value) > 0 {
			r.Invalid(told, fmt.Sprintf(format, a.Str(), b.Str()))
		}
	}
	above(least, least, most, "min value %s is greater than max value %s")
	above(request, least, request, "min value %s is greater than default request value %s")
	above(request, request, most, "default request value %s is greater than max value %s")
	above(request, request, standard, "default request value %s is greater than default limit value %s")
	above(standard.WithValue(least.Value), least, standard, "min value %s is greater than default value %s")
	above(standard.WithValue(most.Value), standard, most, "default value %s is greater than max value %s")
	validateRatio(r, amount("maxLimitRequestRatio"), least, most)
	if standard.IsSet() && request.IsSet() && !walk.IsShared(name) && walk.Compare(standard.Value, request.Value) != 0 {
		r.Invalid(request, fmt.Sprintf("default value %s must equal to defaultRequest value %s in %s", standard.Str(), request.Str(), name))
	}
}

// validateRatio validates how many times a request a limit may be.
func validateRatio(r *walk.Report, p, least, most walk.Place) {
	if !p.IsSet() {
		return
	}
	q, low, high := walk.Quantity(p.Value), walk.Quantity(least.Value), walk.Quantity(most.Value)
	if q.Cmp(*resource.NewQuantity(1, resource.DecimalSI)) < 0 {
		r.Invalid(p, fmt.Sprintf("ratio %s is less than 1", p.Str()))
	}
	if !least.IsSet() || !most.IsSet() {
		return
	}
	// Amounts whose thousandths an int64 cannot hold lose their fractions.
	value, limit := float64(q.Value()), float64(high.Value())/float64(low.Value())
	if q.Value() < resource.MaxMilliValue && low.Value() < resource.MaxMilliValue && high.Value() < resource.MaxMilliValue {
		value, limit = float64(q.MilliValue())/1000, float64(high.MilliValue())/float64(low.MilliValue())
	}
	if value > limit {
		r.Invalid(p, fmt.Sprintf("ratio %s is greater than max/min = %f", p.Str(), limit))
	}
}

// validateQuota refuses amounts of a ResourceQuota.
func validateQuota(r *walk.Report, object walk.Place, live value.Value) {
	spec := object.At("spec")
	validateQuotaAmounts(r, spec.At("hard"))
	validateScopes(r, spec)
	validateScopeSelector(r, spec)
	if walk.IsSet(live) && !sameTexts(spec.Get("scopes"), live.Get("spec", "scopes")) {
		r.Invalid(spec.At("scopes"), "field is immutable")
	}
}

// sameTexts reports whether two lists have the same texts, in any order and number.
func sameTexts(a, b value.Value) bool {
	met := map[string]int{}
	for i, list := range [...]value.Value{a, b} {
		for text := range list.Items() {
			met[text.Str()] |= 1 << i
		}
	}
	for _, in := range met {
		if in != 1|2 {
			return false
		}
	}
	return true
}

// validateQuotaStatus validates what a quota limits, and how much of it is used.
func validateQuotaStatus(r *walk.Report, object walk.Place, _ value.Value) {
	status := object.At("status")
	validateQuotaAmounts(r, status.At("hard"))
	validateQuotaAmounts(r, status.At("used"))
}

// validateQuotaAmounts validates amounts of resources that a quota limits.
func validateQuotaAmounts(r *walk.Report, list walk.Place) {
	for i := range list.Indexes() {
		amount := list.Entry(i)
		validateQuotaName(r, amount)
		if strings.HasPrefix(amount.Str(), "-") {
			r.InvalidAs(amount, amount.Str(), "must be greater than or equal to 0")
		}
		if q := walk.Quantity(amount.Value); (walk.IsWhole(amount.Name()) || walk.IsExtended(amount.Name())) && q.MilliValue()%1000 != 0 {
			r.InvalidAs(amount, amount.Str(), "must be an integer")
		}
	}
}

// counted are the resources that quotas of a namespace limit, beside those that are whole and huge pages.
var counted = map[string]bool{
	"cpu": true, "memory": true, "ephemeral-storage": true,
	"requests.cpu": true, "requests.memory": true, "requests.ephemeral-storage": true, "requests.storage": true,
	"limits.cpu": true, "limits.memory": true, "limits.ephemeral-storage": true,
}

// validateQuotaName refuses the name of a resource that a quota limits.
func validateQuotaName(r *walk.Report, limit walk.Place) {
	name := limit.Name()
	wrong := validation.IsQualifiedName(name)
	r.InvalidAs(limit, name, wrong...)
	huge := strings.HasPrefix(name, "hugepages-") || strings.HasPrefix(name, "requests.hugepages-")
	if strings.Contains(name, "/") || huge || counted[name] || walk.IsWhole(name) {
		return
	}
	if len(wrong) == 0 && name != "storage" { // which is one, and has no quota
		r.InvalidAs(limit, name, "must be a standard resource type or fully qualified")
	}
	r.InvalidAs(limit, name, "must be a standard resource for quota")
}

// maxData is how many bytes a ConfigMap or a Secret may hold.
const maxData = 1 << 20

// validateConfigMap validates a ConfigMap, and validateSecret a Secret.
func validateConfigMap(r *walk.Report, object walk.Place, live value.Value) {
	validateSealed(r, object, live, sealedMember{"immutable", walk.Same}, sealedMember{"data", walk.Same}, sealedMember{"binaryData", walk.Identical}) // data has a default
	for _, name := range [...]string{"data", "binaryData"} {
		list := object.At(name)
		for i := range list.Indexes() {
			entry := list.Entry(i)
			r.InvalidAs(entry, entry.Name(), validation.IsConfigMapKey(entry.Name())...)
			if name == "data" && !object.Get("binaryData", entry.Name()).IsAbsent() {
				r.InvalidAs(entry, entry.Name(), "duplicate of key present in binaryData")
			}
		}
	}
	n := decodedLen(object.Get("binaryData"))
	for _, text := range object.Get("data").Members() {
		n += len(text.Str())
	}
	if n > maxData {
		r.Add(field.TooLong(field.NewPath(""), "", maxData)) // of the whole object
	}
}

func validateSecret(r *walk.Report, object walk.Place, live value.Value) {
	if walk.IsSet(live) {
		r.Unchanged(object.At("type"), live.Get("type"))
	}
	validateSealed(r, object, live, sealedMember{"immutable", walk.Same}, sealedMember{"data", walk.Identical})
	data := object.At("data")
	for i := range data.Indexes() {
		entry := data.Entry(i)
		r.InvalidAs(entry, entry.Name(), validation.IsConfigMapKey(entry.Name())...)
	}
	if decodedLen(data.Value) > maxData {
		r.Add(field.TooLong(data.Path(), "", maxData))
	}
	validateSecretType(r, object, data)
}

// validateSecretType validates the keys that a type of secrets has.
func validateSecretType(r *walk.Report, object, data walk.Place) {
	key := func(name string) walk.Place { return data.Below(data.Get(name), name, walk.IsKey) }
	need := func(names ...string) {
		for _, name := range names {
			if k := key(name); k.IsAbsent() {
				r.Required(k, "")
			}
		}
	}
	switch object.Text("type") {
	case "kubernetes.io/service-account-token":
		metadata := object.At("metadata")
		annotations := metadata.At("annotations")
		const name = "kubernetes.io/service-account.name"
		if account := annotations.Below(annotations.Get(name), name, walk.IsKey); account.Str() == "" {
			r.Required(account, "")
		}
	case "kubernetes.io/dockercfg":
		validateSecretJSON(r, key(".dockercfg"))
	case "kubernetes.io/dockerconfigjson":
		validateSecretJSON(r, key(".dockerconfigjson"))
	case "kubernetes.io/basic-auth":
		if key("username").IsAbsent() && key("password").IsAbsent() {
			need("username", "password")
		}
	case "kubernetes.io/ssh-auth":
		if private := key("ssh-privatekey"); private.Str() == "" {
			r.Required(private, "")
		}
	case "kubernetes.io/tls":
		need("tls.crt", "tls.key")
	}
}

// validateSecretJSON validates a key whose content is a JSON object.
func validateSecretJSON(r *walk.Report, p walk.Place) {
	if p.IsAbsent() {
		r.Required(p, "")
		return
	}
	text, _ := base64.StdEncoding.DecodeString(p.Str()) // it was decoded before
	if err := json.Unmarshal(text, &map[string]any{}); err != nil {
		r.InvalidAs(p, "<secret contents redacted>", err.Error())
	}
}

// validateSealed refuses changes of the members of an object that says that it is immutable, each with the way in which it is compared.
// These errors, and those before them, precede what is wrong with the prefix of generated names.
func validateSealed(r *walk.Report, object walk.Place, live value.Value, members ...sealedMember) {
	for _, m := range members {
		if p := object.At(m.name); live.Get("immutable").Bool() && !m.equal(p.Value, live.Get(m.name)) {
			r.Forbidden(p, "field is immutable when `immutable` is set")
		}
	}
	r.Named = len(r.Errs)
}

type sealedMember struct {
	name  string
	equal func(a, b value.Value) bool
}

// quotaScopes are what a quota may be about.
var quotaScopes = map[string]quotaScope{
	"BestEffort":                {alone: true, counts: map[string]bool{"pods": true}},
	"NotBestEffort":             {alone: true, counts: podAmounts},
	"Terminating":               {alone: true, counts: podAmounts},
	"NotTerminating":            {alone: true, counts: podAmounts},
	"CrossNamespacePodAffinity": {alone: true, counts: podAmounts},
	"PriorityClass":             {counts: podAmounts},
	"VolumeAttributesClass":     {counts: map[string]bool{"persistentvolumeclaims": true, "requests.storage": true}},
}

type quotaScope struct {
	alone  bool            // a selector says no more than that objects have the scope
	counts map[string]bool // the standard resources that a quota may limit in the scope
}

var podAmounts = map[string]bool{
	"pods": true, "cpu": true, "memory": true, "limits.cpu": true, "limits.memory": true, "requests.cpu": true, "requests.memory": true,
}

// validateScopes validates the scopes of a quota. Each error shows the whole list.
func validateScopes(r *walk.Report, spec walk.Place) {
	list := spec.At("scopes")
	has := map[string]bool{}
	for scope := range list.Items() {
		name := scope.Str()
		if _, known := quotaScopes[name]; !known {
			r.Invalid(list, "unsupported scope")
		}
		validateScopeCounts(r, list, list, name, spec.Get("hard"))
		has[name] = true
	}
	validateConflictingScopes(r, list, list, has)
}

// validateScopeCounts refuses limits of standard resources that a quota cannot count in a scope. The error at p shows the value of shown.
func validateScopeCounts(r *walk.Report, p, shown walk.Place, scope string, hard value.Value) {
	of, known := quotaScopes[scope]
	for name := range hard.Members() {
		if known && (counted[name] || walk.IsWhole(name)) && !of.counts[name] {
			r.InvalidAs(p, r.Shown(shown), "unsupported scope applied to resource")
		}
	}
}

// validateConflictingScopes refuses scopes that exclude each other. The error at p shows the scopes of the quota.
func validateConflictingScopes(r *walk.Report, p, scopes walk.Place, has map[string]bool) {
	for _, pair := range [][2]string{{"BestEffort", "NotBestEffort"}, {"Terminating", "NotTerminating"}} {
		if has[pair[0]] && has[pair[1]] {
			r.InvalidAs(p, r.Shown(scopes), "conflicting scopes")
		}
	}
}

// validateScopeSelector validates which objects a quota counts. Errors in expressions are about their list.
func validateScopeSelector(r *walk.Report, spec walk.Place) {
	selector := spec.At("scopeSelector")
	list := selector.At("matchExpressions")
	scope, operator, values := list.At("scopeName"), list.At("operator"), list.At("values")
	has := map[string]bool{}
	for e := range list.Items() {
		name, is := e.Get("scopeName").Str(), e.Get("operator").Str()
		of, known := quotaScopes[name]
		if !known {
			r.InvalidAs(scope, walk.Enumeration(name), "unsupported scope")
		}
		validateScopeCounts(r, list, selector, name, spec.Get("hard"))
		has[name] = true
		if of.alone && is != "Exists" {
			r.InvalidAs(operator, walk.Enumeration(is), "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, "+
				"ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or "+
				"ResourceQuotaScopeCrossNamespacePodAffinity")
		}
		switch n := e.Get("values").Len(); is {
		case "In", "NotIn":
			if n == 0 {
				r.Required(values, "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector")
			}
		case "Exists", "DoesNotExist":
			if n > 0 {
				r.Invalid(values.WithValue(e.Get("values")), "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector")
			}
		default:
			r.InvalidAs(operator, walk.Enumeration(is), "not a valid selector operator")
		}
	}
	validateConflictingScopes(r, list, spec.At("scopes"), has)
}

// validateEvent validates an Event of the core group.
func validateEvent(r *walk.Report, object walk.Place, _ value.Value) {
	validateEventFields(r, object, "reportingComponent", object.Get("involvedObject", "namespace").Str(), object.At("message"))
}

// validateNewEvent validates an Event of the group events.k8s.io, whose errors have the names of the core group.
func validateNewEvent(r *walk.Report, object walk.Place, live value.Value) {
	told := func(name, as string) walk.Place { return object.Below(object.Get(name), as, walk.IsMember) }
	validateEventFields(r, object, "reportingController", object.Get("regarding", "namespace").Str(), told("note", "message"))
	r.First, r.Errs = r.Errs, nil
	series := object.At("series")
	if series.IsSet() && !(walk.IsSet(live) && series.Value.Equal(live.Get("series"))) {
		if series.Get("count").Int() < 2 {
			r.InvalidAs(series.At("count"), "", "should be at least 2")
		}
		if seen := series.At("lastObservedTime"); !seen.IsSet() {
			r.Required(seen, "")
		}
	}
	old := [...][2]string{{"deprecatedFirstTimestamp", "firstTimestamp"}, {"deprecatedLastTimestamp", "lastTimestamp"}, {"deprecatedCount", "count"}, {"deprecatedSource", "source"}}
	if walk.IsSet(live) {
		for _, name := range [...][2]string{
			{"regarding", "involvedObject"}, {"reason", "reason"}, {"note", "message"}, old[3], old[0], old[1], old[2], {"reason", "reason"},
			{"type", "type"}, {"eventTime", "eventTime"}, {"action", "action"}, {"related", "related"},
		} {
			r.Unchanged(told(name[0], name[1]), live.Get(name[0]))
		}
		// The type has another name for the controller, so a missing one is shown here.
		if controller := object.At("reportingController"); controller.Str() != live.Get("reportingController").Str() {
			r.InvalidAs(controller, controller.Str(), "field is immutable")
		}
		r.Unchanged(object.At("reportingInstance"), live.Get("reportingInstance"))
		return
	}
	if at := object.At("eventTime"); !at.IsSet() {
		r.Required(at, "")
	}
	if typ := object.At("type"); typ.Str() != "Normal" && typ.Str() != "Warning" {
		r.InvalidAs(typ, "", "has invalid value: "+typ.Str())
	}
	for _, name := range old {
		p := told(name[0], name[1])
		if said := p.Int() != 0 || p.Kind() == value.KindString || p.Text("component") != "" || p.Text("host") != ""; said {
			r.InvalidAs(p, "", "needs to be unset")
		}
	}
}

// validateEventFields validates what Events of both groups have.
func validateEventFields(r *walk.Report, object walk.Place, controllerName, about string, message walk.Place) {
	involved := object.At("involvedObject")
	namespace, own := involved.At("namespace"), object.Get("metadata", "namespace").Str()
	const other = "does not match event.namespace"
	if !walk.IsSet(object.Get("eventTime")) {
		if about == "" && own != "" && own != "default" || about != "" && own != about {
			r.InvalidAs(namespace, about, other)
		}
		return
	}
	if about == "" && own != "default" && own != "kube-system" {
		r.InvalidAs(namespace, about, other)
	}
	controller, instance, action, reason := object.At(controllerName), object.At("reportingInstance"), object.At("action"), object.At("reason")
	r.Present(controller)
	r.LabelKey(controller)
	for _, p := range [...]walk.Place{instance, action, reason} {
		r.Present(p)
		r.AtMost(p, 128)
	}
	r.AtMost(message, 1024)
}

// validateConditions validates conditions of the common form in a status.
func validateConditions(r *walk.Report, object walk.Place, _ value.Value) {
	status := object.At("status")
	list := status.At("conditions")
	var conditions []metav1.Condition
	if structs.Into(list.Value, &conditions) == nil {
		r.Errs = append(r.Errs, metav1validation.ValidateConditions(conditions, list.Path())...)
	}
}

// validateFinalizerName refuses the name of a finalizer of the content of a namespace.
func validateFinalizerName(r *walk.Report, p walk.Place, name string) {
	r.InvalidAs(p, name, validation.IsQualifiedName(name)...)
	if !strings.Contains(name, "/") && !slices.Contains([]string{"kubernetes", metav1.FinalizerOrphanDependents, metav1.FinalizerDeleteDependents}, name) {
		r.InvalidAs(p, name, "name is neither a standard finalizer name nor is it fully qualified")
	}
}

// validateNamespace validates the finalizers of a new Namespace. Errors are about their list.
func validateNamespace(r *walk.Report, object walk.Place, live value.Value) {
	if list := object.At("spec").At("finalizers"); !walk.IsSet(live) {
		for i := range list.Indexes() {
			validateFinalizerName(r, list, list.Item(i).Str())
		}
	}
}

// validateFinalize validates the finalizers of a Namespace at the subresource finalize.
func validateFinalize(r *walk.Report, object walk.Place, _ value.Value) {
	list := object.At("spec").At("finalizers")
	for i := range list.Indexes() {
		validateFinalizerName(r, list.Index(i), list.Item(i).Str())
	}
}

// validatePhase validates the status of a Namespace: it is active until the namespace is deleted.
func validatePhase(r *walk.Report, object walk.Place, _ value.Value) {
	want, detail := "Active", "may only be 'Active' if `deletionTimestamp` is empty"
	if !object.Get("metadata", "deletionTimestamp").IsAbsent() {
		want, detail = "Terminating", "may only be 'Terminating' if `deletionTimestamp` is not empty"
	}
	status := object.At("status")
	phase := status.Below(status.Get("phase"), "Phase", walk.IsMember) // with the name that kube-apiserver has for it
	if phase.Str() != want {
		r.Invalid(phase, detail)
	}
}

var featureName = walk.LazyRegexp(`^[A-Z][a-zA-Z0-9]*(/[a-zA-Z][a-zA-Z0-9]*)*$`)

// validateNodeStatus validates the status of a Node. Addresses may not come twice.
func validateNodeStatus(r *walk.Report, object walk.Place, _ value.Value) {
	validateNodeState(r, object.At("status"))
	var met walk.Names
	addresses := object.At("status").At("addresses")
	for i := range addresses.Indexes() {
		if a := addresses.Index(i); !met.Add(a.Text("type") + " " + a.Text("address")) {
			r.Duplicate(a)
		}
	}
}

// validateNodeState validates the resources of a Node, and the features that it declares, which are in alphabetical order.
func validateNodeState(r *walk.Report, status walk.Place) {
	for _, member := range [...]string{"capacity", "allocatable"} {
		amounts := status.At(member)
		for name, amount := range amounts.Members() {
			p := amounts.Below(amount, name, walk.IsMember) // where kube-apiserver says that they are
			if strings.HasPrefix(amount.Str(), "-") {
				r.InvalidAs(p, amount.Str(), "must be greater than or equal to 0")
			}
			if q := walk.Quantity(amount); (walk.IsWhole(name) || walk.IsExtended(name)) && q.MilliValue()%1000 != 0 {
				r.InvalidAs(p, amount.Str(), "must be an integer")
			}
		}
	}
	features := status.At("declaredFeatures")
	for i := range features.Indexes() {
		feature := features.Index(i)
		switch name, most := feature.Str(), validation.DNS1123SubdomainMaxLength; {
		case len(name) > most:
			r.Invalid(feature, fmt.Sprintf("invalid feature name %q: must be no more than %d characters", name, most))
		case !featureName().MatchString(name):
			r.Invalid(feature, fmt.Sprintf("invalid feature name %q: must start with an UpperCamelCase segment, with subsequent segments separated by '/' "+
				"(e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes", name))
		}
		if i+1 == features.Len() {
			break
		}
		if next := features.Index(i + 1); next.Str() == feature.Str() {
			r.Duplicate(next)
		} else if next.Str() < feature.Str() {
			r.Invalid(next, "list must be sorted alphabetically")
		}
	}
}

// validateNode validates a Node.
func validateNode(r *walk.Report, object walk.Place, live value.Value) {
	metadata, spec := object.At("metadata"), object.At("spec")
	taints := metadata.Below(spec.Get("taints"), "taints", walk.IsMember) // where kube-apiserver says that they are
	var met walk.Names
	for i := range taints.Indexes() {
		taint := taints.Index(i)
		key, text, effect := taint.At("key"), taint.At("value"), taint.At("effect")
		r.LabelKey(key)
		if wrong := validation.IsValidLabelValue(text.Str()); len(wrong) > 0 {
			r.InvalidAs(text, text.Str(), strings.Join(wrong, ";"))
		}
		r.Among(effect, "NoSchedule", "PreferNoSchedule", "NoExecute")
		if !met.Add(key.Str() + " " + effect.Str()) {
			e := field.Duplicate(taint.Path(), r.Inside(fmt.Sprintf("spec.taints[%d]", i), taint.Value))
			e.Detail = "taints must be unique by key and effect pair"
			r.Add(e)
		}
	}
	if !walk.IsSet(live) {
		validateNodeState(r, object.At("status"))
	}
	cidrs, had := spec.At("podCIDRs"), live.Get("spec", "podCIDRs")
	var texts []string
	for i := range cidrs.Indexes() {
		c := cidrs.Index(i)
		r.Errs = append(r.Errs, validation.IsValidCIDRForLegacyField(c.Path(), c.Str(), true, nil)...)
		texts = append(texts, c.Str())
	}
	if len(texts) > 1 {
		dual, err := netutils.IsDualStackCIDRStrings(texts)
		if err != nil {
			r.Add(field.InternalError(cidrs.Path(), fmt.Errorf("invalid PodCIDRs. failed to check with dual stack with error:%v", err)))
		}
		if !dual || len(texts) > 2 {
			r.Invalid(cidrs, "may specify no more than one CIDR for each IP family")
		}
	}
	if had.Len() > 0 && !walk.Same(cidrs.Value, had) {
		r.Forbidden(cidrs, "node updates may not change podCIDR except from \"\" to valid")
	}
	switch id, was := spec.At("providerID"), live.Get("spec", "providerID").Str(); {
	case was == "":
	case id.Str() == "":
		r.InvalidAs(id, nil, "field cannot be cleared once set")
	case id.Str() != was:
		r.InvalidAs(id, nil, "field cannot be modified once set")
	}
	if id := spec.At("externalID"); walk.IsSet(live) && id.Str() != live.Get("spec", "externalID").Str() {
		r.Forbidden(id, "may not be updated")
	}
}

// decodedLen returns how many bytes the members of an object have together, which are in base64.
func decodedLen(of value.Value) (n int) {
	for _, text := range of.Members() {
		n += len(strings.TrimRight(text.Str(), "=")) * 3 / 4
	}
	return n
}

// firstSeen shows when an event happened first: events of today have only the time of that.
func firstSeen(s source) string {
	if _, known := instant(s.Get("firstTimestamp")); known {
		return s.since(s.Get("firstTimestamp"))
	}
	return s.since(s.Get("eventTime"))
}

// lastSeen shows when an event happened last.
func lastSeen(s source) string {
	if series := s.Get("series"); series.Kind() == value.KindObject {
		return s.since(series.Get("lastObservedTime"))
	}
	if _, known := instant(s.Get("lastTimestamp")); known {
		return s.since(s.Get("lastTimestamp"))
	}
	return firstSeen(s)
}

// timesSeen shows how often an event happened.
func timesSeen(s source) value.Value {
	if series := s.Get("series"); series.Kind() == value.KindObject {
		return value.Int(series.Get("count").Int())
	}
	return value.Int(cmp.Or(s.Get("count").Int(), 1))
}

// involved shows what an event is about.
func involved(s source) string {
	kind := strings.ToLower(s.Get("involvedObject", "kind").Str())
	if name := s.Get("involvedObject", "name").Str(); name != "" {
		return kind + "/" + name
	}
	return kind
}

// eventSource shows who tells of an event.
func eventSource(s source) string {
	component := cmp.Or(s.Get("source", "component").Str(), s.Get("reportingComponent").Str())
	instance := cmp.Or(s.Get("source", "host").Str(), s.Get("reportingInstance").Str())
	if instance == "" {
		return component
	}
	return component + ", " + instance
}

// nodeStatus shows whether a node is ready, and whether it takes pods. The last condition of a type counts.
func nodeStatus(s source) string {
	status := "Unknown"
	for c := range s.Get("status", "conditions").Items() {
		switch {
		case c.Get("type").Str() != "Ready":
		case c.Get("status").Str() == "True":
			status = "Ready"
		default:
			status = "NotReady"
		}
	}
	if s.Get("spec", "unschedulable").Bool() {
		status += ",SchedulingDisabled"
	}
	return status
}

// nodeRoles shows the roles that the labels of a node give it.
func nodeRoles(s source) string {
	var roles []string
	for label, v := range s.Get("metadata", "labels").Members() {
		role, ofPrefix := strings.CutPrefix(label, "node-role.kubernetes.io/")
		if !ofPrefix && label == "kubernetes.io/role" {
			role, ofPrefix = v.Str(), true
		}
		if ofPrefix && role != "" {
			roles = append(roles, role)
		}
	}
	slices.Sort(roles)
	return cmp.Or(strings.Join(slices.Compact(roles), ","), none)
}

// nodeAddress shows the first address of a type.
func nodeAddress(typ string) cell {
	return shown(func(s source) string {
		for a := range s.Get("status", "addresses").Items() {
			if a.Get("type").Str() == typ {
				return a.Get("address").Str()
			}
		}
		return none
	})
}

// nodeKernel shows the kernel of a node, with its architecture.
func nodeKernel(s source) string {
	info := s.Get("status", "nodeInfo")
	kernel := cmp.Or(info.Get("kernelVersion").Str(), unknown)
	if architecture := info.Get("architecture").Str(); architecture != "" {
		kernel += " (" + architecture + ")"
	}
	return kernel
}

// quotaCell shows how much of each resource is used: of limits, or of everything else.
func quotaCell(limits bool) cell {
	return shown(func(s source) string {
		var out []string
		for resource, hard := range s.Get("status", "hard").Members() {
			if strings.HasPrefix(resource, "limits.") == limits {
				used := cmp.Or(s.Get("status", "used", resource).Str(), "0")
				out = append(out, fmt.Sprintf("%s: %s/%s", resource, used, hard.Str()))
			}
		}
		return strings.Join(out, ", ")
	})
}

// configSize shows the number of keys of a ConfigMap.
func configSize(s source) value.Value {
	return value.Int(int64(s.Get("data").Len() + s.Get("binaryData").Len()))
}

func eventCells() []cell {
	return []cell{
		shown(lastSeen), text("type"), text("reason"), shown(involved), text("involvedObject", "fieldPath"), shown(eventSource),
		shown(func(s source) string { return strings.TrimSpace(s.Get("message").Str()) }), shown(firstSeen), timesSeen, name,
	}
}

// eventComponent returns the text of the field selector source.
func eventComponent(event value.Value) string {
	return cmp.Or(event.Get("source", "component").Str(), event.Get("reportingComponent").Str())
}

func nodeCells() []cell {
	return []cell{
		name, shown(nodeStatus), shown(nodeRoles), age, text("status", "nodeInfo", "kubeletVersion"), nodeAddress("InternalIP"),
		nodeAddress("ExternalIP"), textOr(unknown, "status", "nodeInfo", "osImage"), shown(nodeKernel),
		textOr(unknown, "status", "nodeInfo", "containerRuntimeVersion"),
	}
}

// withName returns object with a UID as its name, unless it has a name.
func withName(object, live, _ value.Value) value.Value {
	if !live.IsAbsent() || api.Meta(object, "name") != "" {
		return object
	}
	return api.WithMetadata(object, "name", value.String(api.NewUID()))
}
