package write

import (
	"bytes"
	stderrors "errors"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/rest/read"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

// change computes what is to replace live, the zero read.Live if nothing is stored. It may be called several times.
type change func(live read.Live) (managedfields.Object, error)

// write is a write to one object, as the steps of it know it.
type write struct {
	*Request
	dryRun  bool
	create  bool   // an object that does not exist is created
	post    bool   // it must not exist
	applies bool   // it is an apply
	uid     string // that the stored object must have; empty for any

	deletion *metav1.DeleteOptions // of a delete
	unasked  bool                  // admission is not asked whether it may be deleted
	unnamed  bool                  // the request names no object
	named    bool                  // the server made up the name of the object

	text func([]byte) []byte // appends the outcome as an answer has it; nil if it must be printed

	known value.Value // whose parts need not be read again, see Request.settled; absent if nothing is known

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
		if err := w.Context().Err(); err != nil {
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
	live, err := w.Load()
	if err != nil {
		return object, false, read.WhyUnreadable(err)
	}
	if !live.Exists() && !w.create {
		return object, false, w.NotFound()
	}
	if err := w.checkUID(live); err != nil {
		return object, false, err
	}
	w.known = live.SettledContent()
	if object, err = change(live); err != nil {
		return object, false, err
	}
	if err = w.checkSize(object); err != nil {
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

// storeNew stores an object that does not exist yet.
func (w *write) storeNew(object managedfields.Object) (managedfields.Object, error) {
	var err error
	if object.Content, err = w.prepareNew(object.Content); err != nil {
		return object, err
	}
	w.ObjectName = api.Meta(object.Content, "name") // which some kinds give to objects that have none
	if err := w.validateNew(object.Content); err != nil {
		return object, err
	}
	if w.Version.Terminating {
		return object, errors.NewForbidden(w.Version.GroupResource(), w.ObjectName,
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
		return w.commit(stored, read.Live{}, WasStored)
	}
	if object, err = w.reread(stored, 0); version != "" {
		object.Content = api.WithMetadata(object.Content, "resourceVersion", value.String(version))
	}
	return object, err
}

// replace stores object in place of live.
func (w *write) replace(live read.Live, object managedfields.Object) (managedfields.Object, error) {
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
		w.text = w.TextOf(live.Record)
		return w.reread(stored, live.Record.Revision)
	case w.dryRun:
		return w.reread(stored, live.Record.Revision)
	}
	return w.commit(stored, live, WasStored)
}

// answer returns the outcome of a write.
func (w *write) answer(code int, object managedfields.Object) *read.Answer {
	return &read.Answer{Code: code, Object: object, Text: w.text, Converted: true}
}
