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
	"github.com/deed-project/deed/value"
	"github.com/deed-project/deed/value/structs"
)

// limitTypes are what the limits of a namespace without a domain are about.
var limitTypes = map[string]bool{"Pod": true, "Container": true, "PersistentVolumeClaim": true}

// validateLimitRange refuses a LimitRange.
func validateLimitRange(r *report, object place, _ value.Value) {
	spec := object.at("spec")
	limits := spec.at("limits")
	var met names
	for i := range limits.indexes() {
		limit := limits.item(i)
		typ := limit.at("type")
		name := typ.Str()
		if wrong := validation.IsQualifiedName(name); len(wrong) > 0 {
			r.invalidAs(typ, Enumeration(name), wrong...)
		} else if !strings.Contains(name, "/") && !limitTypes[name] {
			r.invalidAs(typ, Enumeration(name), "must be a standard limit type or fully qualified")
		}
		if !met.add(name) {
			r.duplicate(typ)
		}
		for _, member := range [...]string{"max", "min", "default", "defaultRequest", "maxLimitRequestRatio"} {
			r.limitNames(limit, limit.at(member))
		}
		r.limitAmounts(limit)
	}
}

// limitNames validates the names of resources of one member of a limit.
func (r *report) limitNames(limit, p place) {
	typ := limit.text("type")
	of := p.name()
	if typ == "Pod" && strings.HasPrefix(of, "default") {
		if p.Len() > 0 {
			r.forbidden(p, "may not be specified when `type` is 'Pod'")
		}
		return
	}
	if of == "maxLimitRequestRatio" && typ == "PersistentVolumeClaim" && !isSet(limit.Get("min", "storage")) && !isSet(limit.Get("max", "storage")) {
		r.required(limit.at("limits"), "either minimum or maximum storage value is required, but neither was provided")
	}
	for i := range p.indexes() {
		if entry := p.entry(i); typ == "Pod" || typ == "Container" {
			r.resource(entry)
		} else {
			r.isResourceName(entry)
		}
	}
}

// limitAmounts validates the amounts of a limit against each other.
func (r *report) limitAmounts(limit place) {
	var met names
	for _, member := range [...]string{"max", "min", "default", "defaultRequest", "maxLimitRequestRatio"} {
		for name := range limit.Get(member).Members() {
			if met.add(name) && (limit.text("type") != "Pod" || !strings.HasPrefix(member, "default")) {
				r.limitAmount(limit, name)
			}
		}
	}
}

func (r *report) limitAmount(limit place, name string) {
	amount := func(member string) place {
		if limit.text("type") == "Pod" && strings.HasPrefix(member, "default") {
			return limit.none()
		}
		p := limit.at(member)
		return p.below(p.Get(name), name, isKey)
	}
	least, most, standard, request := amount("min"), amount("max"), amount("default"), amount("defaultRequest")
	above := func(told, a, b place, format string) {
		if a.is() && b.is() && compare(a.Value, b.Value) > 0 {
			r.invalid(told, fmt.Sprintf(format, a.Str(), b.Str()))
		}
	}
	above(least, least, most, "min value %s is greater than max value %s")
	above(request, least, request, "min value %s is greater than default request value %s")
	above(request, request, most, "default request value %s is greater than max value %s")
	above(request, request, standard, "default request value %s is greater than default limit value %s")
	above(standard.with(least.Value), least, standard, "min value %s is greater than default value %s")
	above(standard.with(most.Value), standard, most, "default value %s is greater than max value %s")
	r.ratio(amount("maxLimitRequestRatio"), least, most)
	if standard.is() && request.is() && !isShared(name) && compare(standard.Value, request.Value) != 0 {
		r.invalid(request, fmt.Sprintf("default value %s must equal to defaultRequest value %s in %s", standard.Str(), request.Str(), name))
	}
}

