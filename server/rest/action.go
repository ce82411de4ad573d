package rest

import (
	"net/http"

	"k8s.io/apimachinery/pkg/api/errors"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/value"
)

// Act carries out POST of an object of another kind to a subresource of a pod, which asks for something to be done: a Binding or an
// Eviction. The object is not stored. The answer is a Status.
func (r *Request) Act() (*Answer, error) {
	kind, bare := r.actionOf(), false
	if kind == nil { // a Binding without a path to the pod
		kind, bare = r.Version, true
		pods := r.Resources(kschema.GroupResource{Resource: "pods"})
		r.Version, r.Target.Resource, r.Target.Subresource = pods.Versions[0], pods.Plural, "binding"
	}
	options, err := api.ParseCreateOptions(r.Query)
	if err != nil {
		return nil, err
	}
	asked := *r
	asked.Version = kind
	sent, err := asked.decode(options)
	if err != nil {
		return nil, err
	}
	if sent.Content, err = api.InNamespace(sent.Content, r.Target.Namespace); err != nil {
		return nil, err
	}
	if bare {
		r.Target.Name = api.Meta(sent.Content, "name")
	}
	r.name = r.Target.Name
	if api.Meta(sent.Content, "name") != r.name {
		return nil, errors.NewBadRequest("name in URL does not match name in " + kind.Kind + " object")
	}
	if r.Target.Subresource == "binding" {
		err = r.bind(sent, options)
	} else {
		err = r.evict(sent, options)
	}
	if err != nil {
		return nil, err
	}
	return document(http.StatusCreated, value.Object(
		value.Member{Name: "kind", Value: value.String("Status")}, value.Member{Name: "apiVersion", Value: value.String("v1")},
		value.Member{Name: "metadata", Value: value.Object()}, value.Member{Name: "status", Value: value.String("Success")},
		value.Member{Name: "code", Value: value.Int(http.StatusCreated)},
	)), nil
}

// admitAction asks admission whether what was sent may be asked for, and returns what it made of it.
func (r *Request) admitAction(sent managedfields.Object, options api.WriteOptions) (managedfields.Object, error) {
	w := &write{Request: r, dryRun: options.DryRun}
	admitted, err := w.mutate(Live{}, sent)
	if err != nil {
		return admitted, err
	}
	return admitted, w.admit(managedfields.Object{}, admitted)
}

// ofObject returns the request as one for the object itself.
func (r *Request) ofObject() *Request {
	object := *r
	object.Target.Subresource = ""
	return &object
}

// withCondition returns a pod with a condition that is true, since the time that it says if it was true already.
func (r *Request) withCondition(pod value.Value, condition value.Value) value.Value {
	condition = condition.With("status", value.String("True")).With("lastProbeTime", value.Null())
	since, replaced := value.String(r.timestamp()), false
	status := pod.Get("status")
	var conditions []value.Value
	for c := range status.Get("conditions").Items() {
		if c.Get("type").Equal(condition.Get("type")) {
			if replaced = true; c.Get("status").Str() == "True" {
				since = c.Get("lastTransitionTime")
			}
			c = condition.With("lastTransitionTime", since)
		}
		conditions = append(conditions, c)
	}
	if !replaced {
		conditions = append(conditions, condition.With("lastTransitionTime", since))
	}
	return pod.With("status", status.With("conditions", value.List(conditions...)))
}

// conditionOf returns a condition of a type, with why it is so.
func conditionOf(typ, reason, message string) value.Value {
	out := value.Object(value.Member{Name: "type", Value: value.String(typ)})
	if reason != "" {
		out = out.With("reason", value.String(reason)).With("message", value.String(message))
	}
	return out
}

// actionOf returns the kind of objects that are sent to the subresource of a request; nil if it is none of those.
func (r *Request) actionOf() *catalog.Version { return r.Version.Actions[r.Target.Subresource] }
