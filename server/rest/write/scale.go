package write

import (
	stderrors "errors"
	"fmt"
	"math"
	"net/http"

	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/internal/custom"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/rest"
	"github.com/deed-project/deed/server/rest/read"
)

// Writes through the subresource scale. A client reads and writes a Scale, which is not stored; it is made of the object and written back
// to it. The write to the object itself is an ordinary Task.Run:
//
//	live        Deployment {spec: {replicas: 1, ...}}     entries for all fields
//	scale       Scale {spec: {replicas: 1}}               entries for the path of replicas alone
//	change      Scale {spec: {replicas: 3}}               what the verb makes of it, with its own field manager
//	object      Deployment {spec: {replicas: 3, ...}}     entries with the new owner of replicas
//
// Admission sees Scales. The replicas of the Scale are validated first, and then the object as in every update.

// unset is the number of replicas in a Scale that is to be written, of an object that has no replicas.
//
// It shows whether a patch or an apply has set the replicas.
const unset = math.MinInt32

// updateScale carries out PUT of a Scale.
//
// Unlike Update, it shares no parts with what was read before.
func (w *Writer) updateScale(q *rest.Request) (*rest.Answer, error) {
	options, err := api.ParseUpdateOptions(q.Query)
	if err != nil {
		return nil, err
	}
	body, err := readBody(ofScale(q), options.Validation == api.Ignore)
	if err != nil {
		return nil, scaleError(q, err)
	}
	sent, err := objectOf(ofScale(q), body, options, &read.Live{})
	if err != nil {
		return nil, scaleError(q, err)
	}
	record(q, ofScale(q).Version, sent)
	if sent.Content, err = identified(q, sent); err != nil {
		return nil, err
	}
	return w.writeScale(q, options, api.Meta(sent.Content, "uid"), func(scale *read.Live) (managedfields.Object, error) {
		replaced, err := replaceScale(q, scale, sent, options)
		if q.Version.Custom && body.Unversioned {
			replaced.Entries = scale.Entries // the field manager of custom resources gives up without a version
		}
		return replaced, err
	})
}

// ofScale returns a request as one for the objects that are sent to it: Scales, if the request is for a Scale.
func ofScale(q *rest.Request) *rest.Request {
	if !q.IsScale() {
		return q
	}
	other := *q
	other.Version = q.Version.Scale.Requests
	return &other
}

// scaleError returns the error of a Scale that cannot be decoded. kube-apiserver decodes the Scales of custom resources with a scheme that
// does not know the kind.
func scaleError(q *rest.Request, err error) error {
	if q.Version.Custom && errors.IsBadRequest(err) {
		return errors.NewBadRequest(`no kind is registered for the type v1.Scale in scheme "pkg/runtime/scheme.go:111"`)
	}
	return err
}

// replaceScale lets the field manager of Scales replace a Scale by the one that was sent.
//
// The Scale is built anew, so that members that the client left away have the zero values of the Go type.
func replaceScale(q *rest.Request, scale *read.Live, sent managedfields.Object, options api.WriteOptions) (managedfields.Object, error) {
	status := sent.Content.Get("status")
	sent.Content = catalog.NewScale(sent.Content.Get("metadata"), sent.Content.Get("spec", "replicas").Int(),
		status.Get("replicas").Int(), status.Get("selector").Str())
	object, err := q.Version.Scale.Manager.Update(scale.Object, sent, options.ManagerOr(q.HTTP.UserAgent()))
	if err != nil && object.Content.IsAbsent() {
		return object, api.Refused(err)
	}
	return object, nil
}

// applyScale applies to a Scale.
//
// An apply to the Scale of a custom resource succeeds only if it changes nothing: see [custom.ChangedScale].
func applyScale(q *rest.Request, scale *read.Live, config managedfields.Object, options api.WriteOptions) (managedfields.Object, error) {
	if !q.Version.Custom {
		object, err := q.Version.Scale.Manager.Apply(scale.Object, config, options.Manager, options.Force)
		return object, api.Refused(err)
	}
	if gvk := config.GVK(); gvk != catalog.ScaleKind {
		return scale.Object, errors.NewBadRequest(fmt.Sprintf("invalid object type: %v", gvk))
	}
	if len(scale.Entries) == 0 {
		return scale.Object, stderrors.New(custom.UnownedScale)
	}
	plan, err := q.Version.Scale.Manager.Plan(scale.Object, config, options.Manager)
	if err != nil {
		return scale.Object, api.Refused(err)
	}
	commit := plan.Commit
	if options.Force {
		commit = plan.Force
	}
	object, err := commit()
	if err == nil && plan.Changed() {
		err = stderrors.New(custom.ChangedScale(config.GVK(), api.Meta(config.Content, "namespace"), api.Meta(config.Content, "name")))
	}
	return object, api.Refused(err)
}

