package kinds

import (
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/value"
)

// affinity validates which nodes a pod prefers or requires.
func (w *podWalk) affinity(p place) {
	if !p.is() {
		return
	}
	nodes := p.at("nodeAffinity")
	if required := nodes.at("requiredDuringSchedulingIgnoredDuringExecution"); required.is() {
		w.nodeSelector(required)
	}
	preferred := nodes.at("preferredDuringSchedulingIgnoredDuringExecution")
	for i := range preferred.indexes() {
		term := preferred.item(i)
		w.weight(term.at("weight"))
		w.nodeTerm(term.at("preference"), true)
	}
	for _, name := range [...]string{"podAffinity", "podAntiAffinity"} {
		pods := p.at(name)
		required := pods.at("requiredDuringSchedulingIgnoredDuringExecution")
		for i := range required.indexes() {
			w.podTerm(required.item(i))
		}
		preferred := pods.at("preferredDuringSchedulingIgnoredDuringExecution")
		for i := range preferred.indexes() {
			term := preferred.item(i)
			w.weight(term.at("weight"))
			w.podTerm(term.at("podAffinityTerm"))
		}
	}
}

func (r *report) weight(p place) {
	if n := p.Int(); n <= 0 || n > 100 {
		r.invalidAs(p, n, "must be in the range 1-100")
	}
}

// podTerm validates a term of an affinity to pods.
func (w *podWalk) podTerm(p place) {
	for _, name := range [...]string{"labelSelector", "namespaceSelector"} {
		if selector := p.at(name); selector.is() {
			w.selector(selector)
		}
	}
	for namespace := range p.Get("namespaces").Items() {
		w.invalidAs(p.at("namespace"), namespace.Str(), validation.IsDNS1123Label(namespace.Str())...)
	}
	w.labelKeys(p, p.at("matchLabelKeys"), p.at("mismatchLabelKeys"))
	key := p.at("topologyKey")
	if key.Str() == "" {
		w.required(key, "can not be empty")
	}
	w.labelKey(key)
}

// labelKey validates the name of a label.
func (r *report) labelKey(p place) {
	r.invalidAs(p, p.Str(), validation.IsQualifiedName(p.Str())...)
}

// labelKeys validates keys whose labels are to be equal, and others that are not to be, beside the labelSelector of p.
func (r *report) labelKeys(p, match, mismatch place) {
	selector := p.Get("labelSelector")
	for _, list := range [...]place{match, mismatch} {
		if list.Len() > 0 && !isSet(selector) {
			r.forbidden(list, "must not be specified when labelSelector is not set")
			continue
		}
		for i := range list.indexes() {
			r.labelKey(list.item(i))
		}
	}
	r.selectedKeys(p, match, selector)
	var other names
	for key := range mismatch.Items() {
		other.add(key.Str())
	}
	for i := range match.indexes() {
		if key := match.item(i); other.has(key.Str()) {
			r.invalid(key, "exists in both matchLabelKeys and mismatchLabelKeys")
		}
	}
}

// selectedKeys refuses keys that a selector has twice. Expressions for the keys are in the selector already. The error has the index of the
// key, but not the name of the list.
func (r *report) selectedKeys(p, keys place, selector value.Value) {
	if keys.Len() == 0 {
		return
	}
	last := map[string]int{}
	for i := range keys.indexes() {
		last[keys.Item(i).Str()] = i
	}
	var met names
	for key := range selector.Get("matchLabels").Members() {
		met.add(key)
	}
	for e := range selector.Get("matchExpressions").Items() {
		key := e.Get("key")
		if i, ok := last[key.Str()]; !met.add(key.Str()) && ok {
			r.invalid(p.below(key, "", i), "exists in both matchLabelKeys and labelSelector")
		}
	}
}

// nodeSelector validates terms of which nodes meet one.
func (r *report) nodeSelector(p place) {
	terms := p.at("nodeSelectorTerms")
	if terms.Len() == 0 {
		r.required(terms, "must have at least one node selector term")
	}
	for i := range terms.indexes() {
		r.nodeTerm(terms.item(i), false)
	}
}

// nodeTerm validates a term that nodes meet; anyValue allows values that no label has.
func (r *report) nodeTerm(p place, anyValue bool) {
	expressions, fields := p.at("matchExpressions"), p.at("matchFields")
	for i := range expressions.indexes() {
		r.nodeExpression(expressions.item(i), anyValue)
	}
	for i := range fields.indexes() {
		r.nodeField(fields.item(i))
	}
}

