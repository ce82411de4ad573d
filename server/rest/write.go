package rest

import (
	"bytes"
	stderrors "errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

// change computes what is to replace live, the zero Live if nothing is stored. It may be called several times.
type change func(live Live) (managedfields.Object, error)

// write is a write to one object, as the steps of it know it.
type write struct {
	*Request
	dryRun bool
	create bool   // an object that does not exist is created
	post   bool   // it must not exist
	uid    string // that the stored object must have; empty for any

	deletion *metav1.DeleteOptions // of a delete
	unasked  bool                  // admission is not asked whether it may be deleted
	unnamed  bool                  // the request names no object
	named    bool                  // the server made up the name of the object

	text func([]byte) []byte // appends the outcome as an answer has it; nil if it must be printed

	faultless bool // validation of the whole object found nothing, and nothing was warned of
	proof     catalog.Proof

	equivalents equivalents
}

// run changes the object of the request, and returns it as it is stored then, and whether it was created.
//
//	load      what is stored, if anything
//	check     that it is what the request means
//	change    what the verb makes of it
//	mutate    what admission makes of that
//	prepare   what the endpoint may write, and what the server knows better
//	validate  the outcome
//	admit     unless admission refuses it
//	store     unless nothing changed, and only if nobody else was faster: otherwise all of this again
func (w *write) run(change change) (object managedfields.Object, created bool, err error) {
	for {
		if err := w.context().Err(); err != nil {
			return object, false, err
		}
		object, created, err = w.attempt(change)
		if !stderrors.Is(err, store.ErrConflict) {
			return object, created, err
		}
	}
}

// attempt is run without trying again: store.ErrConflict says that somebody else was faster.
func (w *write) attempt(change change) (object managedfields.Object, created bool, err error) {
	live, err := w.load()
	if err != nil {
		return object, false, whyUnreadable(err)
	}
	if !live.Exists() && !w.create {
		return object, false, w.notFound()
	}
	if err := w.checkUID(live); err != nil {
		return object, false, err
	}
	if object, err = change(live); err != nil {
		return object, false, err
	}
	if w.Target.Subresource != "scale" { // of which it is the change that mutates
		if object, err = w.mutate(live, object); err != nil {
			return object, false, err
		}
	}
	if !live.Exists() {
		if err = checkNew(object.Content); err == nil {
			object, err = w.storeNew(object)
		}
		return object, true, err
	}
	object, err = w.replace(live, object)
	return object, false, err
}

// checkNew refuses an object that does not exist yet if its resource version is none.
func checkNew(content value.Value) error {
	version := api.Meta(content, "resourceVersion")
	if version == "" {
		return nil
	}
	_, err := strconv.ParseUint(version, 10, 64)
	return err
}

// checkUID refuses, with 409, to write to another object than the one that the client read.
func (w *write) checkUID(live Live) error {
	uid := types.UID(api.Meta(live.Content, "uid"))
	if w.uid == "" || w.uid == string(uid) {
		return nil
	}
	key := w.key()
	if w.dryRun { // which never reaches the part of a store that knows the first segment
		key = strings.TrimPrefix(key, "/registry")
	}
	return errors.NewConflict(w.Version.GroupResource(), w.name, fmt.Errorf(
		"StorageError: invalid object, Code: 4, Key: %s, ResourceVersion: 0, AdditionalErrorMsg: "+
			"Precondition failed: UID in precondition: %s, UID in object meta: %s", key, w.uid, uid))
}

// storeNew stores an object that does not exist yet.
func (w *write) storeNew(object managedfields.Object) (managedfields.Object, error) {
	var err error
	if object.Content, err = w.prepareNew(object.Content); err != nil {
		return object, err
	}
	if err := w.validateNew(object.Content); err != nil {
		return object, err
	}
	if w.Version.Terminating {
		return object, errors.NewForbidden(w.Version.GroupResource(), w.name,
			stderrors.New("create not allowed while custom resource definition is terminating"))
	}
	if err := w.admit(managedfields.Object{}, object); err != nil {
		return object, err
	}
	version := api.Meta(object.Content, "resourceVersion")
	if n, err := api.ParseVersion(version, false); err == nil && n != 0 && w.post && !w.dryRun {
		return object, stderrors.New("resourceVersion should not be set on objects to be created")
	}
	stored, err := w.encode(object)
	if err != nil {
		return object, err
	}
	if !w.dryRun {
		return w.commit(stored, Live{}, WasStored)
	}
	if object, err = w.reread(stored, 0); version != "" {
		object.Content = api.WithMetadata(object.Content, "resourceVersion", value.String(version))
	}
	return object, err
}

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
	was := content.Get("metadata")
	content = w.Version.Form.PrepareCreate(content)
	for _, name := range []string{"resourceVersion", "selfLink", "deletionTimestamp", "deletionGracePeriodSeconds"} {
		content = api.WithMetadata(content, name, was.Get(name))
	}
	content = api.WithMetadata(content, "uid", value.String(api.NewUID()))
	return api.WithMetadata(content, "creationTimestamp", value.String(w.timestamp())), nil
}

