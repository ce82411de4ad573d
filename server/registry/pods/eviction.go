package pods

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/rest"
	"github.com/deed-project/deed/server/rest/write"
	"github.com/deed-project/deed/value"
	"github.com/deed-project/deed/value/structs"
)

// Evictions delete pods, with regard to their disruption budgets. An eviction makes up to three writes: it takes a disruption from the
// budget, sets the condition DisruptionTarget of the pod, and deletes the pod. They are not atomic, as in kube-apiserver.

// evict deletes a pod as an Eviction demands, if its disruption budget allows that; see budget.go. The pod gets the condition
// DisruptionTarget first.
//
// Admission decides about the eviction, so the deletion does not ask it again.
func evict(asked *write.Task, sent managedfields.Object) error {
	options, err := deletionOf(asked.Request, sent.Content)
	if err != nil {
		return err
	}
	if err := asked.Admit(managedfields.Object{}, sent); err != nil {
		return err
	}
	w := asked.Writer
	t := &write.Task{Writer: w, Request: requestOf(w, asked.Request, "pods"), DryRun: len(options.DryRun) > 0, Unasked: true}
	live, err := w.Reader.MustLoad(t.Request)
	if err != nil {
		return err
	}
	if !endsAnyway(live.Content) {
		if err := disrupt(t, live.Content); err != nil {
			return err
		}
	}
	return write.Retry(t.Request.Context(), func() error { return evictOnce(t, options.DeepCopy()) })
}

// deletionOf returns the options of the delete that an Eviction asks for. The error is a 422, or a plain error if query and body disagree
// about a dry run.
//
// The dry run may be in the query or in the body. If both have one, they must agree.
func deletionOf(q *rest.Request, eviction value.Value) (*metav1.DeleteOptions, error) {
	deletion := &metav1.DeleteOptions{}
	if asked := eviction.Get("deleteOptions"); asked.Kind() == value.KindObject {
		if err := structs.Into(asked, deletion); err != nil {
			return nil, errors.NewBadRequest(err.Error())
		}
	}
	if unsafe := deletion.IgnoreStoreReadErrorWithClusterBreakingPotential; unsafe != nil && *unsafe {
		path := field.NewPath("deleteOptions", "ignoreStoreReadErrorWithClusterBreakingPotential")
		return nil, api.Invalid(kschema.GroupKind{Group: "policy", Kind: "Eviction"}, q.ObjectName, field.ErrorList{
			field.Invalid(path, true, "can not be set for pod eviction, try after removing the option"),
		})
	}
	asked := q.Query["dryRun"]
	switch {
	case len(deletion.DryRun) == 0:
		deletion.DryRun = asked
	case len(asked) > 0 && !slices.Equal(asked, deletion.DryRun):
		//lint:ignore ST1005 these are the words of kube-apiserver
		return nil, fmt.Errorf("Non-matching dry-run options in request and content: %v and %v", asked, deletion.DryRun)
	}
	return deletion, nil
}

// evictOnce is the last step of evict, without a second attempt: store.ErrConflict says that another write was faster. As in kube-apiserver,
// the options are checked only after the pod has its condition.
//
// The condition is a write of its own, so the resource version of a precondition moves on with it.
func evictOnce(t *write.Task, options *metav1.DeleteOptions) error {
	live, err := t.Writer.Reader.MustLoad(t.Request)
	if err != nil {
		return err
	}
	if err := write.CheckPreconditions(t.Request, live, options.Preconditions, false); err != nil {
		return err
	}
	object, evicted := live.Object, conditionOf("DisruptionTarget", "EvictionByEvictionAPI", "Eviction API: evicting")
	object.Content = withCondition(live.Content, evicted, t.Writer.Reader.Now())
	if q := t.Request; !t.DryRun { // a write of the status, with its warnings
		if errs := q.Version.Form.ValidateUpdate(q.Context(), object.Content, live.Content, "status", q.Warnings); len(errs) > 0 {
			return api.Invalid(kschema.GroupKind{Kind: "Pod"}, q.ObjectName, errs)
		}
	}
	if live, err = t.Amend(live, object); err != nil {
		return err
	}
	if err := api.CheckDeleteOptions(options); err != nil {
		return err
	}
	if p := options.Preconditions; p != nil && p.ResourceVersion != nil {
		p.ResourceVersion = new(api.Meta(live.Content, "resourceVersion"))
	}
	_, _, err = t.Delete(options, nil)
	return err
}

// endsAnyway reports whether a pod may be evicted without regard to its budget: it has ended, is being deleted, or has not started.
func endsAnyway(pod value.Value) bool {
	phase := pod.Get("status", "phase").Str()
	return slices.Contains([]string{"Succeeded", "Failed", "Pending"}, phase) || !pod.Get("metadata", "deletionTimestamp").IsAbsent()
}
