// Package pods has what pods do that other kinds do not: the verbs of their subresources (bindings, evictions within disruption budgets,
// logs, connections), the admission plugins Priority and DefaultTolerationSeconds, and the priority classes that every server has. It also
// answers connections to nodes and services.
package pods

import (
	"bytes"
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/errors"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/server/kinds"
	"github.com/deed-project/deed/server/registry"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

var pods = kschema.GroupResource{Resource: "pods"}

const priorityClassesPrefix = "/registry/priorityclasses/"

// SystemPriorityClasses are the priority classes that exist from the start.
var SystemPriorityClasses = []value.Value{
	newPriorityClass("system-node-critical", 2_000_001_000,
		"Used for system critical pods that must not be moved from their current node."),
	newPriorityClass("system-cluster-critical", 2_000_000_000,
		"Used for system critical pods that must run in the cluster, but can be moved to another node if necessary."),
}

// newPriorityClass returns a priority class as a client creates it.
func newPriorityClass(name string, priority int64, description string) value.Value {
	return value.Object(
		value.Member{Name: "apiVersion", Value: value.String("scheduling.k8s.io/v1")},
		value.Member{Name: "kind", Value: value.String("PriorityClass")},
		value.Member{Name: "metadata", Value: value.Object(value.Member{Name: "name", Value: value.String(name)})},
		value.Member{Name: "value", Value: value.Int(priority)},
		value.Member{Name: "description", Value: value.String(description)},
	)
}

// Priority is the admission plugin Priority of kube-apiserver. A new pod gets the priority of its class, and is refused if it has another
// one. Only one class may be the default.
type Priority struct{ Store store.Store }

// Admit sets the priority of a new pod, or refuses it with 403. A pod that is updated keeps its priority.
func (p Priority) Admit(ctx context.Context, r *admission.Request) error {
	if r.Resource.GroupResource() != pods || r.Subresource != "" {
		return nil
	}
	pod, err := r.Object.Content(), error(nil)
	spec := pod.Get("spec")
	switch r.Operation {
	case admission.Create:
		spec, err = p.withPriority(ctx, r, spec)
	case admission.Update:
		spec = kinds.WithPriority(spec, r.Old.Content().Get("spec"))
	}
	if err == nil && !spec.Equal(pod.Get("spec")) {
		r.Object = r.Object.With(pod.With("spec", spec))
	}
	return err
}

// priorityClasses is the resource of PriorityClasses.
var priorityClasses = kschema.GroupResource{Group: "scheduling.k8s.io", Resource: "priorityclasses"}

// Validate refuses a second default among the priority classes.
func (p Priority) Validate(ctx context.Context, r *admission.Request) error {
	isWrite := r.Operation == admission.Create || r.Operation == admission.Update
	class := r.Object.Content()
	if r.Resource.GroupResource() != priorityClasses || r.Subresource != "" || !isWrite || !class.Get("globalDefault").Bool() {
		return nil
	}
	had, err := p.priorityClassOf(ctx, "")
	if err != nil {
		return fmt.Errorf("failed to get default priority class: %v", err)
	}
	name := had.Get("metadata", "name").Str()
	if name == "" || r.Operation == admission.Update && name == class.Get("metadata", "name").Str() {
		return nil
	}
	return errors.NewForbidden(priorityClasses, r.ObjectName(),
		fmt.Errorf("PriorityClass %v is already marked as default. Only one default can exist", name))
}

// Tolerate is the admission plugin DefaultTolerationSeconds of kube-apiserver. A pod without a toleration for failing nodes gets tolerations
// of five minutes.
func Tolerate(_ context.Context, r *admission.Request) error {
	if r.Resource.GroupResource() != pods || r.Subresource != "" || r.Operation != admission.Create && r.Operation != admission.Update {
		return nil
	}
	pod := r.Object.Content()
	if spec := kinds.WithTolerations(pod.Get("spec")); !spec.Equal(pod.Get("spec")) {
		r.Object = r.Object.With(pod.With("spec", spec))
	}
	return nil
}

// withPriority returns the spec of a new pod with the priority of its class. The error is a 403 for a pod whose class does not exist, or
// whose priority is not that of its class.
//
// A client may write the priority that the class gives, but no other one.
func (p Priority) withPriority(ctx context.Context, r *admission.Request, spec value.Value) (value.Value, error) {
	class, err := p.priorityClassOf(ctx, spec.Get("priorityClassName").Str())
	if err != nil {
		return spec, err
	}
	forbid := func(format string, args ...any) error {
		return errors.NewForbidden(pods, r.ObjectName(), fmt.Errorf(format, args...))
	}
	if class.IsAbsent() {
		return spec, forbid("no PriorityClass with name %v was found", spec.Get("priorityClassName").Str())
	}
	said, priority := spec.Get("priority"), value.Int(class.Get("value").Int())
	if isSet(said) && !said.Equal(priority) {
		return spec, forbid("the integer value of priority (%d) must not be provided in pod spec; priority admission controller "+
			"computed %d from the given PriorityClass name", said.Int(), priority.Int())
	}
	spec = spec.With("priority", priority)
	if name := class.Get("metadata", "name"); name.Str() != "" {
		spec = spec.With("priorityClassName", name)
	}
	said, policy := spec.Get("preemptionPolicy"), class.Get("preemptionPolicy")
	if !isSet(policy) {
		return spec, nil
	}
	if isSet(said) && !said.Equal(policy) {
		return spec, forbid("the string value of PreemptionPolicy (%s) must not be provided in pod spec; priority admission controller "+
			"computed %s from the given PriorityClass name", said.Str(), policy.Str())
	}
	return spec.With("preemptionPolicy", policy), nil
}

// isSet reports whether a field has a value other than null.
func isSet(v value.Value) bool { return !v.IsAbsent() && !v.IsNull() }

// noPriorityClass is the class of pods that name no class, if no class is the default.
var noPriorityClass = value.Object(value.Member{Name: "preemptionPolicy", Value: value.String("PreemptLowerPriority")})

// priorityClassOf returns the class with a name, absent if there is none. For an empty name it returns the default; among several defaults
// the one with the lowest priority counts.
func (p Priority) priorityClassOf(ctx context.Context, name string) (value.Value, error) {
	if name != "" {
		return registry.Object(ctx, p.Store, priorityClassesPrefix+name)
	}
	page, err := p.Store.Range(ctx, store.Range{Prefix: priorityClassesPrefix})
	if err != nil {
		return value.Value{}, err
	}
	var least value.Value
	for _, record := range page.Records {
		// Few classes are default, so the others are not parsed.
		if !bytes.Contains(record.Text, []byte(`"globalDefault":true`)) {
			continue
		}
		class, err := managedfields.ParseObject(record.Text)
		if err != nil {
			return least, err
		}
		if least.IsAbsent() || class.Content.Get("value").Int() < least.Get("value").Int() {
			least = class.Content
		}
	}
	if least.IsAbsent() {
		least = noPriorityClass
	}
	return least, nil
}
