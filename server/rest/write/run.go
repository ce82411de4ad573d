package write

import (
	"bytes"
	stderrors "errors"
	"fmt"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/rest/read"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

// Run changes the object of the request, and returns it as it is stored then.
//
//	load      what is stored, if anything
//	check     that it can be stored again, and is what the request means
//	change    what the verb makes of it
//	mutate    what admission makes of that
//	prepare   what the endpoint may write, and what the server knows better
//	validate  the outcome
//	admit     unless admission refuses it
//	store     unless nothing changed, and only if no other write was faster: otherwise all of this again
//
// Invariant: what is stored was validated and admitted in place of exactly the object that it replaces. For that, the put demands the
// revision that load found, and every attempt begins with a load. So the change, admission and validation run once in each attempt.
func (t *Task) Run(change Change) (Outcome, error) {
	var out Outcome
	err := Retry(t.Request.Context(), func() (err error) {
		out, err = t.attempt(change)
		return err
	})
	return out, err
}

// attempt is Run without a second attempt: store.ErrConflict says that another write was faster.
//
// The order of its checks is the order of kube-apiserver's refusals, if a request deserves several.
func (t *Task) attempt(change Change) (Outcome, error) {
	live, err := t.Writer.Reader.Load(t.Request)
	if err == nil {
		live, err = t.bare(live)
	}
	if err != nil && !t.DryRun {
		err = read.WhyUnreadable(err)
	}
	if err != nil {
		return Outcome{}, err
	}
	if !live.Exists() && !t.create {
		return Outcome{}, t.Request.NotFound()
	}
	if err := t.checkStorable(live); err != nil {
		return Outcome{}, err
	}
	if err := CheckUID(t.Request, live, t.UID, t.DryRun); err != nil {
		return Outcome{}, err
	}
	object, err := change(live)
	if err != nil {
		return Outcome{}, err
	}
	if err := t.Writer.checkSize(object); err != nil {
		return Outcome{}, err
	}
	if !t.Request.IsScale() { // whose change asks admission about the Scale
		if object, err = t.Mutate(live, object); err != nil {
			return Outcome{}, err
		}
	}
	if live.Exists() {
		return t.replace(live, object)
	}
	if err := checkNew(object.Content); err != nil {
		return Outcome{}, err
	}
	return t.storeNew(object)
}

// decoratedForm returns the form of the version, if it shows some objects otherwise than they are stored.
func (t *Task) decoratedForm() (catalog.DecoratedForm, bool) {
	form, ok := t.Request.Version.Form.(catalog.DecoratedForm)
	return form, ok && form.IsDecorated()
}

// bare returns live as it is stored, without what reading adds to it: see [Task.decorated].
func (t *Task) bare(live *read.Live) (_ *read.Live, err error) {
	form, ok := t.decoratedForm()
	if !ok || !live.Exists() {
		return live, nil
	}
	bare := read.Live{Record: live.Record}
	if bare.Object, err = managedfields.ParseObject(live.Record.Text); err != nil {
		return nil, read.Corrupt(live.Record, err)
	}
	if bare.Content, err = form.LoadBare(bare.Content); err != nil {
		return nil, read.Corrupt(live.Record, err)
	}
	bare.Content = read.WithVersion(bare.Content, live.Record.Revision)
	return &bare, nil
}

// decorated returns live with what reading adds to it. kube-apiserver adds that where it allocates, so that validation and the validating
// plugins see it, and mutating ones do not. It allocates nothing for a subresource.
func (t *Task) decorated(live *read.Live) *read.Live {
	form, ok := t.decoratedForm()
	if !ok || t.Request.Target.Subresource != "" {
		return live
	}
	out := *live
	out.Content = form.Decorate(live.Content)
	return &out
}

// checkStorable returns an error if a conversion webhook cannot convert live back into the stored version.
//
// kube-apiserver takes the object of its watch cache, in the version of the request, and encodes it before the write changes it. A dry run does
// not.
func (t *Task) checkStorable(live *read.Live) error {
	form, ok := t.Request.Version.Form.(catalog.Batch)
	if !ok || t.DryRun || !live.Exists() {
		return nil
	}
	object := live.Object
	object.Content = read.WithVersion(object.Content, 0)
	_, err := form.StoreWhole(object)
	return err
}

// storeNew stores an object that does not exist yet.
//
// A create with a resource version is refused last of all, and not in a dry run, because the store of kube-apiserver refuses it.
func (t *Task) storeNew(object managedfields.Object) (out Outcome, err error) {
	q := t.Request
	if object.Content, err = prepareNew(q, object.Content, t.Writer.Reader.Now(), t.post); err != nil {
		return Outcome{}, err
	}
	var allocated func(stored bool)
	if object.Content, allocated, err = t.allocate(object.Content, value.Value{}); err != nil {
		return Outcome{}, err
	}
	isStored := false
	defer func() { allocated(isStored) }()
	// Some kinds name the user who creates them, whatever the client sent.
	if sign := q.Version.Sign; sign != nil {
		object.Content = sign(object.Content, catalog.Creator(t.Writer.Host.User(q.Context())))
	}
	if !t.post {
		t.asked = q.Target.Name
	}
	q.ObjectName = api.Meta(object.Content, "name") // which some kinds give to objects that have none
	valid, err := t.Writer.validateNew(q, object)
	if err != nil {
		return Outcome{}, err
	}
	if err := t.Admit(managedfields.Object{}, object); err != nil {
		return Outcome{}, err
	}
	if !t.post {
		q.ObjectName = q.Target.Name // the key is that of the path, even if a webhook has given the object another name
	}
	version := api.Meta(object.Content, "resourceVersion")
	if n, err := api.ParseVersion(version, false); err == nil && n != 0 && t.post && !t.DryRun {
		return Outcome{}, stderrors.New("resourceVersion should not be set on objects to be created")
	}
	none := &read.Live{}
	stored, err := t.encode(object, none)
	if err != nil {
		return Outcome{}, err
	}
	out = Outcome{created: true}
	if !t.DryRun {
		out, err = t.commit(stored, none, WasStored, valid)
		out.created, isStored = true, err == nil
		return out, err
	}
	// A dry run stores nothing, so no put can find the name taken.
	if t.post {
		if former, err := t.Writer.Reader.Load(q); err == nil && former.Exists() {
			return out, store.ErrConflict
		}
	}
	// A dry run has no revision. It shows the version that the client sent, as kube-apiserver does.
	if out.Object, err = t.reread(stored, none, 0); version != "" {
		out.Content = api.WithMetadata(out.Content, "resourceVersion", value.String(version))
	}
	return out, err
}

// replace stores object in place of live.
//
// The version is checked before validation. So a client that lost a race gets a 409, which it can retry, rather than a 422 about a field
// that the other write has changed. KeepTimes precedes the validating plugins, which see the object as it would be stored.
func (t *Task) replace(live *read.Live, object managedfields.Object) (out Outcome, err error) {
	q := t.Request
	content, err := checkVersion(q, live, object.Content)
	if err != nil {
		return Outcome{}, err
	}
	if content, err = api.InNamespace(content, q.Target.Namespace); err != nil {
		return Outcome{}, err
	}
	var allocated func(stored bool)
	if object.Content, allocated, err = t.allocate(prepare(q, content, fields.Sent(object), live.Content), live.Content); err != nil {
		return Outcome{}, err
	}
	isStored := false
	defer func() { allocated(isStored) }()
	had := t.decorated(live)
	valid, err := t.Writer.validate(q, object, had)
	if err != nil {
		return Outcome{}, err
	}
	object = fields.KeepTimes(object, live.Object)
	if err := t.admitChange(had, object); err != nil {
		return Outcome{}, err
	}
	// The last finalizer went: the object is removed and its new content never stored.
	if isFinished(q.Version, object.Content, live.Content) {
		object, err = t.removeFinished(live, object)
		return Outcome{Object: object}, err
	}
	stored, err := t.encode(object, live)
	if err != nil {
		return Outcome{}, err
	}
	same, err := t.changesNothing(stored, object, live)
	again := false
	if err == nil && !same && !t.DryRun && !t.sure {
		again, err = t.leavesWhatWasRead(stored, object, live)
	}
	switch {
	case err != nil:
		return Outcome{}, err
	// Nothing is stored. The answer can take the text that earlier answers had.
	case same:
		out.text = t.view().TextOf(live.Record)
	case again:
		t.sure = true
		return Outcome{}, errUnsure
	case !t.DryRun:
		out, err = t.commit(stored, live, WasStored, valid)
		isStored = err == nil
		return out, err
	}
	out.Object, err = t.reread(stored, live, live.Record.Revision)
	return out, err
}

// changesNothing reports whether stored, the stored form of object, is what is stored for live.
//
// kube-apiserver compares it with live as it was read, and then with what is stored. The two differ for a custom resource that was stored with
// empty labels: reading drops them, so that an apply of empty labels is a change each time.
func (t *Task) changesNothing(stored encoded, object managedfields.Object, live *read.Live) (bool, error) {
	if !bytes.Equal(stored.text, live.Record.Text) {
		return false, nil
	}
	if !t.Request.Version.Custom || object.Content.Equal(live.Content) {
		return true, nil
	}
	return t.isAsRead(stored, live)
}

// isAsRead reports whether stored is the stored form of live as it was read.
func (t *Task) isAsRead(stored encoded, live *read.Live) (bool, error) {
	had, err := t.encode(live.Object, live)
	return err == nil && bytes.Equal(stored.text, had.text), err
}

// errUnsure says that a write leaves the object as it was read, though what is stored is another text. Such a write begins again.
var errUnsure = fmt.Errorf("what was read is not what is stored: %w", store.ErrConflict)

// leavesWhatWasRead reports whether stored, the stored form of object, is also that of live. It is asked once it is known that another text is
// stored: that of a custom resource whose definition had no default, or another version, when the object was written.
//
// kube-apiserver reads from its watch cache first. A write that changes nothing of that makes it look at what is stored. If that is another text,
// admission is asked again, and the object is stored.
func (t *Task) leavesWhatWasRead(stored encoded, object managedfields.Object, live *read.Live) (bool, error) {
	if !t.Request.Version.Custom || !object.Content.Equal(live.Content) {
		return false, nil
	}
	return t.isAsRead(stored, live)
}
