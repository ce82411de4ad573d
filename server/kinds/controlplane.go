package kinds

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/validate/content"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/value"
)

// validateLease validates a Lease.
func validateLease(r *report, object place, _ value.Value) {
	spec := object.at("spec")
	if seconds := spec.at("leaseDurationSeconds"); seconds.is() && seconds.Int() <= 0 {
		r.invalid(seconds, "must be greater than 0")
	}
	r.natural(spec.at("leaseTransitions"))
}

// validateMigration validates a StorageVersionMigration.
func validateMigration(r *report, object place, live value.Value) {
	resource := object.at("spec").at("resource")
	if name := resource.at("resource"); name.Str() == "" {
		r.required(name, "resource is required to be set")
	} else if wrong := validation.IsDNS1035Label(name.Str()); len(wrong) > 0 {
		r.invalid(name, strings.Join(wrong, ","))
	}
	if group := resource.at("group"); group.Str() != "" {
		if wrong := validation.IsDNS1123Subdomain(group.Str()); len(wrong) > 0 {
			r.invalid(group, strings.Join(wrong, ","))
		}
	}
	if spec := object.at("spec"); isSet(live) && !r.same(spec, live.Get("spec")) {
		r.invalid(spec, "field is immutable")
	}
}

// validateMigrationStatus validates the status of a StorageVersionMigration: its resource version never changes, and it ends once.
func validateMigrationStatus(r *report, object place, live value.Value) {
	status := object.at("status")
	version, was := status.at("resourceVersion"), live.Get("status", "resourceVersion").Str()
	if text := version.Str(); text != "" {
		if _, err := resourceversion.CompareResourceVersion(text, text); err != nil {
			r.invalid(version, err.Error())
		}
	}
	validateConditions(r, object, live)
	if was != "" && was != version.Str() {
		r.invalidAs(version, version.Str(), "field is immutable")
	}
	conditions := status.at("conditions")
	isTrue := func(object value.Value, typ string) bool {
		for c := range object.Get("status", "conditions").Items() {
			if c.Get("type").Str() == typ {
				return c.Get("status").Str() == "True"
			}
		}
		return false
	}
	if isTrue(object.Value, "Succeeded") && isTrue(object.Value, "Failed") {
		r.invalid(conditions, "Both success and failed conditions cannot be true at the same time")
	}
	if isTrue(live, "Succeeded") && !isTrue(object.Value, "Succeeded") {
		r.invalid(conditions, "Success condition cannot be set to false once it is true")
	}
	if isTrue(live, "Failed") && !isTrue(object.Value, "Failed") {
		r.invalid(conditions, "Failed condition cannot be set to false once it is true")
	}
}

// policyBindingCells returns the cells of bindings of admission policies.
func policyBindingCells() []cell {
	return []cell{name, text("spec", "policyName"), shown(paramRef), age}
}

func requestedDuration(s source) string {
	if seconds := s.Get("spec", "expirationSeconds"); seconds.Kind() == value.KindInt {
		return duration.HumanDuration(time.Duration(seconds.Int()) * time.Second)
	}
	return none
}

// signingStatus shows what became of a request for a certificate.
func signingStatus(s source) string {
	has := conditionTypes(s)
	status := "Pending"
	switch {
	case has["Denied"]:
		status = "Denied"
	case has["Approved"]:
		status = "Approved"
	}
	if has["Failed"] {
		status += ",Failed"
	}
	if s.Get("status", "certificate").Str() != "" {
		status += ",Issued"
	}
	return status
}

// conditionTypes returns the types of the conditions that an object has, whatever these say.
func conditionTypes(s source) map[string]bool {
	out := map[string]bool{}
	for c := range s.Get("status", "conditions").Items() {
		out[c.Get("type").Str()] = true
	}
	return out
}

// certificateState shows the last condition that ends a request of a pod.
func certificateState(s source) string {
	state := "Pending"
	for c := range s.Get("status", "conditions").Items() {
		if typ := c.Get("type").Str(); typ == "Issued" || typ == "Denied" || typ == "Failed" {
			state = typ
		}
	}
	return state
}

// dangling shows whether the priority level of a flow schema is missing.
func dangling(s source) string {
	for c := range s.Get("status", "conditions").Items() {
		if c.Get("type").Str() == "Dangling" {
			return c.Get("status").Str()
		}
	}
	return "?"
}

