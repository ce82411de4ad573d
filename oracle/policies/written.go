package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// hand makes scenarios by hand: one at a time, each in a namespace of its own.
type hand struct {
	all []scenario
	s   *scenario
	ns  string
}

// begin begins a scenario.
func (h *hand) begin(id string) {
	h.all = append(h.all, scenario{ID: id})
	h.s, h.ns = &h.all[len(h.all)-1], id
	h.setup("/api/v1/namespaces", `{"metadata":{"name":"NS","labels":{"scenario":"NS","team":"red"}}}`)
}

// fill puts the namespace of the scenario in the place of NS.
func (h *hand) fill(s string) string { return strings.ReplaceAll(s, "NS", h.ns) }

func (h *hand) setup(path, body string) {
	h.s.Setup = append(h.s.Setup, post(h.fill(path), h.fill(body)))
}

// only is what keeps a policy in the namespace of its scenario.
const only = `"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"NS"}}`

// rules returns the member matchConstraints for resources of a group and version, such as "apps/v1/deployments,deployments/scale".
func rules(operations, of string, more ...string) string {
	parts := strings.SplitN(of, "/", 3)
	quote := func(s string) string { return `"` + strings.ReplaceAll(s, ",", `","`) + `"` }
	return `"matchConstraints":{` + strings.Join(append(more, only), ",") + `,"resourceRules":[{"operations":[` + quote(operations) + `],"apiGroups":[` +
		quote(parts[0]) + `],"apiVersions":[` + quote(parts[1]) + `],"resources":[` + quote(parts[2]) + `]}]}`
}

// validate adds a validating policy with a binding. spec lacks the braces, actions are names with commas between them.
func (h *hand) validate(name, spec, actions string, more ...string) {
	h.policy("validatingadmissionpolicies", name, spec)
	h.bind("validatingadmissionpolicybindings", name, name, append(more, `"validationActions":["`+strings.ReplaceAll(actions, ",", `","`)+`"]`)...)
}

// mutate adds a mutating policy with a binding.
func (h *hand) mutate(name, spec string, more ...string) {
	if !strings.Contains(spec, "reinvocationPolicy") {
		spec += `,"reinvocationPolicy":"Never"`
	}
	h.policy("mutatingadmissionpolicies", name, spec)
	h.bind("mutatingadmissionpolicybindings", name, name, more...)
}

func (h *hand) policy(resource, name, spec string) {
	h.s.Policies = append(h.s.Policies, post(registration+resource, h.fill(fmt.Sprintf(`{"metadata":{"name":"%s-NS"},"spec":{%s}}`, name, spec))))
}

func (h *hand) bind(resource, name, policy string, more ...string) {
	more = append(more, fmt.Sprintf(`"policyName":"%s-NS"`, policy))
	h.s.Policies = append(h.s.Policies, post(registration+resource, h.fill(fmt.Sprintf(`{"metadata":{"name":"%s-NS"},"spec":{%s}}`, name, strings.Join(more, ",")))))
}

func (h *hand) send(method, path, body string) {
	q := request{Method: method, Path: h.fill(path), Body: json.RawMessage(h.fill(body))}
	if method == http.MethodPatch {
		q.Type = "application/merge-patch+json"
		if strings.Contains(body, `"apiVersion"`) {
			q.Type = "application/apply-patch+yaml"
		}
	}
	if body == "" {
		q.Body = nil
	}
	h.s.Requests = append(h.s.Requests, q)
}

func (h *hand) post(path, body string)  { h.send(http.MethodPost, path, body) }
func (h *hand) patch(path, body string) { h.send(http.MethodPatch, path, body) }
func (h *hand) delete(path string)      { h.send(http.MethodDelete, path, "") }

// apply and jsonPatch return the members of mutations.
func apply(expressions ...string) string {
	return mutations("ApplyConfiguration", "applyConfiguration", expressions)
}
func jsonPatch(expressions ...string) string {
	return mutations("JSONPatch", "jsonPatch", expressions)
}

func mutations(patchType, member string, expressions []string) string {
	var out []object
	for _, e := range expressions {
		out = append(out, object{"patchType": patchType, member: object{"expression": e}})
	}
	return `"mutations":` + text(out)
}

// holds returns the member validations.
func holds(expressions ...string) string {
	var out []object
	for _, e := range expressions {
		out = append(out, object{"expression": e})
	}
	return `"validations":` + text(out)
}

