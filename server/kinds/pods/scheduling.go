package pods

import (
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/server/kinds/walk"
	"github.com/deed-project/deed/value"
)

// affinity validates which nodes a pod prefers or requires.
func (w *podWalk) affinity(p walk.Place) {
	if !p.IsSet() {
		return
	}
	nodes := p.At("nodeAffinity")
	if required := nodes.At("requiredDuringSchedulingIgnoredDuringExecution"); required.IsSet() {
		ValidateNodeSelector(w.Report, required)
	}
	preferred := nodes.At("preferredDuringSchedulingIgnoredDuringExecution")
	for i := range preferred.Indexes() {
		term := preferred.Index(i)
		validateWeight(w.Report, term.At("weight"))
		validateNodeTerm(w.Report, term.At("preference"), true)
	}
	for _, name := range [...]string{"podAffinity", "podAntiAffinity"} {
		pods := p.At(name)
		required := pods.At("requiredDuringSchedulingIgnoredDuringExecution")
		for i := range required.Indexes() {
			w.podTerm(required.Index(i))
		}
		preferred := pods.At("preferredDuringSchedulingIgnoredDuringExecution")
		for i := range preferred.Indexes() {
			term := preferred.Index(i)
			validateWeight(w.Report, term.At("weight"))
			w.podTerm(term.At("podAffinityTerm"))
		}
	}
}

func validateWeight(r *walk.Report, p walk.Place) {
	if n := p.Int(); n <= 0 || n > 100 {
		r.InvalidAs(p, n, "must be in the range 1-100")
	}
}

// podTerm validates a term of an affinity to pods.
func (w *podWalk) podTerm(p walk.Place) {
	for _, name := range [...]string{"labelSelector", "namespaceSelector"} {
		if selector := p.At(name); selector.IsSet() {
			w.Selector(selector)
		}
	}
	for namespace := range p.Get("namespaces").Items() {
		w.InvalidAs(p.At("namespace"), namespace.Str(), validation.IsDNS1123Label(namespace.Str())...)
	}
	validateLabelKeys(w.Report, p, p.At("matchLabelKeys"), p.At("mismatchLabelKeys"))
	key := p.At("topologyKey")
	if key.Str() == "" {
		w.Required(key, "can not be empty")
	}
	w.LabelKey(key)
}

// validateLabelKeys validates keys whose labels are to be equal, and others that are not to be, beside the labelSelector of p.
func validateLabelKeys(r *walk.Report, p, match, mismatch walk.Place) {
	selector := p.Get("labelSelector")
	for _, list := range [...]walk.Place{match, mismatch} {
		if list.Len() > 0 && !walk.IsSet(selector) {
			r.Forbidden(list, "must not be specified when labelSelector is not set")
			continue
		}
		for i := range list.Indexes() {
			r.LabelKey(list.Index(i))
		}
	}
	validateSelectedKeys(r, p, match, selector)
	var other walk.Names
	for key := range mismatch.Items() {
		other.Add(key.Str())
	}
	for i := range match.Indexes() {
		if key := match.Index(i); other.Has(key.Str()) {
			r.Invalid(key, "exists in both matchLabelKeys and mismatchLabelKeys")
		}
	}
}

// validateSelectedKeys refuses keys that a selector has twice. Expressions for the keys are in the selector already. The error has the index of the
// key, but not the name of the list.
func validateSelectedKeys(r *walk.Report, p, keys walk.Place, selector value.Value) {
	if keys.Len() == 0 {
		return
	}
	last := map[string]int{}
	for i := range keys.Indexes() {
		last[keys.Item(i).Str()] = i
	}
	var met walk.Names
	for key := range selector.Get("matchLabels").Members() {
		met.Add(key)
	}
	for e := range selector.Get("matchExpressions").Items() {
		key := e.Get("key")
		if i, ok := last[key.Str()]; !met.Add(key.Str()) && ok {
			r.Invalid(p.Below(key, "", i), "exists in both matchLabelKeys and labelSelector")
		}
	}
}

// ValidateNodeSelector validates terms of which nodes meet one.
func ValidateNodeSelector(r *walk.Report, p walk.Place) {
	terms := p.At("nodeSelectorTerms")
	if terms.Len() == 0 {
		r.Required(terms, "must have at least one node selector term")
	}
	for i := range terms.Indexes() {
		validateNodeTerm(r, terms.Index(i), false)
	}
}

// validateNodeTerm validates a term that nodes meet; anyValue allows values that no label has.
func validateNodeTerm(r *walk.Report, p walk.Place, anyValue bool) {
	expressions, fields := p.At("matchExpressions"), p.At("matchFields")
	for i := range expressions.Indexes() {
		validateNodeExpression(r, expressions.Index(i), anyValue)
	}
	for i := range fields.Indexes() {
		validateNodeField(r, fields.Index(i))
	}
}

