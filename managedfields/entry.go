package managedfields

import (
	"fmt"
	"time"

	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/value"
)

// Entry is one entry of metadata.managedFields, metav1.ManagedFieldsEntry in Kubernetes. The zero Entry is what an empty
// JSON object stands for.
type Entry struct {
	Manager     string
	Operation   merge.Operation
	APIVersion  string
	Time        time.Time // whole seconds; the zero Time is no time
	FieldsType  string    // FieldsV1
	FieldsV1    []byte    // JSON text, as it was read; nil when there is none
	Subresource string
}

// fieldsV1 is the only fieldsType that there is.
const fieldsV1 = "FieldsV1"

func (e Entry) isZero() bool {
	return e.Manager == "" && e.Operation == "" && e.APIVersion == "" && e.Time.IsZero() && e.FieldsType == "" &&
		e.FieldsV1 == nil && e.Subresource == ""
}

// EntryError says what is wrong with an entry of metadata.managedFields.
type EntryError struct {
	Index   int    // of the entry
	Manager string // as far as it is known
	Err     error
}

// Error returns the defect with its place.
func (e *EntryError) Error() string {
	if e.Manager == "" {
		return fmt.Sprintf("metadata.managedFields[%d]: %v", e.Index, e.Err)
	}
	return fmt.Sprintf("metadata.managedFields[%d], manager %q: %v", e.Index, e.Manager, e.Err)
}

// Unwrap returns the defect.
func (e *EntryError) Unwrap() error { return e.Err }

// entriesOf reads the value of metadata.managedFields. Absent and null give nil, an empty list an empty slice.
func entriesOf(v value.Value) ([]Entry, error) {
	switch v.Kind() {
	case value.KindAbsent, value.KindNull:
		return nil, nil
	case value.KindList:
	default:
		return nil, fmt.Errorf("metadata.managedFields: expected a list, got %s", v.Kind())
	}
	entries := make([]Entry, v.Len())
	for i := range entries {
		var err error
		if entries[i], err = entryOf(v.Item(i)); err != nil {
			return nil, &EntryError{Index: i, Manager: v.Item(i).Get("manager").Str(), Err: err}
		}
	}
	return entries, nil
}

func entryOf(v value.Value) (e Entry, err error) {
	if v.Kind() != value.KindObject {
		return e, fmt.Errorf("expected an object, got %s", v.Kind())
	}
	for name, member := range v.Members() {
		if name == "fieldsV1" && !member.IsNull() {
			e.FieldsV1 = member.AppendJSON(nil)
			continue
		}
		if member.IsNull() {
			continue
		}
		if member.Kind() != value.KindString {
			return e, fmt.Errorf("%s: expected a string, got %s", name, member.Kind())
		}
		if err := e.set(name, member.Str()); err != nil {
			return e, err
		}
	}
	return e, nil
}

// set sets the field that name has in JSON. Unknown fields are ignored, as Kubernetes does.
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
	}
	return nil
}

// value returns e as a JSON object. The error says why FieldsV1 is no JSON text.
func (e Entry) value() (value.Value, error) {
	members := make([]value.Member, 0, 7)
	add := func(name, text string) {
		if text != "" {
			members = append(members, value.Member{Name: name, Value: value.String(text)})
		}
	}
	add("apiVersion", e.APIVersion)
	add("fieldsType", e.FieldsType)
	if e.FieldsV1 != nil {
		fields, err := value.Parse(e.FieldsV1)
		if err != nil {
			return value.Value{}, fmt.Errorf("fieldsV1: %w", err)
		}
		members = append(members, value.Member{Name: "fieldsV1", Value: fields})
	}
	add("manager", e.Manager)
	add("operation", string(e.Operation))
	add("subresource", e.Subresource)
	if !e.Time.IsZero() {
		add("time", e.Time.UTC().Format(time.RFC3339))
	}
	return value.Object(members...), nil
}
