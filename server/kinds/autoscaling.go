package kinds

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/value"
)

// Autoscalers and disruption budgets. An autoscaler is validated in the version v2, whatever version was sent: asHub in the table.

// metricTypes are what the replicas of an autoscaler follow, by the member that says more of it.
var metricTypes = []struct{ name, member string }{
	{"Object", "object"}, {"External", "external"}, {"Pods", "pods"}, {"Resource", "resource"}, {"ContainerResource", "containerResource"},
}

// validateAutoscalerStatus validates the status of a HorizontalPodAutoscaler.
func validateAutoscalerStatus(r *report, object place, _ value.Value) {
	status := object.at("status")
	conditions := status.at("conditions")
	for i := range conditions.indexes() {
		r.natural(conditions.item(i).at("observedGeneration"))
	}
	r.natural(status.at("currentReplicas"))
	r.natural(status.at("desiredReplicas"))
}

// validateAutoscaler refuses a HorizontalPodAutoscaler.
//
// An autoscaler can go down to no replicas only if it follows something that exists without pods.
func validateAutoscaler(r *report, object place, _ value.Value) {
	spec := object.at("spec")
	least, most := spec.at("minReplicas"), spec.at("maxReplicas")
	if least.is() && most.Int() < least.Int() {
		r.invalidAs(most, most.Int(), "must be greater than or equal to `minReplicas`")
	}
	r.reference(spec.at("scaleTargetRef"), false)
	metrics := spec.at("metrics")
	for i := range metrics.indexes() {
		r.metric(metrics.item(i))
	}
	if least.is() && least.Int() == 0 && !followsOthers(metrics.Value) {
		r.forbidden(metrics, "must specify at least one Object or External metric to support scaling to zero replicas")
	}
	for _, way := range [...]string{"scaleUp", "scaleDown"} {
		behavior := spec.at("behavior")
		if rules := behavior.at(way); rules.is() {
			r.scaling(rules)
		}
	}
	r.bounds(least, most)
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

// reference validates a reference to an object. anyGroup allows one without a group.
func (r *report) reference(p place, anyGroup bool) {
	r.segment(p.at("kind"))
	r.segment(p.at("name"))
	version := p.at("apiVersion")
	if gv, err := schema.ParseGroupVersion(version.Str()); err != nil {
		r.invalid(version, err.Error())
	} else if gv.Group == "" && !anyGroup && (gv.Version != "v1" || p.text("kind") != "ReplicationController") {
		r.invalidAs(version, version.Str(), "apiVersion must specify API group")
	}
}

// metricName validates the name of a metric.
func (r *report) metricName(p place) {
	if name := p.at("name"); name.Str() == "" {
		r.required(name, "must specify a metric name")
	} else {
		r.invalid(name, content.IsPathSegmentName(name.Str())...)
	}
}

// bounds refuses how many replicas there are at least and at most.
//
// The errors are those of tags, hence they come last.
//
// Before v1.37, an autoscaler that does not go down to no replicas cannot begin to.
func (r *report) bounds(least, most place) {
	floor := int64(0)
	if was := r.live.Get("spec", "minReplicas"); r.before(37) && (was.Kind() != value.KindInt || was.Int() != 0) {
		floor = 1
	}
	if least.is() && least.Int() < floor {
		r.laterInvalid(least, least.Int(), fmt.Sprintf("must be greater than or equal to %d", floor))
	}
	switch {
	case most.Int() == 0:
		r.later(most, "")
	case most.Int() < 0:
		r.laterInvalid(most, most.Int(), "must be greater than or equal to 1")
	}
}

// segment refuses what cannot be in a path.
func (r *report) segment(p place) {
	if r.present(p) {
		r.invalid(p, content.IsPathSegmentName(p.Str())...)
	}
}

// metric refuses what replicas follow.
//
// kube-apiserver reports an unknown type twice, before and after the sources. Of several sources, only the first is validated itself.
func (r *report) metric(p place) {
	typ, known := p.at("type"), false
	if typ.Str() == "" {
		r.required(typ, "must specify a metric source type")
	}
	for _, t := range metricTypes {
		known = known || t.name == typ.Str()
	}
	if !known {
		r.notMetric(typ)
	}
	first := true
	for _, t := range metricTypes {
		if source := p.at(t.member); source.is() && first {
			first = false
			r.metricSource(source)
		}
	}
	for _, t := range metricTypes {
		source := p.at(t.member)
		if t.name == typ.Str() && !source.is() {
			r.required(source, "must populate information for the given metric source")
		}
	}
	if !known {
		r.notMetric(typ)
	}
	for _, t := range metricTypes {
		if source := p.at(t.member); source.is() && t.name != typ.Str() && members(p.Value) > 1 {
			r.forbidden(source, "must populate the given metric source only")
		}
	}
}

// notMetric adds the error of a type that no metric has.
func (r *report) notMetric(typ place) {
	r.notSupported(typ, "ContainerResource", "External", "Object", "Pods", "Resource")
}

// members returns how many sources a metric has.
func members(metric value.Value) int {
	n := 0
	for _, t := range metricTypes {
		if isSet(metric.Get(t.member)) {
			n++
		}
	}
	return n
}

// metricSource refuses where a metric comes from.
//
// Each source has a target, which may be a value for all pods together, for each pod, or in percent of what pods request.
func (r *report) metricSource(p place) {
	target := p.at("target")
	switch p.name() {
	case "resource", "containerResource":
		if name := p.at("name"); name.Str() == "" {
			r.required(name, "must specify a resource name")
		} else if p.name() == "containerResource" {
			r.containerResource(name)
		}
		if p.name() == "containerResource" {
			if container := p.at("container"); container.Str() == "" {
				r.required(container, "must specify a container")
			} else {
				r.label(container)
			}
		}
		r.metricTarget(target)
		share, amount := target.at("averageUtilization"), target.at("averageValue")
		if !share.is() && !amount.is() {
			r.required(share, "must set either a target raw value or a target utilization")
		}
		if share.is() && amount.is() {
			r.forbidden(amount, "may not set both a target raw value and a target utilization")
		}
	case "pods":
		r.metricName(p.at("metric"))
		r.metricTarget(target)
		if amount := target.at("averageValue"); !amount.is() {
			r.required(amount, "must specify a positive target averageValue")
		}
	case "object":
		r.reference(p.at("describedObject"), true)
		r.metricName(p.at("metric"))
		r.metricTarget(target)
		if amount := target.at("averageValue"); !amount.is() && !isSet(target.Get("value")) {
			r.required(amount, "must set either a target value or averageValue")
		}
	case "external":
		r.metricName(p.at("metric"))
		r.metricTarget(target)
		amount, total := target.at("averageValue"), target.at("value")
		if !amount.is() && !total.is() {
			r.required(amount, "must set either a target value for metric or a per-pod target")
		}
		if amount.is() && total.is() {
			r.forbidden(total, "may not set both a target value for metric and a per-pod target")
		}
	}
}

// containerResource validates a text that names a resource of containers.
//
// The rule is that of resources of containers, whose errors are about a key. Here they are about the text.
func (r *report) containerResource(p place) {
	var named report
	named.resource(p.below(p.Value, p.Str(), isKey))
	for _, e := range named.errs {
		e.Field = p.path().String()
	}
	r.errs = append(r.errs, named.errs...)
}

// metricTarget refuses what a metric should be.
func (r *report) metricTarget(p place) {
	typ := p.at("type")
	if typ.Str() == "" {
		r.required(typ, "must specify a metric target type")
	}
	if t := typ.Str(); t != "Utilization" && t != "Value" && t != "AverageValue" {
		r.invalidAs(typ, Enumeration(t), "must be either Utilization, Value, or AverageValue")
	}
	for _, name := range [...]string{"value", "averageValue"} {
		if v := p.at(name); v.is() {
			if q := quantity(v.Value); q.Sign() != 1 {
				r.invalid(v, "must be positive")
			}
		}
	}
	if share := p.at("averageUtilization"); share.is() && share.Int() < 1 {
		r.invalid(share, "must be greater than 0")
	}
}

// scaling refuses how fast replicas come or go.
func (r *report) scaling(p place) {
	if window := p.at("stabilizationWindowSeconds"); window.Int() < 0 {
		r.invalid(window, "must be greater than or equal to zero")
	} else if window.Int() > 3600 {
		r.invalid(window, "must be less than or equal to 3600")
	}
	if policy := p.at("selectPolicy"); policy.is() {
		r.onlyAmong(policy, "Disabled", "Max", "Min")
	}
	policies := p.at("policies")
	if policies.Len() == 0 {
		r.required(policies, "must specify at least one Policy")
	}
	for i := range policies.indexes() {
		policy := policies.item(i)
		r.onlyAmong(policy.at("type"), "Percent", "Pods")
		for _, name := range [...]string{"value", "periodSeconds"} {
			if n := policy.at(name); n.Int() <= 0 {
				r.invalidAs(n, n.Int(), "must be greater than zero")
			}
		}
		if period := policy.at("periodSeconds"); period.Int() > 1800 {
			r.invalid(period, "must be less than or equal to 1800")
		}
	}
	if tolerance := p.at("tolerance"); strings.HasPrefix(tolerance.Str(), "-") {
		r.invalid(tolerance, "must be greater than or equal to 0")
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

// validateBudget refuses a PodDisruptionBudget.
func validateBudget(r *report, object place, _ value.Value) {
	spec := object.at("spec")
	least, most := spec.at("minAvailable"), spec.at("maxUnavailable")
	if least.is() && most.is() {
		r.invalid(spec, "minAvailable and maxUnavailable cannot be both set")
	}
	for _, p := range [...]place{least, most} {
		if p.is() {
			r.share(p)
			r.notAll(p)
		}
	}
	r.selector(spec.at("selector"))
	if policy := spec.at("unhealthyPodEvictionPolicy"); policy.is() {
		r.onlyAmong(policy, "AlwaysAllow", "IfHealthyBudget")
	}
}

func autoscalerCells() []cell {
	return []cell{
		name, shown(scaleTarget), shown(metrics), shown(fewestPods), number("spec", "maxReplicas"), number("status", "currentReplicas"), age,
	}
}
