package simulation

import (
	"net/http"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/value"
)

// storeNew stores an object that does not exist yet, as the server prepares it.
func (q *request) storeNew(object managedfields.Object) *failure {
	if q.status {
		object.Content = object.Content.With("status", value.Value{})
	}
	object.Content = withMetadata(object.Content, "generation", value.Int(1))
	errs := validator{}.validate(q.rules, object.Content, value.Value{}, "")
	errs = append(errs, duplicates(q.schema, object.Content)...)
	errs = append(errs, q.scale.validate(object.Content)...)
	if f := invalid(q.group, q.kind, q.name, errs); f != nil {
		return f
	}
	if _, exists := q.objects[q.key()]; exists {
		return q.alreadyExists(q.name)
	}
	version := q.nextVersion()
	object.Content = withMetadata(object.Content, "uid", value.String("uid-"+version))
	object.Content = withMetadata(object.Content, "resourceVersion", value.String(version))
	return q.commit(http.StatusCreated, object)
}

// storeUpdate stores an object in place of live, as the server prepares it.
func (q *request) storeUpdate(live, object managedfields.Object) *failure {
	metadata, old := object.Content.Get("metadata"), live.Content.Get("metadata")
	switch metadata.Get("resourceVersion").Str() {
	case old.Get("resourceVersion").Str():
	case "":
		return invalid(q.group, q.plural, q.name, []fieldError{{
			"FieldValueInvalid", "metadata.resourceVersion", "Invalid value: 0: must be specified for an update",
		}})
	default:
		return q.conflict(q.name, "the object has been modified; please apply your changes to the latest version and try again")
	}
	object.Content = q.prepared(live.Content, object.Content)
	if f := invalid(q.group, q.kind, q.name, q.validateUpdate(live.Content, object.Content)); f != nil {
		return f
	}
	object.Content = withMetadata(object.Content, "resourceVersion", value.String(q.nextVersion()))
	return q.commit(http.StatusOK, object)
}

// prepared returns content with what the endpoint does not write taken from live. The main endpoint counts a generation when
// anything but metadata changes.
func (q *request) prepared(live, content value.Value) value.Value {
	if q.subresource == "status" {
		return live.With("status", content.Get("status"))
	}
	if q.status {
		content = content.With("status", live.Get("status"))
	}
	generation := live.At("metadata", "generation").Int()
	if !content.With("metadata", value.Value{}).Equal(live.With("metadata", value.Value{})) {
		generation++
	}
	content = withMetadata(content, "generation", value.Int(generation))
	if content.At("metadata", "uid").Str() == "" {
		content = withMetadata(content, "uid", live.At("metadata", "uid"))
	}
	return content
}

// validateUpdate returns what is wrong with content in place of live.
func (q *request) validateUpdate(live, content value.Value) []fieldError {
	var errs []fieldError
	if uid := content.At("metadata", "uid"); !uid.Equal(live.At("metadata", "uid")) {
		immutable := fieldError{"FieldValueInvalid", "metadata.uid", "Invalid value: " + uid.String() + ": field is immutable"}
		errs = append(errs, immutable, immutable) // by the rules for all objects, and by those for custom resources
	}
	if q.subresource == "status" {
		errs = append(errs, q.validateStatus(live.Get("status"), content.Get("status"))...)
		errs = append(errs, q.scale.validateStatus(content)...)
	} else {
		errs = append(errs, validator{}.validate(q.rules, content, live, "")...)
		errs = append(errs, q.scale.validate(content)...)
	}
	if len(duplicates(q.schema, live)) == 0 {
		errs = append(errs, duplicates(q.schema, content)...)
	}
	return errs
}

// validateStatus returns what is wrong with a status. Null is as good as the old status when there is none.
func (q *request) validateStatus(old, status value.Value) []fieldError {
	if status.IsAbsent() || status.IsNull() && old.IsAbsent() {
		return nil
	}
	s, _ := q.rules.child("status")
	return validator{"status"}.validate(s, status, old, "")
}

// commit stores an object, unless this is a dry run, and answers with it as reading gives it.
func (q *request) commit(code int, object managedfields.Object) *failure {
	content, err := q.encoded(object, q.version)
	if err != nil {
		return internal(err)
	}
	if len(q.options.dryRun) == 0 {
		q.objects[q.key()] = content
	}
	if object, err = q.read(content, q.version); err != nil {
		return internal(err)
	}
	return q.respond(code, object)
}

func withMetadata(content value.Value, name string, v value.Value) value.Value {
	return content.With("metadata", content.Get("metadata").With(name, v))
}