const (
	maps        = "/api/v1/namespaces/NS/configmaps"
	pods        = "/api/v1/namespaces/NS/pods"
	deployments = "/apis/apps/v1/namespaces/NS/deployments"
	widgets     = "/apis/example.org/v1/namespaces/NS/widgets"
	widgetsBeta = "/apis/example.org/v1beta1/namespaces/NS/widgets"
	scalers     = "/apis/autoscaling/v2/namespaces/NS/horizontalpodautoscalers"
	pod         = `{"metadata":{"name":"p","labels":{"app":"web"}},"spec":{"containers":[{"name":"c","image":"i"}]}}`
	deployment  = `{"metadata":{"name":"d"},"spec":{"replicas":2,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},` +
		`"spec":{"containers":[{"name":"c","image":"i"}]}}}}`
	widget = `{"apiVersion":"example.org/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"color":"red","parts":[{"name":"a","size":1}]}}`
	scaler = `{"metadata":{"name":"h"},"spec":{"maxReplicas":3,"scaleTargetRef":{"kind":"Deployment","name":"d"},"metrics":[{"type":"Resource",` +
		`"resource":{"name":"memory","target":{"type":"Utilization","averageUtilization":50}}}]}}`
)

// heavy is an expression that costs more than a request may spend.
var heavy = strings.Repeat("[0,1,2,3,4,5,6,7,8,9].all(x, ", 7) + "'0123456789' == '0123456789'" + strings.Repeat(")", 7)

// written returns the scenarios that are written by hand.
func written() []scenario {
	h := &hand{}
	h.connections()
	h.subresources()
	h.versions()
	h.parameters()
	h.reinvocations()
	h.failures()
	h.outcomes()
	h.mutating()
	h.exemptions()
	return h.all
}

func (h *hand) connections() {
	for _, c := range []struct{ id, resource, path, body, expression string }{
		{"exec", "pods/exec", pods + "/p/exec?command=sh&command=-c&stdin=true&container=c", "", "object.command[0] != 'sh' || object.kind != 'PodExecOptions'"},
		{"exec-name", "pods/exec", pods + "/p/exec?command=ls", "", "request.operation != 'CONNECT' || request.name == 'q'"},
		{"exec-options", "pods/exec", pods + "/p/exec?command=ls", "", "has(request.options.kind)"},
		{"attach", "pods/attach", pods + "/p/attach?stdout=true", "", "oldObject != null || object.stdout == false"},
		{"portforward", "pods/portforward", pods + "/p/portforward?ports=80", "", "80 in object.ports && false"},
		{"eviction", "pods/eviction", pods + "/p/eviction", `{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"p"},"deleteOptions":{"gracePeriodSeconds":0}}`,
			"request.subResource == 'eviction' && object.deleteOptions.gracePeriodSeconds == 1"},
		{"binding", "pods/binding", pods + "/p/binding", `{"apiVersion":"v1","kind":"Binding","metadata":{"name":"p"},"target":{"kind":"Node","name":"n"}}`,
			"object.target.name == 'm'"},
	} {
		h.begin("connect-" + c.id)
		h.setup(pods, pod)
		operation := "CONNECT"
		if c.body != "" {
			operation = "CREATE"
		}
		h.validate("v", rules(operation, "/v1/"+c.resource)+`,`+holds(c.expression), "Deny,Audit")
		h.post(c.path, c.body)
	}
}