// limited shows a number of a priority level, which levels without limits do not have.
func limited(path ...string) cell {
	return func(s source) value.Value {
		holder := s.Get("spec", "limited").Get(path[:len(path)-1]...)
		if holder.Kind() != value.KindObject {
			return value.String(none)
		}
		return value.Int(holder.Get(path[len(path)-1]).Int())
	}
}

func paramKind(s source) string {
	kind := s.Get("spec", "paramKind")
	if kind.Kind() != value.KindObject {
		return unset
	}
	return kind.Get("apiVersion").Str() + "/" + kind.Get("kind").Str()
}

// paramRef shows which parameters a binding names: by name, or by a selector.
func paramRef(s source) string {
	ref := s.Get("spec", "paramRef")
	if name := ref.Get("name").Str(); name != "" {
		return cmp.Or(ref.Get("namespace").Str(), "*") + "/" + name
	}
	if selector := labelSelector(ref.Get("selector")); selector != nil {
		return selector.String()
	}
	return unset
}

// servedVersions shows the versions of a definition that are served, and which of them is stored.
func servedVersions(s source) string {
	var out []string
	for v := range s.Get("spec", "versions").Items() {
		if !v.Get("served").Bool() {
			continue
		}
		label := v.Get("name").Str()
		if v.Get("storage").Bool() {
			label += "(storage)"
		}
		out = append(out, label)
	}
	slices.Sort(out)
	return strings.Join(out, ",")
}

// migrated shows which resource is written anew.
func migrated(s source) string {
	resource := s.Get("spec", "resource")
	if group := resource.Get("group").Str(); group != "" {
		return resource.Get("resource").Str() + "." + group
	}
	return resource.Get("resource").Str()
}

// migration shows the last condition of a migration that is true.
func migration(s source) string {
	status := "Unknown"
	for c := range s.Get("status", "conditions").Items() {
		typ := c.Get("type").Str()
		if c.Get("status").Str() == "True" && (typ == "Running" || typ == "Failed" || typ == "Succeeded") {
			status = typ
		}
	}
	return status
}

func definitionCells() []cell {
	return []cell{
		name, text("spec", "scope"), shown(servedVersions), created, text("spec", "group"), text("spec", "names", "kind"),
		joined("", "spec", "names", "shortNames"), func(s source) value.Value { return value.Bool(hasCondition(s.Value, "Established")) },
	}
}

// componentCells shows the health of a component.
func componentCells() []cell {
	health := func(s source) value.Value {
		for c := range s.Get("conditions").Items() {
			if c.Get("type").Str() == "Healthy" {
				return c
			}
		}
		return value.Value{}
	}
	of := func(name string) cell {
		return shown(func(s source) string { return health(s).Get(name).Str() })
	}
	status := shown(func(s source) string {
		switch health(s).Get("status").Str() {
		case "":
			return "Unknown"
		case "True":
			return "Healthy"
		}
		return "Unhealthy"
	})
	return []cell{name, status, of("message"), of("error")}
}

func signingCells() []cell {
	return []cell{
		name, age, textOr(none, "spec", "signerName"), text("spec", "username"), shown(requestedDuration), shown(signingStatus),
	}
}

func podCertificateCells() []cell {
	return []cell{
		name, text("spec", "podName"), text("spec", "serviceAccountName"), text("spec", "nodeName"), text("spec", "signerName"),
		shown(certificateState), labelsOf("spec", "unverifiedUserAnnotations"),
	}
}

func flowCells() []cell {
	return []cell{
		name, text("spec", "priorityLevelConfiguration", "name"), number("spec", "matchingPrecedence"),
		textOr(none, "spec", "distinguisherMethod", "type"), age, shown(dangling),
	}
}

func levelCells() []cell {
	return []cell{
		name, text("spec", "type"), limited("nominalConcurrencyShares"), limited("limitResponse", "queuing", "queues"),
		limited("limitResponse", "queuing", "handSize"), limited("limitResponse", "queuing", "queueLengthLimit"), age,
	}
}

// unreserved is the name rule of admission policies and webhook configurations: names of configurations in files are reserved.
func unreserved(name string, prefix bool) []string {
	const suffix = ".static.k8s.io"
	errs := apivalidation.NameIsDNSSubdomain(name, prefix)
	if strings.HasSuffix(name, suffix) {
		errs = append(errs, fmt.Sprintf(
			"names ending with %q are reserved for static manifest-based configurations and cannot be managed via the API", suffix))
	}
	return errs
}

// bundleName returns the name rule of a trust bundle: the name of one with a signer begins with the name of the signer.
func bundleName(bundle value.Value) apivalidation.ValidateNameFunc {
	signer := bundle.Get("spec", "signerName").Str()
	return trustBundleNameFor(signer)
}

