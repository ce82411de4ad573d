// Package pods validates pods, templates of pods, and what other kinds share with them: claims, volumes, tolerations and node selectors.
// It also has the warnings about pods.
//
// Functions called Validate… add what kube-apiserver refuses to a report, in its order. Functions called Warn… add warnings.
package pods

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/server/kinds/walk"
	"github.com/deed-project/deed/value"
)

// Validate refuses a Pod.
//
// An update is validated as a whole first, so it reports what is wrong with the new spec, and then what must not have changed.
func Validate(r *walk.Report, object walk.Place, live value.Value) {
	spec := validatePod(r, object)
	annotations := object.At("metadata").At("annotations")
	if walk.IsSet(live) {
		validateAnnotationsChange(r, annotations, live.Get("metadata", "annotations"), spec.Value)
		validatePodChange(r, spec, live.Get("spec"))
		return
	}
	if later := spec.At("ephemeralContainers"); later.Len() > 0 {
		r.Forbidden(later, "cannot be set on create")
	}
	if node := spec.At("nodeName"); node.Str() != "" && spec.Get("schedulingGates").Len() > 0 {
		r.Forbidden(node, "cannot be set until all schedulingGates have been cleared")
	}
	validateProfilesMatch(r, spec, annotations.Value)
}

// validatePod refuses what is wrong with the annotations and the spec of a pod, whatever it was before, and returns the spec.
func validatePod(r *walk.Report, object walk.Place) (spec walk.Place) {
	spec = object.At("spec")
	validateMeaning(r, object.At("metadata").At("annotations"), spec.Value)
	validateSpec(r, spec, object.Get("metadata"))
	return spec
}

// validatePodChange refuses all changes of a pod but of images, of its deadline, and of what keeps it from nodes.
//
// The rules that concern one field come first, and some of them end the check. Then the fields that may change are set back, and what still
// differs is shown as a difference.
func validatePodChange(r *walk.Report, spec walk.Place, was value.Value) {
	for _, list := range [...]string{"containers", "initContainers"} {
		if p := spec.At(list); !sameContainers(r, p, was.Get(list)) {
			return
		}
	}
	if !deadlineChange(r, spec.At("activeDeadlineSeconds"), was.Get("activeDeadlineSeconds")) {
		return
	}
	validateTolerationsChange(r, spec.At("tolerations"), was.Get("tolerations"))
	validateGatesChange(r, spec.At("schedulingGates"), was.Get("schedulingGates"))
	if r.Same(spec, was) {
		return
	}
	if was.Get("schedulingGates").Len() > 0 {
		validatePlacement(r, spec, was)
	}
	if is := unchangeable(r, spec, was); !r.Same(spec.WithValue(is), was) {
		r.Forbidden(spec, mayChange+r.Change("spec", was, is))
	}
}

// mayChange is what is said of another change.
const mayChange = "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`," +
	"`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations)," +
	"`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)\n"

// sameContainers refuses another number of containers, and reports whether there is the same.
//
// The image of each container must be there, and may be another one.
func sameContainers(r *walk.Report, p walk.Place, was value.Value) bool {
	if p.Len() != was.Len() {
		r.Forbidden(p, "pod updates may not add or remove containers")
		return false
	}
	for i := range p.Indexes() {
		c := p.Index(i)
		image := c.At("image")
		r.Present(image)
		if strings.TrimSpace(image.Str()) != image.Str() {
			r.Invalid(image, "must not have leading or trailing whitespace")
		}
	}
	return true
}

// deadlineChange refuses a later deadline, and reports whether the rest is looked at.
//
// A deadline may come, and become earlier. It must neither go nor become later.
func deadlineChange(r *walk.Report, p walk.Place, was value.Value) bool {
	switch {
	case !p.IsSet() && walk.IsSet(was):
		r.InvalidAs(p, nil, "must not update from a positive integer to nil value")
	case !p.IsSet():
	case p.Int() < 0 || p.Int() > math.MaxInt32:
		r.Invalid(p, validation.InclusiveRangeError(0, math.MaxInt32))
		return false
	case walk.IsSet(was) && was.Int() < p.Int():
		r.Invalid(p, "must be less than or equal to previous value")
		return false
	}
	return true
}

// validateTolerationsChange refuses to take tolerations away.
//
// Two tolerations are the same if they differ in their duration alone. New ones may be added.
func validateTolerationsChange(r *walk.Report, p walk.Place, was value.Value) {
	if walk.Same(p.Value, was) {
		return
	}
	has := map[string]bool{}
	for t := range p.Items() {
		has[t.With("tolerationSeconds", value.Value{}).String()] = true
	}
	for t := range was.Items() {
		if !has[t.With("tolerationSeconds", value.Value{}).String()] {
			r.Forbidden(p, "existing toleration can not be modified except its tolerationSeconds")
			return
		}
	}
	compares := func(t value.Value) bool { return t.Get("operator").Str() == "Lt" || t.Get("operator").Str() == "Gt" }
	ValidateTolerations(r, p, slices.ContainsFunc(slices.Collect(was.Items()), compares))
}

// validateGatesChange refuses new gates.
func validateGatesChange(r *walk.Report, p walk.Place, was value.Value) {
	var had walk.Names
	for gate := range was.Items() {
		had.Add(gate.Get("name").Str())
	}
	last := map[string]int{} // of gates with the same name, the last one counts
	for i := range p.Indexes() {
		last[p.Index(i).Text("name")] = i
	}
	for i := range p.Indexes() {
		name := p.Index(i).At("name")
		if !had.Has(name.Str()) && last[name.Str()] == i {
			r.Add(field.Forbidden(name.Path(), fmt.Sprintf("only deletion is allowed, but found new scheduling gate '%s'", name.Str())))
		}
	}
}

// unchangeable returns the spec of a pod with what may change as it was.
//
// Containers must be as many as before: see sameContainers. A pod that the scheduler may not place yet may also change where it can run.
func unchangeable(r *walk.Report, p walk.Place, was value.Value) value.Value {
	spec := p.Value
	for _, list := range [...]string{"containers", "initContainers"} {
		containers := make([]value.Value, 0, was.Get(list).Len())
		for i := range was.Get(list).Len() {
			containers = append(containers, spec.Get(list).Item(i).With("image", was.Get(list).Item(i).Get("image")))
		}
		if len(containers) > 0 {
			spec = spec.With(list, value.List(containers...))
		} else {
			spec = spec.With(list, value.Value{}) // also in place of an empty list
		}
	}
	names := []string{"activeDeadlineSeconds", "schedulingGates", "tolerations"}
	if was.Get("terminationGracePeriodSeconds").Int() < 0 && spec.Get("terminationGracePeriodSeconds").Int() == 1 {
		names = append(names, "terminationGracePeriodSeconds")
	}
	gated := was.Get("schedulingGates").Len() > 0
	if gated && !walk.Same(spec.Get("nodeSelector"), was.Get("nodeSelector")) {
		names = append(names, "nodeSelector") // which has rules of its own there
	}
	for _, name := range names {
		spec = spec.With(name, was.Get(name))
	}
	if nodes := was.Get("affinity", "nodeAffinity"); gated && !r.Same(p.At("affinity").At("nodeAffinity"), nodes) {
		affinity := walk.WithMember(spec.Get("affinity"), "nodeAffinity", nodes)
		if affinity.Len() == 0 && !walk.IsSet(was.Get("affinity")) {
			affinity = value.Value{}
		}
		spec = spec.With("affinity", affinity)
	}
	return spec
}
