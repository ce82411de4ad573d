package write

import (
	stderrors "errors"
	"time"

	"k8s.io/apimachinery/pkg/api/errors"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/value"
)

// prepareNew returns content as it is created. What only the server says about an object goes; a create takes that out before
// admission sees the object, and what admission puts there stays. The error is a 400 of an object in another namespace, or a 500 of one
// whose metadata can hold nothing.
func (w *write) prepareNew(content value.Value) (value.Value, error) {
	if metadata := content.Get("metadata"); !metadata.IsAbsent() && metadata.Kind() != value.KindObject {
		return content, errors.NewInternalError(stderrors.New("system metadata was not initialized"))
	}
	content, err := api.InNamespace(content, w.Target.Namespace)
	if err != nil {
		return content, err
	}
	if !w.post {
		content = api.Wipe(content)
	}
	was, uid := content.Get("metadata"), value.String(api.NewUID())
	content = w.Version.Form.PrepareCreate(api.WithMetadata(content, "uid", uid))
	for _, name := range []string{"resourceVersion", "selfLink", "deletionTimestamp", "deletionGracePeriodSeconds"} {
		content = api.WithMetadata(content, name, was.Get(name))
	}
	content = api.WithMetadata(content, "uid", uid)
	return api.WithMetadata(content, "creationTimestamp", value.String(w.timestamp())), nil
}

// prepare returns content with what its endpoint does not write, and with what no update changes, as it is in live.
func (w *write) prepare(content, live value.Value) value.Value {
	sent, was := content.Get("metadata"), live.Get("metadata")
	content = w.Version.Form.PrepareUpdate(content, live, w.Target.Subresource)
	if !w.Version.Custom { // whose forms leave to validation what no update changes
		for _, name := range []string{"uid", "deletionTimestamp", "deletionGracePeriodSeconds"} {
			content = api.WithMetadata(content, name, sent.Get(name))
		}
	}
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

// timestamp returns the time as metadata has it.
func (r *Request) timestamp() string { return r.Now().UTC().Format(time.RFC3339) }
