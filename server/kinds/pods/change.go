package pods

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/schema/builtin"
	"github.com/deed-project/deed/server/kinds/walk"
	"github.com/deed-project/deed/value"
)

// Changes of pods that may be made where most may not: where a pod with scheduling gates may run, its ephemeral containers, and its
// resources. The other changes are in pod.go.

// validatePlacement refuses changes of where a pod with scheduling gates may run, other than additions.
//
//	nodeSelector   labels may be added
//	nodeAffinity   requirements may be added at the end of terms, and terms if there were none
func validatePlacement(r *walk.Report, spec walk.Place, was value.Value) {
	selector := spec.At("nodeSelector")
	for name, text := range was.Get("nodeSelector").Members() {
		if !selector.Get(name).Equal(text) {
			r.Invalid(selector, "only additions to spec.nodeSelector are allowed (no mutations or deletions)")
			break
		}
	}
	const nodes, required, terms = "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"
	is, had := spec.At("affinity").At(nodes).At(required).At(terms), was.Get("affinity", nodes, required, terms)
	if had.Len() > 0 && is.Len() != had.Len() {
		r.Invalid(is, "no additions/deletions to non-empty NodeSelectorTerms list are allowed")
		return
	}
	for i := range had.Len() {
		if term := is.Index(i); !onlyAdds(r, term, had.Item(i)) {
			r.Invalid(term, "only additions are allowed (no mutations or deletions)")
		}
	}
}

// onlyAdds reports whether a term has the requirements of a former one, and others behind them. An empty term stays empty.
func onlyAdds(r *walk.Report, term walk.Place, former value.Value) bool {
	had, has := 0, 0
	for _, name := range []string{"matchExpressions", "matchFields"} {
		is, was := term.At(name), former.Get(name)
		for i := range was.Len() {
			if i >= is.Len() || !r.Same(is.Index(i), was.Item(i)) {
				return false
			}
		}
		had, has = had+was.Len(), has+is.Len()
	}
	return had > 0 || has == 0
}

// onlyForbidden refuses a pod as a whole, for one reason.
func onlyForbidden(r *walk.Report, detail string) {
	r.Errs = field.ErrorList{field.Forbidden(field.NewPath(""), detail)}
}

// ValidateEphemeral refuses to remove or change ephemeral containers.
//
// Containers are told apart by their names.
func ValidateEphemeral(r *walk.Report, object walk.Place, live value.Value) {
	spec := validatePod(r, object)
	validateAnnotationsChange(r, object.At("metadata").At("annotations"), live.Get("metadata", "annotations"), spec.Value)
	if isMirror(live.Get("metadata")) {
		onlyForbidden(r, "static pods do not support ephemeral containers")
		return
	}
	list := spec.At("ephemeralContainers")
	now := map[string]walk.Place{}
	for i := range list.Len() {
		now[list.Item(i).Get("name").Str()] = list.Index(i)
	}
	for had := range live.Get("spec", "ephemeralContainers").Items() {
		name := had.Get("name").Str()
		switch is, has := now[name]; {
		case !has:
			r.Forbidden(list, fmt.Sprintf("existing ephemeral containers %q may not be removed\n", name))
		case !r.Same(is, had):
			r.Forbidden(list, fmt.Sprintf("existing ephemeral containers %q may not be changed\n%s", name, r.Change("spec.ephemeralContainers[0]", had, is.Value)))
		}
	}
}

// ValidateResize refuses changes of the resources of a pod that it could not have while it runs:
//
//	class        stays what it is
//	containers   stay in their order
//	resources    may change, of CPU and memory, and may not go
func ValidateResize(r *walk.Report, object walk.Place, live value.Value) {
	spec, was := validatePod(r, object), live.Get("spec")
	switch {
	case isMirror(live.Get("metadata")):
		onlyForbidden(r, "static pods cannot be resized")
		return
	case was.Get("os", "name").Str() == "windows":
		onlyForbidden(r, "windows pods cannot be resized")
		return
	}
	class := live.Get("status", "qosClass").Str()
	if class == "" {
		class = builtin.ServiceClass(live)
	}
	if class != builtin.ServiceClass(object.Value) {
		r.InvalidAs(spec, walk.Enumeration(object.Get("status", "qosClass").Str()), "Pod QOS Class may not change as a result of resizing")
	}
	if !canResize(live) {
		r.Forbidden(spec, "Pod running on node without support for resize")
	}
	if r.Before(podResizeSince) && (asks(spec.Get("resources")) || asks(was.Get("resources"))) {
		r.Add(field.Forbidden(field.NewPath(""), "resize of pods with pod-level resources is forbidden when "+
			"InPlacePodLevelResourcesVerticalScalingEnabled feature gate is disabled"))
		return
	}
	validateResizePod(r, spec, was.Get("resources"))
	containers, init := spec.At("containers"), spec.At("initContainers")
	if inOrder := sameOrder(r, containers, was.Get("containers")); !sameOrder(r, init, was.Get("initContainers")) || !inOrder {
		return
	}
	for _, list := range []walk.Place{init, containers} {
		for i := range list.Indexes() {
			resources, had := list.Index(i).At("resources"), was.Get(list.Name()).Item(i).Get("resources")
			notRemoved(r, resources, had, "resource")
		}
	}
	validateResizeContainers(r, spec, was)
	// Resources without amounts are not like none, and are no change of amounts. That is looked at if nothing else is wrong.
	if resources := spec.Get("resources"); len(r.Errs) == 0 && walk.IsSet(resources) && !walk.IsSet(was.Get("resources")) && !asks(resources) {
		r.Forbidden(spec, onlyComputed)
	}
}