func validateNodeExpression(r *walk.Report, e walk.Place, anyValue bool) {
	operator, values := e.At("operator"), e.At("values")
	switch text := operator.Str(); {
	case r.Operands(text, values):
	case text == "Gt" || text == "Lt":
		if values.Len() != 1 {
			r.Required(values, "must be specified single value when `operator` is 'Lt' or 'Gt'")
		}
	default:
		r.InvalidAs(operator, walk.Enumeration(operator.Str()), "not a valid selector operator")
	}
	r.LabelKey(e.At("key"))
	for i := range values.Indexes() {
		if v := values.Index(i); !anyValue {
			r.InvalidAs(v, v.Str(), validation.IsValidLabelValue(v.Str())...)
		}
	}
}

func validateNodeField(r *walk.Report, e walk.Place) {
	operator, key, values := e.At("operator"), e.At("key"), e.At("values")
	switch operator.Str() {
	case "In", "NotIn":
		if values.Len() != 1 {
			r.Required(values, "must be only one value when `operator` is 'In' or 'NotIn' for node field selector")
		}
	default:
		r.InvalidAs(operator, walk.Enumeration(operator.Str()), "not a valid selector operator")
	}
	if key.Str() != "metadata.name" {
		r.InvalidAs(key, key.Str(), "not a valid field selector key")
		return
	}
	for i := range values.Indexes() {
		v := values.Index(i)
		r.InvalidAs(v, v.Str(), validation.IsDNS1123Subdomain(v.Str())...)
	}
}

// spread validates how pods are spread over nodes.
func (w *podWalk) spread(p walk.Place) {
	last := map[[2]string]int{} // where each key with an action stands last
	for i := range p.Indexes() {
		last[spreadBy(p.Item(i))] = i
	}
	for i := range p.Indexes() {
		c := p.Index(i)
		if skew := c.At("maxSkew"); skew.Int() <= 0 {
			w.InvalidAs(skew, skew.Int(), "must be greater than zero")
		}
		key, action := c.At("topologyKey"), c.At("whenUnsatisfiable")
		if key.Str() == "" {
			w.Required(key, "can not be empty")
		}
		w.OnlyAmong(action, "DoNotSchedule", "ScheduleAnyway")
		if last[spreadBy(c.Value)] > i {
			c := c.At("{topologyKey, whenUnsatisfiable}")
			w.Add(field.Duplicate(c.Path(), "{"+key.Str()+", "+action.Str()+"}"))
		}
		if domains := c.At("minDomains"); domains.IsSet() {
			if domains.Int() <= 0 {
				w.Invalid(domains, "must be greater than zero")
			}
			if action.Str() != "DoNotSchedule" {
				w.Invalid(domains, "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not "+action.Str())
			}
		}
		for _, name := range [...]string{"nodeAffinityPolicy", "nodeTaintsPolicy"} {
			if policy := c.At(name); policy.IsSet() {
				w.OnlyAmong(policy, "Honor", "Ignore")
			}
		}
		validateLabelKeys(w.Report, c, c.At("matchLabelKeys"), c.None())
		if selector := c.At("labelSelector"); selector.IsSet() {
			w.Selector(selector)
		}
	}
}

// spreadBy returns what no two constraints may have in common: the key, and what is done where they are not met.
func spreadBy(constraint value.Value) [2]string {
	return [2]string{constraint.Get("topologyKey").Str(), constraint.Get("whenUnsatisfiable").Str()}
}

// ValidateTolerations validates which taints of nodes a pod takes.
//
// Operators that compare numbers are for pods that have them already: their feature gate is off.
func ValidateTolerations(r *walk.Report, p walk.Place, compares bool) {
	for i := range p.Indexes() {
		t := p.Index(i)
		key, operator, effect := t.At("key"), t.At("operator"), t.At("effect")
		if key.Str() != "" {
			r.LabelKey(key)
		} else if operator.Str() != "Exists" {
			r.InvalidAs(operator, operator.Str(), "operator must be Exists when `key` is empty, which means \"match all values and all keys\"")
		}
		if walk.IsSet(t.Get("tolerationSeconds")) && effect.Str() != "NoExecute" {
			r.InvalidAs(effect, effect.Str(), "effect must be 'NoExecute' when `tolerationSeconds` is set")
		}
		validateTolerated(r, operator, t.At("value"), compares)
		if effect.Str() != "" {
			r.OnlyAmong(effect, "NoSchedule", "PreferNoSchedule", "NoExecute")
		}
	}
}

// validateTolerated validates what a toleration compares with.
func validateTolerated(r *walk.Report, operator, with walk.Place, compares bool) {
	text := with.Str()
	switch operator.Str() {
	case "Equal", "":
		if wrong := validation.IsValidLabelValue(text); len(wrong) > 0 {
			r.InvalidAs(operator, text, strings.Join(wrong, ";"))
		}
	case "Exists":
		if text != "" {
			r.InvalidAs(operator, text, "value must be empty when `operator` is 'Exists'")
		}
	case "Lt", "Gt":
		if !compares {
			r.OnlyAmong(operator, "Equal", "Exists")
			r.Errs[len(r.Errs)-1].Detail = `supported values: "Equal", "Exists", "Lt", "Gt"`
			return
		}
		r.InvalidAs(with, text, content.IsDecimalInteger(text)...)
		if _, err := strconv.ParseInt(text, 10, 64); err != nil {
			r.InvalidAs(with, text, err.Error())
		}
	default:
		r.OnlyAmong(operator, "Equal", "Exists")
	}
}
