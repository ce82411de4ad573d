package tables

import (
	"fmt"
	"slices"

	"github.com/deed-project/deed/value"
)

func scaleTarget(s source) string {
	target := s.Get("spec", "scaleTargetRef")
	return target.Get("kind").Str() + "/" + target.Get("name").Str()
}

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
		return quantity(status.Get("current", field))
	}
	average := target.Get("averageValue").Kind() == value.KindString
	switch {
	case typ == "Pods":
		return is("averageValue") + "/" + quantity(target.Get("averageValue"))
	case typ == "Resource" || typ == "ContainerResource":
		name := spec.Get("name").Str() + ": "
		if average {
			return name + is("averageValue") + "/" + quantity(target.Get("averageValue"))
		}
		now := percent(status.Get("current", "averageUtilization"), unknown)
		return name + now + "/" + percent(target.Get("averageUtilization"), "<auto>")
	case !average:
		return is("value") + "/" + quantity(target.Get("value"))
	case status.Get("current", "averageValue").IsAbsent():
		return unknown + "/" + quantity(target.Get("averageValue")) + " (avg)"
	}
	return is("averageValue") + "/" + quantity(target.Get("averageValue")) + " (avg)"
}

// quantity shows a quantity in the way of its Go type, of which there may be none.
func quantity(v value.Value) string {
	if v.Kind() != value.KindString {
		return "<nil>"
	}
	return v.Str()
}

func percent(v value.Value, otherwise string) string {
	if v.Kind() != value.KindInt {
		return otherwise
	}
	return fmt.Sprintf("%d%%", v.Int())
}
