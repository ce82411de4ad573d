package pods

import (
	"time"

	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/rest"
	"github.com/deed-project/deed/server/rest/write"
	"github.com/deed-project/deed/value"
)

// requestOf returns a request as one for the object of the same name in a resource of the core group.
func requestOf(w *write.Writer, q *rest.Request, resource string) *rest.Request {
	other := *q
	other.Version = w.Host.Resource(kschema.GroupResource{Resource: resource}).Versions[0]
	other.Target.Resource, other.Target.Subresource = resource, ""
	return &other
}

// withCondition returns a pod with a condition that is true: since now, or since the time that it has if it was true already.
//
// An earlier condition of the type keeps its place in the list.
func withCondition(pod, condition value.Value, now time.Time) value.Value {
	condition = condition.With("status", value.String("True")).With("lastProbeTime", value.Null())
	since, replaced := value.String(api.Timestamp(now)), false
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

// conditionOf returns a condition of a type with a reason; "" is none.
func conditionOf(typ, reason, message string) value.Value {
	out := value.Object(value.Member{Name: "type", Value: value.String(typ)})
	if reason != "" {
		out = out.With("reason", value.String(reason)).With("message", value.String(message))
	}
	return out
}