func (h *hand) subresources() {
	for _, c := range []struct{ id, of, path, object, expression, configuration, patch string }{
		{"deployment-scale", "apps/v1/deployments/scale", deployments + "/d", deployment, "object.kind == 'Scale' && object.spec.replicas < 5 && oldObject.spec.replicas > 0",
			"Object{spec: Object.spec{replicas: object.spec.replicas + 1}}", "[JSONPatch{op: 'replace', path: '/spec/replicas', value: 3}]"},
		{"widget-scale", "example.org/v1/widgets/scale", widgets + "/w", widget, "request.kind.group == 'autoscaling' && object.spec.replicas < 5",
			"Object{spec: Object.spec{replicas: 3}}", "[JSONPatch{op: 'replace', path: '/spec/replicas', value: object.spec.replicas + 1}]"},
	} {
		h.begin("scale-" + c.id)
		h.setup(c.path[:strings.LastIndex(c.path, "/")], c.object)
		h.validate("v", rules("*", c.of)+`,`+holds(c.expression), "Deny")
		for _, n := range []int{1, 4, 7} {
			h.patch(c.path+"/scale", fmt.Sprintf(`{"spec":{"replicas":%d}}`, n))
		}
		h.patch(c.path, `{"spec":{"replicas":9}}`)
		for i, m := range []string{apply(c.configuration), jsonPatch(c.patch)} {
			h.begin(fmt.Sprintf("scale-%s-mutated-%d", c.id, i))
			h.setup(c.path[:strings.LastIndex(c.path, "/")], c.object)
			h.mutate("m", rules("UPDATE", c.of)+`,`+m)
			h.patch(c.path+"/scale", `{"spec":{"replicas":5}}`)
			h.send(http.MethodGet, c.path, "")
		}
	}
	h.begin("status")
	h.setup(widgets, widget)
	h.validate("v", rules("*", "example.org/v1/widgets/status")+`,`+holds("object.status.phase == 'Up'", "object.spec.color == 'red'"), "Deny")
	h.mutate("m", rules("UPDATE", "example.org/v1/widgets/status")+`,`+apply("Object{status: Object.status{replicas: 3}, spec: Object.spec{color: 'black'}}"))
	h.patch(widgets+"/w/status", `{"status":{"phase":"Down"}}`)
	h.patch(widgets+"/w/status", `{"status":{"phase":"Up"}}`)
	h.patch(widgets+"/w", `{"spec":{"color":"blue"}}`)
	h.begin("collection")
	for _, name := range []string{"a", "b", "c"} {
		h.setup(maps, `{"metadata":{"name":"`+name+`"}}`)
	}
	h.validate("v", rules("DELETE", "/v1/configmaps")+`,`+holds("request.name != ''", "oldObject.metadata.name != 'b'", "object == null"), "Warn")
	h.delete(maps)
	h.begin("delete")
	h.setup(maps, `{"metadata":{"name":"a"}}`)
	h.validate("v", rules("DELETE", "/v1/configmaps")+`,`+holds("object != null && request.options.kind == 'DeleteOptions'"), "Deny")
	h.delete(maps + "/a?gracePeriodSeconds=3")
	h.mutate("m", rules("*", "/v1/configmaps")+`,`+apply("Object{metadata: Object.metadata{labels: {'a': 'b'}}}"))
	h.post(maps, `{"metadata":{"name":"x"}}`)
	h.delete(maps + "/x")
	h.begin("generated")
	h.validate("v", rules("CREATE", "/v1/configmaps")+`,`+holds("request.name == '' ? has(object.metadata.name) : true"), "Deny")
	h.post(maps, `{"metadata":{"generateName":"gen-"}}`)
	h.begin("generated-names")
	h.policy("validatingadmissionpolicies", "v", `"matchConstraints":{`+only+`,"resourceRules":[{"operations":["*"],"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"],`+
		`"resourceNames":["a",""]}]},`+holds("false"))
	h.bind("validatingadmissionpolicybindings", "b", "v", `"validationActions":["Deny"]`)
	h.post(maps, `{"metadata":{"generateName":"gen-"},"data":{"x":"y"}}`)
	h.post(maps, `{"metadata":{"name":"a"}}`)
	h.begin("namespaces")
	selected := `"matchConstraints":{"objectSelector":{"matchLabels":{"of":"NS"}},"resourceRules":[{"operations":["*"],"apiGroups":[""],"apiVersions":["v1"],` +
		`"resources":["namespaces"],"scope":"SCOPE"}]}`
	h.validate("v", strings.ReplaceAll(selected, "SCOPE", "Cluster")+`,`+holds("namespaceObject == null", "request.namespace == 'NS-x'", "!has(object.metadata.labels.bad)"), "Deny")
	h.validate("w", strings.ReplaceAll(selected, "SCOPE", "Namespaced")+`,`+holds("false"), "Deny")
	h.mutate("m", strings.NewReplacer(`"*"`, `"CREATE"`, "SCOPE", "*").Replace(selected)+`,`+apply("Object{metadata: Object.metadata{labels: {'set': 'yes'}}}"))
	h.post("/api/v1/namespaces", `{"metadata":{"name":"NS-x","labels":{"of":"NS"}}}`)
	h.post("/api/v1/namespaces", `{"metadata":{"name":"NS-y","labels":{"of":"NS"}}}`)
	h.patch("/api/v1/namespaces/NS-x", `{"metadata":{"labels":{"bad":"yes"}}}`)
	h.begin("namespace-labels")
	h.validate("v", `"matchConstraints":{"namespaceSelector":{"matchLabels":{"only":"NS"}},"resourceRules":[{"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],`+
		`"resources":["*"]}]},`+holds("false"), "Deny")
	h.post("/api/v1/namespaces", `{"metadata":{"name":"NS-a","labels":{"only":"NS"}}}`)
	h.post("/api/v1/namespaces", `{"metadata":{"name":"NS-b"}}`)
	h.patch("/api/v1/namespaces/NS-b", `{"metadata":{"labels":{"only":"NS"}}}`)
	h.post(maps, `{"metadata":{"name":"free"}}`)
}

