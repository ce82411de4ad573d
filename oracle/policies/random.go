package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
)

// object is a JSON object.
type object = map[string]any

// generator makes random scenarios.
type generator struct{ *rand.Rand }

func pick[T any](g *generator, from ...T) T { return from[g.IntN(len(from))] }

// chance reports true in one of n cases.
func (g *generator) chance(n int) bool { return g.IntN(n) == 0 }

// target is a kind of objects that policies match.
type target struct {
	group, version, plural, kind string
	objects                      []string // specs and other members of new objects
	patches                      []string // merge patches
	expressions                  []string // validations about the kind
	configurations               []string // expressions of ApplyConfiguration
	jsonPatches                  []string
	subresources                 bool // scale and status
}

func (t target) path(namespace string) string {
	prefix := "/api/v1"
	if t.group != "" {
		prefix = "/apis/" + t.group + "/" + t.version
	}
	return prefix + "/namespaces/" + namespace + "/" + t.plural
}

func (t target) apiVersion() string {
	if t.group == "" {
		return t.version
	}
	return t.group + "/" + t.version
}

// scenario makes a scenario with a policy that validates, one that mutates, or both.
func (g *generator) scenario(n int) scenario {
	namespace := fmt.Sprintf("r%d", n)
	s := scenario{ID: fmt.Sprintf("random-%d", n)}
	s.Setup = append(s.Setup, post("/api/v1/namespaces", text(object{"metadata": object{
		"name": namespace, "labels": object{"team": pick(g, "red", "blue"), "tier": pick(g, "a", "b")},
	}})))
	t := pick(g, targets...)
	var paramKind, paramRef object
	if g.chance(3) {
		paramKind, paramRef = g.params(&s, namespace)
	}
	if !g.chance(3) {
		s.Policies = append(s.Policies, g.validating(namespace, t, paramKind, paramRef)...)
	}
	if len(s.Policies) == 0 || g.chance(3) {
		s.Policies = append(s.Policies, g.mutating(namespace, t, paramKind, paramRef)...)
	}
	s.Requests = g.requests(namespace, t)
	return s
}

// params creates parameters, and returns the kind and how a binding names them.
func (g *generator) params(s *scenario, namespace string) (kind, ref object) {
	in := pick(g, namespace, namespace, "default")
	ref = object{"parameterNotFoundAction": pick(g, "Allow", "Deny")}
	name := "p-" + namespace
	content := object{"metadata": object{"name": name, "labels": object{"use": namespace}}}
	path := ""
	switch g.IntN(3) {
	case 0:
		kind, path = object{"apiVersion": "v1", "kind": "ConfigMap"}, "/api/v1/namespaces/"+in+"/configmaps"
		content["data"] = object{"max": pick(g, "2", "5", "x"), "name": "n1"}
	case 1:
		kind, path = object{"apiVersion": "example.org/v1", "kind": "Limit"}, "/apis/example.org/v1/namespaces/"+in+"/limits"
		content["max"], content["ratio"], content["names"] = g.IntN(5), pick(g, 1.0, 0.5), []string{"n0", "n1"}
	default:
		kind, path = object{"apiVersion": "example.org/v1", "kind": "Ceiling"}, "/apis/example.org/v1/ceilings"
		content["max"] = g.IntN(5)
	}
	if kind["kind"] == "Ceiling" {
		if g.chance(8) {
			ref["namespace"] = in
		}
	} else if in != namespace || g.chance(2) {
		ref["namespace"] = in
	}
	if g.chance(2) {
		ref["selector"] = object{"matchLabels": object{"use": pick(g, namespace, namespace, "none")}}
	} else {
		ref["name"] = pick(g, name, name, name, "absent")
	}
	if !g.chance(5) {
		s.Setup = append(s.Setup, post(path, withKind(kind, content)))
	}
	return kind, ref
}

// withKind returns an object of a kind, as text.
func withKind(kind, content object) string {
	content["apiVersion"], content["kind"] = kind["apiVersion"], kind["kind"]
	return text(content)
}

func text(v any) string {
	out, err := json.Marshal(v)
	if err != nil {
		panic(err) // scenarios are plain data
	}
	return string(out)
}

