package plugins

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

// RuntimeClasses is the plugin RuntimeClass: a pod gets the overhead of its class, and is scheduled as the class says.
type RuntimeClasses struct{ Store store.Store }

// Mutate sets the fields of a new pod that its class decides about.
func (c RuntimeClasses) Mutate(ctx context.Context, r *admission.Request) error {
	class, err := c.classOf(ctx, r)
	if err != nil || class.IsAbsent() {
		return err
	}
	spec := r.Object.Content().Get("spec")
	if overhead := class.Get("overhead"); isSet(overhead) {
		fixed := overhead.Get("podFixed")
		if has := spec.Get("overhead"); has.Len() > 0 && !sameQuantities(has, fixed) {
			return forbid(r, errors.New("pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"))
		}
		withSpec(r, "overhead", fixed)
	}
	scheduling := class.Get("scheduling")
	if !isSet(scheduling) {
		return nil
	}
	if selector := scheduling.Get("nodeSelector"); selector.Len() > 0 {
		merged := spec.Get("nodeSelector")
		if !isSet(merged) {
			merged = value.Object()
		}
		for key, of := range selector.Members() {
			if has := merged.Get(key); !has.IsAbsent() && !has.Equal(of) {
				return forbid(r, fmt.Errorf("conflict: runtimeClass.scheduling.nodeSelector[%s] = %s; pod.spec.nodeSelector[%s] = %s",
					key, of.Str(), key, has.Str()))
			}
			merged = merged.With(key, of)
		}
		withSpec(r, "nodeSelector", merged)
	}
	all := slices.AppendSeq(slices.Collect(spec.Get("tolerations").Items()), scheduling.Get("tolerations").Items())
	if len(all) > 0 {
		withSpec(r, "tolerations", value.List(mergedTolerations(all)...))
	}
	return nil
}

// Validate refuses a new pod whose overhead is not that of its class.
func (c RuntimeClasses) Validate(ctx context.Context, r *admission.Request) error {
	if !isFor(r, pods, admission.Create) {
		return nil
	}
	class, err := c.classOf(ctx, r)
	if err != nil {
		return err
	}
	has := r.Object.Content().Get("spec", "overhead")
	if sent := r.Object.Sent().Get("spec", "overhead"); !isSet(has) && sent.Kind() == value.KindObject {
		has = sent // which is empty
	}
	switch overhead := class.Get("overhead"); {
	case isSet(overhead) && !sameQuantities(has, overhead.Get("podFixed")):
		return forbid(r, errors.New("pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"))
	case !isSet(overhead) && isSet(has):
		return forbid(r, errors.New("pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"))
	}
	return nil
}

// classOf returns the class of a new pod, absent if it names none.
func (c RuntimeClasses) classOf(ctx context.Context, r *admission.Request) (value.Value, error) {
	name := r.Object.Content().Get("spec", "runtimeClassName")
	if !isFor(r, pods, admission.Create) || !isSet(name) {
		return value.Value{}, nil
	}
	if refused := unfit(name.Str()); refused != nil {
		return value.Value{}, &apierrors.StatusError{ErrStatus: metav1.Status{
			Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Message: refused.Error(),
		}}
	}
	class, err := object(ctx, c.Store, runtimeClassesPrefix+name.Str())
	if err == nil && class.IsAbsent() {
		err = forbid(r, fmt.Errorf("pod rejected: RuntimeClass %q not found", name.Str()))
	}
	return class, err
}

// sameQuantities reports whether two maps have equal quantities.
func sameQuantities(a, b value.Value) bool {
	if a.Len() != b.Len() {
		return false
	}
	for name, of := range a.Members() {
		has, other := Quantity(of), Quantity(b.Get(name))
		if b.Get(name).IsAbsent() || has.Cmp(other) != 0 {
			return false
		}
	}
	return true
}

// mergedTolerations returns the tolerations that no other one includes. Of equal ones the first stays.
func mergedTolerations(all []value.Value) []value.Value {
	var merged []value.Value
	for i, t := range all {
		isIncluded := slices.ContainsFunc(merged, func(other value.Value) bool { return includes(other, t) }) ||
			slices.ContainsFunc(all[i+1:], func(other value.Value) bool { return !other.Equal(t) && includes(other, t) })
		if !isIncluded {
			merged = append(merged, t)
		}
	}
	return merged
}

// includes reports whether one toleration tolerates all that another one does.
//
// A toleration without an operator includes only what has the operator Equal, as in kube-apiserver.
func includes(a, b value.Value) bool {
	text := func(v value.Value, name string) string { return v.Get(name).Str() }
	exists := text(a, "operator") == "Exists"
	seconds, of := a.Get("tolerationSeconds"), b.Get("tolerationSeconds")
	switch {
	case a.Equal(b):
		return true
	case text(a, "key") != text(b, "key") && (text(a, "key") != "" || !exists), text(a, "effect") != text(b, "effect") && text(a, "effect") != "":
		return false
	case text(a, "effect") == "NoExecute" && isSet(seconds) && (!isSet(of) || of.Int() > seconds.Int()):
		return false
	case text(a, "operator") == "" || text(a, "operator") == "Equal":
		return text(b, "operator") == "Equal" && text(a, "value") == text(b, "value")
	}
	return exists
}
