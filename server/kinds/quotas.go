package kinds

import (
	"cmp"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/deed-project/deed/server/kinds/walk"
	"github.com/deed-project/deed/value"
)

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

// validateQuotaName refuses the name of a resource that a quota limits.
func validateQuotaName(r *walk.Report, limit walk.Place) {
	name := limit.Name()
	wrong := validation.IsQualifiedName(name)
	r.InvalidAs(limit, walk.Enumeration(name), wrong...)
	huge := strings.HasPrefix(name, "hugepages-") || strings.HasPrefix(name, "requests.hugepages-")
	if strings.Contains(name, "/") || huge || counted[name] || walk.IsWhole(name) {
		return
	}
	if len(wrong) == 0 && name != "storage" { // which is one, and has no quota
		r.InvalidAs(limit, walk.Enumeration(name), "must be a standard resource type or fully qualified")
	}
	r.InvalidAs(limit, walk.Enumeration(name), "must be a standard resource for quota")
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
		isHuge := walk.IsHugePages(strings.TrimPrefix(name, "requests."))
		if known && (counted[name] || walk.IsWhole(name) || isHuge) && !of.counts[name] {
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
