package expressions_test

import (
	"strings"
	"testing"

	"github.com/deed-project/deed/server/kinds"
	"github.com/deed-project/deed/server/kinds/expressions"
)

// TestCompile compiles expressions for each use. Each row has part of the error, "" for none.
func TestCompile(t *testing.T) {
	for _, test := range []struct {
		use      kinds.Use
		text     string
		composed bool
		params   bool
		want     string
	}{
		{kinds.MatchCondition, "request.operation == 'CREATE'", false, false, ""},
		{kinds.MatchCondition, "1", false, false, "must evaluate to bool"},
		{kinds.MatchCondition, "variables.a", true, false, "undeclared reference to 'variables'"},
		{kinds.Validation, "object.spec.replicas > 0", false, false, ""},
		{kinds.Validation, "object.", false, false, "compilation failed"},
		{kinds.Validation, "params.spec.max > 0", false, true, ""},
		{kinds.Validation, "params.spec.max > 0", false, false, "undeclared reference to 'params'"},
		{kinds.Message, "'too many: ' + string(object.spec.replicas)", false, false, ""},
		{kinds.Message, "authorizer.group('').resource('pods').check('get').allowed()", false, false, "undeclared reference to 'authorizer'"},
		{kinds.AuditAnnotation, "null", false, false, ""},
		{kinds.AuditAnnotation, "true", false, false, "must evaluate to one of"},
		{kinds.Patch, "Object{spec: Object.spec{replicas: 1}}", true, false, ""},
		{kinds.Patch, "[]", true, false, "must evaluate to Object"},
		{kinds.JSONPatch, `[JSONPatch{op: "remove", path: "/spec"}]`, true, false, ""},
		{kinds.Selector, "device.driver == 'd.example.org'", false, false, ""},
		{kinds.Selector, "device.driver", false, false, "must evaluate to bool"},
		{kinds.Selector, strings.Repeat(" ", 10241), false, false, "may not be more than 10240"},
	} {
		err := expressions.New(test.composed).Compile(test.use, "", test.text, test.params)
		switch {
		case err == nil && test.want != "", err != nil && test.want == "":
			t.Errorf("%d %.60q: %v, want %q", test.use, test.text, err, test.want)
		case err != nil && !strings.Contains(err.ErrorBody(), test.want):
			t.Errorf("%d %.60q: %v, want %q", test.use, test.text, err, test.want)
		}
	}
}

// TestVariables shows that an expression sees the variables of its object, and no others.
func TestVariables(t *testing.T) {
	c := expressions.New(true)
	if err := c.Compile(kinds.Variable, "most", "object.spec.most", false); err != nil {
		t.Fatal(err)
	}
	if err := c.Compile(kinds.Validation, "", "variables.most > 0", false); err != nil {
		t.Error(err)
	}
	if err := c.Compile(kinds.Validation, "", "variables.least > 0", false); err == nil {
		t.Error("an expression sees a variable that was not compiled")
	}
	if err := expressions.New(true).Compile(kinds.Validation, "", "variables.most > 0", false); err == nil {
		t.Error("an expression sees a variable of another object")
	}
}
