package wire

import (
	"bytes"
	stderrors "errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/jsonpath"
	"github.com/deed-project/deed/server/memo"
	"github.com/deed-project/deed/value"
)

// Table prints objects as rows.
type Table struct {
	Of      string // the apiVersion of the Table
	Version *catalog.Version
	Now     time.Time // ages are counted to here
	Include metav1.IncludeObjectPolicy
	List    bool // the items are those of a list
}

// ParseInclude returns what of each object is part of its row. The error is a 400.
func ParseInclude(query url.Values) (metav1.IncludeObjectPolicy, error) {
	o := metav1.TableOptions{IncludeObject: metav1.IncludeObjectPolicy(query.Get("includeObject"))}
	if errs := validation.ValidateTableOptions(&o); len(errs) > 0 {
		return "", errors.NewBadRequest(fmt.Sprintf("Unable to convert to Table as requested: %v", errs.ToAggregate()))
	}
	return o.IncludeObject, nil
}

// Document returns the Table of items, which are those of a list or one object. Without headers, it lacks the definitions of its
// columns, as the later events of a watch do.
func (t Table) Document(m ListMeta, items []value.Value, headers bool) value.Value {
	rows, standard := make([]value.Value, len(items)), ""
	if t.List && t.Version.Default != nil {
		standard = t.Version.Default(items)
	}
	for i, item := range items {
		rows[i] = t.Row(item, standard)
	}
	columns := value.Null()
	if headers {
		columns = t.Columns()
	}
	return value.Object(
		value.Member{Name: "apiVersion", Value: value.String(t.Of)},
		value.Member{Name: "columnDefinitions", Value: columns},
		value.Member{Name: "kind", Value: value.String(AsTable)},
		value.Member{Name: "metadata", Value: m.value(false)},
		value.Member{Name: "rows", Value: t.rows(rows)},
	)
}

// rows returns rows as a Table shows them. Without any, that is null if kube-apiserver has no printer for the kind, which shows in a column
// that nothing else has.
func (t Table) rows(rows []value.Value) value.Value {
	general := func(c catalog.Column) bool { return c.Name == "Created At" }
	if len(rows) == 0 && t.Version.New != nil && slices.ContainsFunc(t.Version.Columns(), general) {
		return value.Null()
	}
	return value.List(rows...)
}

// NoRows returns what a Table shows as its rows if there are none.
func (t Table) NoRows() string { return t.rows(nil).String() }

// Columns returns the definitions of the columns.
func (t Table) Columns() value.Value {
	columns := t.Version.Columns()
	out := make([]value.Value, len(columns))
	for i, c := range columns {
		out[i] = value.Object(
			value.Member{Name: "description", Value: value.String(c.Description)},
			value.Member{Name: "format", Value: value.String(c.Format)},
			value.Member{Name: "name", Value: value.String(c.Name)},
			value.Member{Name: "priority", Value: value.Int(int64(c.Priority))},
			value.Member{Name: "type", Value: value.String(c.Type)},
		)
	}
	return value.List(out...)
}

// Row returns the row of an object. standard is the name of the object that is the default; empty if none is.
func (t Table) Row(object value.Value, standard string) value.Value {
	row := t.Shows(object)
	if standard != "" && row.Cells[0].Str() == standard {
		row.Cells[0] = value.String(standard + " (default)")
	}
	shown := value.Null()
	switch t.Include {
	case metav1.IncludeObject:
		shown = object
	case metav1.IncludeMetadata, "":
		shown = Partial(t.Of, object)
	}
	out := value.Object(value.Member{Name: "cells", Value: value.List(row.Cells...)}, value.Member{Name: "object", Value: shown})
	if len(row.Conditions) > 0 {
		out = out.With("conditions", value.List(row.Conditions...))
	}
	return out
}

// Shows returns what an object shows in the columns.
func (t Table) Shows(object value.Value) catalog.Row {
	if t.Version.Row != nil {
		return t.Version.Row(object, t.Now)
	}
	columns := t.Version.Columns()
	cells := make([]value.Value, len(columns))
	left, room := jsonpath.MaxSteps, MaxCells
	for i, c := range columns {
		if room < 0 {
			cells[i] = value.String(GivenUp)
			continue
		}
		cells[i] = t.cell(c, object, &left)
		room -= len(cells[i].Str())
	}
	return catalog.Row{Cells: cells}
}