// ratio validates how many times a request a limit may be.
func (r *report) ratio(p, least, most place) {
	if !p.is() {
		return
	}
	q, low, high := quantity(p.Value), quantity(least.Value), quantity(most.Value)
	if q.Cmp(*resource.NewQuantity(1, resource.DecimalSI)) < 0 {
		r.invalid(p, fmt.Sprintf("ratio %s is less than 1", p.Str()))
	}
	if !least.is() || !most.is() {
		return
	}
	// Amounts whose thousandths an int64 cannot hold lose their fractions.
	value, limit := float64(q.Value()), float64(high.Value())/float64(low.Value())
	if q.Value() < resource.MaxMilliValue && low.Value() < resource.MaxMilliValue && high.Value() < resource.MaxMilliValue {
		value, limit = float64(q.MilliValue())/1000, float64(high.MilliValue())/float64(low.MilliValue())
	}
	if value > limit {
		r.invalid(p, fmt.Sprintf("ratio %s is greater than max/min = %f", p.Str(), limit))
	}
}

// isWhole reports whether a resource is counted: parts of it make no sense.
func isWhole(name string) bool { return whole[name] }

var whole = map[string]bool{
	"pods": true, "resourcequotas": true, "services": true, "replicationcontrollers": true, "secrets": true, "configmaps": true,
	"persistentvolumeclaims": true, "services.nodeports": true, "services.loadbalancers": true,
}

