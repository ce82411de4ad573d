package rest

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/server/wire"
	"github.com/deed-project/deed/value"
)

// ListTable lists as a Table, as [Request.ListTexts] does as a list: rows are made of the stored texts. table is asked for it once the
// options of the query are known to be good.
//
// Cells are looked up in the texts, as far as their columns say where they are, and else in objects that are decoded once per stored
// revision.
func (r *Request) ListTable(table func() (wire.Table, error), write func([]byte) error) error {
	options, err := api.ParseListOptions(r.Query)
	if err != nil {
		return err
	}
	l, err := r.newLister(options)
	if err != nil {
		return err
	}
	t, err := table()
	if err != nil {
		return err
	}
	out := newTexts(l, write, newRows(t))
	defer out.release()
	out.append(`{"apiVersion":`, quoted(t.Of), `,"columnDefinitions":`, t.Columns().String(), `,"kind":"Table","rows":[`)
	end, err := l.each(out.take)
	if err != nil {
		return err
	}
	out.append(`],"metadata":{`)
	if end.Continue != "" {
		out.append(`"continue":`, quoted(end.Continue), `,`)
	}
	out.end(end)
	return out.write(out.text)
}

// rows print objects as the rows of a Table: items.
type rows struct {
	wire.Table
	paths [][]string // of the columns, if all of them can be looked up in a text
	cells []value.Value
}

func newRows(t wire.Table) *rows {
	out := &rows{Table: t, cells: make([]value.Value, len(t.Version.Columns))}
	if t.Version.Row != nil {
		return out
	}
	for _, c := range t.Version.Columns {
		simple, ok := wire.SimplePath(c.Path)
		if !ok || !isPlainPath(simple) {
			return &rows{Table: t}
		}
		out.paths = append(out.paths, strings.Split(simple, "."))
	}
	return out
}

// isPlainPath reports whether a path leads through names that are printed as they are, to something that is in stored texts.
func isPlainPath(path string) bool {
	return path != "metadata" && path != "metadata.resourceVersion" && !strings.ContainsFunc(path, func(r rune) bool {
		return r != '.' && r != '_' && r != '-' && (r < '0' || '9' < r) && (r < 'A' || 'Z' < r) && (r < 'a' || 'z' < r)
	})
}

func (w *rows) known(t *texts, record store.Record, known *fact) error {
	shown := catalog.Row{Cells: w.cells}
	if w.paths == nil {
		o, err := t.Request.read(record)
		if err != nil {
			return err
		}
		shown = w.Shows(o.Content)
	} else if err := w.lookUp(record, known); err != nil {
		return err
	}
	t.append(`{"cells":`)
	t.text = value.List(shown.Cells...).AppendJSON(t.text)
	if len(shown.Conditions) > 0 {
		t.append(`,"conditions":`)
		t.text = value.List(shown.Conditions...).AppendJSON(t.text)
	}
	t.append(`,"object":`)
	switch w.Include {
	case metav1.IncludeObject:
		t.text = known.appendTo(t.text, record.Text, record.Revision, false)
	case metav1.IncludeMetadata, "":
		t.append(`{"apiVersion":`, quoted(w.Of), `,"kind":"`, wire.AsPartial, `","metadata":`)
		t.text = known.appendMetadata(t.text, record.Text, record.Revision)
		t.append(`}`)
	default:
		t.append(`null`)
	}
	t.append(`}`)
	return nil
}

// lookUp makes the cells of a record.
func (w *rows) lookUp(record store.Record, known *fact) error {
	for i, c := range w.Version.Columns {
		v, err := w.value(i, record, known)
		if err != nil {
			return corrupt(record, err)
		}
		w.cells[i] = w.Cell(c, v)
	}
	return nil
}

// value returns what a record has at the path of a column. The name stands behind the managed fields in the text, and in the key.
func (w *rows) value(column int, record store.Record, known *fact) (value.Value, error) {
	path := w.paths[column]
	if len(path) == 2 && path[0] == "metadata" && path[1] == "name" {
		return value.String(record.Key[strings.LastIndexByte(record.Key, '/')+1:]), nil
	}
	found := known.lookup(record.Text, path)
	if found == nil {
		return value.Value{}, nil
	}
	return value.Parse(found)
}

func (w *rows) read(t *texts, o managedfields.Object) error {
	document, err := o.Value()
	t.text = w.Row(document, "").AppendJSON(t.text)
	return err
}