// rule returns a rule that usually includes a target.
func (g *generator) rule(t target, mutates bool) object {
	resources := []string{pick(g, t.plural, t.plural, t.plural, "*", "*/*", t.plural+"/*")}
	if resources[0] == t.plural && g.chance(2) {
		resources = append(resources, pick(g, t.plural+"/scale", t.plural+"/status"))
	}
	operations := pick(g, []string{"*"}, []string{"CREATE", "UPDATE"}, []string{"CREATE", "UPDATE", "DELETE"}, []string{"UPDATE"}, []string{"CREATE"})
	if mutates && len(operations) == 3 {
		operations = operations[:2]
	}
	out := object{
		"operations":  operations,
		"apiGroups":   pick(g, []string{t.group}, []string{t.group}, []string{"*"}, []string{"apps", t.group}),
		"apiVersions": pick(g, []string{t.version}, []string{t.version}, []string{"*"}, []string{"v1beta1"}, []string{"v1", "v2"}),
		"resources":   resources,
	}
	if g.chance(4) {
		out["scope"] = pick(g, "Namespaced", "Namespaced", "Cluster", "*")
	}
	if g.chance(5) {
		out["resourceNames"] = pick(g, []string{"n0"}, []string{"n1", "n2"}, []string{"other"})
	}
	return out
}

// resources returns what a policy or a binding matches. Other scenarios are kept out.
func (g *generator) resources(namespace string, t target, isPolicy, mutates bool) object {
	out := object{"namespaceSelector": object{"matchLabels": object{"kubernetes.io/metadata.name": namespace}}}
	if isPolicy || g.chance(2) {
		out["resourceRules"] = []object{g.rule(t, mutates)}
		if g.chance(4) {
			out["resourceRules"] = []object{g.rule(t, mutates), g.rule(t, mutates)}
		}
	}
	if g.chance(5) {
		out["excludeResourceRules"] = []object{g.rule(t, mutates)}
	}
	if g.chance(5) {
		out["objectSelector"] = object{"matchLabels": object{"app": pick(g, "web", "web", "db")}}
	}
	if g.chance(4) {
		out["namespaceSelector"] = object{"matchLabels": object{"kubernetes.io/metadata.name": namespace},
			"matchExpressions": []object{{"key": "team", "operator": pick(g, "In", "NotIn"), "values": []string{pick(g, "red", "blue")}}}}
	}
	if g.chance(3) {
		out["matchPolicy"] = pick(g, "Exact", "Equivalent")
	}
	return out
}

// common returns the members that both kinds of policies have.
func (g *generator) common(namespace string, t target, paramKind object, mutates bool) object {
	spec := object{"matchConstraints": g.resources(namespace, t, true, mutates)}
	if paramKind != nil {
		spec["paramKind"] = paramKind
	}
	if g.chance(2) {
		spec["failurePolicy"] = pick(g, "Fail", "Ignore")
	}
	if g.chance(4) {
		var conditions []object
		for i := range 1 + g.IntN(2) {
			conditions = append(conditions, object{"name": fmt.Sprintf("c%d", i), "expression": pick(g, matchConditions...)})
		}
		spec["matchConditions"] = conditions
	}
	if g.chance(3) {
		spec["variables"] = []object{{"name": "n", "expression": pick(g, "object.metadata.name", "string(object.metadata.name)", "string(1 / 0)")},
			{"name": "l", "expression": "has(object.metadata.labels) ? object.metadata.labels : {}"},
			{"name": "both", "expression": pick(g, "string(variables.n) + string(size(variables.l))", "variables.l")}}
	}
	return spec
}

func (g *generator) validating(namespace string, t target, paramKind, paramRef object) []request {
	spec := g.common(namespace, t, paramKind, false)
	expression := func() string {
		switch {
		case paramKind != nil && g.chance(2):
			return pick(g, paramExpressions...)
		case spec["variables"] != nil && g.chance(2):
			return pick(g, variableExpressions...)
		case g.chance(2):
			return pick(g, t.expressions...)
		}
		return pick(g, anyExpressions...)
	}
	var validations []object
	for range 1 + g.IntN(3) {
		v := object{"expression": expression()}
		if g.chance(3) {
			v["message"] = pick(g, "no", " padded ", "it's \"quoted\" <b>")
		}
		if g.chance(3) {
			v["messageExpression"] = pick(g, messages...)
		}
		if g.chance(4) {
			v["reason"] = pick(g, "Forbidden", "RequestEntityTooLarge", "Invalid")
		}
		validations = append(validations, v)
	}
	spec["validations"] = validations
	if g.chance(3) {
		spec["auditAnnotations"] = []object{{"key": "a", "valueExpression": pick(g, annotations...)}, {"key": "b", "valueExpression": pick(g, annotations...)}}
	}
	actions := pick(g, []string{"Deny"}, []string{"Deny"}, []string{"Deny", "Audit"}, []string{"Warn"}, []string{"Audit"}, []string{"Warn", "Audit"})
	return []request{
		post(registration+"validatingadmissionpolicies", text(object{"metadata": object{"name": "v-" + namespace}, "spec": spec})),
		g.binding("validatingadmissionpolicybindings", "v-"+namespace, namespace, t, paramRef, object{"validationActions": actions}),
	}
}

