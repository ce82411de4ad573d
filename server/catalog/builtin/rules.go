package builtin

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/value"
	"github.com/deed-project/deed/value/structs"
)

// A fieldRule returns what is wrong with the fields of an object that are its kind's own. live is absent for a new object.
type fieldRule func(object, live value.Value, subresource string) field.ErrorList

// fieldRules are by group and resource. They are a few of those that kube-apiserver has: what webhooks and controllers get wrong first.
// docs/divergences.md lists what is not refused.
var fieldRules = map[string]fieldRule{
	"/namespaces":                          namespacePhase,
	"apps/deployments":                     workload,
	"apps/replicasets":                     workload,
	"apps/statefulsets":                    workload,
	"autoscaling/horizontalpodautoscalers": autoscaler,
	"coordination.k8s.io/leases":           lease,
}

const (
	notNegative = "must be greater than or equal to 0"
	positive    = "must be greater than 0"
)

var (
	specPath   = field.NewPath("spec")
	statusPath = field.NewPath("status")
)

// atLeast checks a number that may be left out.
func atLeast(n value.Value, least int64, path *field.Path, text string) field.ErrorList {
	if n.Kind() != value.KindInt || n.Int() >= least {
		return nil
	}
	return field.ErrorList{field.Invalid(path, n.Int(), text)}
}

// namespacePhase lets a namespace be active as long as it is not deleted. The path is kube-apiserver's.
func namespacePhase(object, _ value.Value, subresource string) field.ErrorList {
	want, text := "Active", "may only be 'Active' if `deletionTimestamp` is empty"
	if !object.Get("metadata", "deletionTimestamp").IsAbsent() {
		want, text = "Terminating", "may only be 'Terminating' if `deletionTimestamp` is not empty"
	}
	phase := object.Get("status", "phase").Str()
	if subresource != "status" || phase == want {
		return nil
	}
	return field.ErrorList{field.Invalid(statusPath.Child("Phase"), phase, text)}
}

// workload checks how many pods are wanted, that their labels are what is selected, and that there is something in them.
func workload(object, live value.Value, subresource string) field.ErrorList {
	if subresource != "" {
		return nil
	}
	spec := object.Get("spec")
	errs := atLeast(spec.Get("replicas"), 0, specPath.Child("replicas"), notNegative)
	selector := spec.Get("selector")
	if selector.Kind() != value.KindObject {
		errs = append(errs, field.Required(specPath.Child("selector"), ""))
	}
	had := spec.Get("template", "metadata", "labels")
	if !selected(selector, had) {
		errs = append(errs, field.Invalid(specPath.Child("template", "metadata", "labels"), had.ToAny(),
			"`selector` does not match template `labels`"))
	}
	if spec.Get("template", "spec", "containers").Len() == 0 {
		errs = append(errs, field.Required(specPath.Child("template", "spec", "containers"), ""))
	}
	if !live.IsAbsent() && !selector.Equal(live.Get("spec", "selector")) {
		errs = append(errs, field.Invalid(specPath.Child("selector"), selector.ToAny(), "field is immutable"))
	}
	return errs
}

// selected reports whether a label selector selects labels; none selects nothing. One that cannot be read is somebody else's matter.
func selected(selector, had value.Value) bool {
	if selector.Kind() != value.KindObject {
		return false
	}
	var of metav1.LabelSelector
	var set labels.Set
	if structs.Into(selector, &of) != nil || had.Kind() == value.KindObject && structs.Into(had, &set) != nil {
		return true
	}
	compiled, err := metav1.LabelSelectorAsSelector(&of)
	return err != nil || compiled.Matches(set)
}

// autoscaler checks the bounds of replicas.
func autoscaler(object, _ value.Value, subresource string) field.ErrorList {
	if subresource != "" {
		return nil
	}
	least, most := object.Get("spec", "minReplicas"), object.Get("spec", "maxReplicas")
	at := specPath.Child("maxReplicas")
	errs := atLeast(least, 0, specPath.Child("minReplicas"), notNegative)
	if most.Int() < least.Int() {
		errs = append(errs, field.Invalid(at, most.Int(), "must be greater than or equal to `minReplicas`"))
	}
	if most.Int() == 0 {
		return append(errs, field.Required(at, ""))
	}
	return append(errs, atLeast(most, 1, at, "must be greater than or equal to 1")...)
}

// lease checks the numbers of a lease.
func lease(object, _ value.Value, subresource string) field.ErrorList {
	spec := object.Get("spec")
	errs := atLeast(spec.Get("leaseDurationSeconds"), 1, specPath.Child("leaseDurationSeconds"), positive)
	return append(errs, atLeast(spec.Get("leaseTransitions"), 0, specPath.Child("leaseTransitions"), notNegative)...)
}
