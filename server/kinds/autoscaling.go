package kinds

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/server/kinds/walk"
	"github.com/deed-project/deed/value"
)

// Autoscalers and disruption budgets. An autoscaler is validated in the version v2, whatever version was sent: asHub in the table.

// metricTypes are what the replicas of an autoscaler follow, by the member that says more of it.
var metricTypes = []struct{ name, member string }{
	{"Object", "object"}, {"External", "external"}, {"Pods", "pods"}, {"Resource", "resource"}, {"ContainerResource", "containerResource"},
}

// validateAutoscalerStatus validates the status of a HorizontalPodAutoscaler.
func validateAutoscalerStatus(r *walk.Report, object walk.Place, _ value.Value) {
	status := object.At("status")
	conditions := status.At("conditions")
	for i := range conditions.Indexes() {
		r.Natural(conditions.Index(i).At("observedGeneration"))
	}
	r.Natural(status.At("currentReplicas"))
	r.Natural(status.At("desiredReplicas"))
}

// validateAutoscaler refuses a HorizontalPodAutoscaler.
//
// An autoscaler can go down to no replicas only if it follows something that exists without pods.
func validateAutoscaler(r *walk.Report, object walk.Place, _ value.Value) {
	spec := object.At("spec")
	least, most := spec.At("minReplicas"), spec.At("maxReplicas")
	validateBounds(r, least, most)
	if least.IsSet() && most.Int() < least.Int() {
		r.InvalidAs(most, most.Int(), "must be greater than or equal to `minReplicas`")
	}
	validateReference(r, spec.At("scaleTargetRef"), false)
	metrics := spec.At("metrics")
	for i := range metrics.Indexes() {
		validateMetric(r, metrics.Index(i))
	}
	if least.IsSet() && least.Int() == 0 && !followsOthers(metrics.Value) {
		r.Forbidden(metrics, "must specify at least one Object or External metric to support scaling to zero replicas")
	}
	for _, way := range [...]string{"scaleUp", "scaleDown"} {
		behavior := spec.At("behavior")
		if rules := behavior.At(way); rules.IsSet() {
			validateScaling(r, rules)
		}
	}
}

// followsOthers reports whether metrics are about more than the pods themselves.
func followsOthers(metrics value.Value) bool {
	for m := range metrics.Items() {
		if t := m.Get("type").Str(); t == "Object" || t == "External" {
			return true
		}
	}
	return false
}

// validateReference validates a reference to an object. anyGroup allows one without a group, as a ReplicationController may always have it.
func validateReference(r *walk.Report, p walk.Place, anyGroup bool) {
	validateSegment(r, p.At("kind"))
	validateSegment(r, p.At("name"))
	version := p.At("apiVersion")
	if gv, err := schema.ParseGroupVersion(version.Str()); err != nil {
		r.Invalid(version, err.Error())
	} else if gv.Group == "" && !anyGroup && p.Text("kind") != "ReplicationController" {
		r.InvalidAs(version, version.Str(), "apiVersion must specify API group")
	}
}

// validateMetricName validates the name of a metric.
func validateMetricName(r *walk.Report, p walk.Place) {
	if name := p.At("name"); name.Str() == "" {
		r.Required(name, "must specify a metric name")
	} else {
		r.Invalid(name, content.IsPathSegmentName(name.Str())...)
	}
}

// validateBounds refuses how many replicas there are at least and at most.
//
// The errors are those of tags, hence they come last.
//
// Before v1.37, an autoscaler that does not go down to no replicas cannot begin to.
func validateBounds(r *walk.Report, least, most walk.Place) {
	floor := int64(0)
	if was := r.Live.Get("spec", "minReplicas"); r.Before(37) && (was.Kind() != value.KindInt || was.Int() != 0) {
		floor = 1
	}
	if least.IsSet() && least.Int() < floor {
		r.InvalidLater(least, least.Int(), fmt.Sprintf("must be greater than or equal to %d", floor))
	}
	switch {
	case most.Int() == 0:
		r.RequiredLater(most, r.Worded("must be set and greater than 0", ""))
	case most.Int() < 0:
		r.InvalidLater(most, most.Int(), "must be greater than or equal to 1")
	}
}

