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
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/deed-project/deed/internal/beside"
	"github.com/deed-project/deed/value"
)

// checker evaluates the rules in CEL of a schema and of what is below it, with the programs and on the values that the library makes of
// them. It only tells whether all hold; what is wrong where one does not, the library says. nil has no rules.
//
// What it spares is what the library does at each access to a field: it makes all properties of the schema anew.
type checker struct {
	rules      []rule
	shape      *shape // of the values that the rules are about
	items      *checker
	additional *checker // of members without a checker of their own
	properties map[string]*checker
}

// rule is a compiled rule, with what it reads.
type rule struct {
	celgo.Program
	reads reads
}

// hasRules reports whether s or anything below it has rules, as far as the library looks at them.
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

// newChecker compiles the rules of s and below it, and reports whether they are such as a checker evaluates. whole tells that s is
// about resources, which have a kind and metadata, and declared is its type in CEL.
func newChecker(s *schema.Structural, whole bool, declared *apiservercel.DeclType) (*checker, bool) {
	if s.ValueValidation != nil && len(s.ValueValidation.AllOf) > 0 {
		return nil, false // where there may be rules, too
	}
	if !hasRules(s) {
		return nil, isPlain(s)
	}
	if declared == nil {
		return nil, false
	}
	c := &checker{}
	compiled, err := cel.Compile(s, declared, celconfig.PerCallLimit,
		environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()), cel.StoredExpressionsEnvLoader())
	if err != nil {
		return nil, false
	}
	for i, one := range compiled {
		if one.Error != nil {
			return nil, false
		}
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

// isPlain reports whether nothing below s, which has no rules, has alternatives that might have some.
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

// typeOf returns the type in CEL of a property of what is of the declared type; nil if it has none.
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

// prove reports whether all rules hold for v and what is in it, within the budget of costs, and at most what evaluating all of them costs,
// at least 1. They hold for old if proved is not 0, which is then at most what that costs.
//
//	proved  10    rules hold for old
//	spent    3    is what rules cost that were evaluated, because v is not old where they look
//	cost    13    is not less than what all rules cost for v: the others cost what they cost for old
//
// Where that is more than the budget, all are evaluated.
func (c *checker) prove(ctx context.Context, v, old value.Value, proved int64) (cost int64, good bool) {
	const most = int64(celconfig.RuntimeCELCostBudget)
	if proved > 0 {
		e := evaluation{ctx: ctx, budget: most}
		if e.good(c, v, old) && proved+e.spent() <= most {
			return proved + e.spent(), true
		}
	}
	e := evaluation{ctx: ctx, budget: most}
	good = e.good(c, v, value.Value{})
	return max(1, e.spent()), good
}

// evaluation evaluates rules on an object, within a budget of costs.
type evaluation struct {
	ctx    context.Context
	budget int64 // that is left
}

func (e *evaluation) spent() int64 { return int64(celconfig.RuntimeCELCostBudget) - e.budget }

// good reports whether all rules hold for v and what is in it. They hold for old, if that is not absent. No rule may ask what a value was
// before.
func (e *evaluation) good(c *checker, v, old value.Value) bool {
	switch {
	case c == nil || v.IsAbsent() || v.IsNull() || !old.IsAbsent() && v.Equal(old):
		return true
	case !e.rules(c, v, old):
		return false
	}
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

// rules evaluates the rules about v itself that may have another outcome than for old. A rule is not interrupted: what it may cost is
// bounded, and a context that is waited for has a timer.
func (e *evaluation) rules(c *checker, v, old value.Value) bool {
	var about *self
	for _, r := range c.rules {
		if !old.IsAbsent() && r.reads.same(v, old) {
			continue
		}
		if about == nil {
			about = &self{c.shape.val(v)}
		}
		if e.ctx.Err() != nil {
			return false
		}
		result, details, err := r.Eval(about)
		if err != nil || result != types.True || details == nil || details.ActualCost() == nil {
			return false
		}
		cost := *details.ActualCost()
		if e.budget <= 0 || cost > uint64(e.budget) {
			return false
		}
		e.budget -= int64(cost)
	}
	return true
}
