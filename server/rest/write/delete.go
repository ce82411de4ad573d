package write

import (
	stderrors "errors"
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/rest"
	"github.com/deed-project/deed/server/rest/read"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/server/wire"
	"github.com/deed-project/deed/value"
)

// Delete carries out DELETE of one object.
//
//	options   of the body, or else of the query
//	keep      unless the kind keeps objects with the name, whether or not there is one
//	check     preconditions
//	end       with the time that the object has for it; see ending.go
//	admit     unless admission refuses it
//	finalize  finalizers that the propagation policy asks for
//	store     the object with its deletion timestamp if finalizers or time are left; else it goes
//
// before is called with the object each time that it is read, and may add to the options; nil is not called. The answer is a Status if the
// object is gone, and the object if it waits.
//
// Its answer follows three rules of kube-apiserver. An object that waits is the answer, with 202 if the client asked in the old way for its
// dependents to go too. A few kinds answer with the object even if it is gone. All others answer with a Status that has the UID.
func (w *Writer) Delete(q *rest.Request, before Before) (*rest.Answer, error) {
	options, err := w.deleteOptions(q)
	if err != nil {
		return nil, err
	}
	if isUnsafe(options) {
		q.Record.Annotate("apiserver.k8s.io/unsafe-delete-ignore-read-error", "")
		return w.deleteUnreadable(q, options)
	}
	if q.Version.Kept != nil {
		if why := q.Version.Kept(q.ObjectName); why != "" {
			return nil, errors.NewForbidden(q.Version.GroupResource(), q.ObjectName, stderrors.New(why))
		}
	}
	t := &Task{Writer: w, Request: q, DryRun: len(options.DryRun) > 0, deletion: options, Unasked: q.Unasked}
	warnOfOrphans(q, options)
	waiting, live, err := t.Delete(options, before)
	switch {
	case err != nil:
		return nil, err
	case waiting != nil && asksForDependents(options):
		return rest.NewAnswer(http.StatusAccepted, *waiting), nil
	case waiting != nil:
		return rest.NewAnswer(http.StatusOK, *waiting), nil
	case t.DryRun && live.Content.Get("metadata", "finalizers").Len() > 0: // which the propagation policy takes away
		return emptyAnswer(q.Version), nil
	case q.Version.AnswersDeleted:
		return rest.NewAnswer(http.StatusOK, live.Object), nil
	}
	return deletedAnswer(q, live), nil
}

// emptyAnswer returns the answer of a dry run that takes the last finalizers of an object: an empty object. kube-apiserver then leaves out the
// removal, which would read the object.
func emptyAnswer(v *catalog.Version) *rest.Answer {
	empty := value.Object()
	if v.Empty != nil {
		empty = v.Empty()
	}
	empty = empty.With("apiVersion", value.String(v.APIVersion())).With("kind", value.String(v.Kind))
	return rest.NewAnswer(http.StatusOK, managedfields.Object{Content: empty})
}

// asksForDependents reports whether options say, in the old way, that what an object owns goes with it.
func asksForDependents(options *metav1.DeleteOptions) bool {
	//lint:ignore SA1019 clients still send it
	return options.OrphanDependents != nil && !*options.OrphanDependents
}

// Before adds to the options of a delete what the kind of the object demands.
type Before func(live *read.Live, options *metav1.DeleteOptions)

// DeleteCollection carries out DELETE of the objects of a collection that match the selectors, one after the other. It answers with the
// list of them. It is not atomic.
//
// Each object gets a task, and a copy of the options, since a kind may write its grace period into them. An object that another request
// deletes meanwhile is no error. Any other error ends the whole request, and objects that were deleted before stay deleted.
func (w *Writer) DeleteCollection(q *rest.Request) (*rest.Answer, error) {
	listed, err := api.ParseListOptions(q.Query)
	if err != nil {
		return nil, err
	}
	if _, err := w.Reader.Collection(q, listed); err != nil { // fields that no selector may name
		return nil, err
	}
	options, err := w.deleteOptions(q)
	if err != nil {
		return nil, err
	}
	if err := refuseUnsafeCollection(options); err != nil {
		return nil, err
	}
	warnOfOrphans(q, options)
	// kube-apiserver reads the collection in pages, and a page is of the very revision that the query names. A negative limit means no
	// pages.
	inPages := !strings.HasPrefix(q.Query.Get("limit"), "-")
	if inPages && listed.Match == "" && listed.Version != "" && listed.Version != "0" && listed.Continue == "" {
		listed.Match = metav1.ResourceVersionMatchExact
	}
	list, err := w.Reader.Objects(q, listed)
	if err != nil {
		return nil, err
	}
	for _, item := range list.Items {
		// The request of one object is a copy, so that keys and errors name the object; Warnings is shared with q.
		one := *q
		one.ObjectName = api.Meta(item, "name")
		one.Target.Namespace = api.Meta(item, "namespace")
		t := &Task{Writer: w, Request: &one, DryRun: len(options.DryRun) > 0, deletion: options, unnamed: true}
		if _, _, err := t.Delete(options.DeepCopy(), nil); err != nil && !errors.IsNotFound(err) {
			return nil, err
		}
	}
	return &rest.Answer{Code: http.StatusOK, List: list, Converted: true}, nil
}

