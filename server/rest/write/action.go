package write

import (
	"cmp"
	"net/http"

	"k8s.io/apimachinery/pkg/api/errors"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/rest/read"
	"github.com/deed-project/deed/value"
)

// Act carries out POST of an object of another kind to a subresource of a pod, which asks for something to be done: a Binding or an
// Eviction. The object is not stored. The answer is a Status.
//
//	options   of the query
//	decode    the object
//	own       everything in it is the manager's
//	mutate    what admission makes of it
//	check     that it is about the pod of the request
//	admit     unless admission refuses it
//	act       on the pod
func (r *Request) Act() (*read.Answer, error) {
	options, err := api.ParseCreateOptions(r.Query)
	if err != nil {
		return nil, err
	}
	asked := *r
	if kind := r.actionOf(); kind != nil { // else it is a Binding without a path to the pod
		asked.Version = kind
	}
	sent, err := asked.decode(options, read.Live{})
	if err != nil {
		return nil, err
	}
	if sent.Content, err = api.InNamespace(sent.Content, r.Target.Namespace); err != nil {
		return nil, err
	}
	if sent, err = asked.update(read.Live{}, sent, options); err != nil {
		return nil, err
	}
	r.ObjectName = cmp.Or(r.Target.Name, api.Meta(sent.Content, "name"))
	w := &write{Request: r, dryRun: options.DryRun}
	if sent, err = w.mutate(read.Live{}, sent); err != nil {
		return nil, err
	}
	if api.Meta(sent.Content, "name") != r.ObjectName {
		return nil, errors.NewBadRequest("name in URL does not match name in " + asked.Version.Kind + " object")
	}
	if asked.Version.Kind == "Binding" {
		err = w.bind(sent)
	} else {
		err = w.evict(sent)
	}
	if err != nil {
		return nil, err
	}
	return read.NewDocument(http.StatusCreated, value.Object(
		value.Member{Name: "kind", Value: value.String("Status")}, value.Member{Name: "apiVersion", Value: value.String("v1")},
		value.Member{Name: "metadata", Value: value.Object()}, value.Member{Name: "status", Value: value.String("Success")},
		value.Member{Name: "code", Value: value.Int(http.StatusCreated)},
	)), nil
}

// of returns the request as one for an object of a resource of the core group.
func (r *Request) of(resource string) *Request {
	other := *r
	other.Version = r.Resources(kschema.GroupResource{Resource: resource}).Versions[0]
	other.Target.Resource, other.Target.Subresource = resource, ""
	return &other
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
