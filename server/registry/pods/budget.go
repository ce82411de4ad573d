package pods

import (
	stderrors "errors"
	"fmt"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/rest"
	"github.com/deed-project/deed/server/rest/read"
	"github.com/deed-project/deed/server/rest/write"
	"github.com/deed-project/deed/value"
	"github.com/deed-project/deed/value/structs"
)

// Disruption budgets. A budget says how many of the pods that it selects may be missing, and its status how many more may go now:
//
//	status.disruptionsAllowed   taken down by one for each eviction, before the pod is deleted
//	status.disruptedPods        notes the pod with the time, until a controller sees that it is gone
//
// The controller that counts pods up again is not part of an API server. So without it, evictions stop once the budget is used up.

var budgets = kschema.GroupResource{Group: "policy", Resource: "poddisruptionbudgets"}

// disrupt takes a disruption of pod from its budget, if the pod has a budget. The error is a 429 if the budget allows no disruption now. A pod
// that is not ready takes none if its budget has that policy. t is the deletion of the pod.
//
// It writes the budget before the pod is deleted. So two evictions at the same time cannot use the same disruption: one of the writes
// conflicts and tries again.
func disrupt(t *write.Task, pod value.Value) error {
	w := t.Writer
	resource := w.Host.Resource(budgets)
	if resource == nil {
		return nil
	}
	q := *t.Request
	q.Version, q.Target.Group, q.Target.Resource, q.Target.Subresource = resource.Versions[0], budgets.Group, budgets.Resource, "status"
	found, err := budgetsOf(w.Reader, &q, pod)
	switch {
	case err != nil:
		return err
	case len(found) == 0 || len(found) == 1 && !isReady(pod) && letsUnready(found[0]):
		return nil
	case len(found) > 1:
		return &errors.StatusError{ErrStatus: metav1.Status{
			Status: metav1.StatusFailure, Code: http.StatusInternalServerError,
			Message: "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
		}}
	}
	q.ObjectName = api.Meta(found[0], "name")
	q.Target.Name = q.ObjectName
	taking := &write.Task{Writer: w, Request: &q, DryRun: t.DryRun}
	_, err = taking.Run(func(live *read.Live) (managedfields.Object, error) {
		object := live.Object
		if err := allowsDisruption(live.Content); err != nil {
			return object, err
		}
		if object.Content, err = withDisruption(live.Content, t.Request.ObjectName, w.Reader.Now()); err != nil {
			return object, err
		}
		return write.Own(&q, live, object, api.WriteOptions{Manager: "kube-apiserver"})
	})
	return err
}

// budgetsOf returns the budgets whose selectors match a pod. The request is for budgets.
//
// It reads all budgets of the namespace. A budget whose selector cannot be read selects nothing.
func budgetsOf(b *read.Reader, q *rest.Request, pod value.Value) ([]value.Value, error) {
	all, err := api.ParseListOptions(nil)
	if err != nil {
		return nil, err
	}
	list, err := b.Objects(q, all)
	if err != nil {
		return nil, err
	}
	of := labels.Set{}
	for name, text := range pod.Get("metadata", "labels").Members() {
		of[name] = text.Str()
	}
	var out []value.Value
	for _, budget := range list.Items {
		var asked *metav1.LabelSelector
		if s := budget.Get("spec", "selector"); s.Kind() == value.KindObject {
			if err := structs.Into(s, &asked); err != nil {
				continue // it selects nothing
			}
		}
		if selector, err := metav1.LabelSelectorAsSelector(asked); err == nil && selector.Matches(of) {
			out = append(out, budget)
		}
	}
	return out, nil
}

// isReady reports whether a pod has the condition Ready.
func isReady(pod value.Value) bool {
	for c := range pod.Get("status", "conditions").Items() {
		if c.Get("type").Str() == "Ready" {
			return c.Get("status").Str() == "True"
		}
	}
	return false
}

// letsUnready reports whether a budget allows the eviction of pods that are not ready.
func letsUnready(budget value.Value) bool {
	status := budget.Get("status")
	wanted := status.Get("desiredHealthy").Int()
	return budget.Get("spec", "unhealthyPodEvictionPolicy").Str() == "AlwaysAllow" ||
		wanted > 0 && status.Get("currentHealthy").Int() >= wanted
}