func (h *hand) versions() {
	for _, policy := range []string{"Equivalent", "Exact"} {
		match := `"matchPolicy":"` + policy + `"`
		h.begin("versions-" + strings.ToLower(policy))
		h.validate("v", rules("*", "autoscaling/v1/horizontalpodautoscalers", match)+`,`+holds("object.apiVersion == 'autoscaling/v2'",
			"request.kind.version == 'v2' && request.requestKind.version == 'v2' && request.resource.version == 'v2'"), "Warn")
		h.mutate("m", rules("CREATE", "autoscaling/v1/horizontalpodautoscalers", match)+`,`+apply("Object{spec: Object.spec{targetCPUUtilizationPercentage: 77}}"))
		h.post(scalers, scaler)
		h.begin("versions-custom-" + strings.ToLower(policy))
		h.validate("v", rules("*", "example.org/v1beta1/widgets", match)+`,`+holds("object.apiVersion == 'example.org/v1'", "request.requestKind == request.kind"), "Warn")
		h.mutate("m", rules("*", "example.org/v1beta1/widgets", match)+`,`+jsonPatch("[JSONPatch{op: 'add', path: '/spec/color', value: string(object.apiVersion)}]"))
		h.post(widgets, widget)
		h.post(widgetsBeta, strings.NewReplacer("org/v1", "org/v1beta1", `"w"`, `"x"`).Replace(widget))
		h.patch(widgetsBeta+"/w", `{"spec":{"replicas":3}}`)
		h.begin("versions-bound-" + strings.ToLower(policy))
		h.validate("v", rules("*", "example.org/v1/widgets")+`,`+holds("false"), "Deny",
			`"matchResources":{`+match+`,"resourceRules":[{"operations":["*"],"apiGroups":["*"],"apiVersions":["v1beta1"],"resources":["widgets"]}]}`)
		h.post(widgets, widget)
		h.post(widgetsBeta, strings.ReplaceAll(widget, "org/v1", "org/v1beta1"))
		h.begin("versions-excluded-" + strings.ToLower(policy))
		h.validate("v", rules("*", "example.org/v1/widgets", match, `"excludeResourceRules":[{"operations":["*"],"apiGroups":["*"],"apiVersions":["v1beta1"],"resources":["widgets"]}]`)+
			`,`+holds("false"), "Deny")
		h.post(widgets, widget)
	}
	h.begin("versions-two")
	h.mutate("m", rules("*", "example.org/v1/widgets", `"matchPolicy":"Exact"`)+`,`+apply("Object{spec: Object.spec{color: 'one'}}"))
	h.mutate("n", rules("*", "example.org/v1/widgets", `"matchPolicy":"Exact"`)+`,`+apply("Object{spec: Object.spec{replicas: 7}}"))
	h.post(widgets, widget)
}

