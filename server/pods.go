package server

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/errors"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

var pods = kschema.GroupResource{Resource: "pods"}

const priorityClassesPrefix = "/registry/priorityclasses/"

// systemPriorityClasses exist from the beginning.
var systemPriorityClasses = []value.Value{
	newPriorityClass("system-node-critical", 2_000_001_000,
		"Used for system critical pods that must not be moved from their current node."),
	newPriorityClass("system-cluster-critical", 2_000_000_000,
		"Used for system critical pods that must run in the cluster, but can be moved to another node if necessary."),
}

func newPriorityClass(name string, priority int64, description string) value.Value {
	return value.Object(
		value.Member{Name: "apiVersion", Value: value.String("scheduling.k8s.io/v1")},
		value.Member{Name: "kind", Value: value.String("PriorityClass")},
		value.Member{Name: "metadata", Value: value.Object(value.Member{Name: "name", Value: value.String(name)})},
		value.Member{Name: "value", Value: value.Int(priority)},
		value.Member{Name: "description", Value: value.String(description)},
	)
}

// completePod sets what the plugins Priority and DefaultTolerationSeconds of kube-apiserver set in pods. A new pod has the priority of
// its class and may not say another, and a pod that does not say what becomes of it when its node fails stays there for a while. It is a
// plugin of admission.
func (s *Server) completePod(ctx context.Context, r *admission.Request) error {
	if r.Resource.GroupResource() != pods || r.Subresource != "" {
		return nil
	}
	pod, err := r.Object.Content(), error(nil)
	spec := pod.Get("spec")
	switch r.Operation {
	case admission.Create:
		spec, err = s.withPriority(ctx, r, spec)
	case admission.Update:
		spec = keepPriority(spec, r.Old.Content().Get("spec"))
	default:
		return nil
	}
	if err != nil {
		return err
	}
	if spec = withTolerations(spec); !spec.Equal(pod.Get("spec")) {
		r.Object = r.Object.With(pod.With("spec", spec))
	}
	return nil
}

// withPriority returns the spec of a new pod with the priority of its class. The error is a 403 of a pod that names a class that is
// not there, or says what its class does not.
func (s *Server) withPriority(ctx context.Context, r *admission.Request, spec value.Value) (value.Value, error) {
	class, err := s.priorityClassOf(ctx, spec.Get("priorityClassName").Str())
	if err != nil {
		return spec, err
	}
	forbid := func(format string, args ...any) error {
		return errors.NewForbidden(pods, nameOf(r), fmt.Errorf(format, args...))
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

func isSet(v value.Value) bool { return !v.IsAbsent() && !v.IsNull() }

// noPriorityClass stands for the class of pods that name none, if no class is the default.
var noPriorityClass = value.Object(value.Member{Name: "preemptionPolicy", Value: value.String("PreemptLowerPriority")})

// priorityClassOf returns the class of a name, absent if there is none; for no name the default, which of several is the one of the
// least priority.
func (s *Server) priorityClassOf(ctx context.Context, name string) (value.Value, error) {
	if name != "" {
		return s.storedObject(ctx, priorityClassesPrefix+name)
	}
	page, err := s.backend.Store.Range(ctx, store.Range{Prefix: priorityClassesPrefix})
	if err != nil {
		return value.Value{}, err
	}
	var least value.Value
	for _, record := range page.Records {
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

// keepPriority returns the spec of a pod with the priority that the stored one has, if it says none.
func keepPriority(spec, stored value.Value) value.Value {
	for _, name := range []string{"priority", "preemptionPolicy"} {
		if !isSet(spec.Get(name)) && isSet(stored.Get(name)) {
			spec = spec.With(name, stored.Get(name))
		}
	}
	return spec
}

// failingNode are the taints of nodes that fail.
var failingNode = []string{"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}

// withTolerations returns the spec of a pod that stays on a node that fails for five minutes, unless it says otherwise.
func withTolerations(spec value.Value) value.Value {
	tolerations := slices.Collect(spec.Get("tolerations").Items())
	for _, taint := range failingNode {
		if !tolerates(tolerations, taint) {
			tolerations = append(tolerations, value.Object(
				value.Member{Name: "effect", Value: value.String("NoExecute")},
				value.Member{Name: "key", Value: value.String(taint)},
				value.Member{Name: "operator", Value: value.String("Exists")},
				value.Member{Name: "tolerationSeconds", Value: value.Int(300)},
			))
		}
	}
	return spec.With("tolerations", value.List(tolerations...))
}

// tolerates reports whether there is a toleration of a taint that evicts pods, for however long.
func tolerates(tolerations []value.Value, taint string) bool {
	return slices.ContainsFunc(tolerations, func(t value.Value) bool {
		key, effect := t.Get("key").Str(), t.Get("effect").Str()
		return (key == taint || key == "") && (effect == "NoExecute" || effect == "")
	})
}
