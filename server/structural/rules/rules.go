package rules

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/deed-project/deed/value"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/warning"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/deed-project/deed/server/api"
)

// Rules are what the schema of one version of a resource says about the values of objects. They are
// safe for concurrent use. Nil Rules are those of a version without a schema: nothing is wrong.
type Rules struct {
	schema         *schema.Structural
	object, status keywords // of whole objects, and of their status alone
	transitions    bool     // a rule in CEL may ask what a value was before

	// Rules in CEL; both are nil if there are none. checker returns what asks them first, and false if that cannot be.
	checker  func() (*checker, bool)
	compiled func() *cel.Validator
}

// keywords are a schema as the library takes it, and what judges by it. Zero keywords find nothing.
type keywords struct {
	schema *spec.Schema
	quick  *node
}

// Compile compiles an openAPIV3Schema; an absent or null one gives nil. The error is about a schema
// that is not structural. Rules in CEL that do not compile are no error: they fail when they are
// evaluated.
//
// Rules in CEL take milliseconds more. They are compiled in the background: who asks for them first waits.
func Compile(openAPIV3Schema value.Value) (*Rules, error) {
	if openAPIV3Schema.Kind() != value.KindObject {
		return nil, nil
	}
	var v1 apiextensionsv1.JSONSchemaProps
	text := openAPIV3Schema.AppendJSON(nil)
	if err := json.Unmarshal(text, &v1); err != nil {
		return nil, fmt.Errorf("openAPIV3Schema: %w", err)
	}
	var props apiextensions.JSONSchemaProps
	err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&v1, &props, nil)
	if err != nil {
		return nil, fmt.Errorf("openAPIV3Schema: %w", err)
	}
	r := &Rules{transitions: bytes.Contains(text, []byte("oldSelf"))}
	if r.schema, err = schema.NewStructural(&props); err != nil {
		return nil, err
	}
	if r.object, err = keywordsOf(&props); err != nil {
		return nil, err
	}
	if status, ok := props.Properties["status"]; ok {
		if r.status, err = keywordsOf(&status); err != nil {
			return nil, err
		}
	}
	if !hasRules(r.schema) {
		return r, nil
	}
	r.compiled = sync.OnceValue(func() *cel.Validator { return cel.NewValidator(r.schema, true, celconfig.PerCallLimit) })
	r.checker = sync.OnceValues(func() (*checker, bool) {
		if r.transitions {
			return nil, false
		}
		return newChecker(r.schema, true, model.SchemaDeclType(r.schema, true))
	})
	go r.prepare()
	return r, nil
}

// preparing lets one definition at a time be compiled in the background, however many there are.
var preparing sync.Mutex

// prepare compiles what is asked for first. A panic is for those who ask, who meet it again.
func (r *Rules) prepare() {
	preparing.Lock()
	defer preparing.Unlock()
	defer func() { _ = recover() }()
	if _, ok := r.checker(); !ok {
		r.compiled()
	}
}

func keywordsOf(props *apiextensions.JSONSchemaProps) (keywords, error) {
	_, converted, err := validation.NewSchemaValidator(props)
	if err != nil {
		return keywords{}, err
	}
	return keywords{converted, compile(converted)}, nil
}

// faults returns what is wrong with v, which is at base, in the place of live, absent if it is new.
func (k keywords) faults(ctx context.Context, base *field.Path, v, live value.Value) field.ErrorList {
	w := faults{judging: judging{ctx: ctx}, base: base, schema: k.schema, room: api.MaxTexts}
	var was *former
	if !live.IsAbsent() {
		was = &former{was: live, node: k.quick}
	}
	w.find(k.quick, v, was)
	return w.all()
}

// Values returns what is wrong with object by the keywords and formats of its schema. It replaces
// live, which is absent for a new object: what was wrong already, and is as it was, does not count.
//
// The errors are in the order of their fields. An object with which nothing is wrong costs one walk
// of it. When ctx ends, so does the walk, and what it found until then says nothing.
func (r *Rules) Values(ctx context.Context, object, live value.Value) field.ErrorList {
	errs, _ := r.ValuesChange(ctx, object, live, value.Value{})
	return errs
}

// ValuesChange is Values for an object that may share parts with known, of which it is known that it is sound; absent for none. It reports
// whether object is: that nothing is wrong with it, whatever it replaces. What is shared is not looked at again.
func (r *Rules) ValuesChange(ctx context.Context, object, live, known value.Value) (errs field.ErrorList, sound bool) {
	if r.Sound(ctx, object, known) {
		return nil, true
	}
	return r.object.faults(ctx, nil, object, live), false
}

