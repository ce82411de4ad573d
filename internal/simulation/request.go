package simulation

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/deed-project/deed/internal/recording"
	"github.com/deed-project/deed/internal/yaml"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/structural"
	"github.com/deed-project/deed/value"
)

// request is one request on its way through the server.
type request struct {
	*Server
	step recording.Step

	*version
	namespace, name, subresource string // from the path
	options                      options

	code     int // of the answer, if there is no failure
	answer   value.Value
	warnings []string
}

// options are the parameters of the query.
type options struct {
	manager    string
	dryRun     []string
	validation string
	force      *bool
}

const (
	applyPatchType = "application/apply-patch+yaml"
	mergePatchType = "application/merge-patch+json"
)

func (q *request) serve() *failure {
	if f := q.route(); f != nil {
		return f
	}
	verb := q.step.Method
	if verb == http.MethodPatch {
		verb += " " + q.step.ContentType
	}
	verbs := map[string]func() *failure{
		http.MethodGet: q.get, http.MethodPost: q.create, http.MethodPut: q.put, http.MethodDelete: q.remove,
		"PATCH " + applyPatchType: q.apply, "PATCH " + mergePatchType: q.mergePatch,
	}
	if q.subresource == "scale" {
		verbs = map[string]func() *failure{
			http.MethodGet: q.getScale, http.MethodPut: q.putScale,
			"PATCH " + applyPatchType: q.applyScale, "PATCH " + mergePatchType: q.mergePatchScale,
		}
	}
	serve, ok := verbs[verb]
	if !ok {
		return &failure{code: http.StatusMethodNotAllowed, reason: "MethodNotAllowed", message: verb + " is not simulated"}
	}
	if f := q.readOptions(); f != nil {
		return f
	}
	return serve()
}

// route reads the path: /apis/group/version[/namespaces/namespace]/resource[/name[/subresource]].
func (q *request) route() *failure {
	parts := strings.Split(strings.Trim(q.step.Path, "/"), "/")
	if len(parts) > 5 && parts[3] == "namespaces" {
		q.namespace = parts[4]
		parts = slices.Delete(parts, 3, 5)
	}
	if len(parts) < 4 || parts[0] != "apis" || parts[1] != q.group || parts[3] != q.plural || q.versions[parts[2]] == nil {
		return &failure{code: http.StatusNotFound, reason: "NotFound", message: "the server could not find the requested resource"}
	}
	q.version = q.versions[parts[2]]
	if len(parts) > 4 {
		q.name = parts[4]
	}
	if len(parts) > 5 {
		q.subresource = parts[5]
	}
	if q.managers[q.subresource] == nil {
		return &failure{code: http.StatusNotFound, reason: "NotFound", message: "the server could not find the requested resource"}
	}
	return nil
}

func (q *request) key() string { return q.namespace + "/" + q.name }

// readOptions reads the query, and refuses what it may not say.
func (q *request) readOptions() *failure {
	values, err := url.ParseQuery(q.step.Query)
	if err != nil {
		return badRequest("%v", err)
	}
	q.options = options{
		manager: values.Get("fieldManager"), dryRun: values["dryRun"], validation: values.Get("fieldValidation"),
	}
	if values.Has("force") {
		text := values.Get("force")
		force := text != "0" && !strings.EqualFold(text, "false")
		q.options.force = &force
	}
	kinds := map[string]string{
		http.MethodPost: "CreateOptions", http.MethodPut: "UpdateOptions",
		http.MethodPatch: "PatchOptions", http.MethodDelete: "DeleteOptions",
	}
	kind, ok := kinds[q.step.Method]
	if !ok {
		return nil
	}
	if kind == "DeleteOptions" {
		q.options = options{dryRun: q.options.dryRun}
	}
	f := invalid("meta.k8s.io", kind, "", q.options.check(q.step.Method, q.step.ContentType == applyPatchType))
	if q.options.validation == "" {
		q.options.validation = "Warn"
	}
	return f
}

// check returns what is wrong with the options.
func (o options) check(method string, apply bool) []fieldError {
	var errs []fieldError
	if apply && o.manager == "" {
		errs = append(errs, fieldError{"FieldValueRequired", "fieldManager", "Required value: is required for apply patch"})
	}
	if !apply && o.force != nil && method == http.MethodPatch {
		errs = append(errs, fieldError{"FieldValueForbidden", "force", "Forbidden: may not be specified for non-apply patch"})
	}
	if len(o.manager) > 128 {
		errs = append(errs, fieldError{"FieldValueTooLong", "fieldManager", "Too long: may not be more than 128 bytes"})
	}
	for i, r := range o.manager {
		if !unicode.IsPrint(r) {
			errs = append(errs, fieldError{
				"FieldValueInvalid", "fieldManager",
				fmt.Sprintf("Invalid value: %q: invalid character %#U (at position %d)", o.manager, r, i),
			})
		}
	}
	if slices.ContainsFunc(o.dryRun, func(s string) bool { return s != "All" }) {
		errs = append(errs, fieldError{
			"FieldValueNotSupported", "dryRun", `Unsupported value: ` + quoted(o.dryRun) + `: supported values: "All"`,
		})
	}
	if !slices.Contains([]string{"", "Ignore", "Strict", "Warn"}, o.validation) {
		errs = append(errs, fieldError{
			"FieldValueNotSupported", "fieldValidation",
			fmt.Sprintf(`Unsupported value: %q: supported values: "", "Ignore", "Strict", "Warn"`, o.validation),
		})
	}
	return errs
}

// body returns what was sent, with the resource version of the stored object filled in where it says so.
func (q *request) body() (value.Value, *failure) {
	body := q.step.Body
	if body.Kind() == value.KindString {
		docs, err := yaml.Parse("", []byte(body.Str()))
		if err != nil || len(docs) == 0 {
			return value.Value{}, badRequest("error decoding patch: %v", err)
		}
		body = docs[0].Value
	}
	if metadata := body.Get("metadata"); metadata.Get("resourceVersion").Str() == "$RV" {
		current := q.objects[q.key()].At("metadata", "resourceVersion")
		body = body.With("metadata", metadata.With("resourceVersion", current))
	}
	return body, nil
}

// decoded is an object as it was sent, without the fields that its version does not know, and with defaults.
type decoded struct {
	managedfields.Object
	unknown []string // what strict decoding says about the fields that were removed
}

func (q *request) decode(body value.Value) (d decoded, f *failure) {
	if body.Kind() != value.KindObject {
		return d, badRequest("expected an object, got %v", body.Kind())
	}
	content := body
	gvk := schema.ParseGVK(body.Get("apiVersion").Str(), body.Get("kind").Str())
	if gvk.Group == q.group && gvk.Kind == q.kind {
		var s *structural.Schema
		if v := q.versions[gvk.Version]; v != nil {
			s = v.schema
		}
		read, unknown, err := s.Decode(body)
		if err != nil {
			return d, badRequest("%v", err)
		}
		content = s.Default(read)
		for _, path := range unknown {
			d.unknown = append(d.unknown, fmt.Sprintf("unknown field %q", path))
		}
	}
	object, err := managedfields.ObjectOf(content)
	if err != nil {
		return d, badRequest("%v", err)
	}
	d.Object = object
	return d, nil
}

// warn adds what strict decoding says to the warnings, if the request asks for warnings.
func (q *request) warn(texts []string) {
	if q.options.validation != "Warn" {
		return
	}
	for _, text := range texts {
		q.warnings = append(q.warnings, `299 - "`+strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text)+`"`)
	}
}
