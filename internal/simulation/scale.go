package simulation

import (
	"fmt"
	"math"
	"net/http"
	"strings"
	"time"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// scale is the scale subresource of a version. A nil scale is none.
type scale struct{ spec, status string } // where the numbers of replicas stand, such as .spec.replicas

var scaleKind = schema.GVK{Group: "autoscaling", Version: "v1", Kind: "Scale"}

// unset stands for the replicas of objects that have none, in a Scale that is to be written.
const unset = math.MinInt32

// scaleOf reads what a definition says about the subresource.
func scaleOf(v value.Value) *scale {
	if v.Kind() != value.KindObject {
		return nil
	}
	return &scale{v.Get("specReplicasPath").Str(), v.Get("statusReplicasPath").Str()}
}

// scaleSchema describes Scale as if it were a custom resource, whose type is the same.
const scaleSchema = `{
	"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
	"spec": {"group": "autoscaling", "names": {"kind": "Scale"}, "versions": [{"name": "v1", "schema": {"openAPIV3Schema": {
		"type": "object",
		"properties": {
			"spec": {"type": "object", "properties": {"replicas": {"type": "integer"}}},
			"status": {"type": "object", "properties": {"replicas": {"type": "integer"}, "selector": {"type": "string"}}}
		}
	}}}]}
}`

func scaleManager(now func() time.Time) (*managedfields.FieldManager, error) {
	crd, err := value.Parse([]byte(scaleSchema))
	if err != nil {
		return nil, err
	}
	types, err := typesOf(crd)
	if err != nil {
		return nil, err
	}
	return managedfields.New(managedfields.Config{
		GVK: scaleKind, Types: types, Subresource: "scale", Empty: newScale(value.Object(), 0, 0), Now: now,
	})
}

func names(path string) []string { return strings.Split(strings.TrimPrefix(path, "."), ".") }

// path returns where the replicas stand that are wanted, and nil for no subresource.
func (s *scale) path() fieldpath.Path {
	if s == nil {
		return nil
	}
	var out fieldpath.Path
	for _, name := range names(s.spec) {
		out = append(out, fieldpath.Field(name))
	}
	return out
}

// number returns the integer at a path, and whether there is a value.
func number(v value.Value, path string) (n int64, found bool, err error) {
	for i, name := range names(path) {
		if v.IsNull() || v.IsAbsent() {
			return 0, false, nil
		}
		if v.Kind() != value.KindObject {
			at := "." + strings.Join(names(path)[:i+1], ".")
			return 0, false, fmt.Errorf("%s accessor error: %v is of the type %[2]T, expected map[string]interface{}", at, v.ToAny())
		}
		v = v.Get(name)
	}
	if v.IsAbsent() {
		return 0, false, nil
	}
	if v.Kind() != value.KindInt {
		return 0, false, fmt.Errorf("%s accessor error: %v is of the type %[2]T, expected int64", path, v.ToAny())
	}
	return v.Int(), true, nil
}

// validate returns what is wrong with the replicas of an object.
func (s *scale) validate(content value.Value) []fieldError {
	if s == nil {
		return nil
	}
	return append(validateReplicas(content, s.spec), s.validateStatus(content)...)
}

func (s *scale) validateStatus(content value.Value) []fieldError {
	if s == nil {
		return nil
	}
	return validateReplicas(content, s.status)
}

func validateReplicas(content value.Value, path string) []fieldError {
	n, _, err := number(content, path)
	reason := ""
	switch {
	case err != nil:
		reason = err.Error()
	case n < 0:
		reason = "should be a non-negative integer"
	case n > math.MaxInt32:
		reason = fmt.Sprintf("should be less than or equal to %d", math.MaxInt32)
	default:
		return nil
	}
	return []fieldError{{"FieldValueInvalid", path, fmt.Sprintf("Invalid value: %d: %s", n, reason)}}
}

// of returns the Scale of an object, and whether the object has a number of replicas.
func (s *scale) of(object value.Value) (out value.Value, found bool, f *failure) {
	spec, found, err := number(object, s.spec)
	status, _, statusErr := number(object, s.status)
	if err == nil {
		err = statusErr
	}
	if err != nil {
		return out, false, &failure{code: http.StatusInternalServerError, message: err.Error()}
	}
	metadata := value.Object()
	for _, name := range []string{"name", "namespace", "uid", "resourceVersion"} {
		metadata = metadata.With(name, object.At("metadata", name))
	}
	return newScale(metadata, spec, status), found, nil
}

// newScale returns a Scale as the server's own type prints it.
func newScale(metadata value.Value, spec, status int64) value.Value {
	wanted := value.Object()
	if spec != 0 {
		wanted = wanted.With("replicas", value.Int(spec))
	}
	return value.Object(
		value.Member{Name: "apiVersion", Value: value.String(scaleKind.APIVersion())},
		value.Member{Name: "kind", Value: value.String(scaleKind.Kind)},
		value.Member{Name: "metadata", Value: metadata},
		value.Member{Name: "spec", Value: wanted},
		value.Member{Name: "status", Value: value.Object(value.Member{Name: "replicas", Value: value.Int(status)})},
	)
}

// liveScale returns the stored object with its Scale. found reports whether the object says how many replicas are wanted.
func (q *request) liveScale() (live managedfields.Object, content value.Value, found bool, f *failure) {
	live, exists, f := q.live()
	if f == nil && !exists {
		f = q.notFound(q.name)
	}
	if f == nil {
		content, found, f = q.scale.of(live.Content)
	}
	return live, content, found, f
}

func (q *request) getScale() *failure {
	_, s, found, f := q.liveScale()
	if f != nil {
		return f
	}
	if !found {
		return internal(fmt.Errorf("the spec replicas field %q does not exist", q.scale.spec))
	}
	q.code, q.answer = http.StatusOK, s
	return nil
}

func (q *request) putScale() *failure {
	body, f := q.body()
	if f != nil {
		return f
	}
	if body, f = q.named(body); f != nil {
		return f
	}
	return q.writeScale(func(live managedfields.Object) (managedfields.Object, *failure) { return q.updateScale(live, body) })
}

func (q *request) mergePatchScale() *failure {
	patch, f := q.body()
	if f != nil {
		return f
	}
	return q.writeScale(func(live managedfields.Object) (managedfields.Object, *failure) {
		return q.updateScale(live, mergePatch(live.Content, patch))
	})
}

func (q *request) updateScale(live managedfields.Object, content value.Value) (managedfields.Object, *failure) {
	content = newScale(content.Get("metadata"), content.At("spec", "replicas").Int(), content.At("status", "replicas").Int())
	object, err := q.update(live, managedfields.Object{Content: content})
	if err != nil {
		return object, failed(err)
	}
	return object, nil
}

// applyScale serves an apply. The converter of custom resources knows no Scale, but is asked for one in two places: where an
// object without owners is adopted, and where an apply changes something. So only an apply that changes nothing succeeds.
func (q *request) applyScale() *failure {
	body, f := q.body()
	if f != nil {
		return f
	}
	config, err := managedfields.ObjectOf(body)
	if err != nil {
		return badRequest("%v", err)
	}
	return q.writeScale(func(live managedfields.Object) (managedfields.Object, *failure) {
		const refusal = "proper version: request to convert CR to an invalid group/version: autoscaling/v1"
		if len(live.Entries) == 0 {
			return live, failed(fmt.Errorf("failed to create manager for existing fields: "+
				"failed to convert live object (/; %v) to "+refusal, scaleKind))
		}
		plan, err := q.managers["scale"].Plan(live, config, q.options.manager)
		if err != nil {
			return live, failed(err)
		}
		commit := plan.Commit
		if q.options.force != nil && *q.options.force {
			commit = plan.Force
		}
		object, err := commit()
		if err == nil && plan.Changed() {
			metadata := config.Content.Get("metadata")
			err = fmt.Errorf("failed to convert new object (%s/%s; %v) to "+refusal,
				metadata.Get("namespace").Str(), metadata.Get("name").Str(), config.GVK())
		}
		if err != nil {
			return object, failed(err)
		}
		return object, nil
	})
}

// writeScale lets write change the Scale of the stored object, and stores the object with what came out.
func (q *request) writeScale(write func(managedfields.Object) (managedfields.Object, *failure)) *failure {
	live, content, found, f := q.liveScale()
	if f != nil {
		return f
	}
	if !found {
		content = newScale(content.Get("metadata"), unset, content.At("status", "replicas").Int())
	}
	handler := managedfields.NewScaleHandler(live.Entries, q.gvk.APIVersion(), q.replicas)
	entries, err := handler.ToSubresource()
	if err != nil {
		return failed(err)
	}
	written, f := write(managedfields.Object{Content: content, Entries: entries})
	if f != nil {
		return f
	}
	replicas := written.Content.At("spec", "replicas").Int()
	if replicas == unset {
		return badRequest("the spec replicas field %q cannot be empty", q.scale.spec)
	}
	object := managedfields.Object{Content: setNumber(live.Content, names(q.scale.spec), replicas)}
	if version := written.Content.At("metadata", "resourceVersion"); version.Str() != "" {
		object.Content = withMetadata(object.Content, "resourceVersion", version)
	}
	if object.Entries, err = handler.ToParent(written.Entries); err != nil {
		return failed(err)
	}
	if f := q.storeUpdate(live, object); f != nil {
		return f
	}
	q.answer, _, f = q.scale.of(q.answer)
	return f
}

func setNumber(v value.Value, names []string, n int64) value.Value {
	if len(names) == 0 {
		return value.Int(n)
	}
	return v.With(names[0], setNumber(v.Get(names[0]), names[1:], n))
}
