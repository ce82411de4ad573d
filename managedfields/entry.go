package managedfields

import (
	"errors"
	"fmt"
	"time"

	"github.com/deed-project/deed/internal/jsontext"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/value"
)

// One entry of metadata.managedFields: its JSON members, read and written. This file does not read
// the fieldsV1 of an entry, which may be any JSON until a caller asks for the set.

// Entry is one entry of metadata.managedFields: metav1.ManagedFieldsEntry in Kubernetes. The zero
// Entry stands for an empty JSON object.
type Entry struct {
	Manager     string
	Operation   merge.Operation
	APIVersion  string
	Time        time.Time // printed in whole seconds; the zero Time is an unknown time
	FieldsType  string    // FieldsV1
	FieldsV1    Fields
	Subresource string
}

// identity returns the manager of e. An applier is the same manager in all versions.
func (e *Entry) identity() merge.Manager {
	m := merge.Manager{Name: e.Manager, Operation: e.Operation, APIVersion: e.APIVersion, Subresource: e.Subresource}
	if e.Operation == merge.Apply {
		m.APIVersion = ""
	}
	return m
}

// read is [Fields.read] for the fields of e, with the manager and the time as further cache keys.
func (e *Entry) read(c *Cache) (reading, error) {
	if content, ok := e.FieldsV1.held.(map[string]any); ok && c.budget > 0 {
		p, err := readMap(c, content, e.Manager, unixSeconds(e.Time))
		return p.reading(), err
	}
	return e.FieldsV1.read(c)
}

// fieldsV1 is the only valid fieldsType.
const fieldsV1 = "FieldsV1"

// isZero reports whether e equals an entry read from {}.
func (e Entry) isZero() bool {
	return e.Manager == "" && e.Operation == "" && e.APIVersion == "" && e.Time.IsZero() && e.FieldsType == "" &&
		e.FieldsV1.IsAbsent() && e.Subresource == ""
}

// EntryError describes the defect of an entry of metadata.managedFields.
type EntryError struct {
	Index   int    // of the entry in the list
	Manager string // empty if it is not known
	Err     error

	plain bool // the message of kube-apiserver is that of Err
}

// Error returns the defect with its place.
func (e *EntryError) Error() string {
	if e == nil {
		return "<nil>"
	}
	if e.Manager == "" {
		return fmt.Sprintf("metadata.managedFields[%d]: %v", e.Index, e.Err)
	}
	return fmt.Sprintf("metadata.managedFields[%d], manager %q: %v", e.Index, e.Manager, e.Err)
}

// Unwrap returns the defect.
func (e *EntryError) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.Err
}

// entriesOf reads the value of metadata.managedFields. It returns nil for absent and null, and an
// empty slice for an empty list. fields makes the fieldsV1 of an entry from its JSON value. all
// reports whether the entries hold all content of v. It is false if v is null, or if an item has a
// member that Entry lacks.
func entriesOf(v value.Value, fields func(value.Value) Fields) (entries []Entry, all bool, err error) {
	switch v.Kind() {
	case value.KindAbsent, value.KindNull:
		return nil, v.IsAbsent(), nil
	case value.KindList:
	default:
		return nil, false, fmt.Errorf("metadata.managedFields: expected a list, got %s", v.Kind())
	}
	entries, all = make([]Entry, v.Len()), true
	for i := range entries {
		told := false
		if entries[i], told, err = entryOf(v.Item(i), fields); err != nil {
			return nil, false, &EntryError{Index: i, Manager: v.Item(i).Get("manager").Str(), Err: err}
		}
		all = all && told
	}
	return entries, all, nil
}

// entryOf reads one entry. all reports whether the entry holds all content of v.
func entryOf(v value.Value, fields func(value.Value) Fields) (e Entry, all bool, err error) {
	if v.Kind() != value.KindObject {
		return e, false, fmt.Errorf("expected an object, got %s", v.Kind())
	}
	all = true
	for name, member := range v.Members() {
		switch {
		case name == "fieldsV1":
			e.FieldsV1 = fields(member)
		case !isMember(name):
			all = false
		case member.IsNull():
		case member.Kind() != value.KindString:
			return e, false, fmt.Errorf("%s: expected a string, got %s", name, member.Kind())
		default:
			if err := e.set(name, member.Str()); err != nil {
				return e, false, err
			}
		}
	}
	return e, all, nil
}

