package pods

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/internal/door"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/rest"
	"github.com/deed-project/deed/server/rest/read"
	"github.com/deed-project/deed/server/rest/write"
	"github.com/deed-project/deed/value"
)

// Bindings put pods on nodes. A scheduler sends one for each pod:
//
//	Binding {metadata: {name: a}, target: {kind: Node, name: n1}}
//	pod a   spec.nodeName n1, and the condition PodScheduled is True
//
// The node need not exist.

// bind puts a pod that is on no node on the node that a Binding names, with the labels and annotations of the Binding. No manager owns any
// of that.
func bind(asked *write.Task, sent managedfields.Object) error {
	binding := sent.Content
	if errs := checkBinding(binding); len(errs) > 0 {
		return errs.ToAggregate()
	}
	if err := asked.Admit(managedfields.Object{}, sent); err != nil {
		return err
	}
	w := asked.Writer
	t := &write.Task{Writer: w, Request: requestOf(w, asked.Request, "pods"), DryRun: asked.DryRun}
	return write.Retry(t.Request.Context(), func() error { return bindOnce(t, binding) })
}

// checkBinding returns what is wrong with the node that a Binding names.
func checkBinding(binding value.Value) field.ErrorList {
	var errs field.ErrorList
	path := field.NewPath("target")
	kind, name := binding.Get("target", "kind").Str(), binding.Get("target", "name").Str()
	node := kind == "" || kind == "Node"
	if !node {
		errs = append(errs, field.NotSupported(path.Child("kind"), kind, []string{"Node", "<empty>"}))
	}
	if name == "" {
		return append(errs, field.Required(path.Child("name"), ""))
	}
	if node {
		for _, wrong := range validation.NameIsDNSSubdomain(name, false) {
			errs = append(errs, field.Invalid(path.Child("name"), name, wrong))
		}
	}
	return errs
}

// bindOnce is bind without a second attempt: store.ErrConflict says that another write was faster.
//
// The checks are those of kube-apiserver, in its order: UID, resource version, and then whether the pod can be bound.
func bindOnce(t *write.Task, binding value.Value) error {
	live, err := t.Writer.Reader.MustLoad(t.Request)
	if err != nil {
		return err
	}
	if err := write.CheckUID(t.Request, live, api.Meta(binding, "uid"), t.DryRun); err != nil {
		return err
	}
	if err := checkBound(t.Request, live, api.Meta(binding, "resourceVersion")); err != nil {
		return err
	}
	object, now := live.Object, t.Writer.Reader.Now()
	object.Content = withCondition(bound(live.Content, binding, t.Writer.Host.Minor()), conditionOf("PodScheduled", "", ""), now)
	_, err = t.Amend(live, object)
	return err
}

// checkBound refuses, with 409, to bind a pod at another version than that of the Binding, or a pod that cannot be bound.
func checkBound(q *rest.Request, live *read.Live, version string) error {
	pod := live.Content
	if had := api.Meta(pod, "resourceVersion"); version != "" && version != had {
		return errors.NewConflict(q.Version.GroupResource(), q.ObjectName, fmt.Errorf("StorageError: invalid object, Code: 4, Key: %s, "+
			"ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: ResourceVersion in precondition: %s, "+
			"ResourceVersion in object meta: %s", q.Key(), version, had))
	}
	var why error
	switch node := pod.Get("spec", "nodeName").Str(); {
	case !pod.Get("metadata", "deletionTimestamp").IsAbsent():
		why = fmt.Errorf("pod %s is being deleted, cannot be assigned to a host", q.ObjectName)
	case node != "":
		why = fmt.Errorf("pod %s is already assigned to node %q", q.ObjectName, node)
	case pod.Get("spec", "schedulingGates").Len() > 0:
		why = fmt.Errorf("pod %s has non-empty .spec.schedulingGates", q.ObjectName)
	default:
		return nil
	}
	return errors.NewConflict(kschema.GroupResource{Resource: "pods/binding"}, q.ObjectName, why)
}

// storage adds the members of one object to another.
var storage = door.Open(value.Internal{})

// withoutOld returns annotations without those that held the init containers of pods before there was a field for them.
func withoutOld(annotations value.Value) value.Value {
	for _, version := range []string{"alpha", "beta"} {
		for _, name := range []string{"init-containers", "init-container-statuses"} {
			annotations = annotations.With("pod."+version+".kubernetes.io/"+name, value.Value{})
		}
	}
	return annotations
}

// bound returns a pod on the node of a Binding.
//
// Labels and annotations of the Binding are added to those of the pod, and replace them where both have a name. Before v1.35, labels are not, and the
// pod stays nominated for a node.
func bound(pod, binding value.Value, minor int) value.Value {
	const labeledSince = 35
	metadata := pod.Get("metadata")
	for _, name := range []string{"annotations", "labels"} {
		if name == "labels" && minor < labeledSince {
			continue
		}
		added := binding.Get("metadata", name)
		if name == "annotations" && added.Len() > 0 {
			added = withoutOld(added)
		}
		if added.Len() > 0 {
			metadata = metadata.With(name, storage.WithAll(metadata.Get(name), added))
		}
	}
	spec := pod.Get("spec").With("nodeName", binding.Get("target", "name"))
	status := pod.Get("status")
	if minor >= labeledSince {
		status = status.With("nominatedNodeName", value.Value{})
	}
	return pod.With("metadata", metadata).With("spec", spec).With("status", status)
}
