package rules

import (
	"context"
	"fmt"
	"testing"

	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/deed-project/deed/value"
)

// TestReads reads rules. Rules about the whole value have no paths.
func TestReads(t *testing.T) {
	for _, c := range []struct{ rule, want string }{
		{"self.a <= 10", "[[a]]"},
		{"has(self.a.b) && self.c.size() > 0", "[[a b] [c]]"},
		{"self.l.all(x, x.n > self.m.n)", "[[l] [m n]]"},
		{"true", "[]"},
		{"[1, 2].exists(i, i == self.a) ? {self.k: self.v}.size() > 1 : false", "[[a] [k] [v]]"},
		{"self > 1", "nil"},
		{"self.all(k, k != '')", "nil"},
		{"self['a'] == 1", "nil"},
		{"self.?a.orValue(1) == 1", "nil"},
		{"self.__namespace__ == 'x'", "nil"},
		{"self.a__dash__b == 'x'", "nil"},
		{"self.l.all(self, self.x > 0)", "[[l] [x]]"},
		{"(", "nil"},
	} {
		got := "nil"
		if r := readsOf(c.rule); r != nil {
			got = fmt.Sprint([][]string(r))
		}
		if got != c.want {
			t.Errorf("%s reads %s, want %s", c.rule, got, c.want)
		}
	}
}

func document(t *testing.T, text string) value.Value {
	t.Helper()
	v, err := value.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestChangesAreEvaluated checks the cost after changes: only rules that read a changed field are evaluated.
func TestChangesAreEvaluated(t *testing.T) {
	r, err := Compile(document(t, `{"type":"object","properties":{"spec":{"type":"object",
		"properties":{"a":{"type":"integer"},"l":{"type":"array","items":{"type":"integer"}},
			"o":{"type":"object","properties":{"b":{"type":"integer"}},"x-kubernetes-validations":[{"rule":"self.b > 0"}]}},
		"x-kubernetes-validations":[{"rule":"self.a < 100"},{"rule":"self.l.all(x, x > 0)"}]}}}`))
	if err != nil {
		t.Fatal(err)
	}
	object := func(a int, l string, b int) value.Value {
		return document(t, fmt.Sprintf(`{"spec":{"a":%d,"l":%s,"o":{"b":%d}}}`, a, l, b))
	}
	prove := func(v, old value.Value, proved int64) int64 {
		errs, cost := r.CELChange(context.Background(), nil, v, old, nil, proved)
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		return cost - proved
	}
	live := object(1, "[1,2,3,4,5]", 1)
	whole := prove(live, value.Value{}, 0)
	ofA := prove(object(2, "[1,2,3,4,5]", 1), live, whole)
	ofL := prove(object(1, "[1,2,3,4,6]", 1), live, whole)
	ofB := prove(object(1, "[1,2,3,4,5]", 2), live, whole)
	if none := prove(live, live, whole); none != 0 || ofA == 0 || ofL == 0 || ofB == 0 || ofA+ofL+ofB != whole {
		t.Errorf("all rules cost %d, those about changes %d, %d and %d, and %d where nothing changed", whole, ofA, ofL, ofB, none)
	}
	if errs, cost := r.CELChange(context.Background(), nil, object(100, "[1,2,3,4,5]", 1), live, nil, whole); len(errs) == 0 || cost != 0 {
		t.Errorf("a rule that is broken now finds %v and costs %d", errs, cost)
	}
	const most = int64(celconfig.RuntimeCELCostBudget)
	if _, cost := r.CELChange(context.Background(), nil, object(2, "[1,2,3,4,5]", 1), live, nil, most); cost != whole {
		t.Errorf("when it may be more than the budget, the cost is %d, want %d", cost, whole)
	}
}
