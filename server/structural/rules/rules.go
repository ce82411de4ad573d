package rules

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"sync"

	"github.com/deed-project/deed/value"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/warning"

	bounded "github.com/deed-project/deed/server/cel"
	"github.com/deed-project/deed/server/structural/keywords"
)

// Rules validate the objects of one version of a resource by its schema. They are safe for concurrent use. Nil Rules belong to a version
// without a schema and find no errors.
//
// A Rules has two forms of CEL rules: the checker judges, and the library's compiled validator finds what is wrong. Package keywords does the
// same for values.
type Rules struct {
	schema         *schema.Structural
	object, status *keywords.Schema // of whole objects, and of status subresource writes
	transitions    bool             // a CEL rule refers to oldSelf
	quantities     bool             // a CEL rule reads quantities
	largePower     bool             // the text of the rules has an exponent that no quantity has
	pointing       []pointing       // CEL rules whose errors name another field

	// CEL rules; both functions are nil if there are none. Both wait for the compilation. checker returns false if no checker can evaluate
	// the rules.
	checker  func() (*checker, bool)
	compiled func() *cel.Validator
	begun    sync.Once // by Prepare
}

// Compile compiles an openAPIV3Schema; an absent or null one gives nil. It fails if the schema is not structural. CEL rules that do not
// compile are no error: they fail when they are evaluated.
//
// CEL rules take milliseconds to compile. [Rules.Prepare] starts that in the background, or else the first validation does it.
//
// The schema passes three forms: the public Go type, the internal one of the library, and the structural schema.
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
	r := &Rules{transitions: bytes.Contains(text, []byte("oldSelf")), quantities: bytes.Contains(text, []byte("uantity("))}
	r.largePower = r.quantities && powers().Match(text)
	if r.schema, err = schema.NewStructural(&props); err != nil {
		return nil, err
	}
	r.object, r.status = keywords.Compile(openAPIV3Schema), keywords.Compile(openAPIV3Schema.Get("properties", "status"))
	// Without rules there is nothing to compile, and both functions stay nil.
	if !hasRules(r.schema) {
		return r, nil
	}
	r.pointing = pointingRules(r.schema, nil)
	r.compiled = sync.OnceValue(func() *cel.Validator { return cel.NewValidator(r.schema, true, celconfig.PerCallLimit) })
	r.checker = sync.OnceValues(func() (*checker, bool) {
		// A rule about oldSelf depends on the old value as well, so an outcome for it proves nothing.
		if r.transitions {
			return nil, false
		}
		return newChecker(r.schema, true, model.SchemaDeclType(r.schema, true))
	})
	return r, nil
}

// Prepare starts to compile the CEL rules in the background, unless an earlier call did. A validation that comes first waits for it.
func (r *Rules) Prepare() {
	if r != nil && r.checker != nil {
		r.begun.Do(func() { go r.prepare() })
	}
}

// preparing serializes background compilation, so that many definitions do not occupy all processors.
var preparing sync.Mutex

// prepare compiles the parts that the first validation needs. It drops a panic, because the validation runs into the same panic and reports
// it.
func (r *Rules) prepare() {
	preparing.Lock()
	defer preparing.Unlock()
	defer func() { _ = recover() }()
	if _, ok := r.checker(); !ok {
		r.compiled()
	}
}

// Values returns the errors of object by the keywords and formats of its schema. live is the object that it replaces, or absent. Errors in
// unchanged parts do not count.
//
// The errors are sorted by field. A valid object costs one walk. If ctx is done, the walk ends and its outcome is meaningless.
func (r *Rules) Values(ctx context.Context, object, live value.Value) field.ErrorList {
	errs, _ := r.ValuesChange(ctx, object, live, value.Value{})
	return errs
}

// ValuesChange is Values for an object that may share parts with known, which is sound or absent. It does not visit the shared parts. It
// also reports whether object is sound: it has no errors, even in unchanged parts.
//
// An object may be valid and not sound: an update may keep the errors of its predecessor.
func (r *Rules) ValuesChange(ctx context.Context, object, live, known value.Value) (errs field.ErrorList, sound bool) {
	if r.Sound(ctx, object, known) {
		return nil, true
	}
	return r.object.Faults(ctx, nil, object, live), false
}

