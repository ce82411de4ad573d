package rest

import (
	"strconv"
	"strings"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

// ListTexts lists as List does, as JSON text that is made of the stored texts: write gets it piece by piece. Errors come before anything
// is written, unless they are those of write or about an object, or about a store that fails meanwhile.
//
// Memory is that of a page of records, however many objects there are. An object is decoded once in its stored revision; from then on
// the cost is that of copying its text, and of its labels if the selector is about labels.
func (r *Request) ListTexts(write func([]byte) error) error {
	options, err := api.ParseListOptions(r.Query)
	if err != nil {
		return err
	}
	l, err := r.newLister(options)
	if err != nil {
		return err
	}
	t := &texts{lister: l, write: write}
	t.append(`{"apiVersion":`, quoted(r.Version.APIVersion()), `,"items":[`)
	end, err := l.each(t.take)
	if err != nil {
		return err
	}
	t.append(`],"kind":`, quoted(r.Version.ListKind), `,"metadata":{`)
	if end.Continue != "" || r.Version.Custom {
		t.append(`"continue":`, quoted(end.Continue), `,`)
	}
	if end.Remaining > 0 {
		t.append(`"remainingItemCount":`, strconv.Itoa(end.Remaining), `,`)
	}
	t.append(`"resourceVersion":"`, strconv.FormatInt(int64(end.Version), 10), `"}}`, "\n")
	return t.write(t.text)
}

// quoted returns a text as a JSON string.
func quoted(s string) string { return value.String(s).String() }

// texts is a list on its way.
type texts struct {
	*lister
	write func([]byte) error
	text  []byte // what is not written yet
	some  bool   // there was an item
}

// textChunk is how much text is collected before it is written.
const textChunk = 64 << 10

func (t *texts) append(parts ...string) {
	for _, part := range parts {
		t.text = append(t.text, part...)
	}
}

// take appends the object of a record, if it is selected.
func (t *texts) take(record store.Record) (bool, error) {
	known, ok := t.facts.get(t.Version, record.Revision)
	if !ok || !t.selector.byLabels() {
		return t.takeSlowly(record)
	}
	if !t.selector.labels.Matches(labelsOf{known.labels}) {
		return false, nil
	}
	t.begin()
	t.text = known.appendTo(t.text, record.Text, record.Revision, !t.Version.Custom)
	return true, t.flush()
}

// takeSlowly is take for a record that must be decoded: nothing is known of it yet, or what is selected shows in its fields only.
func (t *texts) takeSlowly(record store.Record) (bool, error) {
	o, err := t.decoded(record)
	if err != nil || !t.selector.matches(o.Content) {
		return false, err
	}
	t.begin()
	if known, ok := t.facts.get(t.Version, record.Revision); ok {
		t.text = known.appendTo(t.text, record.Text, record.Revision, !t.Version.Custom)
		return true, t.flush()
	}
	whole, err := managedfields.Object.Value(o.Object)
	if err != nil {
		return false, err
	}
	if !t.Version.Custom {
		whole = whole.With("apiVersion", value.Value{}).With("kind", value.Value{})
	}
	t.text = whole.AppendJSON(t.text)
	return true, t.flush()
}

// decoded returns the object of a record. It is kept decoded if others are likely to ask for its fields again, or if it had to be
// converted.
func (t *texts) decoded(record store.Record) (Live, error) {
	if _, converted := t.Version.Form.(catalog.Batch); t.selector.byLabels() && !converted {
		return t.readOnce(record)
	}
	o, err := t.read(record)
	if err != nil {
		return Live{}, err
	}
	return o.Live, nil
}

func (t *texts) begin() {
	if t.some {
		t.text = append(t.text, ',')
	}
	t.some = true
}

// flush writes what was collected, if that is enough.
func (t *texts) flush() error {
	if len(t.text) < textChunk {
		return nil
	}
	err := t.write(t.text)
	t.text = t.text[:0]
	return err
}

// readOnce reads a record that need not be read again soon, and remembers what there is to know of its text.
func (r *Request) readOnce(record store.Record) (Live, error) {
	stored, err := managedfields.ParseObject(record.Text)
	if err != nil {
		return Live{}, corrupt(record, err)
	}
	content, err := catalog.Load(r.Version.Form, stored)
	if err != nil {
		return Live{}, corrupt(record, err)
	}
	if content.Equal(stored.Content) && strings.HasPrefix(string(record.Text[:min(len(record.Text), len(textPrefix))]), textPrefix) {
		labels, err := apart(content.Get("metadata", "labels"))
		if err != nil {
			return Live{}, corrupt(record, err)
		}
		if known, ok := factOf(string(record.Text), labels); ok {
			r.facts.put(r.Version, record.Revision, known)
		}
	}
	stored.Content = withVersion(content, record.Revision)
	return Live{Object: stored, Record: record}, nil
}

// apart returns v in memory of its own, so that it does not keep what it is a part of.
func apart(v value.Value) (value.Value, error) {
	if v.IsAbsent() {
		return v, nil
	}
	return value.Parse(v.AppendJSON(nil))
}

// textPrefix is how texts begin that this server writes.
const textPrefix = `{"apiVersion":"`

func appendInt(b []byte, n int64) []byte { return strconv.AppendInt(b, n, 10) }
