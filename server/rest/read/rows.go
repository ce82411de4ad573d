package read

import (
	"bytes"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/rest"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/server/wire"
	"github.com/deed-project/deed/value"
)

// Lists as Tables, which kubectl asks for. A row has cells, which may depend on the time, and the object or its metadata:
//
//	text   {"apiVersion":"v1","kind":"Thing","metadata":{"creationTimestamp":"...","name":"a",...},"spec":{"size":3}}
//	row    {"cells":["a",3,"5m"],     fresh: looked up at the places of the columns; an age changes while the text does not
//	       "object":{...}}            fixed: spliced from the text; see fact.go

// ListTable lists as a Table, as [Reader.ListTexts] does as a list: rows are made of the stored texts. table is asked for it once the
// options of the query are known to be good.
//
// It looks up cells in the texts, once for each text, if all columns have plain paths. Otherwise it decodes the objects.
func (b *Reader) ListTable(q *rest.Request, table func() (wire.Table, error), body *wire.Stream) error {
	options, err := api.ParseListOptions(q.Query)
	if err != nil {
		return err
	}
	l, err := b.newLister(q, options)
	if err != nil {
		return err
	}
	t, err := table()
	if err != nil {
		return err
	}
	out := newTexts(l, body, newRows(t))
	defer out.release()
	out.append(`{"apiVersion":`, quoted(t.Of), `,"columnDefinitions":`, t.Columns().String(), `,"kind":"Table","rows":[`)
	end, err := l.each(out.take)
	if err != nil {
		return err
	}
	if err := out.settle(); err != nil {
		return err
	}
	if out.some {
		out.append(`]`)
	} else {
		// An empty Table has another form of "rows" than an empty list. The bracket is taken back; it was not sent yet.
		out.text = append(out.text[:len(out.text)-1], t.NoRows()...)
	}
	out.append(`,"metadata":{`)
	if end.Continue != "" {
		out.append(`"continue":`, quoted(end.Continue), `,`)
	}
	out.end(end)
	return out.send()
}

// rows prints objects as rows of a Table. It implements items.
//
// It is immutable, and its cells are appended to memory of the caller.
type rows struct {
	wire.Table
	partial string     // text after the cells of a row whose object is its metadata
	paths   [][]string // of the columns, if all can be looked up in a text; nil otherwise
	columns []catalog.Column
	omitted []string // annotations
}

// newRows returns the printer of a Table. It decides how cells are found: by the kind's own function, by paths in texts, or by paths in
// objects if a path is not plain.
func newRows(t wire.Table) *rows {
	out := &rows{Table: t, partial: `,"object":{"apiVersion":` + quoted(t.Of) + `,"kind":"` + wire.AsPartial + `","metadata":`}
	out.omitted = wire.FieldAnnotations(t.Version.APIVersion(), t.Version.Kind)
	if t.Version.Row != nil {
		return out
	}
	out.columns = t.Version.Columns()
	for _, c := range out.columns {
		simple, ok := catalog.SimplePath(c.Path)
		if !ok || !isPlainPath(simple) {
			out.paths = nil
			return out
		}
		out.paths = append(out.paths, strings.Split(simple, "."))
	}
	return out
}

// form names what rows of the same records differ by: the version of the Table, and what of the object is in a row.
func (w *rows) form() string { return w.Of + " " + string(w.Include) }

// fresh appends the cells, which may contain ages.
func (w *rows) fresh(b []byte, t *texts, record store.Record, known *fact) ([]byte, error) {
	b = append(b, `{"cells":`...)
	if w.paths == nil {
		return w.show(b, t, record)
	}
	return w.lookUp(b, record, known)
}

// fixed appends the included part of the object, and the end of the row.
func (w *rows) fixed(b []byte, record store.Record, known *fact) []byte {
	switch w.Include {
	case metav1.IncludeObject:
		b = append(b, `,"object":`...)
		b = known.appendTo(b, record.Text, record.Revision, false)
		return append(b, '}')
	case metav1.IncludeMetadata, "":
		b = append(b, w.partial...)
		from := len(b)
		b = w.omit(known.appendMetadata(b, record.Text, record.Revision), from)
		return append(b, `}}`...)
	default:
		return append(b, `,"object":null}`...)
	}
}

// omit takes the annotations that no row shows out of the metadata at the end of b, which begins at from. Metadata without them, as most has
// none, costs a search of the text.
func (w *rows) omit(b []byte, from int) []byte {
	if !slices.ContainsFunc(w.omitted, func(name string) bool { return bytes.Contains(b[from:], []byte(name)) }) {
		return b
	}
	metadata, err := value.Parse(b[from:])
	if err != nil {
		return b // cannot happen: the text is stored metadata
	}
	object := value.Object(
		value.Member{Name: "apiVersion", Value: value.String(w.Version.APIVersion())}, value.Member{Name: "kind", Value: value.String(w.Version.Kind)},
		value.Member{Name: "metadata", Value: metadata},
	)
	shown := wire.Partial(w.Of, object).Get("metadata").AppendJSON(nil)
	return append(b[:from], shown...)
}

// least counts the shortest cells that are possible, since the cells are not known yet.
func (w *rows) least(record store.Record, known *fact) int {
	n := len(`{"cells":[],"object":null}`)
	switch w.Include {
	case metav1.IncludeObject:
		n += len(record.Text)
	case metav1.IncludeMetadata, "":
		n += int(known.metadata.to - known.metadata.from)
	}
	return n
}

// show appends the cells and conditions of a record that must be decoded.
func (w *rows) show(b []byte, t *texts, record store.Record) ([]byte, error) {
	o, err := t.lister.read(record)
	if err != nil {
		return b, err
	}
	shown := w.Shows(o.Content)
	b = value.List(shown.Cells...).AppendJSON(b)
	if len(shown.Conditions) > 0 {
		b = append(b, `,"conditions":`...)
		b = value.List(shown.Conditions...).AppendJSON(b)
	}
	return b, nil
}

// lookUp appends the cells of a record from its text.
func (w *rows) lookUp(b []byte, record store.Record, known *fact) (_ []byte, err error) {
	begin := len(b)
	for i, at := range known.columnsIn(record.Text, w.paths) {
		b = append(b, "[,"[min(i, 1)])
		// A row has a bound, for values may be long and printed by several columns. The remaining cells say that they are given up.
		if len(b)-begin > wire.MaxCells {
			b = append(b, quoted(wire.GivenUp)...)
			continue
		}
		if b, err = w.AppendCell(b, &w.columns[i], at.in(record.Text)); err != nil {
			return b, Corrupt(record, err)
		}
	}
	return append(b, ']'), nil
}

// read appends a row of an object that was decoded, because there is no fact about its text.
func (w *rows) read(t *texts, o managedfields.Object) error {
	document, err := o.Value()
	t.text = w.Row(document, "").AppendJSON(t.text)
	return err
}
