package validation

import (
	"fmt"
	"math"
	"strings"

	"k8s.io/apimachinery/pkg/util/diff"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/value"
)

// pod refuses a Pod.
func pod(r *report, object place, live value.Value) {
	spec := object.at("spec")
	podSpec(r, spec, true)
	if isSet(live) {
		r.podChange(spec, live.Get("spec"))
		return
	}
	if later := spec.at("ephemeralContainers"); later.Len() > 0 {
		r.forbidden(later, "cannot be set on create")
	}
	if node := spec.at("nodeName"); node.Str() != "" && spec.Get("schedulingGates").Len() > 0 {
		r.forbidden(node, "cannot be set until all schedulingGates have been cleared")
	}
}

// podChange refuses all changes of a pod but of images, of its deadline, and of what keeps it from nodes.
func (r *report) podChange(spec place, was value.Value) {
	for _, list := range [...]string{"containers", "initContainers"} {
		if p := spec.at(list); !r.sameContainers(p, was.Get(list)) {
			return
		}
	}
	if !r.deadlineChange(spec.at("activeDeadlineSeconds"), was.Get("activeDeadlineSeconds")) {
		return
	}
	r.tolerationsChange(spec.at("tolerations"), was.Get("tolerations"))
	r.gatesChange(spec.at("schedulingGates"), was.Get("schedulingGates"))
	if same(spec.Value, was) {
		return
	}
	if is := unchangeable(spec.Value, was); !same(is, was) {
		r.forbidden(spec, mayChange+diff.Diff(was, is))
	}
}

// mayChange is what is said of another change.
const mayChange = "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`," +
	"`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations)," +
	"`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)\n"

// sameContainers refuses another number of containers, and reports whether there is the same.
func (r *report) sameContainers(p place, was value.Value) bool {
	if p.Len() != was.Len() {
		r.forbidden(p, "pod updates may not add or remove containers")
		return false
	}
	for i := range p.indexes() {
		c := p.item(i)
		image := c.at("image")
		r.present(image)
		if strings.TrimSpace(image.Str()) != image.Str() {
			r.invalid(image, "must not have leading or trailing whitespace")
		}
	}
	return true
}

// deadlineChange refuses a later deadline, and reports whether the rest is looked at.
func (r *report) deadlineChange(p place, was value.Value) bool {
	switch {
	case !p.is() && isSet(was):
		r.invalidAs(p, nil, "must not update from a positive integer to nil value")
	case !p.is():
	case p.Int() < 0 || p.Int() > math.MaxInt32:
		r.invalid(p, validation.InclusiveRangeError(0, math.MaxInt32))
		return false
	case isSet(was) && was.Int() < p.Int():
		r.invalid(p, "must be less than or equal to previous value")
		return false
	}
	return true
}

// tolerationsChange refuses to take tolerations away.
func (r *report) tolerationsChange(p place, was value.Value) {
	if p.Equal(was) {
		return
	}
	has := map[string]bool{}
	for t := range p.Items() {
		has[t.With("tolerationSeconds", value.Value{}).String()] = true
	}
	for t := range was.Items() {
		if !has[t.With("tolerationSeconds", value.Value{}).String()] {
			r.forbidden(p, "existing toleration can not be modified except its tolerationSeconds")
			return
		}
	}
	w := podWalk{report: r}
	w.tolerations(p)
}

// gatesChange refuses new gates.
func (r *report) gatesChange(p place, was value.Value) {
	var had names
	for gate := range was.Items() {
		had.add(gate.Get("name").Str())
	}
	for i := range p.indexes() {
		gate := p.item(i)
		if name := gate.at("name"); !had.has(name.Str()) {
			r.add(field.Forbidden(name.path(), fmt.Sprintf("only deletion is allowed, but found new scheduling gate '%s'", name.Str())))
		}
	}
}

// unchangeable returns the spec of a pod with what may change as it was.
func unchangeable(spec, was value.Value) value.Value {
	for _, list := range [...]string{"containers", "initContainers"} {
		containers := make([]value.Value, 0, was.Get(list).Len())
		for i := range was.Get(list).Len() {
			containers = append(containers, spec.Get(list).Item(i).With("image", was.Get(list).Item(i).Get("image")))
		}
		if len(containers) > 0 {
			spec = spec.With(list, value.List(containers...))
		}
	}
	names := []string{"activeDeadlineSeconds", "schedulingGates", "tolerations"}
	if was.Get("terminationGracePeriodSeconds").Int() < 0 && spec.Get("terminationGracePeriodSeconds").Int() == 1 {
		names = append(names, "terminationGracePeriodSeconds")
	}
	if was.Get("schedulingGates").Len() > 0 {
		names = append(names, "nodeSelector", "affinity") // which have rules of their own there
	}
	for _, name := range names {
		spec = spec.With(name, was.Get(name))
	}
	return spec
}
