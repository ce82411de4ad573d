package checkpipe_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/cmd/internal/checkpipe"
	"github.com/deed-project/deed/cmd/internal/checks"
	"github.com/deed-project/deed/cmd/internal/validation"
	"github.com/deed-project/deed/internal/yaml"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// behavior names the environment variable that turns the test binary into a program: see programs.
const behavior = "CHECKPIPE_BEHAVIOR"

// programs are what the test binary may be.
var programs = map[string]func() int{
	"answers": func() int {
		if err := checkpipe.Serve(os.Stdin, os.Stdout, checks.Local{}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return 0
	},
	"another version": func() int {
		fmt.Fprintf(os.Stderr, "deed: unknown command %q\nSee 'deed --help'.\n", "answer-checks")
		return 2
	},
	"ends": func() int { return 0 },
	"speaks no JSON": func() int {
		fmt.Println("Hello!")
		select {}
	},
}

func TestMain(m *testing.M) {
	if program := programs[os.Getenv(behavior)]; program != nil {
		os.Exit(program())
	}
	os.Exit(m.Run())
}

// client returns a client of the program that behaves as the name says.
func client(name string) *checkpipe.Client {
	return &checkpipe.Client{Program: func() (*exec.Cmd, error) {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), behavior+"="+name)
		return cmd, nil
	}}
}

// values parses the documents of a text.
func values(t *testing.T, text string) []value.Value {
	documents, err := yaml.Parse("test", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var out []value.Value
	for _, d := range documents {
		out = append(out, d.Value)
	}
	return out
}

// texts returns what checks found as a server prints it.
func texts(checked validation.Checked) string {
	var out []string
	for _, err := range checked.Errors {
		out = append(out, fmt.Sprint(err.Type, " ", err.Error()))
	}
	for _, warning := range checked.Warnings {
		out = append(out, "warning: "+warning)
	}
	return strings.Join(out, "\n")
}

// TestRules compares the answers about the rules of schemas with the checks themselves.
func TestRules(t *testing.T) {
	schemas := values(t, `
type: object
x-kubernetes-validations: [{rule: self.count > 0}, {rule: self.count >= oldSelf.count, reason: FieldValueForbidden}]
properties:
  count: {type: integer}
  s: {type: string, maxLength: 3, x-kubernetes-validations: [{rule: 'self == "\u2028"', message: "é \" \\ <>"}]}
---
{type: object, properties: {count: {type: integer, x-kubernetes-validations: [{rule: self < 3, reason: FieldValueDuplicate}]}}}
--- # no rules
{type: object, properties: {count: {type: number, format: double}}}
--- # not structural
{type: array}
`)
	objects := values(t, `{count: 1, s: "<>&"}
---
{count: 5}
---
{count: 0, s: abc}
`)
	known := field.ErrorList{field.Invalid(field.NewPath("n"), 1, "known"), field.Required(field.NewPath("s"), "known")}
	asked, found := client("answers"), 0
	for _, schema := range schemas {
		there, here := asked.Rules(schema), checks.Local{}.Rules(schema)
		for _, live := range append(objects, value.Value{}) {
			for _, object := range objects {
				for n := range len(known) + 1 {
					want, err := here(known[:n], object, live)
					got, askedErr := there(known[:n], object, live)
					if err := errors.Join(err, askedErr); err != nil {
						t.Fatal(err)
					}
					if found += len(got.Errors) + len(got.Warnings); texts(got) != texts(want) {
						t.Errorf("rules of %v about %v in place of %v: %s, want %s", schema, object, live, texts(got), texts(want))
					}
				}
			}
		}
	}
	if found < 30 {
		t.Errorf("only %d errors", found)
	}
}

// TestWhole compares the answers about objects of built-in kinds with the checks themselves, and checks what these find.
func TestWhole(t *testing.T) {
	objects := values(t, `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: as.example.org}
spec: {group: example.org, names: {kind: A, plural: as}, scope: Cluster, versions: [{name: v1, served: true, storage: true}]}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: w}
webhooks: [{name: a, clientConfig: {}}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: w}
spec: {failurePolicy: Fail, matchConstraints: {resourceRules: []}, validations: [{expression: 1 +}]}
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: d}
spec: {selectors: [{cel: {expression: "1"}}]}
---
apiVersion: admissionregistration.k8s.io/v1alpha1
kind: MutatingAdmissionPolicy
metadata: {name: w}
spec: {mutations: []}
`)
	want := []string{"openAPIV3Schema: Required value", "admissionReviewVersions: Required value", "Syntax error", "must evaluate to bool", "mutations: Required"}
	asked := client("answers")
	for i, object := range objects {
		gvk := schema.ParseGVK(object.Get("apiVersion").Str(), object.Get("kind").Str())
		for _, live := range []value.Value{{}, object} {
			here, err := checks.Local{}.Whole(gvk, "", object, live)
			got, askedErr := asked.Whole(gvk, "", object, live)
			if err := errors.Join(err, askedErr); err != nil {
				t.Fatal(err)
			}
			if texts(got) != texts(here) {
				t.Errorf("%v in place of %v: %s, want %s", object, live, texts(got), texts(here))
			}
			if live.IsAbsent() && !strings.Contains(texts(here), want[i]) {
				t.Errorf("%v: %s, want %q", object, texts(here), want[i])
			}
		}
	}
}

// TestManyAsk lets goroutines ask one program at the same time.
func TestManyAsk(t *testing.T) {
	schema := values(t, `{type: object, x-kubernetes-validations: [{rule: self.count > 0, messageExpression: 'string(self.count)'}], properties: {count: {type: integer}}}`)[0]
	asked := client("answers")
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			rules := asked.Rules(schema)
			for j := range 20 {
				n := -1 - i*100 - j
				errs, err := rules(nil, value.Object().With("count", value.Int(int64(n))), value.Value{})
				if err != nil || !strings.HasSuffix(texts(errs), fmt.Sprintf(": %d", n)) {
					t.Errorf("%d: %s, %v", n, texts(errs), err)
				}
			}
		})
	}
	all.Wait()
}

