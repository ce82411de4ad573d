package gitops

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/itchyny/gojq"

	deed "github.com/deed-project/deed/kube/gitops"
)

// TestQueries deletes what path expressions lead to from random documents, with jq and with deed.
func TestQueries(t *testing.T) {
	expressions := []string{
		`.a`, `.a.b`, `."a"`, `.a["b"]`, `.["a"]`, `.a[0]`, `.a[-1]`, `.a[]`, `.a[].b`, `.a[]?`, `.a[]?.b`, `.a.b?`, `.a?.b?`, `.a[0]?.b`, `.a[0].b`, `.[]`, `.[]?`,
		`.a | .b`, `.a, .b`, `.a[] | select(.b == 1)`, `.a[] | select(.b == 1) | .a`, `.a[]? | select(.b? == "x")`, `.a[]? | select(.b != "x").a`,
		`.a[]? | select(.a? and .b?)`, `.a[]? | select(.a? or .b? == 1)`, `.a[]? | select((.a? == 1 or .b? == 1) and .a? != "x")`, `.a[]? | select(.b? | not)`,
		`.a[]? | select(. == 1)`, `.a | select(.b)`, `.b[] | select(. | startswith("x"))`, `.b[]? | select(.a? | endswith("y"))`, `.b[]? | select(. | contains("y"))`,
		`.b[]? | select(. | test("^x+y?$"))`, `.a[] , .b[]`, `.a."b"`, `.a[].b[]?`, `.a[1,2]`, `.a | length`, `..`, `.a[`, `a`, `.a | startswith("x")`, `.a[0:1]`, `.`, ``,
		`.a[]? | select(.b? | startswith("x") and .a)`, `.a[]? | select(.b? == null)`, `.a[]? | select(.b? == true)`, `.a[]? | select(.b? == -1.5)`, `.a["b","a"]`, `.a.[0]`, `.a.["b"]`,
		`.a, .b | .a`, `.a | .a, .b`, `.a?, .b? | .b?, .a?`, `.a[]?, .b[]? | select(.b?) | .a?, .b?`, `.[][0]? | select(.[0]? == "x")`, `select(.b[0]? == "x") | .a`,
		`.b[0]?.a?`, `.a[]? | select(.a? | startswith("x") | endswith("y"))`,
	}
	random := rand.New(rand.NewPCG(1, 2))
	taken, compared := 0, 0
	for _, text := range expressions {
		rules, err := deed.NewRules([]deed.IgnoreDifferences{{Group: "*", Kind: "*", JQPathExpressions: []string{text}}}, nil)
		if err != nil {
			t.Logf("not in the subset: %v", err)
			continue
		}
		if text == "." {
			continue // jq deletes the document, which is no object any more
		}
		query, err := gojq.Parse("del(" + text + ")")
		if err != nil {
			t.Errorf("%s: jq refuses it: %v", text, err)
			continue
		}
		taken++
		for range 300 {
			document := map[string]any{"a": document(random, 3), "b": document(random, 2)}
			got, err := rules.Without(document)
			if err != nil {
				t.Fatal(err)
			}
			want, _ := query.Run(clone(document)).Next()
			if _, failed := want.(error); failed {
				want = document // Argo CD leaves out an expression that fails
			} else {
				compared++
			}
			if diff := cmp.Diff(normal(want), normal(got.Content.ToAny())); diff != "" {
				t.Fatalf("%s of %v: (-jq +deed)\n%s", text, document, diff)
			}
		}
	}
	if taken < 40 || compared < 3000 {
		t.Errorf("%d expressions are compared, on %d documents that jq takes", taken, compared)
	}
}

// document returns a random document.
func document(random *rand.Rand, depth int) any {
	scalars := []any{nil, true, false, 1, -1.5, "x", "xy", "zy"}
	if depth == 0 || random.IntN(4) == 0 {
		return scalars[random.IntN(len(scalars))]
	}
	if random.IntN(2) == 0 {
		var list []any
		for range random.IntN(4) {
			list = append(list, document(random, depth-1))
		}
		return append([]any{}, list...)
	}
	object := map[string]any{}
	for _, name := range []string{"a", "b", "c"}[:random.IntN(4)] {
		object[name] = document(random, depth-1)
	}
	return object
}

// clone returns a copy that jq may modify.
func clone(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, member := range v {
			out[name] = clone(member)
		}
		return out
	case []any:
		out := []any{}
		for _, item := range v {
			out = append(out, clone(item))
		}
		return out
	}
	return v
}

// normal returns v with all numbers as text, and null for what is empty: gojq leaves {} behind where it deletes from null.
func normal(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, member := range v {
			out[name] = normal(member)
		}
		if len(out) == 0 {
			return nil
		}
		return out
	case []any:
		var out []any
		for _, item := range v {
			out = append(out, normal(item))
		}
		if len(out) == 0 {
			return nil
		}
		return out
	case int, int64, float64:
		return fmt.Sprint(v)
	}
	return v
}
