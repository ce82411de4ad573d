package write

import (
	stderrors "errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/rest/read"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/server/wire"
	"github.com/deed-project/deed/value"
)

// Delete carries out DELETE of one object.
//
//	options   of the body, or else of the query
//	check     preconditions
//	end       with the time that the object has for it; see grace.go
//	admit     unless admission refuses it
//	finalize  finalizers that the propagation policy asks for
//	store     the object with its deletion timestamp if finalizers or time are left; else it goes
//
// The answer is a Status if the object is gone, and the object if it waits.
func (r *Request) Delete() (*read.Answer, error) {
	r.ObjectName = r.Target.Name
	options, err := r.deleteOptions()
	if err != nil {
		return nil, err
	}
	w := &write{Request: r, dryRun: len(options.DryRun) > 0, deletion: options}
	r.warnOfOrphans(options)
	waiting, live, err := w.delete(options)
	switch {
	case err != nil:
		return nil, err
	case waiting != nil:
		return read.NewAnswer(http.StatusOK, *waiting), nil
	case r.Version.AnswersDeleted:
		return read.NewAnswer(http.StatusOK, live.Object), nil
	}
	return r.deleted(live), nil
}

// warnOfOrphans warns of a delete that says nothing of what the object owns, of a kind where that is not what most expect.
func (r *Request) warnOfOrphans(options *metav1.DeleteOptions) {
	if !saysPolicy(options) {
		r.Warnings.Add(r.Version.OrphanWarning)
	}
}

// saysPolicy reports whether options say what becomes of what an object owns.
func saysPolicy(options *metav1.DeleteOptions) bool {
	//lint:ignore SA1019 clients still send it
	return options.PropagationPolicy != nil || options.OrphanDependents != nil
}

// deleteOptions reads what a delete asks for.
func (r *Request) deleteOptions() (*metav1.DeleteOptions, error) {
	body, err := wire.ReadBody(r.HTTP, MaxBody)
	if err != nil {
		return nil, err
	}
	var options *metav1.DeleteOptions
	if len(body) > 0 {
		media, err := wire.BodyMedia(r.HTTP, wire.Offer{Protobuf: true, CBOR: r.CBOR})
		if err != nil {
			return nil, err
		}
		options, err = wire.DecodeDeleteOptions(body, media)
		if err != nil {
			return nil, err
		}
	} else if options, err = api.ParseDeleteOptions(r.Query); err != nil {
		return nil, err
	}
	return options, api.CheckDeleteOptions(options)
}

// delete deletes the object of the request, as often as others change it meanwhile. It returns the object if it waits, and
// nil if it is gone, with what was there.
func (w *write) delete(options *metav1.DeleteOptions) (waiting *managedfields.Object, live read.Live, err error) {
	for {
		if err := w.Context().Err(); err != nil {
			return nil, live, err
		}
		waiting, live, err = w.deleteOnce(options)
		if !stderrors.Is(err, store.ErrConflict) && !stderrors.Is(err, store.ErrNotFound) {
			return waiting, live, err
		}
	}
}

func (w *write) deleteOnce(options *metav1.DeleteOptions) (*managedfields.Object, read.Live, error) {
	live, err := w.MustLoad()
	if err != nil {
		return nil, live, err
	}
	if err := w.checkPreconditions(live, options.Preconditions); err != nil {
		return nil, live, err
	}
	if w.isNamespace() {
		mean(live, options)
	}
	end := w.ending(live.Content, options)
	if end.pending {
		return &live.Object, live, nil
	}
	if err := w.admitDelete(live); err != nil {
		return nil, live, err
	}
	finalizers, holds := w.finalizersFor(end.content, end.options), w.Version.Form.Holds(end.content)
	waits := len(finalizers) > 0 || holds
	marked := live
	if waits || end.begins {
		object := live.Object
		if object.Content = withFinalizers(end.content, finalizers); !end.begins {
			object.Content = w.deleting(object.Content, holds)
		}
		if marked, err = w.mark(live, object); err != nil || waits || end.seconds > 0 {
			return &marked.Object, live, err
		}
	}
	if err := w.admitRemoval(live, marked); err != nil {
		return nil, live, err
	}
	live, err = w.remove(marked)
	return nil, live, err
}

