package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/deed-project/deed/oracle/pair"
)

// govern creates random admission policies on both servers, each about one kind, and waits until a kube-apiserver enforces them.
func (c *campaign) govern(kinds []*kind) error {
	for i, k := range kinds {
		r := rand.New(rand.NewPCG(c.seed, uint64(1000+i)))
		for _, form := range [...]string{"Validating", "Mutating"} {
			// A kube-apiserver has policies in random order, so a kind has one of each form at most.
			for n := range r.IntN(2) {
				name := fmt.Sprintf("%s-%s-%d", strings.ToLower(form), strings.ToLower(k.name), n)
				spec := newPolicy(r, k, form)
				binding := map[string]any{"policyName": name}
				if form == "Validating" {
					actions := [][]any{{"Deny"}, {"Deny"}, {"Warn"}, {"Deny", "Audit"}, {"Warn", "Audit"}}
					binding["validationActions"] = actions[r.IntN(len(actions))]
				}
				for kind, spec := range map[string]map[string]any{form + "AdmissionPolicy": spec, form + "AdmissionPolicyBinding": binding} {
					body := map[string]any{
						"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": map[string]any{"name": name}, "spec": spec,
					}
					path := "/apis/admissionregistration.k8s.io/v1/" + strings.ToLower(kind)
					path = strings.TrimSuffix(path, "y") + map[bool]string{true: "ies", false: "s"}[strings.HasSuffix(path, "y")]
					if err := c.agree(pair.Request{Method: http.MethodPost, Path: path, Body: body}); err != nil {
						return err
					}
				}
			}
		}
	}
	time.Sleep(8 * time.Second)
	return nil
}

// agree sends a request to both servers, which must say the same.
func (c *campaign) agree(q pair.Request) error {
	there, err := c.real.Send(q)
	if err != nil {
		return err
	}
	here, err := c.deed.Send(q)
	if err == nil && there.String() != here.String() {
		err = fmt.Errorf("%s %s: %s there, %s here", q.Method, pair.Text(q.Body), there, here)
	}
	return err
}

// newPolicy returns the spec of a random policy about a kind.
func newPolicy(r *rand.Rand, k *kind, form string) map[string]any {
	pick := func(of ...any) any { return of[r.IntN(len(of))] }
	e := expressions{r, k.bases[r.IntN(len(k.bases))].Object}
	g := k.versions[r.IntN(len(k.versions))]
	plural := g.Resources[k.name]
	rule := map[string]any{
		"apiGroups": []any{groupOf(g.Version)}, "apiVersions": pick([]any{g.Version[strings.Index(g.Version, "/")+1:]}, []any{"*"}),
		"operations": pick([]any{"CREATE", "UPDATE"}, []any{"*"}, []any{"UPDATE"}), "resources": pick([]any{plural}, []any{plural, plural + "/*"}),
	}
	if form == "Mutating" {
		rule["operations"] = pick([]any{"CREATE", "UPDATE"}, []any{"CREATE"}, []any{"UPDATE"})
	}
	match := map[string]any{"resourceRules": []any{rule}, "matchPolicy": pick("Exact", "Equivalent")}
	if strings.HasPrefix(k.namespace, "writes-") {
		match["namespaceSelector"] = map[string]any{"matchLabels": map[string]any{"kubernetes.io/metadata.name": k.namespace}}
	}
	spec := map[string]any{"matchConstraints": match, "failurePolicy": pick("Fail", "Fail", "Ignore")}
	if r.IntN(4) == 0 {
		spec["matchConditions"] = []any{map[string]any{"name": "c", "expression": pick(conditions[r.IntN(len(conditions))], e.condition())}}
	}
	if r.IntN(4) == 0 {
		spec["variables"] = []any{map[string]any{"name": "v", "expression": e.condition()}}
	}
	if form == "Mutating" {
		spec["reinvocationPolicy"] = pick("Never", "IfNeeded")
		var list []any
		for range 1 + r.IntN(2) {
			list = append(list, e.mutation())
		}
		spec["mutations"] = list
		return spec
	}
	var list []any
	for range 1 + r.IntN(3) {
		v := map[string]any{"expression": e.condition()}
		if spec["variables"] != nil && r.IntN(3) == 0 {
			v["expression"] = "variables.v || " + e.condition()
		}
		switch r.IntN(5) {
		case 0:
			v["message"] = "a message"
		case 1:
			v["messageExpression"] = pick("'the name is ' + object.metadata.name", "string(size(object.metadata.labels))", "''", "'a' + request.operation", "object.nope")
		case 2:
			v["reason"] = pick("Forbidden", "Invalid", "RequestEntityTooLarge", "Unauthorized")
		}
		list = append(list, v)
	}
	spec["validations"] = list
	if r.IntN(4) == 0 {
		spec["auditAnnotations"] = []any{map[string]any{"key": "k", "valueExpression": "'v'"}}
	}
	return spec
}

