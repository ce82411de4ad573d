package write

import (
	"slices"
	"time"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/rest/read"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

// The last steps of a write: from an object in memory to a text in the store, and back to the object of the answer.
//
//	object    {metadata: {resourceVersion: "7", ...}, ...}, entries      as validation and admission saw it
//	encode    {metadata: {...}, ...} and its text                        in the storage version, without what is never stored
//	fitted    the same, or without managed fields if it is too large
//	put       revision 9
//	reread    {metadata: {resourceVersion: "9", ...}, ...}               as the version of the request shows it
//
// Invariant: the answer is what a later read gives. So reread does not return the object that came in, but reads what was stored, as
// kube-apiserver decodes what it has put. Parts that the object shares with one that was read before are not read again.

// encoded is an object as it is stored, and its text.
type encoded struct {
	managedfields.Object
	text []byte
}

// encode returns an object as it is stored, in place of live if that exists.
//
// A dry run keeps selfLink, because kube-apiserver clears the link only when it prepares the object for its store, which a dry run does not
// reach.
func (t *Task) encode(object managedfields.Object, live *read.Live) (encoded, error) {
	link := object.Content.Get("metadata", "selfLink")
	for _, name := range []string{"resourceVersion", "managedFields", "selfLink"} {
		object.Content = api.WithMetadata(object.Content, name, value.Value{})
	}
	content, err := t.storedForm(object, live)
	if err != nil {
		return encoded{}, err
	}
	if t.DryRun {
		content = api.WithMetadata(content, "selfLink", link)
	}
	object = fields.WithSent(object, value.Value{}) // which need not live on
	object.Content = content
	if object.Entries, err = t.arranged(object.Entries); err != nil {
		return encoded{}, err
	}
	return encoded{object, object.AppendJSON(nil)}, nil
}

// arranged returns entries with their times in seconds, and those of a custom resource with their fields in order: see order.go. An empty list,
// which admission may leave, is none.
func (t *Task) arranged(entries []managedfields.Entry) ([]managedfields.Entry, error) {
	if len(entries) == 0 {
		return nil, nil
	}
	entries = inSeconds(entries)
	if !t.Request.Version.Custom {
		return entries, nil
	}
	return entries, t.Writer.ordered.arrange(entries)
}

// storedForm returns the content of an object in its stored form, in place of live if that exists.
//
// An apply that changes nothing leaves what is stored, and a deletion all but the metadata. Any other write in a version that is not the
// stored one may change the order in which that has its lists, as in kube-apiserver.
func (t *Task) storedForm(object managedfields.Object, live *read.Live) (value.Value, error) {
	form, ok := t.Request.Version.Form.(catalog.ConvertedForm)
	if !ok || !live.Exists() || !form.Converts() {
		return catalog.Store(t.Request.Version.Form, object)
	}
	had, err := value.Parse(live.Record.Text)
	if err != nil {
		return value.Value{}, err
	}
	had = api.WithMetadata(had, "managedFields", value.Value{})
	switch {
	case t.applies && fields.Sent(object).IsAbsent() && object.Content.Equal(read.WithVersion(live.Content, 0)):
		return had, nil
	case t.deletion != nil:
		content, err := form.Store(object.Content)
		return had.With("metadata", content.Get("metadata")), err
	}
	return form.StoreOver(object.Content, fields.Sent(object), had, t.Request.Target.Subresource)
}

// commit stores an object in place of live, the zero read.Live for none, and returns it as reading gives it. The error is
// store.ErrConflict if another write has changed live meanwhile.
//
// The steps after the put stand in this order for a reason. The host acts on the event first, for example by serving a new definition,
// since the client may rely on it once it has the answer. The former object leaves the caches before the new one is kept.
func (t *Task) commit(object encoded, live *read.Live, event Event, valid verdict) (Outcome, error) {
	object, err := t.fitted(object, live)
	if err != nil {
		return Outcome{}, err
	}
	record := store.Record{Key: t.Request.Key(), Text: object.text, Created: live.Record.Created}
	if record.Revision, err = t.put(record.Key, object.text, live.Record.Revision); err != nil {
		return Outcome{}, err
	}
	t.Writer.Host.Stored(t.Request.Context(), t.Request, event)
	view := t.view()
	view.Replaced(live.Record.Revision)
	content, err := t.loaded(object, live)
	if err != nil {
		return Outcome{}, read.Undecodable(record.Revision, err)
	}
	out := Outcome{Object: object.Object}
	out.Content = read.WithVersion(content, record.Revision)
	// Cache the object for the next request, but only if its text surely reads back to the same object.
	if !t.answersBare() && read.ReadsBack(out.Content, live.SettledContent()) {
		kept := read.Live{Object: out.Object, Record: record, Writes: live.Writes + 1}
		// Reading added nothing to what was stored. So the stored text is the answer's text, and the findings of validation hold for the
		// object that is read.
		if content.Equal(object.Content) {
			out.text = view.NoteText(record)
			kept.Faultless, kept.Evidence, kept.Settled = valid.faultless, valid.proof, view.StoresItself()
		}
		view.Keep(kept)
	}
	return out, nil
}

// fitted returns an object as it can be stored in place of live. An object that is too large loses its managed fields, as in
// kube-apiserver. An apply is refused instead.
//
// An apply without its managed fields would lose what it just claimed, so an apply fails instead.
func (t *Task) fitted(object encoded, live *read.Live) (encoded, error) {
	isNew := live.Record.Revision == 0
	err := t.Writer.fits(t.Request.Key(), object.text, isNew)
	if err == nil || t.applies || len(object.Entries) == 0 {
		return object, err
	}
	bare := object.Object
	bare.Entries = nil
	if object, err = t.encode(bare, live); err != nil {
		return object, err
	}
	return object, t.Writer.fits(t.Request.Key(), object.text, isNew)
}

// put stores a text under a key, for the TTL of the resource if it has one.
//
// The expected revision is the optimistic lock of every write: 0 demands that the key has no record. No other lock is held between the load
// and the put.
func (t *Task) put(key string, text []byte, expected store.Revision) (store.Revision, error) {
	reader, ttl := t.Writer.Reader, t.Writer.EventTTL
	if t.Request.Version.HasTTL && ttl > 0 {
		return reader.Store.PutUntil(t.Request.Context(), key, text, expected, reader.Now().Add(ttl))
	}
	return reader.Store.Put(t.Request.Context(), key, text, expected)
}

// reread returns a stored object, which replaces live, as reading it at the given revision gives it; without a version for revision 0. An object
// of a dry run has no revision that an error could name.
func (t *Task) reread(stored encoded, live *read.Live, revision store.Revision) (managedfields.Object, error) {
	object := stored.Object
	content, err := t.loaded(stored, live)
	if err != nil && t.DryRun {
		return object, err
	}
	if err != nil {
		return object, read.Undecodable(revision, err)
	}
	object.Content = read.WithVersion(content, revision)
	return object, nil
}

// answersBare reports whether the answer shows the content of an object as it is stored, and not as reading it gives it. So it is for writes
// of a subresource, and for deletions that the object waits for, as in kube-apiserver.
func (t *Task) answersBare() bool {
	_, ok := t.decoratedForm()
	return ok && (t.Request.Target.Subresource != "" || t.deletion != nil)
}

// loaded returns the content of a stored object, which replaces live, as reading it gives it, without a version.
//
// settled is content that reads back as it is: the live object, or the decoded body of a create. LoadIncremental skips the parts that
// object shares with it. So an update costs as much as it changes, plus the metadata.
func (t *Task) loaded(stored encoded, live *read.Live) (value.Value, error) {
	if t.answersBare() {
		return t.Request.Version.Form.(catalog.DecoratedForm).LoadBare(stored.Content)
	}
	settled := live.SettledContent()
	if !live.Exists() {
		settled = t.decoded
	}
	return t.view().LoadIncremental(stored.Object, settled)
}

// Amend stores object in place of live, unless nothing changes. It is for what the server itself does to an object: nothing is prepared,
// validated or admitted. It returns the object as it is stored then. The error is store.ErrConflict if another write has changed live
// meanwhile.
func (t *Task) Amend(live *read.Live, object managedfields.Object) (*read.Live, error) {
	stored, err := t.encode(object, live)
	switch {
	// nothing is stored
	case err != nil:
	// Equal texts make no new revision: an update without a change must not wake watches.
	case t.DryRun || string(stored.text) == string(live.Record.Text):
		object, err = t.reread(stored, live, live.Record.Revision)
	default:
		var out Outcome
		out, err = t.commit(stored, live, WasMarked, verdict{})
		object = out.Object
	}
	if err != nil {
		return live, err
	}
	revision, err := api.ParseVersion(api.Meta(object.Content, "resourceVersion"), false)
	return &read.Live{Object: object, Record: store.Record{Key: live.Record.Key, Revision: store.Revision(revision)}}, err
}

// inSeconds returns a copy of entries with their times as they are stored.
//
// RFC 3339 texts of the entries have no fractions. Truncating before the comparison of texts and before the answer keeps the two alike.
func inSeconds(entries []managedfields.Entry) []managedfields.Entry {
	out := slices.Clone(entries)
	for i := range out {
		out[i].Time = out[i].Time.Truncate(time.Second)
	}
	return out
}