func (h *hand) parameters() {
	config, limit := `"paramKind":{"apiVersion":"v1","kind":"ConfigMap"},`, `"paramKind":{"apiVersion":"example.org/v1","kind":"Limit"},`
	ceiling := `"paramKind":{"apiVersion":"example.org/v1","kind":"Ceiling"},`
	ref := func(members string) string { return `"paramRef":{` + members + `}` }
	for i, c := range []struct{ kind, ref, expression string }{
		{config, ref(`"name":"p","parameterNotFoundAction":"Deny"`), "params.data.max == 'x'"},
		{config, ref(`"name":"p","namespace":"NS","parameterNotFoundAction":"Deny"`), "params.apiVersion == 'v2'"},
		{config, ref(`"name":"none","parameterNotFoundAction":"Deny"`), "false"},
		{config, ref(`"name":"none","parameterNotFoundAction":"Allow"`), "false"},
		{config, ref(`"selector":{"matchLabels":{"use":"a"}},"parameterNotFoundAction":"Deny"`), "params.data.max == '2'"},
		{config, ref(`"selector":{},"parameterNotFoundAction":"Deny"`), "params.metadata.name in ['p', 'q']"},
		{config, ref(`"selector":{"matchLabels":{"use":"none"}},"parameterNotFoundAction":"Deny"`), "false"},
		{config, ref(`"selector":{"matchLabels":{"use":"none"}},"parameterNotFoundAction":"Allow"`), "false"},
		{limit, ref(`"name":"l","parameterNotFoundAction":"Deny"`), "params.max == 4 && params.ratio == 2"},
		{limit, ref(`"name":"l","parameterNotFoundAction":"Deny"`), "type(params.ratio) == double"},
		{limit, ref(`"name":"l","parameterNotFoundAction":"Deny"`), "!has(params.metadata.managedFields) || !has(params.metadata.resourceVersion)"},
		{ceiling, ref(`"name":"c-NS","parameterNotFoundAction":"Deny"`), "params.kind == 'Floor'"},
		{ceiling, ref(`"name":"c-NS","namespace":"NS","parameterNotFoundAction":"Deny"`), "true"},
		{ceiling, ref(`"selector":{"matchLabels":{"use":"NS"}},"parameterNotFoundAction":"Deny"`), "params.max > 3"},
		{config, "", "params == null ? false : true"},
		{"", ref(`"name":"p","parameterNotFoundAction":"Deny"`), "false"},
		{`"paramKind":{"apiVersion":"absent.example.org/v1","kind":"None"},`, ref(`"name":"p","parameterNotFoundAction":"Allow"`), "true"},
		{`"failurePolicy":"Ignore","paramKind":{"apiVersion":"absent.example.org/v1","kind":"None"},`, ref(`"name":"p","parameterNotFoundAction":"Allow"`), "true"},
		{`"failurePolicy":"Ignore",` + config, ref(`"name":"none","parameterNotFoundAction":"Deny"`), "false"},
		{`"paramKind":{"apiVersion":"v1","kind":"Namespace"},`, ref(`"name":"NS","parameterNotFoundAction":"Deny"`), "params.metadata.labels.team == 'blue'"},
	} {
		h.begin(fmt.Sprintf("params-%d", i))
		h.setup(maps, `{"metadata":{"name":"p","labels":{"use":"a"}},"data":{"max":"2"}}`)
		h.setup(maps, `{"metadata":{"name":"q","labels":{"use":"a"}},"data":{"max":"2"}}`)
		h.setup("/apis/example.org/v1/namespaces/NS/limits", `{"apiVersion":"example.org/v1","kind":"Limit","metadata":{"name":"l"},"max":3,"ratio":2.0}`)
		h.setup("/apis/example.org/v1/ceilings", `{"apiVersion":"example.org/v1","kind":"Ceiling","metadata":{"name":"c-NS","labels":{"use":"NS"}},"max":3}`)
		var more []string
		if c.ref != "" {
			more = append(more, c.ref)
		}
		h.validate("v", c.kind+rules("*", "/v1/secrets")+`,`+holds(c.expression), "Deny", more...)
		h.post("/api/v1/namespaces/NS/secrets", `{"metadata":{"name":"s"}}`)
		if strings.Contains(c.kind, "Ceiling") || c.kind == limit || c.kind == config && i < 6 {
			h.begin(fmt.Sprintf("params-%d-mutated", i))
			h.setup(maps, `{"metadata":{"name":"p","labels":{"use":"a"}},"data":{"max":"2"}}`)
			h.setup("/apis/example.org/v1/namespaces/NS/limits", `{"apiVersion":"example.org/v1","kind":"Limit","metadata":{"name":"l"},"max":3,"ratio":2.0}`)
			h.setup("/apis/example.org/v1/ceilings", `{"apiVersion":"example.org/v1","kind":"Ceiling","metadata":{"name":"c-NS","labels":{"use":"NS"}},"max":3}`)
			h.mutate("m", c.kind+rules("CREATE", "/v1/secrets")+`,`+
				apply("Object{metadata: Object.metadata{labels: {'from': params.metadata.name, 'kind': has(params.kind) ? params.kind : 'none'}}}"), more...)
			h.post("/api/v1/namespaces/NS/secrets", `{"metadata":{"name":"s"}}`)
		}
	}
	h.begin("params-cluster")
	h.setup("/api/v1/namespaces/NS/configmaps", `{"metadata":{"name":"p"}}`)
	ofClass := `"matchConstraints":{"objectSelector":{"matchLabels":{"of":"NS"}},"resourceRules":[{"operations":["*"],"apiGroups":["scheduling.k8s.io"],"apiVersions":["v1"],"resources":["priorityclasses"]}]}`
	h.validate("v", config+ofClass+`,`+holds("true"), "Deny", ref(`"name":"p","parameterNotFoundAction":"Allow"`))
	h.post("/apis/scheduling.k8s.io/v1/priorityclasses", `{"metadata":{"name":"NS","labels":{"of":"NS"}},"value":1}`)
	h.begin("params-several")
	for _, name := range []string{"p", "q"} {
		h.setup(maps, `{"metadata":{"name":"`+name+`","labels":{"use":"a"}},"data":{"max":"2"}}`)
	}
	h.validate("v", config+rules("*", "/v1/secrets")+`,"auditAnnotations":[{"key":"by","valueExpression":"string(params.metadata.name)"},{"key":"all","valueExpression":"'same'"}],`+
		holds("params.metadata.name == 'z'"), "Warn,Audit", ref(`"selector":{"matchLabels":{"use":"a"}},"parameterNotFoundAction":"Deny"`))
	h.post("/api/v1/namespaces/NS/secrets", `{"metadata":{"name":"s"}}`)
}

func (h *hand) reinvocations() {
	count := "[JSONPatch{op: 'add', path: '/metadata/labels', value: {'count': has(object.metadata.labels) && 'count' in object.metadata.labels ? string(int(object.metadata.labels.count) + 1) : '1'}}]"
	for _, policy := range []string{"Never", "IfNeeded"} {
		h.begin("reinvoked-" + strings.ToLower(policy))
		h.mutate("m", rules("*", "/v1/configmaps")+`,`+jsonPatch(count)+`,"reinvocationPolicy":"`+policy+`"`)
		h.post(maps, `{"metadata":{"name":"a"}}`)
		h.patch(maps+"/a", `{"data":{"x":"y"}}`)
		h.begin("reinvoked-custom-" + strings.ToLower(policy))
		h.mutate("m", rules("*", "example.org/v1/widgets")+`,`+jsonPatch(count)+`,"reinvocationPolicy":"`+policy+`"`)
		h.post(widgets, widget)
		h.begin("reinvoked-idle-" + strings.ToLower(policy))
		h.mutate("m", rules("*", "/v1/configmaps")+`,`+apply("Object{}")+`,"reinvocationPolicy":"`+policy+`"`)
		h.post(maps, `{"metadata":{"name":"a"}}`)
	}
	h.begin("reinvoked-by-another")
	h.mutate("m", rules("*", "/v1/configmaps")+`,`+apply("has(object.metadata.annotations) ? Object{metadata: Object.metadata{labels: {'seen': 'yes'}}} : Object{}")+`,"reinvocationPolicy":"IfNeeded"`)
	h.mutate("n", rules("*", "/v1/configmaps")+`,`+apply("Object{metadata: Object.metadata{annotations: {'by': 'n'}}}"))
	h.post(maps, `{"metadata":{"name":"a"}}`)
}