// onlyComputed refuses a resize that changes more than it may.
const onlyComputed = "only cpu and memory resources are mutable"

// podResizeSince is the minor release since which the resources of a pod as a whole may change.
const podResizeSince = 36

// asks reports whether resources have requests or limits.
func asks(resources value.Value) bool {
	return resources.Get("requests").Len()+resources.Get("limits").Len() > 0
}

// canResize reports whether the node of a running pod tells the resources of its containers, as nodes do that can change them.
func canResize(pod value.Value) bool {
	for c := range pod.Get("status", "containerStatuses").Items() {
		if walk.IsSet(c.Get("state", "running")) {
			return walk.IsSet(c.Get("resources"))
		}
	}
	return true
}

// validateResizePod refuses changes of the resources of a pod as a whole.
func validateResizePod(r *walk.Report, spec walk.Place, was value.Value) {
	resources := spec.At("resources")
	if !resources.IsSet() { // since v1.37, a resize keeps what is missing
		if walk.IsSet(was) {
			r.Forbidden(resources, "pod-level resources cannot be removed")
		}
		return
	}
	if walk.IsSet(was) {
		notRemoved(r, resources, was, "pod-level resource")
	}
	if !r.Same(resources.WithValue(withComputed(resources.Value, was)), withComputed(was, was)) {
		r.Forbidden(spec, "only cpu and memory resources are mutable at pod-level")
	}
}

// notRemoved refuses requests and limits that lack one of before.
func notRemoved(r *walk.Report, resources walk.Place, was value.Value, what string) {
	for _, list := range []string{"requests", "limits"} {
		is := resources.At(list)
		for name := range was.Get(list).Members() {
			if is.Get(name).IsAbsent() {
				r.Forbidden(is, what+" "+list+" cannot be removed")
				break
			}
		}
	}
}

// sameOrder refuses containers that are not those of before, and reports whether they are.
func sameOrder(r *walk.Report, list walk.Place, was value.Value) bool {
	if list.Len() != was.Len() {
		r.Forbidden(list, list.Name()+" may not be added or removed on resize")
		return false
	}
	before := len(r.Errs)
	for i := range list.Indexes() {
		if name := list.Index(i).At("name"); !name.Equal(was.Item(i).Get("name")) {
			r.Forbidden(name, list.Name()+" may not be renamed or reordered on resize")
		}
	}
	return len(r.Errs) == before
}

// validateResizeContainers refuses changes of containers other than of their CPU and memory.
func validateResizeContainers(r *walk.Report, spec walk.Place, was value.Value) {
	for i := range spec.At("containers").Indexes() {
		c, had := spec.At("containers").Index(i), was.Get("containers").Item(i)
		if !sameButComputed(r, c, had) {
			r.Forbidden(spec, onlyComputed)
		}
	}
	list := spec.At("initContainers")
	for i := range list.Indexes() {
		c, had := list.Index(i), was.Get("initContainers").Item(i)
		if !sameButComputed(r, c, had) {
			r.Forbidden(c, "only cpu and memory resources for init or sidecar containers are mutable")
		}
		if c.Text("restartPolicy") == "Always" || r.Same(c, had) {
			continue
		}
		for policy := range c.Get("resizePolicy").Items() {
			if policy.Get("restartPolicy").Str() == "RestartContainer" {
				r.Forbidden(c, "non-sidecar init containers with a resize policy of RestartContainer cannot be resized")
			}
		}
	}
}

// sameButComputed reports whether two containers differ in their CPU and memory alone.
func sameButComputed(r *walk.Report, container walk.Place, former value.Value) bool {
	was := former.Get("resources")
	is := container.With("resources", withComputed(container.Get("resources"), was))
	return r.Same(container.WithValue(is), former.With("resources", withComputed(was, was)))
}

// withComputed returns resources with the CPU and memory of others, and without empty lists.
func withComputed(resources, of value.Value) value.Value {
	for _, list := range []string{"limits", "requests"} {
		amounts := resources.Get(list)
		for _, name := range []string{"cpu", "memory"} {
			if v := of.Get(list, name); !v.IsAbsent() || amounts.Kind() == value.KindObject {
				amounts = walk.WithMember(amounts, name, v)
			}
		}
		if walk.IsEmpty(amounts) {
			amounts = value.Value{}
		}
		resources = walk.WithMember(resources, list, amounts)
	}
	return resources
}