// validateNew returns a 422 with everything that is wrong with a new object.
func (w *write) validateNew(content value.Value) error {
	form := w.Version.Form
	errs := form.ValidateCreate(w.context(), content)
	if len(errs) == 0 {
		errs = api.ValidateNew(content, w.Version.Namespaced)
	}
	if len(errs) > 0 {
		return invalid(content, errs)
	}
	w.faultless = w.Warnings.Empty()
	w.warnOfFinalizers(content, value.Value{})
	return nil
}

// replace stores object in place of live.
func (w *write) replace(live Live, object managedfields.Object) (managedfields.Object, error) {
	content, err := w.checkVersion(live, object.Content)
	if err != nil {
		return object, err
	}
	if content, err = api.InNamespace(content, w.Target.Namespace); err != nil {
		return object, err
	}
	object.Content = w.prepare(content, live.Content)
	if err := w.validate(object, live); err != nil {
		return object, err
	}
	object = keepTimes(object, live.Object)
	if err := w.admitChange(live, object); err != nil {
		return object, err
	}
	if w.finished(object.Content, live.Content) {
		return w.removeFinished(live, object)
	}
	stored, err := w.encode(object)
	switch {
	case err != nil:
		return object, err
	case bytes.Equal(stored.text, live.Record.Text):
		w.text = w.textOf(live.Record)
		return w.reread(stored, live.Record.Revision)
	case w.dryRun:
		return w.reread(stored, live.Record.Revision)
	}
	return w.commit(stored, live, WasStored)
}

