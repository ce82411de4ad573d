package kinds

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/schema/builtin"
	"github.com/deed-project/deed/value"
)

// Changes of pods that may be made where most may not: where a pod with scheduling gates may run, its ephemeral containers, and its
// resources. The other changes are in pod.go.

// placement refuses changes of where a pod with scheduling gates may run, other than additions.
//
//	nodeSelector   labels may be added
//	nodeAffinity   requirements may be added at the end of terms, and terms if there were none
func (r *report) placement(spec place, was value.Value) {
	selector := spec.at("nodeSelector")
	for name, text := range was.Get("nodeSelector").Members() {
		if !selector.Get(name).Equal(text) {
			r.invalid(selector, "only additions to spec.nodeSelector are allowed (no mutations or deletions)")
			break
		}
	}
	const nodes, required, terms = "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"
	is, had := spec.at("affinity").at(nodes).at(required).at(terms), was.Get("affinity", nodes, required, terms)
	if had.Len() > 0 && is.Len() != had.Len() {
		r.invalid(is, "no additions/deletions to non-empty NodeSelectorTerms list are allowed")
		return
	}
	for i := range had.Len() {
		if term := is.item(i); !onlyAdds(term.Value, had.Item(i)) {
			r.invalid(term, "only additions are allowed (no mutations or deletions)")
		}
	}
}

// onlyAdds reports whether a term has the requirements of a former one, and others behind them. An empty term stays empty.
func onlyAdds(term, former value.Value) bool {
	had, has := 0, 0
	for _, name := range []string{"matchExpressions", "matchFields"} {
		is, was := term.Get(name), former.Get(name)
		for i := range was.Len() {
			if i >= is.Len() || !same(is.Item(i), was.Item(i)) {
				return false
			}
		}
		had, has = had+was.Len(), has+is.Len()
	}
	return had > 0 || has == 0
}

// isMirror reports whether a pod mirrors a static pod of a node.
func isMirror(pod value.Value) bool {
	return !pod.Get("metadata", "annotations", "kubernetes.io/config.mirror").IsAbsent()
}

// onlyForbidden refuses a pod as a whole, for one reason.
func (r *report) onlyForbidden(detail string) {
	r.errs = field.ErrorList{field.Forbidden(field.NewPath(""), detail)}
}

// validateEphemeral refuses to remove or change ephemeral containers.
//
// Containers are told apart by their names.
func validateEphemeral(r *report, object place, live value.Value) {
	spec := object.at("spec")
	podSpec(r, spec, true, object.Get("metadata", "name").Str())
	if isMirror(live) {
		r.onlyForbidden("static pods do not support ephemeral containers")
		return
	}
	list := spec.at("ephemeralContainers")
	now := map[string]place{}
	for i := range list.Len() {
		now[list.Item(i).Get("name").Str()] = list.item(i)
	}
	for had := range live.Get("spec", "ephemeralContainers").Items() {
		name := had.Get("name").Str()
		switch is, has := now[name]; {
		case !has:
			r.forbidden(list, fmt.Sprintf("existing ephemeral containers %q may not be removed\n", name))
		case !r.same(is, had):
			r.forbidden(list, fmt.Sprintf("existing ephemeral containers %q may not be changed\n%s", name, r.change("spec.ephemeralContainers[0]", had, is.Value)))
		}
	}
}

// validateResize refuses changes of the resources of a pod that it could not have while it runs:
//
//	class        stays what it is
//	containers   stay in their order
//	resources    may change, of CPU and memory, and may not go
func validateResize(r *report, object place, live value.Value) {
	spec, was := object.at("spec"), live.Get("spec")
	podSpec(r, spec, true, object.Get("metadata", "name").Str())
	switch {
	case isMirror(live):
		r.onlyForbidden("static pods cannot be resized")
		return
	case was.Get("os", "name").Str() == "windows":
		r.onlyForbidden("windows pods cannot be resized")
		return
	}
	class := live.Get("status", "qosClass").Str()
	if class == "" {
		class = builtin.ServiceClass(live)
	}
	if class != builtin.ServiceClass(object.Value) {
		r.invalidAs(spec, Enumeration(object.Get("status", "qosClass").Str()), "Pod QOS Class may not change as a result of resizing")
	}
	if !canResize(live) {
		r.forbidden(spec, "Pod running on node without support for resize")
	}
	r.resizePod(spec, was.Get("resources"))
	containers, init := spec.at("containers"), spec.at("initContainers")
	if inOrder := r.sameOrder(containers, was.Get("containers")); !r.sameOrder(init, was.Get("initContainers")) || !inOrder {
		return
	}
	for _, list := range []place{init, containers} {
		for i := range list.indexes() {
			resources, had := list.item(i).at("resources"), was.Get(list.name()).Item(i).Get("resources")
			r.notRemoved(resources, had, "resource")
		}
	}
	r.resizeContainers(spec, was)
}