// validateRuntimeClass validates a RuntimeClass.
func validateRuntimeClass(r *report, object place, live value.Value) {
	handler, scheduling := object.at("handler"), object.at("scheduling")
	wrong := validation.IsDNS1123Label(handler.Str())
	isReplaced := isSet(live) && !r.same(handler, live.Get("handler")) // whose syntax the tags of the type do not look at
	if isReplaced && handler.Str() != "" {
		r.invalid(handler, wrong...)
	}
	if overhead := object.at("overhead"); overhead.is() {
		r.requirements(overhead.with(value.Object(value.Member{Name: "limits", Value: overhead.Get("podFixed")})), (*report).resource)
	}
	r.labels(scheduling.at("nodeSelector"))
	tolerations := scheduling.at("tolerations")
	r.tolerations(tolerations, false)
	r.tolerationsOnce(tolerations)
	switch {
	case isReplaced:
		r.laterInvalid(handler, nil, "field is immutable")
	case handler.Str() != "":
		for _, detail := range wrong {
			r.laterInvalid(handler, handler.Str(), detail)
		}
	}
	if handler.Str() == "" {
		r.later(handler, "")
	}
}

// tolerationsOnce refuses tolerations that differ at most in how long they hold.
func (r *report) tolerationsOnce(p place) {
	var met names
	for i := range p.indexes() {
		t := p.item(i)
		if !met.add(strings.Join([]string{t.text("key"), t.text("operator"), t.text("value"), t.text("effect")}, "\n")) {
			r.duplicate(t)
		}
	}
}

// addressName is the name rule of an IPAddress.
func addressName(name string, _ bool) []string {
	var out []string
	for _, err := range validation.IsValidIP(nil, name) {
		out = append(out, err.Detail)
	}
	return out
}

// validateAddress validates an IPAddress.
func validateAddress(r *report, object place, live value.Value) {
	spec := object.at("spec")
	ref := spec.at("parentRef")
	if !ref.is() {
		r.later(ref, "")
	} else {
		group := ref.at("group")
		r.optionalSubdomain(group)
		for _, name := range [...]string{"resource", "name", "namespace"} {
			if p := ref.at(name); p.Str() != "" {
				r.invalid(p, content.IsPathSegmentName(p.Str())...)
			} else if name != "namespace" && isSet(live) {
				r.required(p, "")
			} else if name != "namespace" {
				r.later(p, "")
			}
		}
	}
	if isSet(live) {
		r.unchangedLater(ref, live.Get("spec", "parentRef"))
	}
}

// Priority and fairness. This server stores the configurations, and limits requests in its own way.

// validateFlowSchema validates a FlowSchema.
func validateFlowSchema(r *report, object place, _ value.Value) {
	spec := object.at("spec")
	precedence := spec.at("matchingPrecedence")
	switch n := precedence.Int(); {
	case n <= 0:
		r.invalidAs(precedence, n, "must be a positive value")
	case n > 10000:
		r.invalid(precedence, "must not be greater than 10000")
	case n == 1 && object.Get("metadata", "name").Str() != "exempt":
		r.invalid(precedence, "only the schema named 'exempt' may have matchingPrecedence 1")
	}
	if method := spec.at("distinguisherMethod"); method.is() {
		if typ := method.at("type"); typ.Str() != "ByNamespace" && typ.Str() != "ByUser" {
			r.add(field.NotSupported(typ.path(), struct{ Type string }{typ.Str()}, []string{"ByNamespace", "ByUser"}))
		}
	}
	level := spec.at("priorityLevelConfiguration")
	if name := level.at("name"); name.Str() == "" {
		r.required(name, "must reference a priority level")
	} else {
		r.subdomain(name)
	}
	rules := spec.at("rules")
	for i := range rules.indexes() {
		r.flowRule(rules.item(i))
	}
	validateConditionTypes(r, object, value.Value{})
}

// validateConditionTypes validates the conditions of a status by their types alone.
//
// It is also for writes of the status alone.
func validateConditionTypes(r *report, object place, _ value.Value) {
	status := object.at("status")
	conditions := status.at("conditions")
	var met names
	for i := range conditions.indexes() {
		c := conditions.item(i)
		typ := c.at("type")
		if !met.add(typ.Str()) {
			r.add(field.Duplicate(typ.path(), Enumeration(typ.Str())))
		}
		r.present(typ)
	}
}