func (h *hand) failures() {
	for _, policy := range []string{"Fail", "Ignore"} {
		failure := `"failurePolicy":"` + policy + `",`
		for i, c := range []string{
			holds("object.absent == 1"), holds("true", heavy, "false"), holds("1 / 0 == 1", "false"), holds("object.metadata.name + 1 == 2"),
			`"validations":[{"expression":"false","messageExpression":"` + "string(" + heavy + `)"}]`,
			`"validations":[{"expression":"true","messageExpression":"` + "string(" + heavy + `)"},{"expression":"false","message":"m"}]`,
			`"validations":[{"expression":"false","messageExpression":"string(object.absent)","message":"fallback"}]`,
			`"validations":[{"expression":"true"}],"auditAnnotations":[{"key":"k","valueExpression":"string(object.absent)"}]`,
			`"validations":[{"expression":"true"}],"auditAnnotations":[{"key":"k","valueExpression":"string(` + heavy + `)"}]`,
			`"matchConditions":[{"name":"c","expression":"object.absent == 1"}],` + holds("false"),
			`"matchConditions":[{"name":"c","expression":"object.absent == 1"},{"name":"d","expression":"false"}],` + holds("false"),
			`"matchConditions":[{"name":"c","expression":"` + heavy + `"}],` + holds("false"),
			`"matchConditions":[{"name":"c","expression":"namespaceObject != null"}],` + holds("false"),
			`"variables":[{"name":"v","expression":"1 / 0"}],` + holds("true", "variables.v == 1"), `"variables":[{"name":"v","expression":"` + heavy + `"}],` + holds("variables.v"),
			`"variables":[{"name":"v","expression":"1 / 0"}],` + holds("true"),
		} {
			h.begin(fmt.Sprintf("failure-%s-%d", strings.ToLower(policy), i))
			h.validate("v", failure+rules("*", "/v1/configmaps")+`,`+c, "Deny,Audit")
			h.post(maps, `{"metadata":{"name":"a"}}`)
			h.begin(fmt.Sprintf("failure-%s-%d-warned", strings.ToLower(policy), i))
			h.validate("v", failure+rules("*", "apps/v1/deployments")+`,`+c, "Warn,Audit")
			h.post(deployments, deployment)
		}
		for i, c := range []string{
			apply("Object{metadata: Object.metadata{labels: {'n': string(1 / 0)}}}"), apply("Object{metadata: Object.metadata{labels: {'set': 'yes'}}}", "Object{absent: 1}"),
			jsonPatch("[JSONPatch{op: 'remove', path: '/absent'}]"), jsonPatch("[JSONPatch{op: 'add', path: '/absent', value: 1}]"), jsonPatch("[JSONPatch{op: 'add', path: '/data', value: {'a': 1}}]"),
			`"matchConditions":[{"name":"c","expression":"object.absent == 1"}],` + apply("Object{}"), apply("Object{metadata: Object.wrong{}}"),
			apply("Object{metadata: Object.metadata{labels: {'n': string(" + heavy + ")}}}"), jsonPatch("[JSONPatch{op: 'replace', path: '/metadata/name', value: 'other'}]"),
			jsonPatch("[JSONPatch{op: 'add', path: '/data', value: Object.data{a: Object.wrong{}}}]"), `"variables":[{"name":"v","expression":"1 / 0"}],` + apply("Object{data: {'a': string(variables.v)}}"),
			`"paramKind":{"apiVersion":"absent.example.org/v1","kind":"None"},` + apply("Object{}"), apply("Object{data: {'a': dyn(null)}}"), apply("Object{data: dyn(null)}"),
		} {
			h.begin(fmt.Sprintf("mutation-%s-%d", strings.ToLower(policy), i))
			h.mutate("m", failure+rules("*", "/v1/configmaps")+`,`+c)
			h.post(maps, `{"metadata":{"name":"a"},"data":{"x":"y"}}`)
		}
	}
}