// validateSegment refuses what cannot be in a path.
func validateSegment(r *walk.Report, p walk.Place) {
	if r.Present(p) {
		r.Invalid(p, content.IsPathSegmentName(p.Str())...)
	}
}

// validateMetric refuses what replicas follow.
//
// kube-apiserver reports an unknown type twice, before and after the sources. Of several sources, only the first is validated itself.
func validateMetric(r *walk.Report, p walk.Place) {
	typ, known := p.At("type"), false
	if typ.Str() == "" {
		r.Required(typ, "must specify a metric source type")
	}
	for _, t := range metricTypes {
		known = known || t.name == typ.Str()
	}
	if !known {
		notMetric(r, typ)
	}
	first := true
	for _, t := range metricTypes {
		if source := p.At(t.member); source.IsSet() && first {
			first = false
			validateMetricSource(r, source)
		}
	}
	for _, t := range metricTypes {
		source := p.At(t.member)
		if t.name == typ.Str() && !source.IsSet() {
			r.Required(source, "must populate information for the given metric source")
		}
	}
	if !known {
		notMetric(r, typ)
	}
	for _, t := range metricTypes {
		if source := p.At(t.member); source.IsSet() && t.name != typ.Str() && members(p.Value) > 1 {
			r.Forbidden(source, "must populate the given metric source only")
		}
	}
}

// notMetric adds the error of a type that no metric has.
func notMetric(r *walk.Report, typ walk.Place) {
	r.NotSupported(typ, "ContainerResource", "External", "Object", "Pods", "Resource")
}

// members returns how many sources a metric has.
func members(metric value.Value) int {
	n := 0
	for _, t := range metricTypes {
		if walk.IsSet(metric.Get(t.member)) {
			n++
		}
	}
	return n
}

// validateMetricSource refuses where a metric comes from.
//
// Each source has a target, which may be a value for all pods together, for each pod, or in percent of what pods request.
func validateMetricSource(r *walk.Report, p walk.Place) {
	target := p.At("target")
	switch p.Name() {
	case "resource", "containerResource":
		if name := p.At("name"); name.Str() == "" {
			r.Required(name, "must specify a resource name")
		} else if p.Name() == "containerResource" {
			validateContainerResource(r, name)
		}
		if p.Name() == "containerResource" {
			if container := p.At("container"); container.Str() == "" {
				r.Required(container, "must specify a container")
			} else {
				r.Label(container)
			}
		}
		validateMetricTarget(r, target)
		share, amount := target.At("averageUtilization"), target.At("averageValue")
		if !share.IsSet() && !amount.IsSet() {
			r.Required(share, "must set either a target raw value or a target utilization")
		}
		if share.IsSet() && amount.IsSet() {
			r.Forbidden(amount, "may not set both a target raw value and a target utilization")
		}
	case "pods":
		validateMetricName(r, p.At("metric"))
		validateMetricTarget(r, target)
		if amount := target.At("averageValue"); !amount.IsSet() {
			r.Required(amount, "must specify a positive target averageValue")
		}
	case "object":
		validateReference(r, p.At("describedObject"), true)
		validateMetricName(r, p.At("metric"))
		validateMetricTarget(r, target)
		if amount := target.At("averageValue"); !amount.IsSet() && !walk.IsSet(target.Get("value")) {
			r.Required(amount, "must set either a target value or averageValue")
		}
	case "external":
		validateMetricName(r, p.At("metric"))
		validateMetricTarget(r, target)
		amount, total := target.At("averageValue"), target.At("value")
		if !amount.IsSet() && !total.IsSet() {
			r.Required(amount, "must set either a target value for metric or a per-pod target")
		}
		if amount.IsSet() && total.IsSet() {
			r.Forbidden(total, "may not set both a target value for metric and a per-pod target")
		}
	}
}

// validateContainerResource validates a text that names a resource of containers.
//
// The rule is that of resources of containers, whose errors are about a key. Here they are about the text.
func validateContainerResource(r *walk.Report, p walk.Place) {
	var named walk.Report
	named.ContainerResource(p.Below(p.Value, p.Str(), walk.IsKey))
	for _, e := range named.Errs {
		e.Field = p.Path().String()
	}
	r.Errs = append(r.Errs, named.Errs...)
}

