package builtin

import (
	"strings"

	"github.com/deed-project/deed/value"
)

// Annotations of autoscaling/v1 for values that have fields in later versions.
const (
	scalerMetrics        = "autoscaling.alpha.kubernetes.io/metrics"
	scalerBehavior       = "autoscaling.alpha.kubernetes.io/behavior"
	scalerCurrentMetrics = "autoscaling.alpha.kubernetes.io/current-metrics"
	scalerConditions     = "autoscaling.alpha.kubernetes.io/conditions"
)

// withoutScalerAnnotations drops the annotations that only the first version may have.
func withoutScalerAnnotations(scaler value.Value) value.Value {
	for _, name := range []string{
		scalerMetrics, scalerBehavior, scalerCurrentMetrics, scalerConditions,
		"autoscaling.alpha.kubernetes.io/scale-down-tolerance", "autoscaling.alpha.kubernetes.io/scale-up-tolerance",
	} {
		scaler = annotated(scaler, name, "")
	}
	return scaler
}

// object returns an object of the members that are neither absent nor null.
func object(members ...value.Member) value.Value {
	out := value.Object()
	for _, m := range members {
		if !isNothing(m.Value) {
			out = out.With(m.Name, m.Value)
		}
	}
	return out
}

func member(name string, v value.Value) value.Member { return value.Member{Name: name, Value: v} }

// annotatedList returns the JSON list of type name in an annotation. It reports false if the list cannot be read.
func annotatedList(scaler value.Value, annotation, name string) (value.Value, bool) {
	text := scaler.Get("metadata", "annotations", annotation)
	if text.IsAbsent() {
		return value.Value{}, false
	}
	list, err := value.Parse([]byte(text.Str()))
	if err != nil {
		return value.Value{}, false
	}
	t, _ := forms().Struct(name)
	list, err = t.ListOf().Normalize(list, 0)
	return list, err == nil
}

// scalerFromV1 converts a scaler of autoscaling/v1 to v2. The CPU target becomes a metric, and annotations become
// fields.
func scalerFromV1(scaler value.Value) value.Value {
	spec, status := scaler.Get("spec"), scaler.Get("status")
	var metrics []value.Value
	if others, ok := annotatedList(scaler, scalerMetrics, "autoscaling/v1.MetricSpec"); ok {
		for metric := range others.Items() {
			metrics = append(metrics, metricFromV1(metric))
		}
	}
	if cpu := spec.Get("targetCPUUtilizationPercentage"); !isNothing(cpu) {
		metrics = append(metrics, cpuMetric(cpu))
	}
	if len(metrics) == 0 {
		metrics = []value.Value{cpuMetric(value.Int(80))}
	}
	spec = spec.With("targetCPUUtilizationPercentage", value.Value{}).With("metrics", value.List(metrics...))
	if behavior := behaviorOf(scaler); behavior.Len() > 0 {
		spec = spec.With("behavior", behavior)
	}
	scaler = scaler.With("spec", spec).With("status", scalerStatusFromV1(scaler, status))
	return withoutScalerAnnotations(scaler)
}

func cpuMetric(utilization value.Value) value.Value {
	target := object(member("type", value.String("Utilization")), member("averageUtilization", utilization))
	return object(
		member("type", value.String("Resource")),
		member("resource", object(member("name", value.String("cpu")), member("target", target))),
	)
}

func scalerStatusFromV1(scaler, status value.Value) value.Value {
	if cpu := status.Get("currentCPUUtilizationPercentage"); !isNothing(cpu) {
		current := object(member("averageUtilization", cpu))
		resource := object(member("name", value.String("cpu")), member("current", current))
		metric := object(member("type", value.String("Resource")), member("resource", resource))
		status = status.With("currentMetrics", value.List(metric))
	}
	if list, ok := annotatedList(scaler, scalerCurrentMetrics, "autoscaling/v1.MetricStatus"); ok {
		var metrics []value.Value
		for metric := range list.Items() {
			metrics = append(metrics, metricStatusFromV1(metric))
		}
		status = status.With("currentMetrics", value.List(metrics...))
	}
	if list, ok := annotatedList(scaler, scalerConditions, "autoscaling/v1.HorizontalPodAutoscalerCondition"); ok {
		status = status.With("conditions", list)
	}
	return status.With("currentCPUUtilizationPercentage", value.Value{})
}

// behaviorOf reads the behavior in an annotation. Its member names begin with capital letters.
func behaviorOf(scaler value.Value) value.Value {
	v, err := value.Parse([]byte(scaler.Get("metadata", "annotations", scalerBehavior).Str()))
	if err != nil {
		return value.Value{}
	}
	t, _ := forms().Struct("autoscaling/v2.HorizontalPodAutoscalerBehavior")
	behavior, err := t.Normalize(recased(v, strings.ToLower), 0)
	if err != nil {
		return value.Value{}
	}
	return behavior
}

