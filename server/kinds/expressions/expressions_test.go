package expressions_test

import (
	"strings"
	"testing"

	"github.com/deed-project/deed/server/kinds/expressions"
	"github.com/deed-project/deed/server/kinds/walk"
)

// TestCompile compiles expressions for each use. Each row has part of the error, "" for none.
func TestCompile(t *testing.T) {
	for _, test := range []struct {
		use      walk.Use
		text     string
		composed bool
		params   bool
		want     string
	}{
		{walk.MatchCondition, "request.operation == 'CREATE'", false, false, ""},
		{walk.MatchCondition, "1", false, false, "must evaluate to bool"},
		{walk.MatchCondition, "variables.a", true, false, "undeclared reference to 'variables'"},
		{walk.Validation, "object.spec.replicas > 0", false, false, ""},
		{walk.Validation, "object.", false, false, "compilation failed"},
		{walk.Validation, "params.spec.max > 0", false, true, ""},
		{walk.Validation, "params.spec.max > 0", false, false, "undeclared reference to 'params'"},
		{walk.Message, "'too many: ' + string(object.spec.replicas)", false, false, ""},
		{walk.Message, "authorizer.group('').resource('pods').check('get').allowed()", false, false, "undeclared reference to 'authorizer'"},
		{walk.AuditAnnotation, "null", false, false, ""},
		{walk.AuditAnnotation, "true", false, false, "must evaluate to one of"},
		{walk.Patch, "Object{spec: Object.spec{replicas: 1}}", true, false, ""},
		{walk.Patch, "[]", true, false, "must evaluate to Object"},
		{walk.JSONPatch, `[JSONPatch{op: "remove", path: "/spec"}]`, true, false, ""},
		{walk.Selector, "device.driver == 'd.example.org'", false, false, ""},
		{walk.Selector, "device.driver", false, false, "must evaluate to bool"},
		{walk.Selector, strings.Repeat(" ", 10241), false, false, "may not be more than 10240"},
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
	if err := c.Compile(walk.Variable, "most", "object.spec.most", false); err != nil {
		t.Fatal(err)
	}
	if err := c.Compile(walk.Validation, "", "variables.most > 0", false); err != nil {
		t.Error(err)
	}
	if err := c.Compile(walk.Validation, "", "variables.least > 0", false); err == nil {
		t.Error("an expression sees a variable that was not compiled")
	}
	if err := expressions.New(true).Compile(walk.Validation, "", "variables.most > 0", false); err == nil {
		t.Error("an expression sees a variable of another object")
	}
}