// warnOfOrphans warns of a delete without a propagation policy, if the kind has a warning for it.
func warnOfOrphans(q *rest.Request, options *metav1.DeleteOptions) {
	if !saysPolicy(options) {
		q.Warnings.Add(q.Version.OrphanWarning)
	}
}

// deleteOptions reads the options of a delete, from the body or else from the query.
//
// Options in the query count only if there is no body. Both may be given, and then kube-apiserver ignores the query.
func (w *Writer) deleteOptions(q *rest.Request) (*metav1.DeleteOptions, error) {
	body, err := wire.ReadBody(q.HTTP, MaxBody)
	if err != nil {
		return nil, err
	}
	var options *metav1.DeleteOptions
	if len(body) > 0 {
		media, err := wire.BodyMedia(q.HTTP, wire.Offer{Protobuf: true, CBOR: q.CBOR})
		if err != nil {
			return nil, err
		}
		options, err = wire.DecodeDeleteOptions(body, media)
		if err != nil {
			return nil, err
		}
		recorded := *options
		recorded.TypeMeta = metav1.TypeMeta{APIVersion: "meta.k8s.io/__internal", Kind: "DeleteOptions"}
		q.Record.Send(value.Value{}, wire.Typed{Object: &recorded}.AppendJSON)
	} else if options, err = api.ParseDeleteOptions(q.Query); err != nil {
		return nil, err
	}
	if w.Host.Minor() < unsafeSince {
		options.IgnoreStoreReadErrorWithClusterBreakingPotential = nil
	}
	return options, api.CheckDeleteOptions(options)
}

// text returns a member that is a string.
func text(name, s string) value.Member { return value.Member{Name: name, Value: value.String(s)} }

// deletedAnswer returns the answer of a delete whose object is gone: a Status.
func deletedAnswer(q *rest.Request, live *read.Live) *rest.Answer {
	details := make([]value.Member, 0, 4)
	if q.Version.Group != "" {
		details = append(details, text("group", q.Version.Group))
	}
	details = append(details, text("kind", q.Version.Plural), text("name", q.ObjectName), text("uid", api.Meta(live.Content, "uid")))
	return rest.NewDocument(http.StatusOK, value.Object(
		text("apiVersion", "v1"), value.Member{Name: "details", Value: value.Object(details...)},
		text("kind", "Status"), value.Member{Name: "metadata", Value: value.Object()}, text("status", "Success"),
	))
}

// Delete deletes the object of the request, and tries again if another write changes it meanwhile. It returns the object if it waits, and
// nil if it is gone, with the object as it was.
func (t *Task) Delete(options *metav1.DeleteOptions, before Before) (waiting *managedfields.Object, live *read.Live, err error) {
	err = Retry(t.Request.Context(), func() (err error) {
		waiting, live, err = t.deleteOnce(options, before)
		if stderrors.Is(err, store.ErrNotFound) {
			return store.ErrConflict // another request has deleted it, and the next attempt says so
		}
		return err
	})
	return waiting, live, err
}