// validateMetricTarget refuses what a metric should be.
func validateMetricTarget(r *walk.Report, p walk.Place) {
	typ := p.At("type")
	if typ.Str() == "" {
		r.Required(typ, "must specify a metric target type")
	}
	if t := typ.Str(); t != "Utilization" && t != "Value" && t != "AverageValue" {
		r.InvalidAs(typ, walk.Enumeration(t), "must be either Utilization, Value, or AverageValue")
	}
	for _, name := range [...]string{"value", "averageValue"} {
		if v := p.At(name); v.IsSet() {
			if q := walk.Quantity(v.Value); q.Sign() != 1 {
				r.Invalid(v, "must be positive")
			}
		}
	}
	if share := p.At("averageUtilization"); share.IsSet() && share.Int() < 1 {
		r.Invalid(share, "must be greater than 0")
	}
}

// validateScaling refuses how fast replicas come or go.
func validateScaling(r *walk.Report, p walk.Place) {
	if window := p.At("stabilizationWindowSeconds"); window.Int() < 0 {
		r.Invalid(window, "must be greater than or equal to zero")
	} else if window.Int() > 3600 {
		r.Invalid(window, "must be less than or equal to 3600")
	}
	if policy := p.At("selectPolicy"); policy.IsSet() {
		r.OnlyAmong(policy, "Disabled", "Max", "Min")
	}
	policies := p.At("policies")
	if policies.Len() == 0 {
		r.Required(policies, "must specify at least one Policy")
	}
	for i := range policies.Indexes() {
		policy := policies.Index(i)
		r.OnlyAmong(policy.At("type"), "Percent", "Pods")
		for _, name := range [...]string{"value", "periodSeconds"} {
			if n := policy.At(name); n.Int() <= 0 {
				r.InvalidAs(n, n.Int(), "must be greater than zero")
			}
		}
		if period := policy.At("periodSeconds"); period.Int() > 1800 {
			r.Invalid(period, "must be less than or equal to 1800")
		}
	}
	if tolerance := p.At("tolerance"); strings.HasPrefix(tolerance.Str(), "-") {
		r.Invalid(tolerance, "must be greater than or equal to 0")
	}
}

// scaleTarget shows what an autoscaler scales.
func scaleTarget(s source) string {
	target := s.Get("spec", "scaleTargetRef")
	return target.Get("kind").Str() + "/" + target.Get("name").Str()
}

// fewestPods shows how many replicas there are at least.
func fewestPods(s source) string {
	if fewest := s.Get("spec", "minReplicas"); fewest.Kind() == value.KindInt {
		return fmt.Sprint(fewest.Int())
	}
	return unset
}

// metrics shows the first two metrics that an autoscaler goes by, what they are and what they should be.
func metrics(s source) string {
	now := slices.Collect(s.Get("status", "currentMetrics").Items())
	var out []string
	for i, metric := range slices.Collect(s.Get("spec", "metrics").Items()) {
		var current value.Value
		if i < len(now) {
			current = now[i]
		}
		out = append(out, metricText(metric, current))
	}
	if len(out) == 0 {
		return none
	}
	return withMore(out, 2, ", ")
}

// metricText shows one metric. What is known of it now is in the member of current that is called by its type.
//
//	External, Object                is/wanted, marked if it is an average
//	Pods                            is/wanted, an average always
//	Resource, ContainerResource     name: is/wanted, in percent if it is a utilization
func metricText(metric, current value.Value) string {
	typ := metric.Get("type").Str()
	member, known := map[string]string{
		"External": "external", "Object": "object", "Pods": "pods", "Resource": "resource", "ContainerResource": "containerResource",
	}[typ]
	if !known {
		return "<unknown type>"
	}
	spec, status := metric.Get(member), current.Get(member)
	target := spec.Get("target")
	is := func(field string) string {
		if status.Kind() != value.KindObject {
			return unknown
		}
		return quantityText(status.Get("current", field))
	}
	average := target.Get("averageValue").Kind() == value.KindString
	switch {
	case typ == "Pods":
		return is("averageValue") + "/" + quantityText(target.Get("averageValue"))
	case typ == "Resource" || typ == "ContainerResource":
		name := spec.Get("name").Str() + ": "
		if average {
			return name + is("averageValue") + "/" + quantityText(target.Get("averageValue"))
		}
		now := percent(status.Get("current", "averageUtilization"), unknown)
		return name + now + "/" + percent(target.Get("averageUtilization"), "<auto>")
	case !average:
		return is("value") + "/" + quantityText(target.Get("value"))
	case status.Get("current", "averageValue").IsAbsent():
		return unknown + "/" + quantityText(target.Get("averageValue")) + " (avg)"
	}
	return is("averageValue") + "/" + quantityText(target.Get("averageValue")) + " (avg)"
}