// hasNoFields reports whether fieldsV1 is plainly something else than an object. It does not parse
// text.
func (e Entry) hasNoFields() bool {
	switch held := e.FieldsV1.held.(type) {
	case string:
		return held == "" || held[0] != '{'
	case value.Value:
		return held.Kind() != value.KindObject
	}
	return false
}

// isMember reports whether name is the JSON name of a member of Entry.
func isMember(name string) bool {
	switch name {
	case "manager", "operation", "apiVersion", "fieldsType", "fieldsV1", "subresource", "time":
		return true
	}
	return false
}

// errNoMember is the error of set for a name that is no member of an entry.
var errNoMember = errors.New("no member of an entry")

// set sets the member with this JSON name.
func (e *Entry) set(name, text string) (err error) {
	switch name {
	case "manager":
		e.Manager = text
	case "operation":
		e.Operation = merge.Operation(text)
	case "apiVersion":
		e.APIVersion = text
	case "fieldsType":
		e.FieldsType = text
	case "subresource":
		e.Subresource = text
	case "time":
		if e.Time, err = time.Parse(time.RFC3339, text); err != nil {
			return fmt.Errorf("time: %w", err)
		}
		e.Time = e.Time.UTC()
	default:
		return errNoMember
	}
	return nil
}

// entriesValue returns entries as a list. The error names the entry whose FieldsV1 is invalid JSON.
func entriesValue(entries []Entry) (value.Value, error) {
	items := make([]value.Value, len(entries))
	for i, e := range entries {
		var fields value.Value
		if !e.FieldsV1.IsAbsent() {
			var err error
			if fields, err = e.FieldsV1.document(); err != nil {
				return value.Value{}, &EntryError{Index: i, Manager: e.Manager, Err: err}
			}
		}
		items[i] = e.value(fields)
	}
	return value.List(items...), nil
}

// entryText is a member of an entry that is text: its JSON name and its value.
type entryText struct{ name, text string }

// texts returns the members of e, sorted by name. The text is empty for an absent member and for
// fieldsV1.
func (e Entry) texts() [7]entryText {
	texts := e.textsButTime()
	if !e.Time.IsZero() {
		texts[len(texts)-1].text = e.Time.UTC().Format(time.RFC3339)
	}
	return texts
}

// textsButTime is texts with an empty time. The time is the last member.
func (e Entry) textsButTime() [7]entryText {
	return [...]entryText{
		{"apiVersion", e.APIVersion}, {"fieldsType", e.FieldsType}, {"fieldsV1", ""}, {"manager", e.Manager},
		{"operation", string(e.Operation)}, {"subresource", e.Subresource}, {"time", ""},
	}
}

// value returns e as a JSON object. fields is its fieldsV1; absent fields are left out.
func (e Entry) value(fields value.Value) value.Value {
	members := make([]value.Member, 0, 7)
	for _, m := range e.texts() {
		switch {
		case m.text != "":
			members = append(members, value.Member{Name: m.name, Value: value.String(m.text)})
		case m.name == "fieldsV1" && !fields.IsAbsent():
			members = append(members, value.Member{Name: m.name, Value: fields})
		}
	}
	return value.Object(members...)
}

// appendJSON appends e as canonical JSON text to b. Text of fieldsV1 keeps its order.
func (e Entry) appendJSON(b []byte) []byte {
	b = append(b, '{')
	for _, m := range e.textsButTime() {
		switch {
		case m.text != "":
			b = jsontext.AppendString(appendName(b, m.name), m.text, jsontext.Standard)
		case m.name == "fieldsV1" && !e.FieldsV1.IsAbsent():
			b = e.FieldsV1.appendEscaped(appendName(b, m.name))
		case m.name == "time" && !e.Time.IsZero():
			b = append(appendName(b, m.name), '"') // needs no escapes
			b = append(e.Time.UTC().AppendFormat(b, time.RFC3339), '"')
		}
	}
	return append(b, '}')
}
