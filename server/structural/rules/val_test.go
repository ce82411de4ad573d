package rules

import (
	"fmt"
	"testing"

	"github.com/google/cel-go/common/types"
	"k8s.io/apiserver/pkg/cel/common"

	"github.com/deed-project/deed/internal/testing/gen"
	"github.com/deed-project/deed/internal/testing/seeds"
	"github.com/deed-project/deed/server/structural/schematest"
	"github.com/deed-project/deed/value"
)

// aboutValues holds CEL rules that use every operation on values of a type. P stands for a property. No rule depends on the order of names.
var aboutValues = map[string][]string{
	"object": {
		"!has(self.P) || self.P == self.P", "has(self.P) ? [self.P].exists(p, p == self.P) : true", "self == self", "self in [self]",
		"[self] == [self, self]", "type(self) == type(self)", "self.?P.hasValue()", "dyn(self) == dyn(1)",
	},
	"map": {
		"self.all(k, self[k] == self[k])", "self.size() < 2", "'a' in self", "self == self", "self['c'] == self['c']",
		"{'a': self} == {'a': self}", "self.transformList(k, v, k).size() == self.size()", "self.?a.hasValue()",
	},
	"array": {
		"self.all(x, x == x)", "self.exists(x, x in self)", "self + self == self", "self.size() == 0 || self[0] in self", "self == self",
		"self.map(x, x) == self", "self.filter(x, x == self[0]).size() < 2", "self[1] == self[1]", "self in [self]", "self.size() != 2",
		"self.exists_one(x, x == self[0])", "self.all(i, x, x == self[i])", "self + [] == self", "dyn(self)[0] == 1", "self[?1].hasValue()",
	},
	"strings":  {"self.isSorted()", "self.join(',').size() < 4", "self.indexOf('a') < 1"},
	"string":   {"self.size() < 2", "self.startsWith('a')", "self + self != self", "self == 'ab'"},
	"integer":  {"self > 1", "self / 0 == 1", "[self].sum() < 5"},
	"number":   {"self > 1.0", "self * 2.0 < 3.0"},
	"boolean":  {"self", "!self"},
	"anything": {"self == self"},
}

// withRules adds rules about values to some parts of a schema.
func withRules(c *gen.Choices, s value.Value) value.Value {
	var of []string
	switch typ := s.Get("type").Str(); {
	case typ == "object" && s.Get("properties").Len() > 0:
		properties := s.Get("properties")
		for name, p := range properties.Members() {
			properties = properties.With(name, withRules(c, p))
		}
		s, of = s.With("properties", properties), aboutValues["object"]
	case typ == "object" && s.Get("additionalProperties").Kind() == value.KindObject:
		s, of = s.With("additionalProperties", withRules(c, s.Get("additionalProperties"))), aboutValues["map"]
	case typ == "object":
	case typ == "array":
		if of = aboutValues["array"]; s.Get("items", "type").Str() == "string" && s.Get("items", "format").IsAbsent() && c.Chance(50) {
			of = aboutValues["strings"]
		}
		s = s.With("items", withRules(c, s.Get("items")))
	case typ == "":
		of = aboutValues["anything"]
	case s.Get("format").IsAbsent():
		of = aboutValues[typ]
	default:
		of = aboutValues["anything"]
	}
	s = s.With("x-kubernetes-validations", value.Value{})
	if len(of) == 0 {
		return s
	}
	rule := gen.Pick(c, of...)
	if properties := s.Get("properties"); properties.Len() > 0 {
		rule = replaceP(rule, properties.Member(c.N(properties.Len())).Name)
	}
	return schematest.WithRule(s, rule)
}

// replaceP replaces P with the name of a property.
func replaceP(rule, name string) string {
	out := ""
	for _, r := range rule {
		if r == 'P' {
			out += name
			continue
		}
		out += string(r)
	}
	return out
}

// outcomes counts the outcomes of rules.
type outcomes struct{ rules, holding int }

// TestValues evaluates rules on adapted values and on the library's values. The outcomes and costs must be equal.
func TestValues(t *testing.T) {
	cases, seed := schematest.Number(t, "DEED_CASES", 1000), seeds.First(t)
	var of outcomes
	for i := range cases {
		c := gen.Seeded(seed<<32 + uint64(i/50))
		schema := withRules(c, schematest.Object(c, 3))
		if c.Chance(25) {
			schema = replaceName(schema, "a", "namespace") // CEL escapes this name
		}
		r, err := Compile(schematest.Reread(t, schema))
		if err != nil {
			t.Fatalf("%v\n%v", err, schema)
		}
		if r.checker == nil {
			continue
		}
		checker, ok := r.checker()
		if !ok {
			continue
		}
		c = gen.Seeded(seed<<32 + 1<<31 + uint64(i))
		of.compare(t, checker, schematest.Value(c, schema, 4))
	}
	t.Logf("%+v", of)
	if of.rules < cases/2 || of.holding < of.rules/5 || of.holding > of.rules*4/5 {
		t.Error("the cases are one-sided")
	}
}