// GivenUp is what a column shows whose path leads to too many values, or that has no room in its row.
const GivenUp = "given up"

// MaxCells is how many bytes the cells of a row may have; the cell that goes beyond it is the last one.
const MaxCells = 4 << 20

// cell returns what object has in a column. left is how many values may be visited to find it.
func (t Table) cell(c catalog.Column, object value.Value, left *int) value.Value {
	v, err := find(c.Path, object, left)
	if stderrors.Is(err, jsonpath.ErrGivenUp) {
		return value.String(GivenUp)
	}
	return t.Cell(c, v)
}

// Cell returns what a column shows of v, which is what an object has at its path; null if that is nothing, or something of another type.
func (t Table) Cell(c catalog.Column, v value.Value) value.Value {
	switch k := v.Kind(); {
	case v.IsAbsent() || v.IsNull():
	case c.Type == "string" && k == value.KindString, c.Type == "integer" && k == value.KindInt,
		c.Type == "number" && (k == value.KindInt || k == value.KindFloat), c.Type == "boolean" && k == value.KindBool:
		return v
	case c.Type == "string":
		return value.String(printed(v))
	case c.Type == "integer" && k == value.KindFloat:
		return value.Int(int64(v.Float()))
	case c.Type == "date" && k == value.KindString:
		return value.String(t.age(v.Str()))
	}
	return value.Null()
}

// AppendCell appends what a column shows of a value, as Cell does, from its JSON text to JSON text. No text stands for no value.
func (t *Table) AppendCell(b []byte, c *catalog.Column, text []byte) ([]byte, error) {
	switch {
	case len(text) == 0:
		return append(b, "null"...), nil
	case c.Type == "string" && text[0] == '"', c.Type == "integer" && isWhole(text):
		return append(b, text...), nil
	case c.Type == "date" && isPlain(text):
		return value.String(t.age(string(text[1 : len(text)-1]))).AppendJSON(b), nil
	}
	v, err := value.Parse(text)
	return t.Cell(*c, v).AppendJSON(b), err
}

// isWhole reports whether a value, given by its text, is a small whole number.
func isWhole(text []byte) bool {
	if len(text) >= 18 {
		return false
	}
	for _, c := range text {
		if c < '0' || '9' < c {
			return false
		}
	}
	return true
}

// isPlain reports whether a value, given by its text, is a string that reads as it is written.
func isPlain(text []byte) bool {
	return text[0] == '"' && !bytes.ContainsRune(text, '\\')
}

// age returns how long ago a time was, in short.
func (t Table) age(text string) string {
	at, err := time.Parse(time.RFC3339, text)
	switch {
	case err != nil:
		return "<invalid>"
	case at.IsZero():
		return "<unknown>"
	}
	return duration.HumanDuration(t.Now.Sub(at))
}

// printed returns v as a column of strings shows what is no string.
func printed(v value.Value) string {
	if v.Kind() == value.KindList || v.Kind() == value.KindObject {
		return string(v.AppendJSON(nil))
	}
	return fmt.Sprint(v.ToAny())
}

// SimplePath returns a JSON path without the dot that it begins with, and whether it has nothing but names and dots.
func SimplePath(path string) (string, bool) {
	simple := strings.TrimPrefix(path, ".")
	return simple, !strings.ContainsAny(simple, `[]()*?@'"\`) && !strings.Contains(simple, "..")
}

// paths are the paths of columns that were used last.
var paths = memo.Of[*jsonpath.Path]{Budget: 256 << 10}

// find returns the first value at a JSON path, absent along with every error.
func find(path string, object value.Value, left *int) (value.Value, error) {
	if simple, ok := SimplePath(path); ok {
		return catalog.Lookup(object, simple), nil
	}
	p, err := paths.Get([]byte(path), func() (*jsonpath.Path, error) { return jsonpath.Compile(path) })
	if err != nil {
		return value.Value{}, err
	}
	return p.First(object, left)
}