// flowRule validates a rule of a FlowSchema. A rule names subjects, and their requests for resources or paths.
func (r *report) flowRule(p place) {
	subjects, resources, others := p.at("subjects"), p.at("resourceRules"), p.at("nonResourceRules")
	for i := range subjects.indexes() {
		r.flowSubject(subjects.item(i))
	}
	if subjects.Len() == 0 {
		r.required(subjects, "subjects must contain at least one value")
	}
	if resources.Len() == 0 && others.Len() == 0 {
		r.required(p, "at least one of resourceRules and nonResourceRules has to be non-empty")
	}
	for i := range resources.indexes() {
		r.flowResources(resources.item(i))
	}
	for i := range others.indexes() {
		r.flowURLs(others.item(i))
	}
}

// flowSubject validates a subject, which has a member for its kind.
func (r *report) flowSubject(p place) {
	members := [...][2]string{{"ServiceAccount", "serviceAccount"}, {"User", "user"}, {"Group", "group"}}
	kind := p.at("kind")
	i := slices.IndexFunc(members[:], func(m [2]string) bool { return m[0] == kind.Str() })
	if i < 0 {
		r.textAmong(kind, "Group", "ServiceAccount", "User")
		return
	}
	own := p.at(members[i][1])
	name := own.at("name")
	switch {
	case !own.is():
		r.required(own, fmt.Sprintf("%s is required when subject kind is '%s'", members[i][1], members[i][0]))
	case members[i][0] != "ServiceAccount":
		r.present(name)
	default:
		if r.present(name) && name.Str() != "*" {
			r.subdomain(name)
		}
		if namespace := own.at("namespace"); namespace.Str() != "" {
			r.label(namespace)
		} else {
			r.required(namespace, "must specify namespace for service account")
		}
	}
	for _, m := range members {
		if other := p.at(m[1]); m[0] != kind.Str() && other.is() {
			r.forbidden(other, fmt.Sprintf("%s is forbidden when subject kind is not '%s'", m[1], m[0]))
		}
	}
}

var flowVerbs = []string{
	"create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch",
}

// flowVerbs validates verbs. One verb that is unknown is reported with all of them.
func (r *report) flowVerbs(p place) {
	all := texts(p.Value)
	switch {
	case len(all) == 0:
		r.required(p, "verbs must contain at least one value")
	case slices.Contains(all, "*"):
		r.wildcardAlone(p, "verbs")
	case slices.ContainsFunc(all, func(verb string) bool { return !slices.Contains(flowVerbs, verb) }):
		r.notSupported(p, flowVerbs...)
	}
}

// flowResources validates which resources a rule is about, and where.
func (r *report) flowResources(p place) {
	r.flowVerbs(p.at("verbs"))
	groups, resources, namespaces := p.at("apiGroups"), p.at("resources"), p.at("namespaces")
	if groups.Len() == 0 {
		r.required(groups, "resource rules must supply at least one api group")
	}
	r.wildcardAlone(groups, "api groups")
	if resources.Len() == 0 {
		r.required(resources, "resource rules must supply at least one resource")
	}
	r.wildcardAlone(resources, "resources")
	switch {
	case namespaces.Len() == 0 && !p.Get("clusterScope").Bool():
		r.required(namespaces, "resource rules that are not cluster scoped must supply at least one namespace")
	case slices.Contains(texts(namespaces.Value), "*"):
		r.wildcardAlone(namespaces, "namespaces")
	default:
		for i := range namespaces.indexes() {
			namespace := namespaces.item(i)
			for _, wrong := range validation.IsDNS1123Label(namespace.Str()) {
				r.invalid(namespace, "each member of this list must be '*' or a DNS-1123 label; "+wrong)
			}
		}
	}
}

// flowURLs validates which paths a rule is about.
func (r *report) flowURLs(p place) {
	r.flowVerbs(p.at("verbs"))
	urls := p.at("nonResourceURLs")
	switch {
	case urls.Len() == 0:
		r.required(urls, "nonResourceURLs must contain at least one value")
	case slices.Contains(texts(urls.Value), "*"):
		r.wildcardAlone(urls, "non-resource URLs")
	default:
		for i := range urls.indexes() {
			r.urlPath(urls.item(i))
		}
	}
}