func (g *generator) mutating(namespace string, t target, paramKind, paramRef object) []request {
	spec := g.common(namespace, t, paramKind, true)
	spec["reinvocationPolicy"] = pick(g, "Never", "IfNeeded")
	var mutations []object
	for range 1 + g.IntN(2) {
		if g.chance(2) {
			mutations = append(mutations, object{"patchType": "ApplyConfiguration", "applyConfiguration": object{
				"expression": pick(g, append(anyConfigurations, t.configurations...)...)}})
		} else {
			mutations = append(mutations, object{"patchType": "JSONPatch", "jsonPatch": object{
				"expression": pick(g, append(anyPatches, t.jsonPatches...)...)}})
		}
	}
	spec["mutations"] = mutations
	return []request{
		post(registration+"mutatingadmissionpolicies", text(object{"metadata": object{"name": "m-" + namespace}, "spec": spec})),
		g.binding("mutatingadmissionpolicybindings", "m-"+namespace, namespace, t, paramRef, object{}),
	}
}

func (g *generator) binding(resource, policy, namespace string, t target, paramRef, spec object) request {
	spec["policyName"] = policy
	if paramRef != nil {
		spec["paramRef"] = paramRef
	}
	if g.chance(4) {
		spec["matchResources"] = g.resources(namespace, t, false, resource == "mutatingadmissionpolicybindings")
	}
	return post(registration+resource, text(object{"metadata": object{"name": "b-" + namespace}, "spec": spec}))
}

// requests makes requests for objects of a target: creates, and then whatever the objects are for.
func (g *generator) requests(namespace string, t target) []request {
	var out []request
	path := t.path(namespace)
	manager := "fieldManager=test"
	create := func(name string) request {
		body := object{}
		if err := json.Unmarshal([]byte(pick(g, t.objects...)), &body); err != nil {
			panic(err)
		}
		metadata := object{"name": name}
		if !g.chance(3) {
			metadata["labels"] = object{"app": pick(g, "web", "db")}
		}
		if g.chance(4) {
			metadata["annotations"] = object{"note": "long " + strings.Repeat("x", g.IntN(30))}
		}
		body["apiVersion"], body["kind"], body["metadata"] = t.apiVersion(), t.kind, metadata
		q := post(path+"?"+manager, text(body))
		if g.chance(4) {
			q = request{Method: http.MethodPatch, Path: path + "/" + name + "?" + manager, Type: "application/apply-patch+yaml", Body: json.RawMessage(text(body))}
		}
		if g.chance(8) {
			q.Path += "&dryRun=All"
		}
		return q
	}
	for i := range 3 {
		out = append(out, create(fmt.Sprintf("n%d", i)))
	}
	for range 4 {
		name := fmt.Sprintf("n%d", g.IntN(3))
		at := path + "/" + name + "?" + manager
		merge := func(body string) request {
			return request{Method: http.MethodPatch, Path: at, Type: "application/merge-patch+json", Body: json.RawMessage(body)}
		}
		switch g.IntN(6) {
		case 0:
			out = append(out, request{Method: http.MethodDelete, Path: path + "/" + name})
		case 1:
			out = append(out, merge(fmt.Sprintf(`{"metadata":{"labels":{"app":%q,"extra":"1"}}}`, pick(g, "web", "db"))))
		case 2:
			if t.subresources {
				at = path + "/" + name + pick(g, "/scale", "/scale", "/status") + "?" + manager
				out = append(out, merge(fmt.Sprintf(`{"spec":{"replicas":%d}}`, g.IntN(6))))
				continue
			}
			fallthrough
		default:
			out = append(out, merge(pick(g, t.patches...)))
		}
	}
	return append(out, create("n3"))
}
