package builtin

import "github.com/deed-project/deed/value"

// Metrics of autoscaling/v1 are in annotations, and have their values side by side. Metrics of v2 have them in
// members called metric, target and current.

// identified returns the member metric for a source or status of v1.
func identified(source value.Value, selector string) value.Member {
	return member("metric", object(member("name", source.Get("metricName")), member("selector", source.Get(selector))))
}

// oneOf converts a metric. The result has the type of metric. It also has each member of metric that is in changes,
// converted by the function there.
func oneOf(metric value.Value, changes map[string]func(value.Value) value.Value) value.Value {
	out := object(member("type", metric.Get("type")))
	for name, change := range changes {
		if source := metric.Get(name); !isNothing(source) {
			out = out.With(name, change(source))
		}
	}
	return out
}

// typed returns the member type of a target: want if v is present, and other if not.
func typed(v value.Value, want, other string) value.Member {
	if isNothing(v) {
		want = other
	}
	return member("type", value.String(want))
}

func metricFromV1(metric value.Value) value.Value {
	byResource := func(source value.Value) value.Value {
		utilization := source.Get("targetAverageUtilization")
		target := object(
			typed(utilization, "Utilization", "AverageValue"),
			member("averageUtilization", utilization), member("averageValue", source.Get("targetAverageValue")),
		)
		return object(member("name", source.Get("name")), member("container", source.Get("container")), member("target", target))
	}
	return oneOf(metric, map[string]func(value.Value) value.Value{
		"object": objectMetricFromV1,
		"pods": func(source value.Value) value.Value {
			target := object(typed(value.Value{}, "", "AverageValue"), member("averageValue", source.Get("targetAverageValue")))
			return object(identified(source, "selector"), member("target", target))
		},
		"resource": byResource, "containerResource": byResource,
		"external": func(source value.Value) value.Value {
			v := source.Get("targetValue")
			target := object(
				typed(v, "Value", "AverageValue"), member("value", v), member("averageValue", source.Get("targetAverageValue")),
			)
			return object(identified(source, "metricSelector"), member("target", target))
		},
	})
}

func objectMetricFromV1(source value.Value) value.Value {
	average, v := source.Get("averageValue"), source.Get("targetValue")
	if !isNothing(average) && v.Str() == "0" {
		v = value.Value{}
	}
	target := object(typed(average, "AverageValue", "Value"), member("value", v), member("averageValue", average))
	return object(member("describedObject", source.Get("target")), identified(source, "selector"), member("target", target))
}

func metricToV1(metric value.Value) value.Value {
	byResource := func(source value.Value) value.Value {
		return object(
			member("name", source.Get("name")), member("container", source.Get("container")),
			member("targetAverageUtilization", source.Get("target", "averageUtilization")),
			member("targetAverageValue", source.Get("target", "averageValue")),
		)
	}
	return oneOf(metric, map[string]func(value.Value) value.Value{
		"object": func(source value.Value) value.Value {
			return object(
				member("target", source.Get("describedObject")), member("metricName", source.Get("metric", "name")),
				member("selector", source.Get("metric", "selector")), member("targetValue", source.Get("target", "value")),
				member("averageValue", source.Get("target", "averageValue")),
			)
		},
		"pods": func(source value.Value) value.Value {
			return object(
				member("metricName", source.Get("metric", "name")), member("selector", source.Get("metric", "selector")),
				member("targetAverageValue", source.Get("target", "averageValue")),
			)
		},
		"resource": byResource, "containerResource": byResource,
		"external": func(source value.Value) value.Value {
			return object(
				member("metricName", source.Get("metric", "name")), member("metricSelector", source.Get("metric", "selector")),
				member("targetValue", source.Get("target", "value")),
				member("targetAverageValue", source.Get("target", "averageValue")),
			)
		},
	})
}

func metricStatusFromV1(metric value.Value) value.Value {
	byResource := func(status value.Value) value.Value {
		current := object(
			member("averageUtilization", status.Get("currentAverageUtilization")),
			member("averageValue", status.Get("currentAverageValue")),
		)
		return object(member("name", status.Get("name")), member("container", status.Get("container")), member("current", current))
	}
	return oneOf(metric, map[string]func(value.Value) value.Value{
		"object": func(status value.Value) value.Value {
			current := object(member("value", status.Get("currentValue")), member("averageValue", status.Get("averageValue")))
			return object(
				member("describedObject", status.Get("target")), identified(status, "selector"), member("current", current),
			)
		},
		"pods": func(status value.Value) value.Value {
			current := object(member("averageValue", status.Get("currentAverageValue")))
			return object(identified(status, "selector"), member("current", current))
		},
		"resource": byResource, "containerResource": byResource,
		"external": func(status value.Value) value.Value {
			current := object(
				member("value", status.Get("currentValue")), member("averageValue", status.Get("currentAverageValue")),
			)
			return object(identified(status, "metricSelector"), member("current", current))
		},
	})
}

func metricStatusToV1(metric value.Value) value.Value {
	byResource := func(status value.Value) value.Value {
		return object(
			member("name", status.Get("name")), member("container", status.Get("container")),
			member("currentAverageUtilization", status.Get("current", "averageUtilization")),
			member("currentAverageValue", status.Get("current", "averageValue")),
		)
	}
	return oneOf(metric, map[string]func(value.Value) value.Value{
		"object": func(status value.Value) value.Value {
			return object(
				member("target", status.Get("describedObject")), member("metricName", status.Get("metric", "name")),
				member("selector", status.Get("metric", "selector")), member("currentValue", status.Get("current", "value")),
				member("averageValue", status.Get("current", "averageValue")),
			)
		},
		"pods": func(status value.Value) value.Value {
			return object(
				member("metricName", status.Get("metric", "name")), member("selector", status.Get("metric", "selector")),
				member("currentAverageValue", status.Get("current", "averageValue")),
			)
		},
		"resource": byResource, "containerResource": byResource,
		"external": func(status value.Value) value.Value {
			return object(
				member("metricName", status.Get("metric", "name")), member("metricSelector", status.Get("metric", "selector")),
				member("currentValue", status.Get("current", "value")),
				member("currentAverageValue", status.Get("current", "averageValue")),
			)
		},
	})
}
