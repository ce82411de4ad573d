package rules

import (
	"context"

	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"

	"github.com/deed-project/deed/internal/beside"
	bounded "github.com/deed-project/deed/server/cel"
	"github.com/deed-project/deed/value"
)

// CEL rules of valid objects. The library evaluates rules on an object in maps, and reports each rule that fails. Nearly always none does.
// So a checker evaluates the same programs on the object as it is, and only says whether all of them hold:
//
//	checker   all hold, at a cost that is exact or an upper bound      the object is valid
//	          one fails, or the checker cannot tell                    the library evaluates all rules, and words the errors
//
// The cost matters beside the outcome: kube-apiserver bounds the sum of the costs of all rules on an object, and refuses an object beyond
// the bound.
//
// Invariant: a checker says that all rules hold only if the library would find no error. In doubt there is no checker.

// checker evaluates the CEL rules of a schema and of the schemas below it. It uses the programs and values of the library. It only reports
// whether all rules hold; if one fails, the library finds the error texts. A nil checker has no rules.
//
// checker exists because the library rebuilds all properties of a schema at each access to a field. A checker builds them once.
//
// It is immutable, and its tree follows the schema. A branch without rules is nil, so that good visits nothing below it.
type checker struct {
	rules []rule
	// shape is nil if the schema itself has no rules.
	shape      *shape // of the values that the rules are about
	items      *checker
	additional *checker // for members without a checker of their own
	properties map[string]*checker
}

// rule is a compiled rule and the fields that it reads.
//
// reads is nil if the rule may read anything.
type rule struct {
	celgo.Program
	reads reads
}

// hasRules reports whether s or a schema below it has rules in a place where the library evaluates rules.
//
// It does not look into alternatives, where kube-apiserver permits no rules.
func hasRules(s *schema.Structural) bool {
	if s == nil {
		return false
	}
	if len(s.XValidations) > 0 || hasRules(s.Items) || s.AdditionalProperties != nil && hasRules(s.AdditionalProperties.Structural) {
		return true
	}
	for _, p := range s.Properties {
		if hasRules(&p) {
			return true
		}
	}
	return false
}

// newChecker compiles the rules of s and of the schemas below it. It reports false if a checker cannot evaluate them. whole tells that s
// describes resources, which have a kind and metadata. declared is the CEL type of s.
func newChecker(s *schema.Structural, whole bool, declared *apiservercel.DeclType) (*checker, bool) {
	if s.ValueValidation != nil && len(s.ValueValidation.AllOf) > 0 {
		return nil, false // the library may find rules there that a checker would miss
	}
	if !hasRules(s) {
		return nil, isPlain(s)
	}
	if declared == nil {
		return nil, false
	}
	c := &checker{}
	compiled, err := cel.Compile(s, declared, celconfig.PerCallLimit,
		bounded.Environment(), cel.StoredExpressionsEnvLoader())
	if err != nil {
		return nil, false
	}
	for i, one := range compiled {
		// A rule that does not compile fails on each object, with the error of the compiler.
		if one.Error != nil {
			return nil, false
		}
		// compiled has an element for each rule, also for one without a program.
		if one.Program != nil {
			c.rules = append(c.rules, rule{one.Program, readsOf(s.XValidations[i].Rule)})
		}
	}
	if len(c.rules) > 0 {
		about := s
		if whole {
			about = model.WithTypeAndObjectMeta(s)
		}
		c.shape = newShape(about)
	}
	return c, c.compileBelow(s, declared)
}

// isPlain reports whether no schema below s has alternatives that may contain rules. s itself has no rules.
func isPlain(s *schema.Structural) bool {
	switch {
	case s == nil:
		return true
	case s.ValueValidation != nil && len(s.ValueValidation.AllOf) > 0, !isPlain(s.Items),
		s.AdditionalProperties != nil && !isPlain(s.AdditionalProperties.Structural):
		return false
	}
	for _, p := range s.Properties {
		if !isPlain(&p) {
			return false
		}
	}
	return true
}

