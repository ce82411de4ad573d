package write

import (
	"fmt"
	"math"
	"net/http"

	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/rest/read"
)

// unset stands for the replicas of objects that have none, in a Scale that is to be written.
const unset = math.MinInt32

// getScale answers with the Scale of an object.
func (r *Request) getScale() (*read.Answer, error) {
	live, err := r.MustLoad()
	if err != nil {
		return nil, err
	}
	scale, wanted, err := r.Version.Scale.Of(live.Content)
	if err == nil && !wanted {
		err = errors.NewInternalError(fmt.Errorf("the spec replicas field %q does not exist", r.Version.Scale.Spec))
	}
	if err != nil {
		return nil, err
	}
	return read.NewDocument(http.StatusOK, scale), nil
}

// updateScale carries out PUT of a Scale.
func (r *Request) updateScale() (*read.Answer, error) {
	options, err := api.ParseUpdateOptions(r.Query)
	if err != nil {
		return nil, err
	}
	sent, err := r.ofScale().decode(options, read.Live{})
	if err != nil {
		return nil, r.scaleError(err)
	}
	if sent.Content, err = r.identified(sent); err != nil {
		return nil, err
	}
	return r.writeScale(options, api.Meta(sent.Content, "uid"), func(scale read.Live) (managedfields.Object, error) {
		return r.replaceScale(scale, sent, options)
	})
}

// ofScale returns the request as one for objects that are what is sent to it: Scales if it is for those.
func (r *Request) ofScale() *Request {
	if r.Target.Subresource != "scale" {
		return r
	}
	other := *r
	other.Version = r.Version.Scale.Sent
	return &other
}

// scaleError returns how a request is told what is wrong with its Scale. Who reads those of custom resources has no name for that kind.
func (r *Request) scaleError(err error) error {
	if r.Version.Custom && errors.IsBadRequest(err) {
		return errors.NewBadRequest(`no kind is registered for the type v1.Scale in scheme "pkg/runtime/scheme.go:111"`)
	}
	return err
}

// patchScale carries out PATCH of a Scale with what change makes of it.
func (r *Request) patchScale(change change, options api.WriteOptions) (*read.Answer, error) {
	return r.writeScale(options, "", change)
}

// replaceScale lets the field manager of Scale replace one by what was sent.
func (r *Request) replaceScale(scale read.Live, sent managedfields.Object, options api.WriteOptions) (managedfields.Object, error) {
	status := sent.Content.Get("status")
	sent.Content = catalog.NewScale(sent.Content.Get("metadata"), sent.Content.Get("spec", "replicas").Int(),
		status.Get("replicas").Int(), status.Get("selector").Str())
	object, err := r.Version.Scale.Manager.Update(scale.Object, sent, options.ManagerOr(r.HTTP.UserAgent()))
	if err != nil && object.Content.IsAbsent() {
		return object, api.Refused(err)
	}
	return object, nil
}

// applyScale applies to a Scale.
//
// The converter of custom resources knows no Scale, but is asked for one in two places: where an object without owners is adopted,
// and where an apply changes something. So for those, only an apply that changes nothing succeeds.
func (r *Request) applyScale(scale read.Live, config managedfields.Object, options api.WriteOptions) (managedfields.Object, error) {
	if !r.Version.Custom {
		object, err := r.Version.Scale.Manager.Apply(scale.Object, config, options.Manager, options.Force)
		return object, api.Refused(err)
	}
	const refusal = "proper version: request to convert CR to an invalid group/version: autoscaling/v1"
	if len(scale.Entries) == 0 {
		return scale.Object, fmt.Errorf("failed to create manager for existing fields: "+
			"failed to convert live object (/; %v) to "+refusal, catalog.ScaleKind)
	}
	plan, err := r.Version.Scale.Manager.Plan(scale.Object, config, options.Manager)
	if err != nil {
		return scale.Object, api.Refused(err)
	}
	commit := plan.Commit
	if options.Force {
		commit = plan.Force
	}
	object, err := commit()
	if err == nil && plan.Changed() {
		err = fmt.Errorf("failed to convert new object (%s/%s; %v) to "+refusal,
			api.Meta(config.Content, "namespace"), api.Meta(config.Content, "name"), config.GVK())
	}
	return object, api.Refused(err)
}

// writeScale lets change write the Scale of the stored object, and stores the object with what came out.
func (r *Request) writeScale(options api.WriteOptions, uid string, change change) (*read.Answer, error) {
	w := &write{Request: r, dryRun: options.DryRun, uid: uid}
	object, _, err := w.run(func(live read.Live) (managedfields.Object, error) { return w.scaled(live, change) })
	if err != nil {
		return nil, err
	}
	scale, _, err := r.Version.Scale.Of(object.Content)
	if err != nil {
		return nil, err
	}
	return read.NewDocument(http.StatusOK, scale), nil
}

// scaled returns live with the replicas, and the managers of them, that change gives its Scale.
func (w *write) scaled(live read.Live, change change) (managedfields.Object, error) {
	content, wanted, err := w.Version.Scale.Of(live.Content)
	if err != nil {
		return managedfields.Object{}, err
	}
	if !wanted {
		status := content.Get("status")
		content = catalog.NewScale(content.Get("metadata"), unset, status.Get("replicas").Int(), status.Get("selector").Str())
	}
	entries, err := managedfields.ScaleEntries(live.Entries, w.Version.Scale.Replicas)
	if err != nil {
		return managedfields.Object{}, api.Refused(err)
	}
	scale := read.Live{Object: managedfields.Object{Content: content, Entries: entries}, Record: live.Record}
	written, err := change(scale)
	if err != nil {
		return written, err
	}
	if written.Content, err = w.identified(written); err != nil {
		return written, err
	}
	if written, err = w.mutate(scale, written); err != nil {
		return written, err
	}
	replicas := written.Content.Get("spec", "replicas").Int()
	if replicas == unset {
		return written, errors.NewBadRequest(fmt.Sprintf("the spec replicas field %q cannot be empty", w.Version.Scale.Spec))
	}
	if replicas < 0 && !w.Version.Custom {
		return written, api.Invalid(kindIn(written.Content), w.ObjectName, field.ErrorList{
			field.Invalid(field.NewPath("spec", "replicas"), replicas, "must be greater than or equal to 0"),
		})
	}
	object := managedfields.Object{Content: w.Version.Scale.WithReplicas(live.Content, replicas)}
	if version := written.Content.Get("metadata", "resourceVersion"); version.Str() != "" {
		object.Content = api.WithMetadata(object.Content, "resourceVersion", version)
	}
	object.Entries, err = managedfields.EntriesAfterScale(live.Entries, written.Entries, w.Version.APIVersion(), w.Version.Scale.Replicas)
	return object, api.Refused(err)
}