func (h *hand) outcomes() {
	h.begin("reasons")
	h.validate("v", rules("*", "/v1/configmaps")+`,"validations":[{"expression":"object.metadata.name != 'a'","reason":"Forbidden","message":"f"},`+
		`{"expression":"object.metadata.name != 'b'","reason":"RequestEntityTooLarge"},{"expression":"object.metadata.name != 'c'","reason":"Invalid"},{"expression":"object.metadata.name != 'd'","message":"  d "}]`, "Deny,Audit")
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		h.post(maps, `{"metadata":{"name":"`+name+`"}}`)
	}
	h.begin("warned-twice")
	h.policy("validatingadmissionpolicies", "v", rules("*", "/v1/configmaps")+`,`+holds("false"))
	h.bind("validatingadmissionpolicybindings", "a", "v", `"validationActions":["Warn","Audit"]`)
	h.bind("validatingadmissionpolicybindings", "b", "v", `"validationActions":["Warn"]`)
	h.bind("validatingadmissionpolicybindings", "c", "v", `"validationActions":["Deny"],"matchResources":{"objectSelector":{"matchLabels":{"a":"b"}}}`)
	h.post(maps, `{"metadata":{"name":"a"}}`)
	h.post(maps, `{"metadata":{"name":"a","labels":{"a":"b"}}}`)
	h.begin("both")
	h.mutate("m", rules("*", "/v1/configmaps")+`,`+apply("Object{data: {'set': 'by-m'}}"))
	h.validate("v", rules("*", "/v1/configmaps")+`,`+holds("object.data.set != 'by-m'", "!has(object.metadata.managedFields) || object.metadata.managedFields.size() == 0"), "Warn")
	h.post(maps+"?fieldManager=x", `{"metadata":{"name":"a"}}`)
	h.patch(maps+"/a?fieldManager=y", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":"v"}}`)
	h.patch(maps+"/a?fieldManager=y", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"set":"mine"}}`)
	h.begin("unbound")
	h.policy("validatingadmissionpolicies", "v", rules("*", "/v1/configmaps")+`,`+holds("false"))
	h.bind("validatingadmissionpolicybindings", "b", "other", `"validationActions":["Deny"]`)
	h.post(maps, `{"metadata":{"name":"a"}}`)
	h.begin("long-message")
	h.validate("v", rules("*", "/v1/configmaps")+`,"validations":[{"expression":"false","message":"short","messageExpression":"object.data.t.size() > 0 ? string(object.data.t) : 'x'"}],`+
		`"auditAnnotations":[{"key":"t","valueExpression":"string(object.data.t)"}]`, "Deny,Audit")
	for _, n := range []int{100, 5120, 5121, 11000} {
		h.post(maps, fmt.Sprintf(`{"metadata":{"name":"a"},"data":{"t":"%s"}}`, strings.Repeat("y", n)))
	}
}

func (h *hand) mutating() {
	container := "Object.spec.template.spec.containers"
	for i, c := range []struct{ of, path, object, mutation string }{
		{"apps/v1/deployments", deployments, deployment, `"matchConditions":[{"name":"c","expression":"true"}],` + jsonPatch("[JSONPatch{op: 'add', path: '/metadata/labels', value: object.spec.selector.matchLabels}]")},
		{"apps/v1/deployments", deployments, deployment, `"matchConditions":[{"name":"c","expression":"true"}],` + jsonPatch("[JSONPatch{op: 'add', path: '/spec/template/spec/initContainers', value: object.spec.template.spec.containers}]")},
		{"apps/v1/deployments", deployments, deployment, jsonPatch("[JSONPatch{op: 'add', path: '/spec/template/spec/initContainers', value: object.spec.template.spec.containers.map(c, " + container + "{name: 'init-' + c.name, image: c.image})}]")},
		{"apps/v1/deployments", deployments, deployment, apply("Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{containers: [" + container + "{name: 'c', ports: [" + container + ".ports{containerPort: 80}]}]}}}}")},
		{"apps/v1/deployments", deployments, deployment, apply("Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{nodeSelector: {'a': 'b'}}}}}")},
		{"apps/v1/deployments", deployments, deployment, apply("Object{spec: Object.spec{strategy: Object.spec.strategy{rollingUpdate: Object.spec.strategy.rollingUpdate{maxSurge: '10%', maxUnavailable: 2}}}}")},
		{"apps/v1/deployments", deployments, deployment, apply("Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{containers: [" + container + "{name: 'c', resources: " + container + ".resources{limits: {'cpu': '0.5', 'memory': '1024Mi'}}}]}}}}")},
		{"apps/v1/deployments", deployments, deployment, apply("Object{spec: Object.spec{replicas: 3}}", "Object{spec: Object.spec{replicas: object.spec.replicas + 1}}")},
		{"apps/v1/deployments", deployments, deployment, apply("Object{status: Object.status{replicas: 3}}")},
		{"/v1/pods", pods, pod, apply("Object{spec: Object.spec{containers: [Object.spec.containers{name: 'side', image: 's'}], nodeSelector: {'a': 'b'}}}")},
		{"/v1/pods", pods, pod, apply("Object{spec: Object.spec{tolerations: [Object.spec.tolerations{key: 'k', operator: 'Exists'}]}}")},
		{"/v1/pods", pods, pod, jsonPatch("[JSONPatch{op: 'add', path: '/spec/priority', value: 7}]")},
		{"/v1/pods", pods, pod, jsonPatch("[JSONPatch{op: 'add', path: '/spec/containers/0/resources', value: Object.spec.containers.resources{requests: {'cpu': '100m'}}}]")},
		{"/v1/pods", pods, pod, jsonPatch("[JSONPatch{op: 'test', path: '/metadata/labels/app', value: 'db'}, JSONPatch{op: 'remove', path: '/metadata/labels'}]")},
		{"example.org/v1/widgets", widgets, widget, apply("Object{spec: Object.spec{parts: [Object.spec.parts{name: 'z'}, Object.spec.parts{name: 'a', size: 9}]}}")},
		{"example.org/v1/widgets", widgets, widget, jsonPatch("[JSONPatch{op: 'remove', path: '/spec/replicas'}, JSONPatch{op: 'add', path: '/spec/unknown', value: 1}]")},
		{"example.org/v1/widgets", widgets, widget, jsonPatch("[JSONPatch{op: 'replace', path: '/apiVersion', value: 'example.org/v2'}]")},
		{"example.org/v1/widgets", widgets, widget, jsonPatch("[JSONPatch{op: 'replace', path: '/metadata', value: {'name': 'w'}}]")},
		{"example.org/v1/widgets", widgets, widget, jsonPatch("[JSONPatch{op: 'replace', path: '', value: {'a': 'b'}}]")},
		{"example.org/v1/widgets", widgets, widget, apply("Object{spec: Object.spec{port: 8080, ratio: 2.0}}")},
		{"example.org/v1/widgets", widgets, widget, apply("Object{spec: Object.spec{parts: object.spec.parts.map(p, Object.spec.parts{name: p.name + 'x', size: p.size * 2})}}")},
		{"example.org/v1/widgets", widgets, widget, jsonPatch("[JSONPatch{op: 'add', path: '/metadata/managedFields', value: []}]")},
		{"/v1/configmaps", maps, `{"metadata":{"name":"a"},"data":{"a":"b"}}`, jsonPatch("[JSONPatch{op: 'remove', path: '/metadata/managedFields'}]")},
		{"/v1/configmaps", maps, `{"metadata":{"name":"a"},"data":{"a":"b"}}`, jsonPatch("[JSONPatch{op: 'replace', path: '/metadata/namespace', value: 'default'}]")},
		{"/v1/configmaps", maps, `{"metadata":{"name":"a"},"data":{"a":"b"}}`, apply("Object{metadata: Object.metadata{name: 'other'}}")},
		{"/v1/configmaps", maps, `{"metadata":{"name":"a"},"data":{"a":"b"}}`, apply("Object{apiVersion: 'v2', kind: 'Other'}")},
		{"/v1/configmaps", maps, `{"metadata":{"generateName":"g-"},"data":{"a":"b"}}`, apply("Object{metadata: Object.metadata{name: 'given'}}")},
		{"/v1/configmaps", maps, `{"metadata":{"name":"a"},"data":{"a":"b"}}`, jsonPatch(`[JSONPatch{op: 'add', path: '/data/~1', value: '\u0007'}]`)},
		{"/v1/configmaps", maps, `{"metadata":{"name":"a"},"data":{"a":"b"}}`, jsonPatch(`[JSONPatch{op: 'add', path: '/data/\u0007', value: 'x'}]`)},
		{"/v1/configmaps", maps, `{"metadata":{"name":"a","labels":{"l":"m"}},"data":{"a":"b"}}`, jsonPatch("[JSONPatch{op: 'add', path: '/data', value: object.metadata.labels}]")},
		{"/v1/configmaps", maps, `{"metadata":{"name":"a","labels":{"l":"m"}},"data":{"a":"b"}}`, `"matchConditions":[{"name":"c","expression":"true"}],` + jsonPatch("[JSONPatch{op: 'add', path: '/data/copy', value: object.data.a}]")},
	} {
		h.begin(fmt.Sprintf("mutating-%d", i))
		h.mutate("m", rules("*", c.of)+`,`+c.mutation)
		h.post(c.path+"?fieldManager=x", c.object)
		h.post(c.path+"?fieldManager=x&dryRun=All", strings.Replace(c.object, `"name":"`, `"name":"other-`, 1))
	}
}

func (h *hand) exemptions() {
	h.begin("exempt")
	h.validate("v", `"matchConstraints":{"resourceRules":[{"operations":["CREATE"],"apiGroups":["admissionregistration.k8s.io","authorization.k8s.io","authentication.k8s.io"],"apiVersions":["*"],`+
		`"resources":["*"]}]},`+holds("false"), "Deny")
	h.post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", `{"spec":{"nonResourceAttributes":{"path":"/x","verb":"get"}}}`)
	h.post("/apis/authentication.k8s.io/v1/selfsubjectreviews", `{}`)
	h.post(registration+"validatingadmissionpolicies?dryRun=All", `{"metadata":{"name":"x"},"spec":{"matchConstraints":{"resourceRules":[{"operations":["*"],"apiGroups":["x"],"apiVersions":["v1"],"resources":["y"]}]},"validations":[{"expression":"true"}]}}`)
	h.post(registration+"validatingwebhookconfigurations", `{"metadata":{"name":"x-NS"}}`)
}