// writeScale lets change write the Scale of the stored object, and stores the object with the outcome.
//
// change gets the Scale as its live object. The answer is the Scale of the object as it was stored, without managed fields.
func (w *Writer) writeScale(q *rest.Request, options api.WriteOptions, uid string, change Change) (*rest.Answer, error) {
	t := &Task{Writer: w, Request: q, DryRun: options.DryRun, UID: uid}
	written, err := t.Run(func(live *read.Live) (managedfields.Object, error) { return t.scaled(live, change) })
	if err != nil {
		return nil, err
	}
	scale, _, err := q.Version.Scale.Of(written.Content)
	if err != nil {
		return nil, err
	}
	return rest.NewDocument(http.StatusOK, scale), nil
}

// scaled returns live with the replicas that change gives its Scale, and with their managers.
//
// Negative replicas of a custom resource are left to the schema of its definition.
func (t *Task) scaled(live *read.Live, change Change) (managedfields.Object, error) {
	q := t.Request
	content, wanted, err := q.Version.Scale.Of(live.Content)
	if err != nil {
		return managedfields.Object{}, err
	}
	if !wanted {
		status := content.Get("status")
		content = catalog.NewScale(content.Get("metadata"), unset, status.Get("replicas").Int(), status.Get("selector").Str())
	}
	entries, err := managedfields.ScaleEntries(live.Entries, q.Version.Scale.Replicas)
	if err != nil {
		return managedfields.Object{}, api.Refused(err)
	}
	scale := &read.Live{Object: managedfields.Object{Content: content, Entries: entries}, Record: live.Record}
	written, err := change(scale)
	if err != nil {
		return written, err
	}
	if written.Content, err = identified(q, written); err != nil {
		return written, err
	}
	if written, err = t.Mutate(scale, written); err != nil {
		return written, err
	}
	replicas := written.Content.Get("spec", "replicas").Int()
	if replicas == unset {
		return written, errors.NewBadRequest(fmt.Sprintf("the spec replicas field %q cannot be empty", q.Version.Scale.Spec))
	}
	if replicas < 0 && !q.Version.Custom {
		return written, api.Invalid(kindIn(written.Content), q.ObjectName, field.ErrorList{
			field.Invalid(field.NewPath("spec", "replicas"), replicas, "must be greater than or equal to 0"),
		})
	}
	if wanted, uid := api.Meta(written.Content, "uid"), api.Meta(live.Content, "uid"); wanted != "" && wanted != uid && !q.Version.Custom {
		of := q.Version.GroupResource()
		of.Resource += "/scale"
		//lint:ignore ST1005 these are the words of Kubernetes
		err := fmt.Errorf("Precondition failed: UID in precondition: %s, UID in object meta: %s", wanted, uid)
		return written, errors.NewConflict(of, q.ObjectName, err)
	}
	object := managedfields.Object{}
	if object.Content, err = q.Version.Scale.WithReplicas(live.Content, replicas); err != nil {
		return written, err
	}
	// A version in the Scale is a version of the object: checkVersion compares it later.
	if version := written.Content.Get("metadata", "resourceVersion"); version.Str() != "" {
		object.Content = api.WithMetadata(object.Content, "resourceVersion", version)
	}
	object.Entries, err = managedfields.EntriesAfterScale(live.Entries, written.Entries, q.Version.APIVersion(), q.Version.Scale.Replicas)
	if err == nil {
		// kube-apiserver makes these entries of maps. The next write of a built-in kind orders them as sets again, and so changes their texts,
		// even if it changes nothing else.
		err = t.Writer.ordered.arrange(object.Entries)
	}
	return object, api.Refused(err)
}