// canResize reports whether the node of a running pod tells the resources of its containers, as nodes do that can change them.
func canResize(pod value.Value) bool {
	for c := range pod.Get("status", "containerStatuses").Items() {
		if isSet(c.Get("state", "running")) {
			return isSet(c.Get("resources"))
		}
	}
	return true
}

// resizePod refuses changes of the resources of a pod as a whole.
func (r *report) resizePod(spec place, was value.Value) {
	resources := spec.at("resources")
	if !resources.is() {
		return // and was not there before, since a resize keeps what is missing
	}
	if isSet(was) {
		r.notRemoved(resources, was, "pod-level resource")
	}
	if !r.same(resources.with(withComputed(resources.Value, was)), withComputed(was, was)) {
		r.forbidden(spec, "only cpu and memory resources are mutable at pod-level")
	}
}

// notRemoved refuses requests and limits that lack one of before.
func (r *report) notRemoved(resources place, was value.Value, what string) {
	for _, list := range []string{"requests", "limits"} {
		is := resources.at(list)
		for name := range was.Get(list).Members() {
			if is.Get(name).IsAbsent() {
				r.forbidden(is, what+" "+list+" cannot be removed")
				break
			}
		}
	}
}

// sameOrder refuses containers that are not those of before, and reports whether they are.
func (r *report) sameOrder(list place, was value.Value) bool {
	if list.Len() != was.Len() {
		r.forbidden(list, list.name()+" may not be added or removed on resize")
		return false
	}
	before := len(r.errs)
	for i := range list.indexes() {
		if name := list.item(i).at("name"); !name.Equal(was.Item(i).Get("name")) {
			r.forbidden(name, list.name()+" may not be renamed or reordered on resize")
		}
	}
	return len(r.errs) == before
}

// resizeContainers refuses changes of containers other than of their CPU and memory.
func (r *report) resizeContainers(spec place, was value.Value) {
	for i := range spec.at("containers").indexes() {
		c, had := spec.at("containers").item(i), was.Get("containers").Item(i)
		if !r.sameButComputed(c, had) {
			r.forbidden(spec, "only cpu and memory resources are mutable")
		}
	}
	list := spec.at("initContainers")
	for i := range list.indexes() {
		c, had := list.item(i), was.Get("initContainers").Item(i)
		if !r.sameButComputed(c, had) {
			r.forbidden(c, "only cpu and memory resources for init or sidecar containers are mutable")
		}
		if c.text("restartPolicy") == "Always" || r.same(c, had) {
			continue
		}
		for policy := range c.Get("resizePolicy").Items() {
			if policy.Get("restartPolicy").Str() == "RestartContainer" {
				r.forbidden(c, "non-sidecar init containers with a resize policy of RestartContainer cannot be resized")
			}
		}
	}
}

// sameButComputed reports whether two containers differ in their CPU and memory alone.
func (r *report) sameButComputed(container place, former value.Value) bool {
	was := former.Get("resources")
	is := container.With("resources", withComputed(container.Get("resources"), was))
	return r.same(container.with(is), former.With("resources", withComputed(was, was)))
}

// withComputed returns resources with the CPU and memory of others, and without empty lists.
func withComputed(resources, of value.Value) value.Value {
	for _, list := range []string{"limits", "requests"} {
		amounts := resources.Get(list)
		for _, name := range []string{"cpu", "memory"} {
			if v := of.Get(list, name); !v.IsAbsent() || amounts.Kind() == value.KindObject {
				amounts = with(amounts, name, v)
			}
		}
		if isEmpty(amounts) {
			amounts = value.Value{}
		}
		resources = with(resources, list, amounts)
	}
	return resources
}