// Sound reports whether an object is surely sound, see ValuesChange.
func (r *Rules) Sound(ctx context.Context, object, known value.Value) bool {
	return r == nil || (&judging{ctx: ctx}).judge(r.object.quick, object, known) == good
}

// ordered sorts errors by their fields, those of one field being in the order of the library, which
// has fields in the order of maps.
func ordered(errs field.ErrorList) field.ErrorList {
	slices.SortStableFunc(errs, func(a, b *field.Error) int { return strings.Compare(fieldOf(a), fieldOf(b)) })
	return errs
}

// fieldOf returns the field that an error is about, which some name at the end of what they say.
func fieldOf(e *field.Error) string {
	if at := strings.LastIndex(e.Detail, " in "); e.Field == "<nil>" && at >= 0 {
		return e.Detail[at+len(" in "):]
	}
	return e.Field
}

// StatusValues is Values for a write of the status alone: only the status is looked at.
func (r *Rules) StatusValues(ctx context.Context, object, live value.Value) field.ErrorList {
	status := object.Get("status")
	if r == nil || r.status.schema == nil || status.IsAbsent() ||
		(&judging{ctx: ctx}).judge(r.status.quick, status, value.Value{}) == good {
		return nil
	}
	was := live.Get("status")
	if was.IsAbsent() {
		was = value.Null() // which a status of null is no change of
	}
	return r.status.faults(ctx, field.NewPath("status"), status, was)
}

// Resources returns what is wrong with type and metadata of embedded resources. It costs nothing
// where the schema has none.
func (r *Rules) Resources(ctx context.Context, object value.Value) field.ErrorList {
	if r == nil || !r.object.quick.below.resources {
		return nil
	}
	if long := r.object.quick.tooLong(object, func(n *node) bool { return n.below.resources }, maxResourcePaths); long != nil {
		return long
	}
	return objectmeta.Validate(ctx, nil, object.ToAny(), r.schema, false)
}

// CEL returns errs and what rules in CEL find. Rules are not asked about objects that are wrong in
// ways that they do not expect: then an error says so. What they find in values of live that are as
// they were is a warning. The cost is bounded as in kube-apiserver, and only what has rules is
// looked at.
func (r *Rules) CEL(ctx context.Context, errs field.ErrorList, object, live value.Value, warnings warning.Recorder) field.ErrorList {
	errs, _ = r.CELChange(ctx, errs, object, live, warnings, 0)
	return errs
}

// CELChange is CEL where all rules hold for live, if proved is not 0: it is at most what evaluating them cost, as an earlier call returned
// it. Rules are not evaluated then about what is as it was. It returns the same for object, 0 if rules may not hold, or if there are none.
func (r *Rules) CELChange(
	ctx context.Context, errs field.ErrorList, object, live value.Value, warnings warning.Recorder, proved int64,
) (field.ErrorList, int64) {
	if r == nil || r.compiled == nil {
		return errs, 0
	}
	for _, e := range errs {
		switch e.Type {
		case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany,
			field.ErrorTypeTypeInvalid:
			return append(errs, field.Invalid(nil, nil, "some validation rules were not checked because the object was invalid; "+
				"correct the existing errors to complete validation")), 0
		}
	}
	// What was there before only decides what becomes of what is found.
	if checker, ok := r.checker(); ok {
		if cost, good := checker.prove(ctx, object, live, proved); good {
			return errs, cost
		}
	}
	if long := r.object.quick.tooLong(object, func(n *node) bool { return n.below.rules }, maxRulePaths); long != nil {
		return append(errs, long...), 0
	}
	shown, there := r.object.quick.partial(object)
	if !there {
		return errs, 0
	}
	old, _ := r.object.quick.partial(live)
	var options []cel.Option
	if !live.IsAbsent() {
		pair := common.NewCorrelatedObject(shown, old, &model.Structural{Structural: r.schema})
		options = append(options, cel.WithRatcheting(pair))
	}
	if warnings != nil {
		ctx = warning.WithWarningRecorder(ctx, warnings)
	}
	found, _ := r.compiled().Validate(ctx, nil, r.schema, shown, old, celconfig.RuntimeCELCostBudget, options...)
	return append(errs, ordered(found)...), 0
}

// Timeless reports whether what is wrong with an object depends on nothing but the object, as far as it is not the same as before.
func (r *Rules) Timeless() bool { return r == nil || !r.transitions }
