package validation

import (
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/value"
)

// deployment refuses a Deployment.
func deployment(r *report, object place, live value.Value) {
	spec := object.at("spec")
	r.natural(spec.at("replicas"))
	r.workload(spec, "Deployment")
	r.deploymentStrategy(spec.at("strategy"))
	r.natural(spec.at("minReadySeconds"))
	r.natural(spec.at("revisionHistoryLimit"))
	deadline := spec.at("progressDeadlineSeconds")
	r.natural(deadline)
	if deadline.is() && deadline.Int() <= spec.Get("minReadySeconds").Int() {
		r.invalid(deadline, "must be greater than minReadySeconds")
	}
	if isSet(live) {
		r.unchanged(spec.at("selector"), live.Get("spec", "selector"))
	}
}

// deploymentStrategy refuses how pods are replaced.
func (r *report) deploymentStrategy(p place) {
	rolling := p.at("rollingUpdate")
	switch typ := p.text("type"); typ {
	case "Recreate":
		if rolling.is() {
			r.forbidden(rolling, "may not be specified when strategy `type` is 'Recreate'")
		}
	case "RollingUpdate":
		unavailable, surge := rolling.at("maxUnavailable"), rolling.at("maxSurge")
		r.share(unavailable)
		r.share(surge)
		if amount(unavailable.Value) == 0 && amount(surge.Value) == 0 {
			r.invalid(unavailable, "may not be 0 when `maxSurge` is 0")
		}
		r.notAll(unavailable)
	default:
		r.add(field.NotSupported(p.path(), strategy{typ, rolling.ToAny()}, []string{"Recreate", "RollingUpdate"}))
	}
}

// strategy is how a strategy is shown.
type strategy struct {
	Type          string
	RollingUpdate any
}

// replicaSet refuses a ReplicaSet.
func replicaSet(r *report, object place, live value.Value) {
	spec := object.at("spec")
	r.natural(spec.at("replicas"))
	r.natural(spec.at("minReadySeconds"))
	r.workload(spec, "ReplicaSet")
	if isSet(live) {
		r.unchanged(spec.at("selector"), live.Get("spec", "selector"))
	}
}

// daemonSet refuses a DaemonSet.
func daemonSet(r *report, object place, live value.Value) {
	spec := object.at("spec")
	selector, template := spec.at("selector"), spec.at("template")
	if isSet(live) {
		r.unchanged(selector, live.Get("spec", "selector"))
	}
	before := len(r.errs)
	r.selector(selector)
	if len(r.errs) == before {
		r.labelsSelected(template, selector.Value)
	}
	if selector.is() && !selects(selector.Value) {
		r.invalid(selector, "empty selector is invalid for daemonset")
	}
	r.template(template)
	r.restartsAlways(template, "DaemonSet")
	r.natural(spec.at("minReadySeconds"))
	r.daemonStrategy(spec.at("updateStrategy"))
	r.natural(spec.at("revisionHistoryLimit"))
}

// daemonStrategy refuses how pods of nodes are replaced.
func (r *report) daemonStrategy(p place) {
	rolling := p.at("rollingUpdate")
	switch typ := p.text("type"); typ {
	case "OnDelete":
	case "RollingUpdate":
		unavailable, surge := rolling.at("maxUnavailable"), rolling.at("maxSurge")
		r.share(unavailable)
		r.share(surge)
		r.notAll(unavailable)
		r.notAll(surge)
		switch some, more := amount(unavailable.Value) != 0, amount(surge.Value) != 0; {
		case some && more:
			r.invalid(surge, "may not be set when maxUnavailable is non-zero")
		case !some && !more:
			r.required(unavailable, "cannot be 0 when maxSurge is 0")
		}
	default:
		r.add(field.NotSupported(p.path(), strategy{typ, rolling.ToAny()}, []string{"RollingUpdate", "OnDelete"}))
	}
}

// share refuses what is neither a number of pods nor a part of all of them.
func (r *report) share(p place) {
	if p.Kind() == value.KindString {
		r.invalidAs(p, intstr.FromString(p.Str()), validation.IsValidPercent(p.Str())...)
		return
	}
	r.natural(p)
}

// notAll refuses more than all pods.
func (r *report) notAll(p place) {
	if p.Kind() == value.KindString && len(validation.IsValidPercent(p.Str())) == 0 && amount(p.Value) > 100 {
		r.invalidAs(p, intstr.FromString(p.Str()), "must not be greater than 100%")
	}
}

// amount returns the number of a share, whatever it is of.
func amount(v value.Value) int64 {
	if v.Kind() != value.KindString {
		return v.Int()
	}
	n, _ := strconv.ParseInt(strings.TrimSuffix(v.Str(), "%"), 10, 64)
	return n
}
