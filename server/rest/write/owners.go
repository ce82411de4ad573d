package write

import (
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/rest"
	"github.com/deed-project/deed/server/rest/read"
	"github.com/deed-project/deed/value"
)

// managerOf returns the field manager of the endpoint that the request writes through.
//
// Each endpoint has one of its own, because endpoints write different fields, and entries name the subresource.
func managerOf(q *rest.Request) *managedfields.FieldManager {
	switch q.Target.Subresource {
	case "status":
		return q.Version.Status()
	case "finalize":
		return q.Version.Finalize()
	}
	if part := q.Version.Parts[q.Target.Subresource]; part != nil {
		return part()
	}
	return q.Version.Main()
}

// Own lets the field manager of the endpoint replace live by object, so that the manager of the request owns what changes. Managed fields that
// cannot be tracked stay as they were.
//
// kube-apiserver ignores an error here: a write must not fail because managed fields are damaged. So an error counts only if no object
// comes with it.
func Own(q *rest.Request, live *read.Live, object managedfields.Object, options api.WriteOptions) (managedfields.Object, error) {
	if q.Version.Custom && q.Target.Subresource == "status" {
		is := schema.ParseGVK(object.Content.Get("apiVersion").Str(), object.Content.Get("kind").Str())
		if is != q.Version.GVK() {
			return object, nil // the kind that it names has no field manager here; only the status is written
		}
	}
	manager := options.ManagerOr(q.HTTP.UserAgent())
	updated, err := managerOf(q).Update(live.Object, object, manager)
	if err != nil && updated.Content.IsAbsent() {
		return updated, api.Refused(err)
	}
	return updated, nil
}

// withoutRepeatedOwners returns content with each owner reference once, and warns of the references that it removes.
func withoutRepeatedOwners(q *rest.Request, content value.Value) value.Value {
	content, uids := fields.UniqueOwners(content)
	if len(uids) > 0 {
		q.Warnings.Add(fields.RepeatedOwners(uids))
	}
	return content
}