// validateQuota refuses amounts of a ResourceQuota.
func validateQuota(r *report, object place, live value.Value) {
	spec := object.at("spec")
	r.quotaAmounts(spec.at("hard"))
	r.scopes(spec)
	r.scopeSelector(spec)
	if isSet(live) && !sameTexts(spec.Get("scopes"), live.Get("spec", "scopes")) {
		r.invalid(spec.at("scopes"), "field is immutable")
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
func validateQuotaStatus(r *report, object place, _ value.Value) {
	status := object.at("status")
	r.quotaAmounts(status.at("hard"))
	r.quotaAmounts(status.at("used"))
}

// quotaAmounts validates amounts of resources that a quota limits.
func (r *report) quotaAmounts(list place) {
	for i := range list.indexes() {
		amount := list.entry(i)
		r.quotaName(amount)
		if strings.HasPrefix(amount.Str(), "-") {
			r.invalidAs(amount, amount.Str(), "must be greater than or equal to 0")
		}
		if q := quantity(amount.Value); (isWhole(amount.name()) || isExtended(amount.name())) && q.MilliValue()%1000 != 0 {
			r.invalidAs(amount, amount.Str(), "must be an integer")
		}
	}
}

// counted are the resources that quotas of a namespace limit, beside those that are whole and huge pages.
var counted = map[string]bool{
	"cpu": true, "memory": true, "ephemeral-storage": true,
	"requests.cpu": true, "requests.memory": true, "requests.ephemeral-storage": true, "requests.storage": true,
	"limits.cpu": true, "limits.memory": true, "limits.ephemeral-storage": true,
}

// quotaName refuses the name of a resource that a quota limits.
func (r *report) quotaName(limit place) {
	name := limit.name()
	wrong := validation.IsQualifiedName(name)
	r.invalidAs(limit, name, wrong...)
	huge := strings.HasPrefix(name, "hugepages-") || strings.HasPrefix(name, "requests.hugepages-")
	if strings.Contains(name, "/") || huge || counted[name] || isWhole(name) {
		return
	}
	if len(wrong) == 0 && name != "storage" { // which is one, and has no quota
		r.invalidAs(limit, name, "must be a standard resource type or fully qualified")
	}
	r.invalidAs(limit, name, "must be a standard resource for quota")
}

// maxData is how many bytes a ConfigMap or a Secret may hold.
const maxData = 1 << 20

// validateConfigMap validates a ConfigMap, and validateSecret a Secret.
func validateConfigMap(r *report, object place, live value.Value) {
	r.sealed(object, live, sealedMember{"immutable", same}, sealedMember{"data", same}, sealedMember{"binaryData", identical}) // data has a default
	for _, name := range [...]string{"data", "binaryData"} {
		list := object.at(name)
		for i := range list.indexes() {
			entry := list.entry(i)
			r.invalidAs(entry, entry.name(), validation.IsConfigMapKey(entry.name())...)
			if name == "data" && !object.Get("binaryData", entry.name()).IsAbsent() {
				r.invalidAs(entry, entry.name(), "duplicate of key present in binaryData")
			}
		}
	}
	n := decodedLen(object.Get("binaryData"))
	for _, text := range object.Get("data").Members() {
		n += len(text.Str())
	}
	if n > maxData {
		r.add(field.TooLong(field.NewPath(""), "", maxData)) // of the whole object
	}
}

func validateSecret(r *report, object place, live value.Value) {
	if isSet(live) {
		r.unchanged(object.at("type"), live.Get("type"))
	}
	r.sealed(object, live, sealedMember{"immutable", same}, sealedMember{"data", identical})
	data := object.at("data")
	for i := range data.indexes() {
		entry := data.entry(i)
		r.invalidAs(entry, entry.name(), validation.IsConfigMapKey(entry.name())...)
	}
	if decodedLen(data.Value) > maxData {
		r.add(field.TooLong(data.path(), "", maxData))
	}
	r.secretType(object, data)
}

// secretType validates the keys that a type of secrets has.
func (r *report) secretType(object, data place) {
	key := func(name string) place { return data.below(data.Get(name), name, isKey) }
	need := func(names ...string) {
		for _, name := range names {
			if k := key(name); k.IsAbsent() {
				r.required(k, "")
			}
		}
	}
	switch object.text("type") {
	case "kubernetes.io/service-account-token":
		metadata := object.at("metadata")
		annotations := metadata.at("annotations")
		const name = "kubernetes.io/service-account.name"
		if account := annotations.below(annotations.Get(name), name, isKey); account.Str() == "" {
			r.required(account, "")
		}
	case "kubernetes.io/dockercfg":
		r.secretJSON(key(".dockercfg"))
	case "kubernetes.io/dockerconfigjson":
		r.secretJSON(key(".dockerconfigjson"))
	case "kubernetes.io/basic-auth":
		if key("username").IsAbsent() && key("password").IsAbsent() {
			need("username", "password")
		}
	case "kubernetes.io/ssh-auth":
		if private := key("ssh-privatekey"); private.Str() == "" {
			r.required(private, "")
		}
	case "kubernetes.io/tls":
		need("tls.crt", "tls.key")
	}
}

// secretJSON validates a key whose content is a JSON object.
func (r *report) secretJSON(p place) {
	if p.IsAbsent() {
		r.required(p, "")
		return
	}
	text, _ := base64.StdEncoding.DecodeString(p.Str()) // it was decoded before
	if err := json.Unmarshal(text, &map[string]any{}); err != nil {
		r.invalidAs(p, "<secret contents redacted>", err.Error())
	}
}

// sealed refuses changes of the members of an object that says that it is immutable, each with the way in which it is compared.
func (r *report) sealed(object place, live value.Value, members ...sealedMember) {
	if !live.Get("immutable").Bool() {
		return
	}
	for _, m := range members {
		if p := object.at(m.name); !m.equal(p.Value, live.Get(m.name)) {
			r.forbidden(p, "field is immutable when `immutable` is set")
		}
	}
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

// scopes validates the scopes of a quota. Each error shows the whole list.
func (r *report) scopes(spec place) {
	list := spec.at("scopes")
	has := map[string]bool{}
	for scope := range list.Items() {
		name := scope.Str()
		if _, known := quotaScopes[name]; !known {
			r.invalid(list, "unsupported scope")
		}
		r.scopeCounts(list, list, name, spec.Get("hard"))
		has[name] = true
	}
	r.conflictingScopes(list, list, has)
}

// scopeCounts refuses limits of standard resources that a quota cannot count in a scope. The error at p shows the value of shown.
func (r *report) scopeCounts(p, shown place, scope string, hard value.Value) {
	of, known := quotaScopes[scope]
	for name := range hard.Members() {
		if known && (counted[name] || isWhole(name)) && !of.counts[name] {
			r.invalidAs(p, r.shown(shown), "unsupported scope applied to resource")
		}
	}
}

// conflictingScopes refuses scopes that exclude each other. The error at p shows the scopes of the quota.
func (r *report) conflictingScopes(p, scopes place, has map[string]bool) {
	for _, pair := range [][2]string{{"BestEffort", "NotBestEffort"}, {"Terminating", "NotTerminating"}} {
		if has[pair[0]] && has[pair[1]] {
			r.invalidAs(p, r.shown(scopes), "conflicting scopes")
		}
	}
}

// scopeSelector validates which objects a quota counts. Errors in expressions are about their list.
func (r *report) scopeSelector(spec place) {
	selector := spec.at("scopeSelector")
	list := selector.at("matchExpressions")
	scope, operator, values := list.at("scopeName"), list.at("operator"), list.at("values")
	has := map[string]bool{}
	for e := range list.Items() {
		name, is := e.Get("scopeName").Str(), e.Get("operator").Str()
		of, known := quotaScopes[name]
		if !known {
			r.invalidAs(scope, Enumeration(name), "unsupported scope")
		}
		r.scopeCounts(list, selector, name, spec.Get("hard"))
		has[name] = true
		if of.alone && is != "Exists" {
			r.invalidAs(operator, Enumeration(is), "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, "+
				"ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or "+
				"ResourceQuotaScopeCrossNamespacePodAffinity")
		}
		switch n := e.Get("values").Len(); is {
		case "In", "NotIn":
			if n == 0 {
				r.required(values, "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector")
			}
		case "Exists", "DoesNotExist":
			if n > 0 {
				r.invalid(values.with(e.Get("values")), "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector")
			}
		default:
			r.invalidAs(operator, Enumeration(is), "not a valid selector operator")
		}
	}
	r.conflictingScopes(list, spec.at("scopes"), has)
}

// validateEvent validates an Event of the core group.
func validateEvent(r *report, object place, _ value.Value) {
	r.event(object, "reportingComponent", object.Get("involvedObject", "namespace").Str(), object.at("message"))
}

// validateNewEvent validates an Event of the group events.k8s.io, whose errors have the names of the core group.
func validateNewEvent(r *report, object place, live value.Value) {
	told := func(name, as string) place { return object.below(object.Get(name), as, isMember) }
	r.event(object, "reportingController", object.Get("regarding", "namespace").Str(), told("note", "message"))
	series := object.at("series")
	if series.is() && !(isSet(live) && series.Value.Equal(live.Get("series"))) {
		if series.Get("count").Int() < 2 {
			r.invalidAs(series.at("count"), "", "should be at least 2")
		}
		if seen := series.at("lastObservedTime"); !seen.is() {
			r.required(seen, "")
		}
	}
	old := [...][2]string{{"deprecatedFirstTimestamp", "firstTimestamp"}, {"deprecatedLastTimestamp", "lastTimestamp"}, {"deprecatedCount", "count"}, {"deprecatedSource", "source"}}
	if isSet(live) {
		for _, name := range [...][2]string{
			{"regarding", "involvedObject"}, {"reason", "reason"}, {"note", "message"}, old[3], old[0], old[1], old[2], {"reason", "reason"},
			{"type", "type"}, {"eventTime", "eventTime"}, {"action", "action"}, {"related", "related"},
			{"reportingController", "reportingController"}, {"reportingInstance", "reportingInstance"},
		} {
			r.unchanged(told(name[0], name[1]), live.Get(name[0]))
		}
		return
	}
	if at := object.at("eventTime"); !at.is() {
		r.required(at, "")
	}
	if typ := object.at("type"); typ.Str() != "Normal" && typ.Str() != "Warning" {
		r.invalidAs(typ, "", "has invalid value: "+typ.Str())
	}
	for _, name := range old {
		p := told(name[0], name[1])
		if said := p.Int() != 0 || p.Kind() == value.KindString || p.text("component") != "" || p.text("host") != ""; said {
			r.invalidAs(p, "", "needs to be unset")
		}
	}
}

// event validates what Events of both groups have.
func (r *report) event(object place, controllerName, about string, message place) {
	involved := object.at("involvedObject")
	namespace, own := involved.at("namespace"), object.Get("metadata", "namespace").Str()
	const other = "does not match event.namespace"
	if !isSet(object.Get("eventTime")) {
		if about == "" && own != "" && own != "default" || about != "" && own != about {
			r.invalidAs(namespace, about, other)
		}
		return
	}
	if about == "" && own != "default" && own != "kube-system" {
		r.invalidAs(namespace, about, other)
	}
	controller, instance, action, reason := object.at(controllerName), object.at("reportingInstance"), object.at("action"), object.at("reason")
	r.present(controller)
	r.labelKey(controller)
	for _, p := range [...]place{instance, action, reason} {
		r.present(p)
		r.atMost(p, 128)
	}
	r.atMost(message, 1024)
}

// atMost refuses a text of more than n characters, without showing it.
func (r *report) atMost(p place, n int) {
	if len(p.Str()) > n {
		r.invalidAs(p, "", fmt.Sprintf("can have at most %d characters", n))
	}
}

// validateConditions validates conditions of the common form in a status.
func validateConditions(r *report, object place, _ value.Value) {
	status := object.at("status")
	list := status.at("conditions")
	var conditions []metav1.Condition
	if structs.Into(list.Value, &conditions) == nil {
		r.errs = append(r.errs, metav1validation.ValidateConditions(conditions, list.path())...)
	}
}

// finalizerName refuses the name of a finalizer of the content of a namespace.
func (r *report) finalizerName(p place, name string) {
	r.invalidAs(p, name, validation.IsQualifiedName(name)...)
	if !strings.Contains(name, "/") && !slices.Contains([]string{"kubernetes", metav1.FinalizerOrphanDependents, metav1.FinalizerDeleteDependents}, name) {
		r.invalidAs(p, name, "name is neither a standard finalizer name nor is it fully qualified")
	}
}

// validateNamespace validates the finalizers of a new Namespace. Errors are about their list.
func validateNamespace(r *report, object place, live value.Value) {
	if list := object.at("spec").at("finalizers"); !isSet(live) {
		for i := range list.indexes() {
			r.finalizerName(list, list.Item(i).Str())
		}
	}
}

// validateFinalize validates the finalizers of a Namespace at the subresource finalize.
func validateFinalize(r *report, object place, _ value.Value) {
	list := object.at("spec").at("finalizers")
	for i := range list.indexes() {
		r.finalizerName(list.item(i), list.Item(i).Str())
	}
}

// validatePhase validates the status of a Namespace: it is active until the namespace is deleted.
func validatePhase(r *report, object place, _ value.Value) {
	want, detail := "Active", "may only be 'Active' if `deletionTimestamp` is empty"
	if !object.Get("metadata", "deletionTimestamp").IsAbsent() {
		want, detail = "Terminating", "may only be 'Terminating' if `deletionTimestamp` is not empty"
	}
	status := object.at("status")
	phase := status.below(status.Get("phase"), "Phase", isMember) // with the name that kube-apiserver has for it
	if phase.Str() != want {
		r.invalid(phase, detail)
	}
}

var featureName = lazyRegexp(`^[A-Z][a-zA-Z0-9]*(/[a-zA-Z][a-zA-Z0-9]*)*$`)

// validateNodeStatus validates the status of a Node. Addresses may not come twice.
func validateNodeStatus(r *report, object place, _ value.Value) {
	r.nodeState(object.at("status"))
	var met names
	addresses := object.at("status").at("addresses")
	for i := range addresses.indexes() {
		if a := addresses.item(i); !met.add(a.text("type") + " " + a.text("address")) {
			r.duplicate(a)
		}
	}
}

// nodeState validates the resources of a Node, and the features that it declares, which are in alphabetical order.
func (r *report) nodeState(status place) {
	for _, member := range [...]string{"capacity", "allocatable"} {
		amounts := status.at(member)
		for name, amount := range amounts.Members() {
			p := amounts.below(amount, name, isMember) // where kube-apiserver says that they are
			if strings.HasPrefix(amount.Str(), "-") {
				r.invalidAs(p, amount.Str(), "must be greater than or equal to 0")
			}
			if q := quantity(amount); (isWhole(name) || isExtended(name)) && q.MilliValue()%1000 != 0 {
				r.invalidAs(p, amount.Str(), "must be an integer")
			}
		}
	}
	features := status.at("declaredFeatures")
	for i := range features.indexes() {
		feature := features.item(i)
		switch name, most := feature.Str(), validation.DNS1123SubdomainMaxLength; {
		case len(name) > most:
			r.invalid(feature, fmt.Sprintf("invalid feature name %q: must be no more than %d characters", name, most))
		case !featureName().MatchString(name):
			r.invalid(feature, fmt.Sprintf("invalid feature name %q: must start with an UpperCamelCase segment, with subsequent segments separated by '/' "+
				"(e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes", name))
		}
		if i+1 == features.Len() {
			break
		}
		if next := features.item(i + 1); next.Str() == feature.Str() {
			r.duplicate(next)
		} else if next.Str() < feature.Str() {
			r.invalid(next, "list must be sorted alphabetically")
		}
	}
}

// validateNode validates a Node.
func validateNode(r *report, object place, live value.Value) {
	metadata, spec := object.at("metadata"), object.at("spec")
	taints := metadata.below(spec.Get("taints"), "taints", isMember) // where kube-apiserver says that they are
	var met names
	for i := range taints.indexes() {
		taint := taints.item(i)
		key, text, effect := taint.at("key"), taint.at("value"), taint.at("effect")
		r.labelKey(key)
		if wrong := validation.IsValidLabelValue(text.Str()); len(wrong) > 0 {
			r.invalidAs(text, text.Str(), strings.Join(wrong, ";"))
		}
		r.among(effect, "NoSchedule", "PreferNoSchedule", "NoExecute")
		if !met.add(key.Str() + " " + effect.Str()) {
			e := field.Duplicate(taint.path(), r.inside(fmt.Sprintf("spec.taints[%d]", i), taint.Value))
			e.Detail = "taints must be unique by key and effect pair"
			r.add(e)
		}
	}
	if !isSet(live) {
		r.nodeState(object.at("status"))
	}
	cidrs, had := spec.at("podCIDRs"), live.Get("spec", "podCIDRs")
	var texts []string
	for i := range cidrs.indexes() {
		c := cidrs.item(i)
		r.errs = append(r.errs, validation.IsValidCIDRForLegacyField(c.path(), c.Str(), true, nil)...)
		texts = append(texts, c.Str())
	}
	if len(texts) > 1 {
		dual, err := netutils.IsDualStackCIDRStrings(texts)
		if err != nil {
			r.add(field.InternalError(cidrs.path(), fmt.Errorf("invalid PodCIDRs. failed to check with dual stack with error:%v", err)))
		}
		if !dual || len(texts) > 2 {
			r.invalid(cidrs, "may specify no more than one CIDR for each IP family")
		}
	}
	if had.Len() > 0 && !same(cidrs.Value, had) {
		r.forbidden(cidrs, "node updates may not change podCIDR except from \"\" to valid")
	}
	switch id, was := spec.at("providerID"), live.Get("spec", "providerID").Str(); {
	case was == "":
	case id.Str() == "":
		r.invalidAs(id, nil, "field cannot be cleared once set")
	case id.Str() != was:
		r.invalidAs(id, nil, "field cannot be modified once set")
	}
	if id := spec.at("externalID"); isSet(live) && id.Str() != live.Get("spec", "externalID").Str() {
		r.forbidden(id, "may not be updated")
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
