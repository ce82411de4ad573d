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

	"github.com/deed-project/deed/server/kinds/pods"
	"github.com/deed-project/deed/server/kinds/walk"
	"github.com/deed-project/deed/value"
)

// validateLease validates a Lease.
func validateLease(r *walk.Report, object walk.Place, _ value.Value) {
	spec := object.At("spec")
	if seconds := spec.At("leaseDurationSeconds"); seconds.IsSet() && seconds.Int() <= 0 {
		r.Invalid(seconds, "must be greater than 0")
	}
	r.Natural(spec.At("leaseTransitions"))
}

// validateMigration validates a StorageVersionMigration.
func validateMigration(r *walk.Report, object walk.Place, live value.Value) {
	resource := object.At("spec").At("resource")
	if name := resource.At("resource"); name.Str() == "" {
		r.Required(name, "resource is required to be set")
	} else if wrong := validation.IsDNS1035Label(name.Str()); len(wrong) > 0 {
		r.Invalid(name, strings.Join(wrong, ","))
	}
	if group := resource.At("group"); group.Str() != "" {
		if wrong := validation.IsDNS1123Subdomain(group.Str()); len(wrong) > 0 {
			r.Invalid(group, strings.Join(wrong, ","))
		}
	}
	if spec := object.At("spec"); walk.IsSet(live) && !r.Same(spec, live.Get("spec")) {
		r.Invalid(spec, "field is immutable")
	}
}