// mean has options mean live, and nothing that takes its place.
func mean(live read.Live, options *metav1.DeleteOptions) {
	if options.Preconditions == nil {
		options.Preconditions = &metav1.Preconditions{}
	}
	if options.Preconditions.UID == nil {
		options.Preconditions.UID = new(types.UID(api.Meta(live.Content, "uid")))
	}
}

// admitRemoval asks admission once more about an object that was to be updated before it goes: as it was, which is what a kube-apiserver
// still has in its cache, and then as it is, if that is something else. A dry run ends before that.
func (w *write) admitRemoval(live, marked read.Live) error {
	changed := marked.Record.Revision != live.Record.Revision
	if updated := changed || live.Content.Get("metadata", "finalizers").Len() > 0; !updated || w.dryRun {
		return nil
	}
	if err := w.admitDelete(live); err != nil || !changed {
		return err
	}
	return w.admitDelete(marked)
}

// mark stores object, which is to be deleted, in place of live, unless nothing changed.
func (w *write) mark(live read.Live, object managedfields.Object) (read.Live, error) {
	stored, err := w.encode(object)
	switch {
	case err != nil:
	case w.dryRun || string(stored.text) == string(live.Record.Text):
		object, err = w.reread(stored, live.Record.Revision)
	default:
		object, err = w.commit(stored, live, WasMarked)
	}
	if err != nil {
		return live, err
	}
	revision, err := api.ParseVersion(api.Meta(object.Content, "resourceVersion"), false)
	return read.Live{Object: object, Record: store.Record{Key: live.Record.Key, Revision: store.Revision(revision)}}, err
}

// remove deletes live from the store, and returns it with the version of its deletion. A dry run leaves it there. The error is
// store.ErrNotFound if it is gone meanwhile.
func (w *write) remove(live read.Live) (read.Live, error) {
	if w.dryRun {
		return live, nil
	}
	revision, err := w.Store.Delete(w.Context(), live.Record.Key, live.Record.Revision)
	if err != nil {
		return live, err
	}
	w.Replaced(live.Record.Revision)
	w.Removed(live.Record.Key)
	if w.Stored != nil {
		w.Stored(w.Context(), w.Request, WasRemoved)
	}
	live.Content = read.WithVersion(live.Content, revision)
	return live, nil
}

// checkPreconditions refuses, with 409, to delete another object than the one that is meant.
func (w *write) checkPreconditions(live read.Live, p *metav1.Preconditions) error {
	if p == nil {
		return nil
	}
	uid, version := api.Meta(live.Content, "uid"), api.Meta(live.Content, "resourceVersion")
	if p.UID != nil && string(*p.UID) != uid {
		return w.preconditionFailed("UID", string(*p.UID), uid, "deleted and then recreated")
	}
	if p.ResourceVersion != nil && *p.ResourceVersion != version {
		return w.preconditionFailed("ResourceVersion", *p.ResourceVersion, version, "modified")
	}
	return nil
}

// preconditionFailed returns the 409 of a precondition. Namespaces and definitions have words of their own, unless a whole collection is
// deleted.
func (w *write) preconditionFailed(what, asked, has, happened string) error {
	if begins := w.Version.PreconditionFailed; begins != "" && !w.unnamed {
		return errors.NewConflict(w.Version.GroupResource(), w.ObjectName, fmt.Errorf(
			"%s: %s in precondition: %s, %[2]s in object meta: %[4]s", begins, what, asked, has))
	}
	kind := kschema.GroupResource{Group: w.Version.Group, Resource: w.Version.Kind}
	return errors.NewConflict(kind, w.ObjectName, fmt.Errorf("the %s in the precondition (%s) does not match the %[1]s in record (%[3]s). "+
		"The object might have been %[4]s", what, asked, has, happened))
}

// The finalizers that a propagation policy asks for.
const (
	orphanFinalizer     = "orphan"
	foregroundFinalizer = "foregroundDeletion"
)