// recased changes the case of the first letter of all member names.
func recased(v value.Value, to func(string) string) value.Value {
	switch v.Kind() {
	case value.KindObject:
		out := value.Object()
		for name, member := range v.Members() {
			out = out.With(to(name[:min(1, len(name))])+name[min(1, len(name)):], recased(member, to))
		}
		return out
	case value.KindList:
		var items []value.Value
		for item := range v.Items() {
			items = append(items, recased(item, to))
		}
		return value.List(items...)
	}
	return v
}

// scalerToV1 is the reverse of scalerFromV1.
func scalerToV1(scaler value.Value) value.Value {
	scaler = withoutScalerAnnotations(scaler)
	spec, status := scaler.Get("spec"), scaler.Get("status")
	var others []value.Value
	target := value.Value{}
	for metric := range spec.Get("metrics").Items() {
		if cpu := cpuUtilization(metric, "target"); !cpu.IsAbsent() {
			if target.IsAbsent() {
				target = cpu
			}
			continue
		}
		others = append(others, metricToV1(metric))
	}
	scaler = annotatedWith(scaler, scalerMetrics, "autoscaling/v1.MetricSpec", others)
	var current []value.Value
	for metric := range status.Get("currentMetrics").Items() {
		current = append(current, metricStatusToV1(metric))
		if cpu := cpuUtilization(metric, "current"); !cpu.IsAbsent() {
			status = status.With("currentCPUUtilizationPercentage", cpu)
		}
	}
	scaler = annotatedWith(scaler, scalerCurrentMetrics, "autoscaling/v1.MetricStatus", current)
	if behavior := spec.Get("behavior"); !isNothing(behavior) {
		scaler = annotated(scaler, scalerBehavior, behaviorText(behavior))
	}
	var conditions []value.Value
	for condition := range status.Get("conditions").Items() {
		conditions = append(conditions, condition)
	}
	scaler = annotatedWith(scaler, scalerConditions, "autoscaling/v1.HorizontalPodAutoscalerCondition", conditions)
	if !target.IsAbsent() {
		spec = spec.With("targetCPUUtilizationPercentage", target)
	}
	return scaler.With("spec", spec.With("metrics", value.Value{}).With("behavior", value.Value{})).
		With("status", status.With("currentMetrics", value.Value{}).With("conditions", value.Value{}))
}

// cpuUtilization returns the CPU utilization of a metric. It is absent if the metric is about something else.
func cpuUtilization(metric value.Value, where string) value.Value {
	resource := metric.Get("resource")
	if metric.Get("type").Str() != "Resource" || resource.Get("name").Str() != "cpu" {
		return value.Value{}
	}
	return resource.Get(where, "averageUtilization")
}

// annotatedWith returns scaler with a list of type name as JSON in an annotation, unless the list is empty.
func annotatedWith(scaler value.Value, annotation, name string, items []value.Value) value.Value {
	if len(items) == 0 {
		return scaler
	}
	t, _ := forms().Struct(name)
	list, err := t.ListOf().Normalize(value.List(items...), 0)
	if err != nil {
		return scaler // unreachable: types that hold no less printed the items
	}
	return annotated(scaler, annotation, string(t.ListOf().AppendJSON(nil, list)))
}

// behaviorText prints behavior as JSON text with the names of Go fields.
func behaviorText(behavior value.Value) string {
	var b []byte
	for i, name := range []string{"scaleUp", "scaleDown"} {
		b = append(b, `{,`[i], '"')
		b = append(append(b, strings.ToUpper(name[:1])+name[1:]...), '"', ':')
		b = appendRules(b, behavior.Get(name))
	}
	return string(append(b, '}'))
}

func appendRules(b []byte, rules value.Value) []byte {
	if isNothing(rules) {
		return append(b, "null"...)
	}
	b = appendOrNull(append(b, `{"StabilizationWindowSeconds":`...), rules.Get("stabilizationWindowSeconds"))
	b = appendOrNull(append(b, `,"SelectPolicy":`...), rules.Get("selectPolicy"))
	b = append(b, `,"Policies":`...)
	if policies := rules.Get("policies"); isNothing(policies) {
		b = append(b, "null"...)
	} else {
		for i := range policies.Len() {
			p := policies.Item(i)
			b = append(b, `[,`[min(i, 1)])
			b = p.Get("type").AppendJSON(append(b, `{"Type":`...))
			b = p.Get("value").AppendJSON(append(b, `,"Value":`...))
			b = append(p.Get("periodSeconds").AppendJSON(append(b, `,"PeriodSeconds":`...)), '}')
		}
		b = append(b, ']')
	}
	return append(appendOrNull(append(b, `,"Tolerance":`...), rules.Get("tolerance")), '}')
}

func appendOrNull(b []byte, v value.Value) []byte {
	if isNothing(v) {
		return append(b, "null"...)
	}
	return v.AppendJSON(b)
}