// Sound reports whether an object is certainly sound; see [Rules.ValuesChange].
func (r *Rules) Sound(ctx context.Context, object, known value.Value) bool {
	return r == nil || r.object.Sound(ctx, object, known)
}

// StatusValues is Values for a write of the status subresource: it validates only the status.
func (r *Rules) StatusValues(ctx context.Context, object, live value.Value) field.ErrorList {
	if r == nil {
		return nil
	}
	return r.status.Status(ctx, object, live)
}

// Resources returns the errors in type and metadata of embedded resources. It costs nothing if the schema has none.
func (r *Rules) Resources(ctx context.Context, object value.Value) field.ErrorList {
	if r == nil {
		return nil
	}
	return r.object.Resources(ctx, object)
}

// CEL returns errs and the errors of CEL rules. If errs contains a structural error, CEL evaluates no rule and adds an error about that. A
// failing rule about an unchanged value gives a warning. The cost budget is kube-apiserver's, and only parts with rules are visited.
func (r *Rules) CEL(ctx context.Context, errs field.ErrorList, object, live value.Value, warnings warning.Recorder) field.ErrorList {
	errs, _ = r.CELChange(ctx, errs, object, live, warnings, 0)
	return errs
}

// CELChange is CEL with a proof about live: if proved is not 0, all rules hold for live and proved bounds their cost. Rules about unchanged
// fields are then skipped. proved is the result of an earlier call. CELChange returns such a bound for object, or 0 if there are no rules
// or one may fail.
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
	// The checker may ignore live: live only turns errors of unchanged values into warnings.
	if checker, ok := r.checker(); ok {
		cost, good, beyond := checker.prove(ctx, object, live, proved)
		switch {
		case good:
			return errs, cost
		case beyond != nil:
			return append(errs, tooLarge(beyond)), 0
		}
	} else if beyond := r.largeQuantity(object, live); beyond != nil {
		return append(errs, tooLarge(beyond)), 0
	}
	if long := r.object.RulesTooLong(object); long != nil {
		return append(errs, long...), 0
	}
	// From here on, the library evaluates. It gets the parts with rules alone, since converting the rest is what takes the time.
	shown, there := r.object.Ruled(object)
	if !there {
		return errs, 0
	}
	old, _ := r.object.Ruled(live)
	var options []cel.Option
	if !live.IsAbsent() {
		// With the old object, the library turns the errors of unchanged values to warnings.
		pair := common.NewCorrelatedObject(shown, old, &model.Structural{Structural: r.schema})
		options = append(options, cel.WithRatcheting(pair))
	}
	if warnings != nil {
		ctx = warning.WithWarningRecorder(ctx, warnings)
	}
	found, _ := r.compiled().Validate(ctx, nil, r.schema, shown, old, celconfig.RuntimeCELCostBudget, options...)
	return append(errs, keywords.InOrder(found, r.valueOf)...), 0
}

// tooLarge returns the error of an object with a rule about a quantity that exceeds a bound.
func tooLarge(bound error) *field.Error {
	return field.Invalid(nil, field.OmitValueType{}, fmt.Sprintf("a rule reads a quantity: %v", bound))
}

// largeQuantity returns the bound that a text of the objects, or a number in the rules, exceeds as a quantity. The library would read it
// for minutes if a rule names quantities. Only schemas without a checker need it; it does not see texts that rules join.
func (r *Rules) largeQuantity(objects ...value.Value) error {
	if !r.quantities {
		return nil
	}
	if r.largePower {
		return bounded.Beyond("1e9999")
	}
	for _, v := range objects {
		switch v.Kind() {
		case value.KindString:
			if err := bounded.Beyond(v.Str()); err != nil && powers().MatchString(v.Str()) { // other long texts are no quantities for sure
				return err
			}
		case value.KindList:
			if err := r.largeQuantity(slices.Collect(v.Items())...); err != nil {
				return err
			}
		case value.KindObject:
			for _, member := range v.Members() {
				if err := r.largeQuantity(member); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// powers matches exponents beyond the bound of quantities.
var powers = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[0-9.][eE][+-]?0*[1-9][0-9]{3,}`) })

// IgnoresOld reports whether the errors of an object depend only on the object, apart from errors of unchanged parts. It is false if a rule
// refers to oldSelf.
func (r *Rules) IgnoresOld() bool { return r == nil || !r.transitions }