// finalizersFor returns the finalizers that an object waits for when it is deleted: those that it has, with the one of the
// propagation policy in place of that of another. Without a policy they stay, and one is added if the kind orphans by default, unless
// there is one of a policy. Objects that own nothing wait for no policy.
func (w *write) finalizersFor(content value.Value, options *metav1.DeleteOptions) []string {
	var finalizers []string
	for f := range content.Get("metadata", "finalizers").Items() {
		finalizers = append(finalizers, f.Str())
	}
	ofPolicy := func(f string) bool { return f == orphanFinalizer || f == foregroundFinalizer }
	switch {
	case w.Version.Uncollected:
		return slices.DeleteFunc(finalizers, ofPolicy)
	case !saysPolicy(options):
		if w.Version.Orphans && !slices.ContainsFunc(finalizers, ofPolicy) {
			finalizers = append(finalizers, orphanFinalizer)
		}
		return finalizers
	}
	asked := ""
	//lint:ignore SA1019 clients still send it
	switch orphans := options.OrphanDependents; {
	case orphans != nil && *orphans, orphans == nil && *options.PropagationPolicy == metav1.DeletePropagationOrphan:
		asked = orphanFinalizer
	case orphans == nil && *options.PropagationPolicy == metav1.DeletePropagationForeground:
		asked = foregroundFinalizer
	}
	kept := slices.DeleteFunc(finalizers, func(f string) bool { return ofPolicy(f) && f != asked })
	if asked != "" && !slices.Contains(kept, asked) {
		kept = append(kept, asked)
	}
	return kept
}

// deleting returns content as it waits for finalizers, or for what else holds it. When it begins to, the generation counts.
func (w *write) deleting(content value.Value, holds bool) value.Value {
	switch began, err := time.Parse(time.RFC3339, api.Meta(content, "deletionTimestamp")); {
	case err != nil:
		content = api.WithMetadata(counted(content), "deletionTimestamp", value.String(w.timestamp()))
	case began.After(w.Now()): // the clock went back, or was another one
		content = api.WithMetadata(content, "deletionTimestamp", value.String(w.timestamp()))
	}
	if holds {
		return content
	}
	return api.WithMetadata(content, "deletionGracePeriodSeconds", value.Int(0))
}

// withFinalizers returns content with the given finalizers.
func withFinalizers(content value.Value, finalizers []string) value.Value {
	if len(finalizers) == 0 {
		return api.WithMetadata(content, "finalizers", value.Value{})
	}
	var items []value.Value
	for _, f := range finalizers {
		items = append(items, value.String(f))
	}
	return api.WithMetadata(content, "finalizers", value.List(items...))
}

// text returns a member that is a string.
func text(name, s string) value.Member { return value.Member{Name: name, Value: value.String(s)} }

// deleted is the answer when an object is gone.
func (r *Request) deleted(live read.Live) *read.Answer {
	details := make([]value.Member, 0, 4)
	if r.Version.Group != "" {
		details = append(details, text("group", r.Version.Group))
	}
	details = append(details, text("kind", r.Version.Plural), text("name", r.ObjectName), text("uid", api.Meta(live.Content, "uid")))
	return read.NewDocument(http.StatusOK, value.Object(
		text("apiVersion", "v1"), value.Member{Name: "details", Value: value.Object(details...)},
		text("kind", "Status"), value.Member{Name: "metadata", Value: value.Object()}, text("status", "Success"),
	))
}

// finished reports whether an update takes the last finalizer, and everything else that holds it, from an object that waits to
// be deleted.
func (w *write) finished(content, live value.Value) bool {
	metadata := live.Get("metadata")
	return content.Get("metadata", "finalizers").Len() == 0 && !metadata.Get("deletionTimestamp").IsAbsent() &&
		metadata.Get("deletionGracePeriodSeconds").Int() == 0 && !w.Version.Form.Holds(content)
}

// removeFinished deletes live, and returns the object that an update made of it, which is not stored any more.
func (w *write) removeFinished(live read.Live, object managedfields.Object) (managedfields.Object, error) {
	stored, err := w.encode(object)
	if err != nil {
		return object, err
	}
	if _, err := w.remove(live); err != nil && !stderrors.Is(err, store.ErrNotFound) {
		return object, err
	}
	return w.reread(stored, live.Record.Revision)
}
