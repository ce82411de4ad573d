package validation

import "github.com/deed-project/deed/value"

// jobChange refuses what may not change of a job. If it is mutable, its pods may change in part.
func (r *report) jobChange(spec place, was value.Value, mutable bool) {
	switch completions := spec.at("completions"); {
	case spec.text("completionMode") != "Indexed":
		r.unchanged(completions, was.Get("completions"))
	case completions.is() && !same(completions.Value, was.Get("completions")) && !completions.Equal(spec.Get("parallelism")):
		r.invalid(completions, "can only be modified in tandem with spec.parallelism")
	}
	r.unchanged(spec.at("selector"), was.Get("selector"))
	if template := spec.at("template"); mutable {
		r.waitingTemplate(template.at("spec"), was.Get("template", "spec"))
	} else {
		r.unchanged(template, was.Get("template"))
	}
	for _, name := range [...]string{"completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"} {
		r.unchanged(spec.at(name), was.Get(name))
	}
}

// waits reports whether a job has no pods because it is suspended.
func waits(job value.Value) bool {
	status := job.Get("status")
	begun := isSet(status.Get("startTime"))
	for c := range status.Get("conditions").Items() {
		begun = begun && !(c.Get("type").Str() == "Suspended" && c.Get("status").Str() == "True")
	}
	return job.Get("spec", "suspend").Bool() && !begun && status.Get("active").Int() == 0
}

// waitingTemplate refuses changes of the pods of a job that waits, but of where they may run and of what they want of nodes.
func (r *report) waitingTemplate(spec place, was value.Value) {
	for _, name := range [...]string{"nodeSelector", "tolerations", "schedulingGates"} {
		was = was.With(name, spec.Get(name))
	}
	if affinity := with(was.Get("affinity"), "nodeAffinity", spec.Get("affinity", "nodeAffinity")); affinity.Len() > 0 {
		was = was.With("affinity", affinity)
	}
	for _, list := range [...]string{"containers", "initContainers"} {
		was = was.With(list, withResources(was.Get(list), spec.Get(list)))
	}
	r.unchanged(spec, was)
}

// withResources returns containers that want what others want, each of which has the name of the one in its place.
func withResources(containers, others value.Value) value.Value {
	if containers.Len() != others.Len() || containers.Len() == 0 {
		return containers
	}
	var out []value.Value
	for i := range containers.Len() {
		c, other := containers.Item(i), others.Item(i)
		if c.Get("name").Equal(other.Get("name")) {
			c = c.With("resources", other.Get("resources"))
		}
		out = append(out, c)
	}
	return value.List(out...)
}

// with returns an object, which may be nothing yet, with a member.
func with(object value.Value, name string, v value.Value) value.Value {
	if object.Kind() != value.KindObject {
		object = value.Object()
	}
	return object.With(name, v)
}