// compileBelow compiles the checkers of the parts of s. It reports false if one of them has none.
func (c *checker) compileBelow(s *schema.Structural, declared *apiservercel.DeclType) (ok bool) {
	if s.Items != nil {
		if c.items, ok = newChecker(s.Items, s.Items.XEmbeddedResource, declared.ElemType); !ok {
			return false
		}
	}
	if a := s.AdditionalProperties; a != nil && a.Structural != nil {
		if c.additional, ok = newChecker(a.Structural, a.Structural.XEmbeddedResource, declared.ElemType); !ok {
			return false
		}
	}
	for name, p := range s.Properties {
		child, ok := newChecker(&p, p.XEmbeddedResource, typeOf(name, &p, declared))
		if !ok {
			return false
		}
		if child != nil {
			if c.properties == nil {
				c.properties = map[string]*checker{}
			}
			c.properties[name] = child
		}
	}
	return true
}

// typeOf returns the CEL type of a property of an object of the declared type, or nil if the property has none.
//
// The types of properties are in the type of the object, under names that CEL can write. Only a property without such a name needs a type
// of its own.
func typeOf(name string, p *schema.Structural, declared *apiservercel.DeclType) *apiservercel.DeclType {
	escaped, ok := apiservercel.Escape(name)
	if !ok {
		return model.SchemaDeclType(p, p.XEmbeddedResource)
	}
	if field, ok := declared.Fields[escaped]; ok {
		return field.Type
	}
	return nil
}

// prove reports whether all rules hold for v and its parts within the cost budget. cost is an upper bound, at least 1, of the cost of all
// rules. If proved is not 0, all rules hold for old, and proved bounds their cost:
//
//	proved  10    all rules hold for old
//	spent    3    the cost of the rules that read a field in which v and old differ
//	cost    13    an upper bound for v: each skipped rule costs what it cost for old
//
// If the bound exceeds the budget, prove evaluates all rules to find the exact cost.
func (c *checker) prove(ctx context.Context, v, old value.Value, proved int64) (cost int64, good bool, beyond error) {
	const most = int64(celconfig.RuntimeCELCostBudget)
	// Evaluate only the rules about what changed. If one fails, or the bound exceeds the budget, evaluating all rules decides.
	if proved > 0 {
		e := evaluation{ctx: ctx, budget: most}
		if e.good(c, v, old) && proved+e.spent() <= most {
			return proved + e.spent(), true, nil
		}
	}
	e := evaluation{ctx: ctx, budget: most}
	good = e.good(c, v, value.Value{})
	return max(1, e.spent()), good, e.beyond
}

// evaluation evaluates rules on an object within a cost budget.
//
// It belongs to one call. The context is looked at before each rule.
type evaluation struct {
	ctx    context.Context
	budget int64 // that is left
	beyond error // the bound that a quantity of a rule exceeds
}

// spent returns the cost of the rules that were evaluated.
func (e *evaluation) spent() int64 { return int64(celconfig.RuntimeCELCostBudget) - e.budget }

// good reports whether all rules hold for v and its parts. All rules hold for old if old is present. The checker must have no transition
// rules, because good skips a rule if v equals old in the fields that the rule reads.
func (e *evaluation) good(c *checker, v, old value.Value) bool {
	switch {
	case c == nil || v.IsAbsent() || v.IsNull() || !old.IsAbsent() && v.Equal(old):
		return true
	case !e.rules(c, v, old):
		return false
	}
	// Items have no counterpart in old: they are identified by keys, if at all, and not by their place.
	for item := range v.Items() {
		if !e.good(c.items, item, value.Value{}) {
			return false
		}
	}
	others := beside.Of(old)
	for name, member := range v.Members() {
		was := others.Get(name)
		if !e.good(c.additional, member, was) || !e.good(c.properties[name], member, was) {
			return false
		}
	}
	return true
}

// rules evaluates the rules about v itself, apart from those whose outcome for old holds for v too. It does not interrupt a rule: the cost
// of one rule is bounded, and a cancellable context would need a timer.
func (e *evaluation) rules(c *checker, v, old value.Value) bool {
	var about *self
	for _, r := range c.rules {
		if !old.IsAbsent() && r.reads.same(v, old) {
			continue
		}
		// All rules of a value share the adapted value, which caches what it converts.
		if about == nil {
			about = &self{c.shape.val(v)}
		}
		if e.ctx.Err() != nil {
			return false
		}
		result, details, err := r.Eval(about)
		if bounded.IsBeyond(err) {
			e.beyond = err
		}
		if err != nil || result != types.True || details == nil || details.ActualCost() == nil {
			return false
		}
		// The bound is checked after each rule, so that the sum of all costs is the one that the library would find.
		cost := *details.ActualCost()
		if e.budget <= 0 || cost > uint64(e.budget) {
			return false
		}
		e.budget -= int64(cost)
	}
	return true
}