func replaceName(v value.Value, name, by string) value.Value {
	properties := v.Get("properties")
	p := properties.Get(name)
	if p.IsAbsent() || !properties.Get(by).IsAbsent() {
		return v
	}
	return v.With("properties", properties.With(name, value.Value{}).With(by, p)).With("x-kubernetes-validations", value.List(
		value.Object(value.Member{Name: "rule", Value: value.String("self.__namespace__ == self.__namespace__ && has(self.__namespace__)")}),
	))
}

// compare evaluates all rules for v and its parts.
func (of *outcomes) compare(t *testing.T, c *checker, v value.Value) {
	t.Helper()
	if c == nil || v.IsAbsent() {
		return
	}
	for _, r := range c.rules {
		var got, want answer
		for range 10_000 { // whether the library meets a difference or an error first depends on map order, and one may be rare
			got, want = said(r, &self{c.shape.val(v)}), said(r, &self{common.UnstructuredToVal(v.ToAny(), c.shape)})
			if got == want {
				break
			}
		}
		if got != want {
			t.Fatalf("about %v, rules say %+v, want %+v", v, got, want)
		}
		if of.rules++; got.holds {
			of.holding++
		}
	}
	for item := range v.Items() {
		of.compare(t, c.items, item)
	}
	for name, member := range v.Members() {
		of.compare(t, c.additional, member)
		of.compare(t, c.properties[name], member)
	}
}

// TestConcatenations compares what the library makes of lists with the lists. Their items have members that the schema does not have.
func TestConcatenations(t *testing.T) {
	const schema = `{"type":"array","items":{"type":"object","x-kubernetes-preserve-unknown-fields":true,"required":["a"],
		"properties":{"a":{"type":"string"},"l":{"type":"array","items":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}},
		%s "x-kubernetes-validations":[{"rule":%q}]}`
	list := document(t, `[{"a":"x","b":{"c":1},"l":[{"m":1}]},{"a":"y","b":[1]}]`)
	for _, form := range []string{``, `"x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["a"],`} {
		for rule, want := range map[string]bool{
			"self + self == self":                                        form != "",
			"self == self + self":                                        form != "",
			"self + self + self == self + self":                          form != "",
			"(self + self)[0] == self[0]":                                true,
			"(self + self)[0].l == self[0].l":                            true,
			"(self + self)[0].l[0] == self[0].l[0]":                      true,
			"(self + self).all(x, x in self)":                            true,
			"(self + self).exists(x, x == self[1])":                      true,
			"self[0] in self + self":                                     true,
			"(self + self).map(x, x.a) == self.map(x, x.a)":              form != "",
			"(self + self).filter(x, x == self[0]).size() == 1":          form != "",
			"[self + self] == [self]":                                    form != "",
			"(self + self)[0] != self[1] && self[1] != (self + self)[0]": true,
		} {
			r, err := Compile(document(t, fmt.Sprintf(`{"type":"object","properties":{"list":`+schema+`}}`, form, rule)))
			if err != nil {
				t.Fatal(err)
			}
			checker, ok := r.checker()
			if !ok {
				t.Fatalf("%s does not compile", rule)
			}
			c := checker.properties["list"]
			got, library := said(c.rules[0], &self{c.shape.val(list)}), said(c.rules[0], &self{common.UnstructuredToVal(list.ToAny(), c.shape)})
			if got != library || got.holds != want {
				t.Errorf("%s, %s: %+v, for the library %+v, want %v", rule, form, got, library, want)
			}
		}
	}
}

// answer is the outcome of a rule: it holds at a cost, or it does not. Whether an evaluation meets the difference or an error first may
// depend on map order.
type answer struct {
	holds bool
	cost  uint64
}

func said(r rule, about *self) answer {
	result, details, err := r.Eval(about)
	if err != nil || result != types.True {
		return answer{}
	}
	return answer{true, *details.ActualCost()}
}

// TestOnlyWhatIsReadIsAdapted counts the allocations of a rule that reads a small part of an object.
func TestOnlyWhatIsReadIsAdapted(t *testing.T) {
	r, err := Compile(document(t, `{"type":"object","properties":{"spec":{"type":"object",
		"properties":{"n":{"type":"integer"},"l":{"type":"array","items":{"type":"object","additionalProperties":{"type":"string"}}}},
		"x-kubernetes-validations":[{"rule":"self.n < 100 && self.l.size() < 1000"}]}}}`))
	if err != nil {
		t.Fatal(err)
	}
	allocations := func(items int) float64 {
		var list []value.Value
		for range items {
			list = append(list, document(t, `{"a":"b","c":"d"}`))
		}
		object := document(t, `{"spec":{"n":1}}`)
		object = object.With("spec", object.Get("spec").With("l", value.List(list...)))
		return testing.AllocsPerRun(100, func() {
			if errs := r.CEL(t.Context(), nil, object, value.Value{}, nil); errs != nil {
				t.Fatal(errs)
			}
		})
	}
	if few, many := allocations(1), allocations(500); many > few+2 {
		t.Errorf("%v allocations with one item, %v with 500", few, many)
	}
}