// urlPath validates a path, at whose end a star stands for everything below.
func (r *report) urlPath(p place) {
	text := p.Str()
	stars := strings.Count(text, "*")
	switch {
	case text == "/":
	case text == "":
		r.invalid(p, "must not be empty")
	case text[0] != '/':
		r.invalid(p, "must start with slash")
	case strings.Contains(text, " "):
		r.invalid(p, "must not contain white-space")
	case strings.Contains(text, "//"):
		r.invalid(p, "must not contain double slash")
	case stars > 1 || stars == 1 && !strings.HasSuffix(text, "/*"):
		r.invalid(p, "wildcard can only do suffix matching")
	}
}

// validateLevel validates a PriorityLevelConfiguration.
//
// The type has a member of its own, and the member of the other type must be absent. There is one exempt level, by its name.
func validateLevel(r *report, object place, _ value.Value) {
	spec := object.at("spec")
	typ, limited, exempt := spec.at("type"), spec.at("limited"), spec.at("exempt")
	if (object.Get("metadata", "name").Str() == "exempt") != (typ.Str() == "Exempt") {
		r.invalid(typ, "must be 'Exempt' if and only if `name` is 'exempt'")
	}
	switch typ.Str() {
	case "Exempt":
		if limited.is() {
			r.forbiddenLater(limited, "")
		}
		if exempt.is() {
			r.shares(exempt)
			r.percent(exempt.at("lendablePercent"))
		}
	case "Limited":
		if exempt.is() {
			r.forbiddenLater(exempt, "")
		}
		if !limited.is() {
			r.later(limited, "")
		} else {
			r.limited(limited)
		}
	default: // what is declared of types forbids both members
		for _, p := range [...]place{exempt, limited} {
			if p.is() {
				r.forbiddenLater(p, "")
			}
		}
		if typ.Str() == "" {
			r.later(typ, "")
		} else {
			r.onlyAmong(typ, "Exempt", "Limited")
		}
	}
	if limited.is() && typ.Str() != "Limited" {
		var declared report // whose other rules do not count
		declared.limited(limited)
		r.last = append(r.last, declared.last...)
	}
	validateConditionTypes(r, object, value.Value{})
}

// shares validates which share of all requests a level gets.
func (r *report) shares(p place) {
	if shares := p.at("nominalConcurrencyShares"); shares.Int() < 0 {
		r.invalid(shares, "must be a non-negative integer")
	}
}

// percent validates a number between 0 and 100.
func (r *report) percent(p place) {
	if n := p.Int(); n < 0 || n > 100 {
		r.invalid(p, "must be between 0 and 100, inclusive")
	}
}

// limited validates a level that bounds its requests.
func (r *report) limited(p place) {
	r.shares(p)
	response := p.at("limitResponse")
	typ, queuing := response.at("type"), response.at("queuing")
	switch typ.Str() {
	case "Reject":
		if queuing.is() {
			r.forbiddenLater(queuing, "")
		}
	case "Queue":
		if !queuing.is() {
			r.later(queuing, "")
		} else {
			r.queuing(queuing)
		}
	default:
		if typ.Str() != "" {
			r.onlyAmong(typ, "Queue", "Reject")
		}
		if queuing.is() {
			r.forbiddenLater(queuing, "")
		}
		if typ.Str() == "" {
			r.later(typ, "")
		}
	}
	r.percent(p.at("lendablePercent"))
	if limit := p.at("borrowingLimitPercent"); limit.Int() < 0 {
		r.invalid(limit, "if specified, must be a non-negative integer")
	}
}

// queuing validates the queues of a level, and how many of them a flow uses.
//
// A flow is assigned a hand of queues by a hash. The hash has 60 bits, which bounds how many hands there may be.
func (r *report) queuing(p place) {
	length, queues, hand := p.at("queueLengthLimit"), p.at("queues"), p.at("handSize")
	if n := length.Int(); n <= 0 {
		r.invalidAs(length, n, "must be positive")
	}
	switch n := queues.Int(); {
	case n <= 0:
		r.invalidAs(queues, n, "must be positive")
	case n > 10_000_000:
		r.invalid(queues, "must not be greater than 10000000")
	}
	switch n := hand.Int(); {
	case n <= 0:
		r.invalidAs(hand, n, "must be positive")
	case n > queues.Int():
		r.invalid(hand, fmt.Sprintf("should not be greater than queues (%d)", queues.Int()))
	case handBits(queues.Int(), n) > 60:
		r.invalid(hand, fmt.Sprintf("required entropy bits of deckSize %d and handSize %d should not be greater than 60", queues.Int(), n))
	}
}

// handBits returns how many bits of a hash choose a hand of queues.
func handBits(queues, hand int64) int {
	return int(math.Ceil(math.Log2(float64(queues)) * float64(hand)))
}