func (r *report) nodeExpression(e place, anyValue bool) {
	operator, values := e.at("operator"), e.at("values")
	switch operator.Str() {
	case "In", "NotIn":
		if values.Len() == 0 {
			r.required(values, "must be specified when `operator` is 'In' or 'NotIn'")
		}
	case "Exists", "DoesNotExist":
		if values.Len() > 0 {
			r.forbidden(values, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")
		}
	case "Gt", "Lt":
		if values.Len() != 1 {
			r.required(values, "must be specified single value when `operator` is 'Lt' or 'Gt'")
		}
	default:
		r.invalidAs(operator, Enumeration(operator.Str()), "not a valid selector operator")
	}
	r.labelKey(e.at("key"))
	for i := range values.indexes() {
		if v := values.item(i); !anyValue {
			r.invalidAs(v, v.Str(), validation.IsValidLabelValue(v.Str())...)
		}
	}
}

func (r *report) nodeField(e place) {
	operator, key, values := e.at("operator"), e.at("key"), e.at("values")
	switch operator.Str() {
	case "In", "NotIn":
		if values.Len() != 1 {
			r.required(values, "must be only one value when `operator` is 'In' or 'NotIn' for node field selector")
		}
	default:
		r.invalidAs(operator, Enumeration(operator.Str()), "not a valid selector operator")
	}
	if key.Str() != "metadata.name" {
		r.invalidAs(key, key.Str(), "not a valid field selector key")
		return
	}
	for i := range values.indexes() {
		v := values.item(i)
		r.invalidAs(v, v.Str(), validation.IsDNS1123Subdomain(v.Str())...)
	}
}

// spread validates how pods are spread over nodes.
func (w *podWalk) spread(p place) {
	last := map[[2]string]int{} // where each key with an action stands last
	for i := range p.indexes() {
		last[spreadBy(p.Item(i))] = i
	}
	for i := range p.indexes() {
		c := p.item(i)
		if skew := c.at("maxSkew"); skew.Int() <= 0 {
			w.invalidAs(skew, skew.Int(), "must be greater than zero")
		}
		key, action := c.at("topologyKey"), c.at("whenUnsatisfiable")
		if key.Str() == "" {
			w.required(key, "can not be empty")
		}
		w.onlyAmong(action, "DoNotSchedule", "ScheduleAnyway")
		if last[spreadBy(c.Value)] > i {
			c := c.at("{topologyKey, whenUnsatisfiable}")
			w.add(field.Duplicate(c.path(), "{"+key.Str()+", "+action.Str()+"}"))
		}
		if domains := c.at("minDomains"); domains.is() {
			if domains.Int() <= 0 {
				w.invalid(domains, "must be greater than zero")
			}
			if action.Str() != "DoNotSchedule" {
				w.invalid(domains, "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not "+action.Str())
			}
		}
		for _, name := range [...]string{"nodeAffinityPolicy", "nodeTaintsPolicy"} {
			if policy := c.at(name); policy.is() {
				w.onlyAmong(policy, "Honor", "Ignore")
			}
		}
		w.labelKeys(c, c.at("matchLabelKeys"), c.none())
		if selector := c.at("labelSelector"); selector.is() {
			w.selector(selector)
		}
	}
}

// spreadBy returns what no two constraints may have in common: the key, and what is done where they are not met.
func spreadBy(constraint value.Value) [2]string {
	return [2]string{constraint.Get("topologyKey").Str(), constraint.Get("whenUnsatisfiable").Str()}
}

// tolerations validates which taints of nodes a pod takes.
//
// Operators that compare numbers are for pods that have them already: their feature gate is off.
func (r *report) tolerations(p place, compares bool) {
	for i := range p.indexes() {
		t := p.item(i)
		key, operator, effect := t.at("key"), t.at("operator"), t.at("effect")
		if key.Str() != "" {
			r.labelKey(key)
		} else if operator.Str() != "Exists" {
			r.invalidAs(operator, operator.Str(), "operator must be Exists when `key` is empty, which means \"match all values and all keys\"")
		}
		if isSet(t.Get("tolerationSeconds")) && effect.Str() != "NoExecute" {
			r.invalidAs(effect, effect.Str(), "effect must be 'NoExecute' when `tolerationSeconds` is set")
		}
		r.tolerated(operator, t.at("value"), compares)
		if effect.Str() != "" {
			r.onlyAmong(effect, "NoSchedule", "PreferNoSchedule", "NoExecute")
		}
	}
}

// tolerated validates what a toleration compares with.
func (r *report) tolerated(operator, with place, compares bool) {
	text := with.Str()
	switch operator.Str() {
	case "Equal", "":
		if wrong := validation.IsValidLabelValue(text); len(wrong) > 0 {
			r.invalidAs(operator, text, strings.Join(wrong, ";"))
		}
	case "Exists":
		if text != "" {
			r.invalidAs(operator, text, "value must be empty when `operator` is 'Exists'")
		}
	case "Lt", "Gt":
		if !compares {
			r.onlyAmong(operator, "Equal", "Exists")
			r.errs[len(r.errs)-1].Detail = `supported values: "Equal", "Exists", "Lt", "Gt"`
			return
		}
		r.invalidAs(with, text, content.IsDecimalInteger(text)...)
		if _, err := strconv.ParseInt(text, 10, 64); err != nil {
			r.invalidAs(with, text, err.Error())
		}
	default:
		r.onlyAmong(operator, "Equal", "Exists")
	}
}
