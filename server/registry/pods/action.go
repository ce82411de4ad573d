package pods

import (
	"cmp"
	"net/http"

	"k8s.io/apimachinery/pkg/api/errors"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/rest"
	"github.com/deed-project/deed/server/rest/read"
	"github.com/deed-project/deed/server/rest/write"
	"github.com/deed-project/deed/value"
)

// Act carries out POST of an object of another kind to a subresource of a pod, which asks for an action: a Binding or an Eviction. The
// object is not stored. The answer is a Status.
//
//	options   of the query
//	decode    the object
//	own       everything in it is the manager's
//	mutate    what admission makes of it
//	check     that it is about the pod of the request
//	act       on the pod, unless admission refuses it
//
// Admission is asked twice: mutating plugins about the object that was sent, and validating plugins in act, once the object is checked.
func Act(w *write.Writer, q *rest.Request) (*rest.Answer, error) {
	options, err := api.ParseCreateOptions(q.Query)
	if err != nil {
		return nil, err
	}
	// asked is the request as one for objects of the other kind. q stays the request for the pod.
	asked, action := *q, q.Version.Actions[q.Target.Subresource]
	if action != nil {
		asked.Version = action
	}
	sent, err := write.Decode(&asked, options, &read.Live{})
	if err != nil {
		return nil, err
	}
	if action == nil { // a Binding without a path to the pod, whose UID has no meaning
		sent.Content = api.Wipe(sent.Content)
	}
	if sent.Content, err = api.InNamespace(sent.Content, q.Target.Namespace); err != nil {
		return nil, err
	}
	if sent, err = write.Own(&asked, &read.Live{}, sent, options); err != nil {
		return nil, err
	}
	q.ObjectName = cmp.Or(q.Target.Name, api.Meta(sent.Content, "name"))
	t := &write.Task{Writer: w, Request: q, DryRun: options.DryRun}
	if sent, err = t.Mutate(&read.Live{}, sent); err != nil {
		return nil, err
	}
	if api.Meta(sent.Content, "name") != q.ObjectName {
		return nil, errors.NewBadRequest("name in URL does not match name in " + asked.Version.Kind + " object")
	}
	act := evict
	if asked.Version.Kind == "Binding" {
		act = bind
	}
	if err := act(t, sent); err != nil {
		return nil, err
	}
	return rest.NewDocument(http.StatusCreated, value.Object(
		value.Member{Name: "kind", Value: value.String("Status")}, value.Member{Name: "apiVersion", Value: value.String("v1")},
		value.Member{Name: "metadata", Value: value.Object()}, value.Member{Name: "status", Value: value.String("Success")},
		value.Member{Name: "code", Value: value.Int(http.StatusCreated)},
	)), nil
}