// deleteOnce is Delete without a second attempt: store.ErrConflict says that another write was faster.
//
// Whether the object goes at once depends on three things that may hold it:
//
//	finalizers   those of the object, and those that the propagation policy adds to or removes from them
//	holds        the kind's own hold, such as spec.finalizers of a namespace
//	seconds      a grace period that begins or becomes shorter
//
// If any of them holds the object, it is stored with its deletion timestamp. Otherwise the record is removed. An ending that begins with a
// grace period of zero is stored first and removed then: kube-apiserver makes both writes, and watches see both events.
func (t *Task) deleteOnce(options *metav1.DeleteOptions, before Before) (*managedfields.Object, *read.Live, error) {
	live, err := t.load()
	if err == nil {
		live, err = t.bare(live)
	}
	if err != nil {
		return nil, live, err
	}
	q, now := t.Request, t.Writer.Reader.Now()
	if err := CheckPreconditions(q, live, options.Preconditions, t.unnamed); err != nil {
		return nil, live, err
	}
	if before != nil {
		before(live, options)
	}
	end := endingOf(q.Version, live.Content, options, now, t.unnamed)
	// The object ends already, and the request asks for no less time. Neither admission nor the store takes part.
	if end.pending {
		return &t.decorated(live).Object, live, nil
	}
	if err := t.checkStorable(live); err != nil {
		return nil, live, err
	}
	if err := t.admitDelete(live); err != nil {
		return nil, live, err
	}
	finalizers, holds := finalizersFor(q.Version, end.content, end.options), q.Version.Form.BlocksDeletion(end.content)
	waits := len(finalizers) > 0 || holds
	marked := live
	// Something holds the object, or its ending begins now: store that first.
	if waits || end.begins {
		object := live.Object
		if object.Content = withFinalizers(end.content, finalizers); !end.begins {
			object.Content = deleting(object.Content, now, holds)
		}
		// The object stays unless nothing holds it and its grace period is zero. A period of zero falls through to the removal.
		if marked, err = t.Amend(live, object); err != nil || waits || end.seconds > 0 {
			return &marked.Object, live, err
		}
	}
	if err := t.admitRemoval(live, marked); err != nil {
		return nil, live, err
	}
	live, err = t.remove(marked)
	return nil, t.decorated(live), err
}

// admitRemoval asks admission once more about an object that was to be updated before it is removed. It shows the object as it was, which
// kube-apiserver has in its cache, and then the object as it is, if that differs. A dry run ends before that.
//
// kube-apiserver validates a deletion in each attempt of its store to remove the record. The first attempt takes the cached object, and the
// second the current one.
func (t *Task) admitRemoval(live, marked *read.Live) error {
	changed := marked.Record.Revision != live.Record.Revision
	if updated := changed || live.Content.Get("metadata", "finalizers").Len() > 0; !updated || t.DryRun {
		return nil
	}
	if err := t.admitDelete(live); err != nil || !changed {
		return err
	}
	return t.admitDelete(marked)
}

// remove deletes live from the store, and returns it with the version of its deletion. A dry run leaves it there. The error is
// store.ErrNotFound if it is gone meanwhile.
//
// The caches forget the object before the host hears of the removal, so that whatever the host does next reads the store.
func (t *Task) remove(live *read.Live) (*read.Live, error) {
	if t.DryRun {
		return live, nil
	}
	q, view := t.Request, t.view()
	revision, err := view.Store.Delete(q.Context(), live.Record.Key, live.Record.Revision)
	if err != nil {
		return live, err
	}
	view.Replaced(live.Record.Revision)
	view.Removed(live.Record.Key)
	if t.Writer.Allocator != nil {
		t.Writer.Allocator.Release(q.Context(), q, live.Content)
	}
	t.Writer.Host.Stored(q.Context(), q, WasRemoved)
	gone := *live
	gone.Content = read.WithVersion(live.Content, revision)
	return &gone, nil
}

// removeFinished deletes live, and returns the object that an update made of it, which is not stored.
//
// An update that takes the last finalizer answers 200 with the updated object. It shows the object in memory: an empty list of a Go type is not
// null, as it is once it was stored, and no version is converted. The resource version stays that of live, because the update itself was
// never stored. An object that another request has removed meanwhile is the outcome that the update wanted.
func (t *Task) removeFinished(live *read.Live, object managedfields.Object) (_ managedfields.Object, err error) {
	if object.Entries, err = t.arranged(object.Entries); err != nil {
		return object, err
	}
	if form, ok := t.Request.Version.Form.(catalog.ConvertedForm); ok && form.Converts() { // the stored form counts changes
		counted, err := t.storedForm(object, live)
		if err != nil {
			return object, err
		}
		object.Content = api.WithMetadata(object.Content, "generation", counted.Get("metadata", "generation"))
	}
	if _, err := t.remove(live); err != nil && !stderrors.Is(err, store.ErrNotFound) {
		return object, err
	}
	object.Content = read.WithVersion(api.WithMetadata(object.Content, "managedFields", value.Value{}), live.Record.Revision)
	return object, nil
}