// TestFailures checks the error of a program that gives no answers, which stays the error of each further question.
func TestFailures(t *testing.T) {
	missing := errors.New("there is none")
	none := &checkpipe.Client{Program: func() (*exec.Cmd, error) { return nil, missing }}
	notThere := &checkpipe.Client{Program: func() (*exec.Cmd, error) { return exec.Command("/no/such/program"), nil }}
	for _, c := range []struct {
		client *checkpipe.Client
		want   string
	}{
		{none, "there is none"},
		{notThere, "no such program"},
		{client("another version"), `failed: exit status 2: deed: unknown command "answer-checks"`},
		{client("ends"), "failed: "},
		{client("speaks no JSON"), "failed: "},
	} {
		_, first := c.client.Rules(value.Object())(nil, value.Object(), value.Value{})
		_, second := c.client.Whole(schema.GVK{}, "", value.Object(), value.Value{})
		text := strings.ReplaceAll(fmt.Sprint(first), "file or directory", "program")
		if !strings.Contains(text, c.want) || first != second {
			t.Errorf("%v, and then %v; want %q", first, second, c.want)
		}
	}
}

// TestBadQuestions sends questions that no client asks.
func TestBadQuestions(t *testing.T) {
	for question, want := range map[string]string{
		`{`:                          "a question: unexpected EOF",
		`{"schema": 1, "object": 1}`: "schema 1, which no question contained",
		`{"schema": 1, "openAPIV3Schema": {"a": 1, "a": 2}, "object": {}}`: "schema 1",
		`{"object": {"a": 1, "a": 2}}`:                                     "an object",
		`{"object": {}, "live": {"a": 1, "a": 2}}`:                         "a live object",
	} {
		err := checkpipe.Serve(strings.NewReader(question), &bytes.Buffer{}, validation.Checks(checks.Local{}))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", question, err, want)
		}
	}
}
