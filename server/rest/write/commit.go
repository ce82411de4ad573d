package write

import (
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/rest/read"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

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
		if err := w.ordered.arrange(object.Entries); err != nil {
			return encoded{}, err
		}
	}
	return encoded{object, object.AppendJSON(nil)}, nil
}

// commit stores an object in place of live, the zero read.Live for none, and returns it as reading gives it. The error is
// store.ErrConflict if something else is stored there by now.
func (w *write) commit(object encoded, live read.Live, event Written) (managedfields.Object, error) {
	object, err := w.fitted(object, live)
	if err != nil {
		return object.Object, err
	}
	record := store.Record{Key: w.Key(), Text: object.text, Created: live.Record.Created}
	if record.Revision, err = w.put(record.Key, object.text, live.Record.Revision); err != nil {
		return object.Object, err
	}
	if w.Stored != nil {
		w.Stored(w.Context(), w.Request, event)
	}
	w.Replaced(live.Record.Revision)
	out, err := w.reread(object, record.Revision)
	if err == nil && read.ReadsBack(out.Content, live.SettledContent()) {
		kept := read.Live{Object: out, Record: record, Writes: live.Writes + 1}
		if read.WithVersion(object.Content, record.Revision).Equal(out.Content) {
			w.text = w.NoteText(record)
			kept.Faultless, kept.Proof, kept.Settled = w.faultless, w.proof, w.StoresItself()
		}
		w.Keep(kept)
	}
	return out, err
}

// put stores a text under a key, for a time if that is how long objects of the resource are kept.
func (w *write) put(key string, text []byte, expected store.Revision) (store.Revision, error) {
	if w.Version.Brief && w.EventTTL > 0 {
		return w.Store.PutUntil(w.Context(), key, text, expected, w.Now().Add(w.EventTTL))
	}
	return w.Store.Put(w.Context(), key, text, expected)
}

// reread returns a stored object as reading it at the given revision gives it, without one if that is 0.
func (w *write) reread(stored encoded, revision store.Revision) (managedfields.Object, error) {
	object := stored.Object
	content, err := w.LoadBeside(object, w.known)
	if err != nil {
		return object, read.Undecodable(revision, err)
	}
	object.Content = read.WithVersion(content, revision)
	return object, nil
}
