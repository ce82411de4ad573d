package kinds

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/server/kinds/walk"
	"github.com/deed-project/deed/value"
)

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
	validateFixed(r, object, fixedSchemas())
	validateConditionTypes(r, object, value.Value{})
}

// fixedSchemas are the specs of FlowSchemas that cannot be edited, by name. Package flowcontrol creates these objects from a library when a
// server with priority and fairness starts, which fails if a spec differs from the library's. The same holds for fixedLevels.
var fixedSchemas = sync.OnceValue(func() map[string]value.Value {
	const rules = `[{"verbs":["*"],"apiGroups":["*"],"resources":["*"],"clusterScope":true,"namespaces":["*"]}],
		"nonResourceRules":[{"verbs":["*"],"nonResourceURLs":["*"]}]`
	return map[string]value.Value{
		"exempt": specOf(`{"priorityLevelConfiguration":{"name":"exempt"},"matchingPrecedence":1,
			"rules":[{"subjects":[{"kind":"Group","group":{"name":"system:masters"}}],"resourceRules":` + rules + `}]}`),
		"catch-all": specOf(`{"priorityLevelConfiguration":{"name":"catch-all"},"matchingPrecedence":10000,"distinguisherMethod":{"type":"ByUser"},
			"rules":[{"subjects":[{"kind":"Group","group":{"name":"system:unauthenticated"}},{"kind":"Group","group":{"name":"system:authenticated"}}],
			"resourceRules":` + rules + `}]}`),
	}
})

// fixedLevels are the specs of priority levels that cannot be edited, by name. The exempt member of the level exempt can.
var fixedLevels = sync.OnceValue(func() map[string]value.Value {
	return map[string]value.Value{
		"exempt":    specOf(`{"type":"Exempt"}`),
		"catch-all": specOf(`{"type":"Limited","limited":{"nominalConcurrencyShares":5,"limitResponse":{"type":"Reject"},"lendablePercent":0}}`),
	}
})

// specOf returns the value of a JSON text of this package.
func specOf(text string) value.Value {
	v, err := value.Parse([]byte(text))
	if err != nil {
		panic(err) // the text is part of the program
	}
	return v
}

// validateFixed refuses another spec of an object whose spec is fixed.
func validateFixed(r *walk.Report, object walk.Place, fixed map[string]value.Value) {
	name := object.Get("metadata", "name").Str()
	want, isFixed := fixed[name]
	if !isFixed {
		return
	}
	spec, except := object.At("spec"), ""
	have := spec.Value
	if want.Get("type").Str() == "Exempt" {
		have, except = have.With("exempt", value.Value{}), " except the 'spec.exempt' field"
	}
	if !walk.SameInside(r.InsideTypeAt("spec"), have, want) {
		r.InvalidAs(spec, r.Inside("spec", spec.Value), fmt.Sprintf("spec of '%s'%s must equal the fixed value", name, except))
	}
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
		r.OnlyAmong(kind, "Group", "ServiceAccount", "User")
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

// keepsZeroShares is an annotation of priority levels in v1beta3, which conversion takes away.
const keepsZeroShares = "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares"

// validateLevel validates a PriorityLevelConfiguration.
//
// The type has a member of its own, and the member of the other type must be absent. There is one exempt level, by its name.
func validateLevel(r *walk.Report, object walk.Place, _ value.Value) {
	if annotations := object.At("metadata").At("annotations"); !annotations.Get(keepsZeroShares).IsAbsent() {
		r.Forbidden(annotations, "annotation '"+keepsZeroShares+"' is forbidden")
	}
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
	validateFixed(r, object, fixedLevels())
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

// dangling shows whether the priority level of a flow schema is missing.
func dangling(s source) string {
	for c := range s.Get("status", "conditions").Items() {
		if c.Get("type").Str() == "Dangling" {
			return c.Get("status").Str()
		}
	}
	return "?"
}