// validateMigrationStatus validates the status of a StorageVersionMigration: its resource version never changes, and it ends once.
func validateMigrationStatus(r *walk.Report, object walk.Place, live value.Value) {
	status := object.At("status")
	version, was := status.At("resourceVersion"), live.Get("status", "resourceVersion").Str()
	if text := version.Str(); text != "" {
		if _, err := resourceversion.CompareResourceVersion(text, text); err != nil {
			r.Invalid(version, err.Error())
		}
	}
	validateConditions(r, object, live)
	if was != "" && was != version.Str() {
		r.InvalidAs(version, version.Str(), "field is immutable")
	}
	conditions := status.At("conditions")
	isTrue := func(object value.Value, typ string) bool {
		for c := range object.Get("status", "conditions").Items() {
			if c.Get("type").Str() == typ {
				return c.Get("status").Str() == "True"
			}
		}
		return false
	}
	if isTrue(object.Value, "Succeeded") && isTrue(object.Value, "Failed") {
		r.Invalid(conditions, "Both success and failed conditions cannot be true at the same time")
	}
	if isTrue(live, "Succeeded") && !isTrue(object.Value, "Succeeded") {
		r.Invalid(conditions, "Success condition cannot be set to false once it is true")
	}
	if isTrue(live, "Failed") && !isTrue(object.Value, "Failed") {
		r.Invalid(conditions, "Failed condition cannot be set to false once it is true")
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
	return walk.TrustBundleNameFor(signer)
}

// validateRuntimeClass validates a RuntimeClass.
func validateRuntimeClass(r *walk.Report, object walk.Place, live value.Value) {
	handler, scheduling := object.At("handler"), object.At("scheduling")
	wrong := validation.IsDNS1123Label(handler.Str())
	isReplaced := walk.IsSet(live) && !r.Same(handler, live.Get("handler")) // whose syntax the tags of the type do not look at
	if isReplaced && handler.Str() != "" {
		r.Invalid(handler, wrong...)
	}
	if overhead := object.At("overhead"); overhead.IsSet() {
		r.Requirements(overhead.WithValue(value.Object(value.Member{Name: "limits", Value: overhead.Get("podFixed")})), (*walk.Report).ContainerResource)
	}
	r.Labels(scheduling.At("nodeSelector"))
	tolerations := scheduling.At("tolerations")
	pods.ValidateTolerations(r, tolerations, false)
	validateTolerationsOnce(r, tolerations)
	switch {
	case isReplaced:
		r.UnchangedLater(handler, live.Get("handler"))
	case handler.Str() != "":
		for _, detail := range wrong {
			r.InvalidLater(handler, handler.Str(), detail)
		}
	}
	if handler.Str() == "" {
		r.RequiredLater(handler, "")
	}
}

// validateTolerationsOnce refuses tolerations that differ at most in how long they hold.
func validateTolerationsOnce(r *walk.Report, p walk.Place) {
	var met walk.Names
	for i := range p.Indexes() {
		t := p.Index(i)
		if !met.Add(strings.Join([]string{t.Text("key"), t.Text("operator"), t.Text("value"), t.Text("effect")}, "\n")) {
			r.Duplicate(t)
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
func validateAddress(r *walk.Report, object walk.Place, live value.Value) {
	spec := object.At("spec")
	ref := spec.At("parentRef")
	if !ref.IsSet() {
		r.RequiredLater(ref, "")
	} else {
		group := ref.At("group")
		r.OptionalSubdomain(group)
		for _, name := range [...]string{"resource", "name", "namespace"} {
			if p := ref.At(name); p.Str() != "" {
				r.Invalid(p, content.IsPathSegmentName(p.Str())...)
			} else if name != "namespace" && walk.IsSet(live) {
				r.Required(p, "")
			} else if name != "namespace" {
				r.RequiredLater(p, "")
			}
		}
	}
	if walk.IsSet(live) {
		r.UnchangedLater(ref, live.Get("spec", "parentRef"))
	}
}

// Priority and fairness. This server stores the configurations, and limits requests in its own way.

// validateFlowSchema validates a FlowSchema.
func validateFlowSchema(r *walk.Report, object walk.Place, _ value.Value) {
	spec := object.At("spec")
	precedence := spec.At("matchingPrecedence")
	switch n := precedence.Int(); {
	case n <= 0:
		r.InvalidAs(precedence, n, "must be a positive value")
	case n > 10000:
		r.Invalid(precedence, "must not be greater than 10000")
	case n == 1 && object.Get("metadata", "name").Str() != "exempt":
		r.Invalid(precedence, "only the schema named 'exempt' may have matchingPrecedence 1")
	}
	if method := spec.At("distinguisherMethod"); method.IsSet() {
		if typ := method.At("type"); typ.Str() != "ByNamespace" && typ.Str() != "ByUser" {
			r.Add(field.NotSupported(typ.Path(), struct{ Type string }{typ.Str()}, []string{"ByNamespace", "ByUser"}))
		}
	}
	level := spec.At("priorityLevelConfiguration")
	if name := level.At("name"); name.Str() == "" {
		r.Required(name, "must reference a priority level")
	} else {
		r.Subdomain(name)
	}
	rules := spec.At("rules")
	for i := range rules.Indexes() {
		validateFlowRule(r, rules.Index(i))
	}
	validateConditionTypes(r, object, value.Value{})
}

// validateConditionTypes validates the conditions of a status by their types alone.
//
// It is also for writes of the status alone.
func validateConditionTypes(r *walk.Report, object walk.Place, _ value.Value) {
	status := object.At("status")
	conditions := status.At("conditions")
	var met walk.Names
	for i := range conditions.Indexes() {
		c := conditions.Index(i)
		typ := c.At("type")
		if !met.Add(typ.Str()) {
			r.Add(field.Duplicate(typ.Path(), walk.Enumeration(typ.Str())))
		}
		r.Present(typ)
	}
}

// validateFlowRule validates a rule of a FlowSchema. A rule names subjects, and their requests for resources or paths.
func validateFlowRule(r *walk.Report, p walk.Place) {
	subjects, resources, others := p.At("subjects"), p.At("resourceRules"), p.At("nonResourceRules")
	for i := range subjects.Indexes() {
		validateFlowSubject(r, subjects.Index(i))
	}
	if subjects.Len() == 0 {
		r.Required(subjects, "subjects must contain at least one value")
	}
	if resources.Len() == 0 && others.Len() == 0 {
		r.Required(p, "at least one of resourceRules and nonResourceRules has to be non-empty")
	}
	for i := range resources.Indexes() {
		validateFlowResources(r, resources.Index(i))
	}
	for i := range others.Indexes() {
		validateFlowURLs(r, others.Index(i))
	}
}

// validateFlowSubject validates a subject, which has a member for its kind.
func validateFlowSubject(r *walk.Report, p walk.Place) {
	members := [...][2]string{{"ServiceAccount", "serviceAccount"}, {"User", "user"}, {"Group", "group"}}
	kind := p.At("kind")
	i := slices.IndexFunc(members[:], func(m [2]string) bool { return m[0] == kind.Str() })
	if i < 0 {
		r.TextAmong(kind, "Group", "ServiceAccount", "User")
		return
	}
	own := p.At(members[i][1])
	name := own.At("name")
	switch {
	case !own.IsSet():
		r.Required(own, fmt.Sprintf("%s is required when subject kind is '%s'", members[i][1], members[i][0]))
	case members[i][0] != "ServiceAccount":
		r.Present(name)
	default:
		if r.Present(name) && name.Str() != "*" {
			r.Subdomain(name)
		}
		if namespace := own.At("namespace"); namespace.Str() != "" {
			r.Label(namespace)
		} else {
			r.Required(namespace, "must specify namespace for service account")
		}
	}
	for _, m := range members {
		if other := p.At(m[1]); m[0] != kind.Str() && other.IsSet() {
			r.Forbidden(other, fmt.Sprintf("%s is forbidden when subject kind is not '%s'", m[1], m[0]))
		}
	}
}

var flowVerbs = []string{
	"create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch",
}

// validateFlowVerbs validates verbs. One verb that is unknown is reported with all of them.
func validateFlowVerbs(r *walk.Report, p walk.Place) {
	all := walk.Texts(p.Value)
	switch {
	case len(all) == 0:
		r.Required(p, "verbs must contain at least one value")
	case slices.Contains(all, "*"):
		validateWildcardAlone(r, p, "verbs")
	case slices.ContainsFunc(all, func(verb string) bool { return !slices.Contains(flowVerbs, verb) }):
		r.NotSupported(p, flowVerbs...)
	}
}

// validateFlowResources validates which resources a rule is about, and where.
func validateFlowResources(r *walk.Report, p walk.Place) {
	validateFlowVerbs(r, p.At("verbs"))
	groups, resources, namespaces := p.At("apiGroups"), p.At("resources"), p.At("namespaces")
	if groups.Len() == 0 {
		r.Required(groups, "resource rules must supply at least one api group")
	}
	validateWildcardAlone(r, groups, "api groups")
	if resources.Len() == 0 {
		r.Required(resources, "resource rules must supply at least one resource")
	}
	validateWildcardAlone(r, resources, "resources")
	switch {
	case namespaces.Len() == 0 && !p.Get("clusterScope").Bool():
		r.Required(namespaces, "resource rules that are not cluster scoped must supply at least one namespace")
	case slices.Contains(walk.Texts(namespaces.Value), "*"):
		validateWildcardAlone(r, namespaces, "namespaces")
	default:
		for i := range namespaces.Indexes() {
			namespace := namespaces.Index(i)
			for _, wrong := range validation.IsDNS1123Label(namespace.Str()) {
				r.Invalid(namespace, "each member of this list must be '*' or a DNS-1123 label; "+wrong)
			}
		}
	}
}

// validateFlowURLs validates which paths a rule is about.
func validateFlowURLs(r *walk.Report, p walk.Place) {
	validateFlowVerbs(r, p.At("verbs"))
	urls := p.At("nonResourceURLs")
	switch {
	case urls.Len() == 0:
		r.Required(urls, "nonResourceURLs must contain at least one value")
	case slices.Contains(walk.Texts(urls.Value), "*"):
		validateWildcardAlone(r, urls, "non-resource URLs")
	default:
		for i := range urls.Indexes() {
			validateUrlPath(r, urls.Index(i))
		}
	}
}

// validateUrlPath validates a path, at whose end a star stands for everything below.
func validateUrlPath(r *walk.Report, p walk.Place) {
	text := p.Str()
	stars := strings.Count(text, "*")
	switch {
	case text == "/":
	case text == "":
		r.Invalid(p, "must not be empty")
	case text[0] != '/':
		r.Invalid(p, "must start with slash")
	case strings.Contains(text, " "):
		r.Invalid(p, "must not contain white-space")
	case strings.Contains(text, "//"):
		r.Invalid(p, "must not contain double slash")
	case stars > 1 || stars == 1 && !strings.HasSuffix(text, "/*"):
		r.Invalid(p, "wildcard can only do suffix matching")
	}
}

// validateLevel validates a PriorityLevelConfiguration.
//
// The type has a member of its own, and the member of the other type must be absent. There is one exempt level, by its name.
func validateLevel(r *walk.Report, object walk.Place, _ value.Value) {
	spec := object.At("spec")
	typ, limited, exempt := spec.At("type"), spec.At("limited"), spec.At("exempt")
	if (object.Get("metadata", "name").Str() == "exempt") != (typ.Str() == "Exempt") {
		r.Invalid(typ, "must be 'Exempt' if and only if `name` is 'exempt'")
	}
	switch typ.Str() {
	case "Exempt":
		if limited.IsSet() {
			r.ForbiddenLater(limited, r.Worded("must be nil if the type is not Limited", ""))
		}
		if exempt.IsSet() {
			validateShares(r, exempt)
			validatePercent(r, exempt.At("lendablePercent"))
		}
	case "Limited":
		if exempt.IsSet() {
			r.ForbiddenLater(exempt, r.Worded("must be nil if the type is Limited", ""))
		}
		if !limited.IsSet() {
			r.RequiredLater(limited, r.Worded("must not be empty when type is Limited", ""))
		} else {
			validateLimited(r, limited)
		}
	default: // what is declared of types forbids both members
		for _, p := range [...]walk.Place{exempt, limited} {
			if p.IsSet() && !r.Before(walk.TaggedSince) {
				r.ForbiddenLater(p, "")
			}
		}
		if typ.Str() == "" {
			r.RequiredLater(typ, "")
		} else {
			r.OnlyAmong(typ, "Exempt", "Limited")
		}
	}
	if limited.IsSet() && typ.Str() != "Limited" && !r.Before(walk.TaggedSince) {
		var declared walk.Report // whose other rules do not count
		validateLimited(&declared, limited)
		r.Last = append(r.Last, declared.Last...)
	}
	validateConditionTypes(r, object, value.Value{})
}

// validateShares validates which share of all requests a level gets.
func validateShares(r *walk.Report, p walk.Place) {
	if shares := p.At("nominalConcurrencyShares"); shares.Int() < 0 {
		r.Invalid(shares, "must be a non-negative integer")
	}
}

// validatePercent validates a number between 0 and 100.
func validatePercent(r *walk.Report, p walk.Place) {
	if n := p.Int(); n < 0 || n > 100 {
		r.Invalid(p, "must be between 0 and 100, inclusive")
	}
}

// validateLimited validates a level that bounds its requests.
func validateLimited(r *walk.Report, p walk.Place) {
	validateShares(r, p)
	response := p.At("limitResponse")
	typ, queuing := response.At("type"), response.At("queuing")
	switch typ.Str() {
	case "Reject":
		if queuing.IsSet() {
			r.ForbiddenLater(queuing, r.Worded("must be nil if limited.limitResponse.type is not Limited", ""))
		}
	case "Queue":
		if !queuing.IsSet() {
			r.RequiredLater(queuing, r.Worded("must not be empty if limited.limitResponse.type is Limited", ""))
		} else {
			validateQueuing(r, queuing)
		}
	default:
		if typ.Str() != "" {
			r.OnlyAmong(typ, "Queue", "Reject")
		}
		if queuing.IsSet() && !r.Before(walk.TaggedSince) {
			r.ForbiddenLater(queuing, "")
		}
		if typ.Str() == "" {
			r.RequiredLater(typ, "")
		}
	}
	validatePercent(r, p.At("lendablePercent"))
	if limit := p.At("borrowingLimitPercent"); limit.Int() < 0 {
		r.Invalid(limit, "if specified, must be a non-negative integer")
	}
}

// validateQueuing validates the queues of a level, and how many of them a flow uses.
//
// A flow is assigned a hand of queues by a hash. The hash has 60 bits, which bounds how many hands there may be.
func validateQueuing(r *walk.Report, p walk.Place) {
	length, queues, hand := p.At("queueLengthLimit"), p.At("queues"), p.At("handSize")
	if n := length.Int(); n <= 0 {
		r.InvalidAs(length, n, "must be positive")
	}
	switch n := queues.Int(); {
	case n <= 0:
		r.InvalidAs(queues, n, "must be positive")
	case n > 10_000_000:
		r.Invalid(queues, "must not be greater than 10000000")
	}
	switch n := hand.Int(); {
	case n <= 0:
		r.InvalidAs(hand, n, "must be positive")
	case n > queues.Int():
		r.Invalid(hand, fmt.Sprintf("should not be greater than queues (%d)", queues.Int()))
	case handBits(queues.Int(), n) > 60:
		r.Invalid(hand, fmt.Sprintf("required entropy bits of deckSize %d and handSize %d should not be greater than 60", queues.Int(), n))
	}
}

// handBits returns how many bits of a hash choose a hand of queues.
func handBits(queues, hand int64) int {
	return int(math.Ceil(math.Log2(float64(queues)) * float64(hand)))
}
