package write

import (
	stderrors "errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
	"github.com/deed-project/deed/value/structs"
)

// evict deletes a pod as an Eviction asks for it, unless its disruption budget does not allow that; see budget.go. The pod says then
// that it was evicted.
func (w *write) evict(sent managedfields.Object) error {
	deletion, err := w.deletionOf(sent.Content)
	if err != nil {
		return err
	}
	if err := w.admit(managedfields.Object{}, sent); err != nil {
		return err
	}
	w = &write{Request: w.of("pods"), dryRun: len(deletion.DryRun) > 0, deletion: deletion, unasked: true}
	live, err := w.MustLoad()
	if err != nil {
		return err
	}
	if !endsAnyway(live.Content) {
		if err := w.disrupt(live.Content); err != nil {
			return err
		}
	}
	for {
		if err := w.Context().Err(); err != nil {
			return err
		}
		if err := w.evictOnce(); !stderrors.Is(err, store.ErrConflict) {
			return err
		}
	}
}

// deletionOf returns how an Eviction asks for a pod to be deleted. The error is a 422, or a plain one if it is not clear whether it is
// a dry run.
func (r *Request) deletionOf(eviction value.Value) (*metav1.DeleteOptions, error) {
	deletion := &metav1.DeleteOptions{}
	if asked := eviction.Get("deleteOptions"); asked.Kind() == value.KindObject {
		if err := structs.Into(asked, deletion); err != nil {
			return nil, errors.NewBadRequest(err.Error())
		}
	}
	if unsafe := deletion.IgnoreStoreReadErrorWithClusterBreakingPotential; unsafe != nil && *unsafe {
		path := field.NewPath("deleteOptions", "ignoreStoreReadErrorWithClusterBreakingPotential")
		return nil, api.Invalid(kschema.GroupKind{Group: "policy", Kind: "Eviction"}, r.ObjectName, field.ErrorList{
			field.Invalid(path, true, "can not be set for pod eviction, try after removing the option"),
		})
	}
	asked := r.Query["dryRun"]
	switch {
	case len(deletion.DryRun) == 0:
		deletion.DryRun = asked
	case len(asked) > 0 && !slices.Equal(asked, deletion.DryRun):
		//lint:ignore ST1005 these are the words of kube-apiserver
		return nil, fmt.Errorf("Non-matching dry-run options in request and content: %v and %v", asked, deletion.DryRun)
	}
	return deletion, nil
}

// evictOnce evicts a pod that may be, without trying again: store.ErrConflict says that it changed meanwhile. What is wrong with how it is
// to be deleted is told only once the pod says that it was evicted.
func (w *write) evictOnce() error {
	live, err := w.MustLoad()
	if err != nil {
		return err
	}
	options := w.deletion.DeepCopy()
	if err := w.checkPreconditions(live, options.Preconditions); err != nil {
		return err
	}
	object := live.Object
	object.Content = w.withCondition(live.Content, conditionOf("DisruptionTarget", "EvictionByEvictionAPI", "Eviction API: evicting"))
	evicted, err := w.mark(live, object)
	if err != nil {
		return err
	}
	if err := api.CheckDeleteOptions(options); err != nil {
		return err
	}
	if p := options.Preconditions; p != nil && p.ResourceVersion != nil {
		p.ResourceVersion = new(api.Meta(evicted.Content, "resourceVersion"))
	}
	_, _, err = w.delete(options)
	return err
}

// endsAnyway reports whether a pod may be evicted whatever its budget says: it has ended, ends, or never began.
func endsAnyway(pod value.Value) bool {
	phase := pod.Get("status", "phase").Str()
	return slices.Contains([]string{"Succeeded", "Failed", "Pending"}, phase) || !pod.Get("metadata", "deletionTimestamp").IsAbsent()
}
