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
	"github.com/deed-project/deed/value"
)

// Objects as rows of a Table, which kubectl prints. Each column has a JSON path into the object and a type:
//
//	column   {name: Age, type: date, jsonPath: .metadata.creationTimestamp}
//	value    "2026-01-02T10:00:00Z"
//	cell     "5m", at 10:05
//
// Some built-in kinds have a function in place of paths, as their cells are computed. Both costs and sizes of cells are bounded, because
// paths and values are the client's.

// Table prints objects as rows.
//
// It is immutable.
type Table struct {
	Of      string // the apiVersion of the Table
	Version *catalog.Version
	Now     time.Time // ages end at this time
	Include metav1.IncludeObjectPolicy
	List    bool // the items are those of a list
}

// ParseInclude returns the part of each object that its row includes. The error is a 400.
func ParseInclude(query url.Values) (metav1.IncludeObjectPolicy, error) {
	o := metav1.TableOptions{IncludeObject: metav1.IncludeObjectPolicy(query.Get("includeObject"))}
	if errs := validation.ValidateTableOptions(&o); len(errs) > 0 {
		return "", errors.NewBadRequest(fmt.Sprintf("Unable to convert to Table as requested: %v", errs.ToAggregate()))
	}
	return o.IncludeObject, nil
}

// Document returns the Table of items: the items of a list, or one object. Without headers it omits the column definitions, as in all but
// the first event of a watch.
//
// A kind may have a default object, such as the default storage class, which a list marks in its first column.
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

// rows returns the rows member of a Table. Without rows it is null for kinds without a printer in kube-apiserver. The column "Created At"
// identifies these kinds.
func (t Table) rows(rows []value.Value) value.Value {
	general := func(c catalog.Column) bool { return c.Name == "Created At" }
	if len(rows) == 0 && t.Version.New != nil && slices.ContainsFunc(t.Version.Columns(), general) {
		return value.Null()
	}
	return value.List(rows...)
}

// NoRows returns the JSON text of the rows member of an empty Table.
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

// Row returns the row of an object. standard is the name of the default object; empty if there is none.
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
	default:
		if object.Get("metadata", "annotations", metav1.InitialEventsAnnotationKey).Str() == "true" { // the end of the initial events of a watch
			shown = Partial(t.Of, object)
		}
	}
	out := value.Object(value.Member{Name: "cells", Value: value.List(row.Cells...)}, value.Member{Name: "object", Value: shown})
	if len(row.Conditions) > 0 {
		out = out.With("conditions", value.List(row.Conditions...))
	}
	return out
}

// Shows returns the cells and conditions of the row of an object.
func (t Table) Shows(object value.Value) catalog.Row {
	if t.Version.Row != nil {
		return t.Version.Row(object, t.Now)
	}
	columns := t.Version.Columns()
	cells := make([]value.Value, len(columns))
	// left and room are for all cells of the row together.
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

// GivenUp is the content of a cell if its path visits too many values, or if its row is full.
const GivenUp = "given up"

// MaxCells is the limit for the cells of a row in bytes. The cell that exceeds it is the last cell with content.
const MaxCells = 4 << 20

// cell returns the content of a column for object. left is the number of values that the path may still visit.
func (t Table) cell(c catalog.Column, object value.Value, left *int) value.Value {
	v, err := find(c, object, left)
	if stderrors.Is(err, jsonpath.ErrGivenUp) {
		return value.String(GivenUp)
	}
	return t.Cell(c, v)
}

// Cell returns the content of a column for v, the value at the column's path. It returns null if v is absent or of another type.
//
// The types are those of a definition's printer columns. A value of another type than the column is converted as kube-apiserver does: to
// text for string columns, also from null, to an integer for floats, and else to null. Numbers have the precision of floats.
func (t Table) Cell(c catalog.Column, v value.Value) value.Value {
	switch k := v.Kind(); {
	case v.IsNull() && c.Type == "string":
		return value.String("<no value>")
	case v.IsAbsent() || v.IsNull():
	case c.Type == "number" && k == value.KindInt && int64(float64(v.Int())) != v.Int():
		return value.Float(float64(v.Int()))
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

// AppendCell does the same as Cell, from the JSON text of a value to JSON text. An empty text is an absent value.
//
// Values that look the same in a cell are copied, and all others are parsed and go through Cell.
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

// isWhole reports whether text is an integer without a sign and with fewer than 18 digits.
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

// isPlain reports whether text is a JSON string without escapes.
func isPlain(text []byte) bool {
	return text[0] == '"' && !bytes.ContainsRune(text, '\\')
}

// age returns the short form of the time since text.
//
// A time that is no RFC 3339 is shown as invalid. The zero time is shown as unknown, as are an empty text and null, which stand for it.
func (t Table) age(text string) string {
	at, err := time.Parse(time.RFC3339, text)
	switch {
	case text == "", text == "null", err == nil && at.IsZero():
		return "<unknown>"
	case err != nil:
		return "<invalid>"
	}
	return duration.HumanDuration(t.Now.Sub(at))
}

// printed returns v, which is no string, as the content of a string column.
func printed(v value.Value) string {
	if v.Kind() == value.KindList || v.Kind() == value.KindObject {
		return string(v.AppendJSON(nil))
	}
	return fmt.Sprint(v.ToAny())
}

// find returns the first value at the path of a column. The value is absent if there is an error.
func find(c catalog.Column, object value.Value, left *int) (value.Value, error) {
	if c.Find != nil {
		return c.Find(object, left)
	}
	return catalog.Lookup(object, strings.TrimPrefix(c.Path, ".")), nil
}