// maxDisrupted is how many evicted pods that still exist a budget may have.
const maxDisrupted = 2000

// allowsDisruption refuses, with 429 or 403, a disruption that a budget does not allow.
//
// A budget that its controller has not seen yet allows nothing, and the client is told to come again in ten seconds.
func allowsDisruption(budget value.Value) error {
	name, status := api.Meta(budget, "name"), budget.Get("status")
	allowed := status.Get("disruptionsAllowed").Int()
	forbidden := func(why, said string) error {
		err := errors.NewForbidden(kschema.GroupResource{Group: budgets.Group, Resource: "poddisruptionbudget"}, name, stderrors.New(why))
		return withBudget(err, "The disruption budget %s does not allow evicting pods currently: %s", name, said)
	}
	const violated = "Cannot evict pod as it would violate the pod's disruption budget."
	switch {
	case status.Get("observedGeneration").Int() < budget.Get("metadata", "generation").Int():
		err := errors.NewTooManyRequests(violated, 10)
		return withBudget(err, "The disruption budget %s is still being processed by the server.", name)
	case allowed < 0:
		const why = "pdb disruptions allowed is negative"
		return forbidden(why, why)
	case status.Get("disruptedPods").Len() > maxDisrupted:
		return forbidden("DisruptedPods map too big - too many evictions not confirmed by PDB controller",
			"too many pending evictions not confirmed by PDB controller")
	case allowed == 0:
		return withBudget(errors.NewTooManyRequests(violated, 0), "%s", whyNone(name, status))
	}
	return nil
}

// whyNone returns the reason why a budget with a status allows no disruption.
//
// The text is for the client, so the condition that the controller left matters more than the numbers.
func whyNone(name string, status value.Value) string {
	var condition value.Value
	for c := range status.Get("conditions").Items() {
		if c.Get("type").Str() == "DisruptionAllowed" && c.Get("status").Str() == "False" && c.Get("message").Str() != "" {
			condition = c
		}
	}
	healthy, wanted := status.Get("currentHealthy").Int(), status.Get("desiredHealthy").Int()
	reason, message := condition.Get("reason").Str(), condition.Get("message").Str()
	switch {
	case reason == "SyncFailed":
		return fmt.Sprintf("The disruption budget %s does not allow evicting pods currently because it failed sync: %s", name, message)
	case healthy <= wanted:
		return fmt.Sprintf("The disruption budget %s needs %d healthy pods and has %d currently", name, wanted, healthy)
	case message != "":
		return fmt.Sprintf("The disruption budget %s does not allow evicting pods currently (%s): %s", name, reason, message)
	}
	return fmt.Sprintf("The disruption budget %s does not allow evicting pods currently", name)
}

// withBudget returns err with a budget as its cause.
func withBudget(err *errors.StatusError, format string, with ...any) error {
	cause := metav1.StatusCause{Type: "DisruptionBudget", Message: fmt.Sprintf(format, with...)}
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, cause)
	return err
}

// withDisruption returns a budget after a disruption by the pod with a name.
//
// With the last disruption, the condition DisruptionAllowed becomes False.
func withDisruption(budget value.Value, pod string, now time.Time) (value.Value, error) {
	status := budget.Get("status")
	left := status.Get("disruptionsAllowed").Int() - 1
	status = status.With("disruptionsAllowed", value.Int(left)).
		With("disruptedPods", status.Get("disruptedPods").With(pod, value.String(api.Timestamp(now))))
	if left > 0 {
		return budget.With("status", status), nil
	}
	var conditions []metav1.Condition
	if had := status.Get("conditions"); had.Kind() == value.KindList {
		if err := structs.Into(had, &conditions); err != nil {
			return budget, err
		}
	}
	meta.SetStatusCondition(&conditions, metav1.Condition{
		Type: "DisruptionAllowed", Status: metav1.ConditionFalse, Reason: "InsufficientPods",
		ObservedGeneration: status.Get("observedGeneration").Int(), LastTransitionTime: metav1.NewTime(now),
	})
	out, err := structs.From(conditions)
	return budget.With("status", status.With("conditions", out)), err
}
