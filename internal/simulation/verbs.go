package simulation

import (
	"net/http"
	"strings"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/value"
)

// internal is a failure of the server itself.
func internal(err error) *failure {
	return &failure{
		code: http.StatusInternalServerError, reason: "InternalError", message: "Internal error occurred: " + err.Error(),
		causes: []fieldError{{message: err.Error()}},
	}
}

// live returns the stored object as the endpoint's version has it.
func (q *request) live() (object managedfields.Object, exists bool, f *failure) {
	object, exists, err := q.stored(q.key(), q.version)
	if err != nil {
		return object, exists, internal(err)
	}
	return object, exists, nil
}

func (q *request) get() *failure {
	live, exists, f := q.live()
	if f != nil {
		return f
	}
	if !exists {
		return q.notFound(q.name)
	}
	return q.respond(http.StatusOK, live)
}

func (q *request) respond(code int, object managedfields.Object) *failure {
	content, err := object.Value()
	if err != nil {
		return internal(err)
	}
	q.code, q.answer = code, content
	return nil
}

func (q *request) remove() *failure {
	if _, exists := q.objects[q.key()]; !exists {
		return q.notFound(q.name)
	}
	if len(q.options.dryRun) == 0 {
		delete(q.objects, q.key())
	}
	q.code = http.StatusOK
	q.answer = mustValue(map[string]any{
		"kind": "Status", "apiVersion": "v1", "metadata": map[string]any{}, "status": "Success",
		"details": map[string]any{"name": q.name, "group": q.group, "kind": q.plural},
	})
	return nil
}

// create serves POST.
func (q *request) create() *failure {
	d, f := q.decodeObject()
	if f != nil {
		return f
	}
	object := d.Object
	q.name = object.Content.At("metadata", "name").Str()
	object.Content = wipe(object.Content)
	if object.Content, f = q.inNamespace(object.Content); f != nil {
		return f
	}
	object, err := q.update(managedfields.Object{}, object)
	if err != nil {
		return failed(err)
	}
	return q.storeNew(object)
}

// put serves PUT.
func (q *request) put() *failure {
	d, f := q.decodeObject()
	if f != nil {
		return f
	}
	object := d.Object
	if object.Content, f = q.named(object.Content); f != nil {
		return f
	}
	live, exists, f := q.live()
	if f != nil {
		return f
	}
	if !exists {
		return q.notFound(q.name)
	}
	if object, err := q.update(live, object); err != nil {
		return failed(err)
	} else {
		return q.storeUpdate(live, object)
	}
}

// decodeObject reads the object of a POST or PUT.
func (q *request) decodeObject() (decoded, *failure) {
	body, f := q.body()
	if f != nil {
		return decoded{}, f
	}
	d, f := q.decode(body)
	if f != nil {
		return d, f
	}
	if len(d.unknown) > 0 && q.options.validation == "Strict" {
		return d, badRequest("%s in version %q cannot be handled as a %s: strict decoding error: %s",
			q.kind, d.GVK().Version, q.kind, strings.Join(d.unknown, ", "))
	}
	q.warn(d.unknown)
	if gvk := d.GVK(); gvk.APIVersion() != q.gvk.APIVersion() {
		return d, badRequest("the API version in the data (%s) does not match the expected API version (%s)",
			gvk.APIVersion(), q.gvk.APIVersion())
	}
	return d, nil
}

// update lets the field manager update live. What it cannot keep up to date stays as it was.
func (q *request) update(live, object managedfields.Object) (managedfields.Object, error) {
	object, err := q.managers[q.subresource].Update(live, object, q.options.manager, managedfields.KeepEntries)
	if err != nil && object.Content.IsAbsent() {
		return object, err
	}
	return object, nil
}

// mergePatch serves PATCH with a JSON merge patch.
func (q *request) mergePatch() *failure {
	live, exists, f := q.live()
	if f != nil {
		return f
	}
	if !exists {
		return q.notFound(q.name)
	}
	patch, f := q.body()
	if f != nil {
		return f
	}
	content, err := live.Value()
	if err != nil {
		return internal(err)
	}
	patched := mergePatch(content, patch)
	d, f := q.decode(patched)
	if f != nil {
		return f
	}
	if len(d.unknown) > 0 && q.options.validation == "Strict" {
		return invalid("", "", "", []fieldError{{
			"FieldValueInvalid", "patch", "Invalid value: " + value.String(patched.String()).String() +
				": strict decoding error: " + strings.Join(d.unknown, ", "),
		}})
	}
	q.warn(d.unknown)
	object, err := q.update(live, d.Object)
	if err != nil {
		return failed(err)
	}
	if object.Content, f = q.named(object.Content); f != nil {
		return f
	}
	return q.storeUpdate(live, object)
}

// apply serves PATCH with an apply patch.
func (q *request) apply() *failure {
	live, exists, f := q.live()
	if f != nil {
		return f
	}
	if !exists && q.subresource != "" {
		return q.notFound(q.name)
	}
	body, f := q.body()
	if f != nil {
		return f
	}
	config, err := managedfields.ObjectOf(body)
	if err != nil {
		return badRequest("%v", err)
	}
	force := q.options.force != nil && *q.options.force
	object, err := q.managers[q.subresource].Apply(live, config, q.options.manager, force)
	if err != nil {
		return failed(err)
	}
	if uid := object.Content.At("metadata", "uid").Str(); uid != "" && !exists {
		return q.conflict(q.name, "uid mismatch: the provided object specified uid "+uid+", and no existing object was found")
	}
	if object.Content, f = q.named(object.Content); f != nil {
		return f
	}
	if exists {
		return q.storeUpdate(live, object)
	}
	object.Content = wipe(object.Content)
	return q.storeNew(object)
}

// named checks that content is what the path names. It fills in the namespace.
func (q *request) named(content value.Value) (value.Value, *failure) {
	content, f := q.inNamespace(content)
	if f != nil {
		return content, f
	}
	switch name := content.At("metadata", "name").Str(); name {
	case q.name:
		return content, nil
	case "":
		return content, badRequest("the name of the object (%s based on URL) was undeterminable: name must be provided", q.name)
	default:
		return content, badRequest("the name of the object (%s) does not match the name on the URL (%s)", name, q.name)
	}
}

func (q *request) inNamespace(content value.Value) (value.Value, *failure) {
	metadata := content.Get("metadata")
	switch namespace := metadata.Get("namespace").Str(); {
	case namespace == q.namespace:
		return content, nil
	case namespace == "":
		return content.With("metadata", metadata.With("namespace", value.String(q.namespace))), nil
	case q.namespace == "":
		return content.With("metadata", metadata.With("namespace", value.Value{})), nil
	}
	return content, badRequest("the namespace of the provided object does not match the namespace sent on the request")
}

// wipe removes what only the server says about an object.
func wipe(content value.Value) value.Value {
	metadata := content.Get("metadata")
	for _, name := range []string{"uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"} {
		metadata = metadata.With(name, value.Value{})
	}
	return content.With("metadata", metadata)
}