// expressions makes expressions about objects like a base object.
type expressions struct {
	*rand.Rand
	base map[string]any
}

// place returns a random path of members from the root, as an expression, and its value.
func (e expressions) place() (path string, value any) {
	path, value = "object", any(e.base)
	for {
		object, ok := value.(map[string]any)
		if !ok || len(object) == 0 || path != "object" && e.IntN(3) == 0 {
			return path, value
		}
		names := slices.Sorted(maps.Keys(object))
		name := names[e.IntN(len(names))]
		if !identifier(name) {
			return path, value
		}
		path, value = path+"."+name, object[name]
	}
}

// identifier reports whether a member can be selected in an expression by its name.
func identifier(name string) bool {
	for _, c := range name {
		if c != '_' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return !slices.Contains([]string{"namespace", "as", "in", "for", "if", "import", "package", "return", "var", "const", "continue", "function"}, name)
}

// condition returns a boolean expression. It may fail for some objects.
func (e expressions) condition() string {
	path, value := e.place()
	pick := func(of ...string) string { return of[e.IntN(len(of))] }
	test := ""
	switch v := value.(type) {
	case string:
		test = pick(fmt.Sprintf("%s == %q", path, v), path+".size() > 3", path+".contains('a')", path+" != ''", path+".lowerAscii() == "+path)
	case bool:
		test = pick(path, "!"+path, path+" == true")
	case []any:
		test = pick(fmt.Sprintf("size(%s) == %d", path, len(v)), path+".all(x, x == x)", path+".exists(x, x != null)", "size("+path+") > 0", path+" == []")
	case map[string]any:
		test = pick("size("+path+") > 0", path+" != null", "has("+path+")", path+" == "+path)
		if path == "object" {
			test = "object != null"
		}
	default:
		test = pick(path+" > 1", path+" == "+path, path+" != 0", "type("+path+") == int")
	}
	switch {
	case path != "object" && e.IntN(2) == 0:
		return "!has(" + path + ") || " + test
	case e.IntN(4) == 0:
		return "oldObject == null || " + strings.Replace(path, "object", "oldObject", 1) + " == " + path
	case e.IntN(8) == 0:
		return pick("namespaceObject.metadata.name.startsWith('writes')", "request.dryRun != true", "request.name != ''", "request.resource.resource.size() > 1")
	}
	return test
}

// mutation returns a mutation of a policy.
func (e expressions) mutation() map[string]any {
	apply := func(expression string) map[string]any {
		return map[string]any{"patchType": "ApplyConfiguration", "applyConfiguration": map[string]any{"expression": expression}}
	}
	patch := func(expression string) map[string]any {
		return map[string]any{"patchType": "JSONPatch", "jsonPatch": map[string]any{"expression": expression}}
	}
	switch e.IntN(8) {
	case 0:
		return apply("Object{metadata: Object.metadata{labels: {'policy': object.metadata.name}}}")
	case 1:
		return apply("Object{metadata: Object.metadata{annotations: {'a.example.org/b': string(size(object.metadata.labels))}}}")
	case 2:
		return apply("has(object.metadata.labels) ? Object{} : Object{metadata: Object.metadata{labels: {'none': 'x'}}}")
	case 3:
		return apply("Object{spec: Object.spec{replicas: 3}}")
	case 4:
		return patch("[JSONPatch{op: 'add', path: '/metadata/annotations', value: {'a.example.org/c': 'd'}}]")
	case 5:
		return patch("[JSONPatch{op: 'test', path: '/metadata/name', value: 'other'}, JSONPatch{op: 'remove', path: '/metadata/labels'}]")
	case 6:
		return patch("has(object.metadata.labels) ? [JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('e.org/x'), value: 'y'}] : []")
	}
	return patch("[JSONPatch{op: 'remove', path: '/metadata/labels'}]")
}