// quantityText shows a quantity in the way of its Go type, of which there may be none.
func quantityText(v value.Value) string {
	if v.Kind() != value.KindString {
		return "<nil>"
	}
	return v.Str()
}

// percent shows a number in percent, or another text if there is none.
func percent(v value.Value, otherwise string) string {
	if v.Kind() != value.KindInt {
		return otherwise
	}
	return fmt.Sprintf("%d%%", v.Int())
}

// ScaleRow returns what a Table shows of a Scale at the time now. custom says whether it is the Scale of a custom resource.
func ScaleRow(scale value.Value, now time.Time, custom bool) []value.Value {
	desired, available := number("spec", "replicas"), number("status", "replicas")
	if custom {
		desired, available = found("spec", "replicas"), found("status", "replicas")
	}
	cells, _ := row([]cell{name, desired, available, age}, scale, now)
	return cells
}

// found shows what there is, null if there is nothing.
func found(path ...string) cell {
	return func(s source) value.Value {
		if v := s.Get(path...); !v.IsAbsent() {
			return v
		}
		return value.Null()
	}
}

// oldBudgetLabel stood in selectors of budgets in v1beta1 for all pods, or for none.
const oldBudgetLabel = "pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match"

// withoutOldLabel takes expressions about oldBudgetLabel from the selector of a budget. The selector of no pods, which has one of them and nothing
// else, stays; so does a selector that does not change.
func withoutOldLabel(budget, live, _ value.Value) value.Value {
	spec := budget.Get("spec")
	selector := spec.Get("selector")
	var kept []value.Value
	for e := range selector.Get("matchExpressions").Items() {
		if e.Get("key").Str() != oldBudgetLabel {
			kept = append(kept, e)
		}
	}
	n := selector.Get("matchExpressions").Len()
	first := selector.Get("matchExpressions").Item(0)
	none := n == 1 && first.Get("operator").Str() == "Exists" && first.Get("values").Len() == 0 && selector.Get("matchLabels").Len() == 0
	if len(kept) == n || none || walk.IsSet(live) && walk.Same(selector, live.Get("spec", "selector")) {
		return budget
	}
	expressions := value.Value{}
	if len(kept) > 0 {
		expressions = value.List(kept...)
	}
	return budget.With("spec", spec.With("selector", selector.With("matchExpressions", expressions)))
}

// validateBudget refuses a PodDisruptionBudget.
func validateBudget(r *walk.Report, object walk.Place, _ value.Value) {
	spec := object.At("spec")
	least, most := spec.At("minAvailable"), spec.At("maxUnavailable")
	if least.IsSet() && most.IsSet() {
		r.Invalid(spec, "minAvailable and maxUnavailable cannot be both set")
	}
	for _, p := range [...]walk.Place{least, most} {
		if p.IsSet() {
			validateShare(r, p)
			notAll(r, p)
		}
	}
	r.Selector(spec.At("selector"))
	if policy := spec.At("unhealthyPodEvictionPolicy"); policy.IsSet() {
		r.OnlyAmong(policy, "AlwaysAllow", "IfHealthyBudget")
	}
}

func autoscalerCells() []cell {
	return []cell{
		name, shown(scaleTarget), shown(metrics), shown(fewestPods), number("spec", "maxReplicas"), number("status", "currentReplicas"), age,
	}
}
