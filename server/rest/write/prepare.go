package write

import (
	stderrors "errors"
	"time"

	"k8s.io/apimachinery/pkg/api/errors"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/rest"
	"github.com/deed-project/deed/value"
)

// What the server knows better than a client. Between mutating admission and validation, the form of the kind resets the fields that the
// endpoint does not write. Then the metadata that only the server sets gets its values. Both functions return new content, and share all
// that they do not change with what they are given.

// prepareNew returns content as it is created. It removes metadata that only the server sets, unless post tells that the object comes from a
// create, which has removed it before admission: what admission sets stays. The error is a 400 of an object in another namespace, or a 500 of
// an object whose metadata is no JSON object.
//
// The form of the kind must not decide about system metadata. So these members are noted before PrepareCreate and restored afterwards, and
// the UID and the creation time come last.
func prepareNew(q *rest.Request, content value.Value, now time.Time, post bool) (value.Value, error) {
	if metadata := content.Get("metadata"); !metadata.IsAbsent() && metadata.Kind() != value.KindObject {
		return content, errors.NewInternalError(stderrors.New("system metadata was not initialized"))
	}
	content, err := api.InNamespace(content, q.Target.Namespace)
	if err != nil {
		return content, err
	}
	if !post {
		content = api.Wipe(content)
	}
	if warn := q.Version.WarnOfNew; warn != nil && q.Target.Subresource == "" {
		q.Warnings.Add(warn(content)...)
	}
	was, uid := content.Get("metadata"), value.String(api.NewUID())
	content = q.Version.Form.PrepareCreate(api.WithMetadata(content, "uid", uid), q.Target.Subresource)
	for _, name := range []string{"resourceVersion", "selfLink", "deletionTimestamp", "deletionGracePeriodSeconds"} {
		content = api.WithMetadata(content, name, was.Get(name))
	}
	content = api.WithMetadata(content, "uid", uid)
	return api.WithMetadata(content, "creationTimestamp", value.String(api.Timestamp(now))), nil
}

// prepare returns content, which was read from sent, for an update. Fields that the endpoint does not write, and fields that no update changes, are
// as in live.
//
// Members of the metadata come from different places:
//
//	uid                          sent if given, so that validation sees a wrong one; else live's
//	creationTimestamp            live's
//	deletionTimestamp            live's if it has one or the endpoint does not write it; else what was sent
//	deletionGracePeriodSeconds   sent, else live's
//	selfLink                     sent, unless the endpoint does not write it; see encode
func prepare(q *rest.Request, content, sent, live value.Value) value.Value {
	was := live.Get("metadata")
	content = q.Version.Form.PrepareUpdate(content, sent, live, q.Target.Subresource)
	if api.Meta(content, "uid") == "" {
		content = api.WithMetadata(content, "uid", was.Get("uid"))
	}
	content = api.WithMetadata(content, "creationTimestamp", was.Get("creationTimestamp"))
	if deleted := was.Get("deletionTimestamp"); !deleted.IsAbsent() {
		content = api.WithMetadata(content, "deletionTimestamp", deleted)
	}
	if grace := was.Get("deletionGracePeriodSeconds"); content.Get("metadata", "deletionGracePeriodSeconds").IsAbsent() {
		content = api.WithMetadata(content, "deletionGracePeriodSeconds", grace)
	}
	return content
}