// checkVersion compares the resource version that an update is based on with that of live. The error is a 422 if it has none
// but must, a 409 if it is another, and a plain one if it is no number.
func (w *write) checkVersion(live Live, content value.Value) (value.Value, error) {
	had := api.Meta(content, "resourceVersion")
	if had == "" || had == "0" {
		if w.Version.Form.Unconditional() {
			return withVersion(content, live.Record.Revision), nil
		}
		resource := w.Version.GroupResource()
		return content, errors.NewInvalid(kschema.GroupKind{Group: resource.Group, Kind: resource.Resource}, w.name, field.ErrorList{
			field.Invalid(field.NewPath("metadata", "resourceVersion"), 0, "must be specified for an update"),
		})
	}
	n, err := strconv.ParseUint(had, 10, 64)
	if err != nil {
		return content, err
	}
	if n != uint64(live.Record.Revision) {
		return content, api.Modified(w.Version.GroupResource(), w.name)
	}
	return content, nil
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

// invalid refuses content, with 422, for what is wrong with it. It is called by the kind that it says it is of.
func invalid(content value.Value, errs field.ErrorList) error {
	gvk := schema.ParseGVK(content.Get("apiVersion").Str(), content.Get("kind").Str())
	return errors.NewInvalid(kschema.GroupKind{Group: gvk.Group, Kind: gvk.Kind}, api.Meta(content, "name"), errs)
}

// validate returns a 422 with everything that is wrong with object in place of live. It does not look again at an object that stays as it
// is, if nothing was found when it was written.
func (w *write) validate(object managedfields.Object, stored Live) error {
	content, live, whole := object.Content, stored.Content, w.Target.Subresource == ""
	if w.faultless = whole && stored.faultless && w.Version.Form.Timeless() && content.Equal(live); w.faultless {
		w.proof = stored.proof
		return nil
	}
	errs := api.ValidateReplaced(content, live, w.Version.Namespaced)
	errs = append(errs, w.validateChange(content, stored)...)
	w.faultless = whole && w.Warnings.Empty()
	if len(errs) > 0 {
		if !w.Version.Custom {
			errs = unique(errs)
		}
		return invalid(content, withFields(errs, object))
	}
	if w.Target.Subresource == "" {
		w.warnOfFinalizers(content, live)
	}
	return nil
}

// validateChange returns what the kind finds wrong with content in place of live.
func (w *write) validateChange(content value.Value, live Live) (errs field.ErrorList) {
	form, ok := w.Version.Form.(catalog.Sparing)
	if !ok {
		return w.Version.Form.ValidateUpdate(w.context(), content, live.Content, w.Target.Subresource, w.Warnings)
	}
	errs, w.proof = form.ValidateChange(w.context(), content, live.Content, w.Target.Subresource, w.Warnings, live.proof)
	return errs
}

// withFields returns errs, of which those that show the metadata of object show its managed fields as well.
func withFields(errs field.ErrorList, object managedfields.Object) field.ErrorList {
	for _, e := range errs {
		if _, whole := e.BadValue.(map[string]any); !whole || e.Field != "metadata" {
			continue
		}
		if document, err := object.Value(); err == nil {
			e.BadValue = document.Get("metadata").ToAny()
		}
	}
	return errs
}

// unique returns errs, each once.
func unique(errs field.ErrorList) field.ErrorList {
	var out field.ErrorList
	for _, e := range errs {
		if !slices.ContainsFunc(out, func(had *field.Error) bool { return had.Error() == e.Error() }) {
			out = append(out, e)
		}
	}
	return out
}

func (w *write) warnOfFinalizers(content, live value.Value) {
	if w.Version.Custom {
		w.Warnings.Add(api.FinalizerWarnings(content, live)...)
	}
}

// encoded is an object as it is stored, and its text.
type encoded struct {
	managedfields.Object
	text []byte
}

func (w *write) encode(object managedfields.Object) (encoded, error) {
	unstored := []string{"resourceVersion", "managedFields", "selfLink"} // whoever sets them
	if w.dryRun {
		unstored = unstored[:2] // nothing is stored, and the link is shown
	}
	for _, name := range unstored {
		object.Content = api.WithMetadata(object.Content, name, value.Value{})
	}
	content, err := catalog.Store(w.Version.Form, object)
	if err != nil {
		return encoded{}, err
	}
	object.Content = content
	if object.Entries = inSeconds(object.Entries); len(object.Entries) == 0 {
		object.Entries = nil // admission may leave an empty list, which is not stored
	}
	if w.Version.Custom {
		if object.Entries, err = inMapOrder(object.Entries); err != nil {
			return encoded{}, err
		}
	}
	return encoded{object, object.AppendJSON(nil)}, nil
}

// commit stores an object in place of live, the zero Live for none, and returns it as reading gives it. The error is
// store.ErrConflict if something else is stored there by now.
func (w *write) commit(object encoded, live Live, event Written) (managedfields.Object, error) {
	record := store.Record{Key: w.key(), Text: object.text, Created: live.Record.Created}
	var err error
	if record.Revision, err = w.put(object.text, live.Record.Revision); err != nil {
		return object.Object, err
	}
	if w.Stored != nil {
		w.Stored(w.context(), w.Request, event)
	}
	w.facts.forget(live.Record.Revision)
	out, err := w.reread(object, record.Revision)
	if err == nil && readsBack(out.Content) {
		same := withVersion(object.Content, record.Revision).Equal(out.Content)
		if same {
			w.text = w.note(record).text(record)
		}
		kept := Live{Object: out, Record: record, heirs: live.heirs + 1}
		if kept.faultless = w.faultless && same; kept.faultless {
			kept.proof = w.proof
		}
		w.keep(kept)
	}
	return out, err
}

// put stores a text, for a time if that is how long objects of the resource are kept.
func (w *write) put(text []byte, expected store.Revision) (store.Revision, error) {
	if w.Version.Brief && w.Brief > 0 {
		return w.Store.PutUntil(w.context(), w.key(), text, expected, w.Now().Add(w.Brief))
	}
	return w.Store.Put(w.context(), w.key(), text, expected)
}

// reread returns a stored object as reading it at the given revision gives it, without one if that is 0.
func (w *write) reread(stored encoded, revision store.Revision) (managedfields.Object, error) {
	object := stored.Object
	content, err := catalog.Load(w.Version.Form, object)
	if err != nil {
		return object, undecodable(revision, err)
	}
	object.Content = withVersion(content, revision)
	return object, nil
}

// answer returns the outcome of a write.
func (w *write) answer(code int, object managedfields.Object) *Answer {
	return &Answer{Code: code, Object: object, Text: w.text, Converted: true}
}

// timestamp returns the time as metadata has it.
func (r *Request) timestamp() string { return r.Now().UTC().Format(time.RFC3339) }
