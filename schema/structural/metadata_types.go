package structural

// form is how a field of metadata is decoded and printed.
type form uint8

const (
	text      form = iota // a string
	integer               // an int64
	flag                  // a boolean
	timestamp             // RFC 3339, printed in UTC
	texts                 // a list of strings
	textMap               // an object of strings
	structs               // a list of structures
	anything              // any JSON, kept as it is
)

// structure is a Go struct that JSON is decoded to and printed from.
type structure struct {
	name   string // in messages
	fields []metaField
}

// metaField is a field of a structure.
type metaField struct {
	name string
	form form
	typ  string     // the type of the Go field, in messages
	of   *structure // the type of the items, for the form structs

	prefix string // of paths of fields of items, in messages

	// always prints the zero value even if the field is absent. pointer prints it if the field was
	// present and not null.
	always, pointer bool
}

// field returns the field called name, or nil. It scans: with so few fields, that is as fast as a
// map.
func (s *structure) field(name string) *metaField {
	for i := range s.fields {
		if s.fields[i].name == name {
			return &s.fields[i]
		}
	}
	return nil
}

// objectMeta is the type of metadata. The fields are sorted by name.
var objectMeta = structure{name: "ObjectMeta", fields: []metaField{
	{name: "annotations", form: textMap, typ: "map[string]string"},
	{name: "creationTimestamp", form: timestamp},
	{name: "deletionGracePeriodSeconds", form: integer, typ: "int64", pointer: true},
	{name: "deletionTimestamp", form: timestamp, pointer: true},
	{name: "finalizers", form: texts, typ: "[]string"},
	{name: "generateName", form: text, typ: "string"},
	{name: "generation", form: integer, typ: "int64"},
	{name: "labels", form: textMap, typ: "map[string]string"},
	{name: "managedFields", form: structs, typ: "[]v1.ManagedFieldsEntry", of: &managedFieldsEntry, prefix: "managedFields."},
	{name: "name", form: text, typ: "string"},
	{name: "namespace", form: text, typ: "string"},
	{name: "ownerReferences", form: structs, typ: "[]v1.OwnerReference", of: &ownerReference, prefix: "ownerReferences."},
	{name: "resourceVersion", form: text, typ: "string"},
	{name: "selfLink", form: text, typ: "string"},
	{name: "uid", form: text, typ: "types.UID"},
}}

var ownerReference = structure{name: "OwnerReference", fields: []metaField{
	{name: "apiVersion", form: text, typ: "string", always: true},
	{name: "blockOwnerDeletion", form: flag, typ: "bool", pointer: true},
	{name: "controller", form: flag, typ: "bool", pointer: true},
	{name: "kind", form: text, typ: "string", always: true},
	{name: "name", form: text, typ: "string", always: true},
	{name: "uid", form: text, typ: "types.UID", always: true},
}}

var managedFieldsEntry = structure{name: "ManagedFieldsEntry", fields: []metaField{
	{name: "apiVersion", form: text, typ: "string"},
	{name: "fieldsType", form: text, typ: "string"},
	{name: "fieldsV1", form: anything},
	{name: "manager", form: text, typ: "string"},
	{name: "operation", form: text, typ: "v1.ManagedFieldsOperationType"},
	{name: "subresource", form: text, typ: "string"},
	{name: "time", form: timestamp, pointer: true},
}}
