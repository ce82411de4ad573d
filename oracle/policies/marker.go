package main

import "strings"

const registration = "/apis/admissionregistration.k8s.io/v1/"

// marker is a policy whose bindings show when a plugin obeys what was written before them.
type marker struct {
	policies, bindings string
	policy, binding    string // formats: the binding has its name twice
	isMarked           func(request) bool
}

const markedMaps = `"matchConstraints":{"resourceRules":[{"operations":["CREATE"],"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"]}],` +
	`"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"marker"}}}`

// configured makes ConfigMaps parameters of the markers. kube-apiserver reads the parameters of a built-in kind from an informer that it stops
// when no policy uses the kind, and never starts again.
const configured = `"paramKind":{"apiVersion":"v1","kind":"ConfigMap"},`

var markers = []marker{
	{
		"validatingadmissionpolicies", "validatingadmissionpolicybindings",
		`{"metadata":{"name":"marker"},"spec":{` + configured + markedMaps + `,"validations":[{"expression":"false","message":"marked"}]}}`,
		`{"metadata":{"name":"%s"},"spec":{"policyName":"marker","validationActions":["Warn"],"matchResources":{"resourceRules":[` +
			`{"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"],"resourceNames":["%s"]}]}}}`,
		func(q request) bool { return strings.Contains(strings.Join(q.Warnings, ""), "marked") },
	},
	{
		"mutatingadmissionpolicies", "mutatingadmissionpolicybindings",
		`{"metadata":{"name":"marker"},"spec":{` + configured + markedMaps + `,"reinvocationPolicy":"Never","mutations":[{"patchType":"ApplyConfiguration",` +
			`"applyConfiguration":{"expression":"Object{metadata: Object.metadata{labels: {'marked': 'yes'}}}"}}]}}`,
		`{"metadata":{"name":"%s"},"spec":{"policyName":"marker","matchResources":{"resourceRules":[` +
			`{"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"],"resourceNames":["%s"]}]}}}`,
		func(q request) bool { return strings.Contains(string(q.Response), `"marked"`) },
	},
}

// definitions are the kinds of their own that scenarios use: a kind with two versions, scale and status; and kinds of parameters.
var definitions = []string{
	`{"metadata":{"name":"widgets.example.org"},"spec":{"group":"example.org","names":{"plural":"widgets","kind":"Widget"},"scope":"Namespaced",` +
		`"versions":[` + widgetVersion("v1", true) + `,` + widgetVersion("v1beta1", false) + `]}}`,
	paramDefinition("limits", "Limit", "Namespaced"), paramDefinition("ceilings", "Ceiling", "Cluster"),
}

func widgetVersion(name string, isStored bool) string {
	stored := `"storage":false`
	if isStored {
		stored = `"storage":true`
	}
	return `{"name":"` + name + `","served":true,` + stored + `,"subresources":{"status":{},"scale":{"specReplicasPath":".spec.replicas",` +
		`"statusReplicasPath":".status.replicas"}},"schema":{"openAPIV3Schema":{"type":"object","properties":{` +
		`"spec":{"type":"object","properties":{"replicas":{"type":"integer","default":1},"color":{"type":"string"},"ratio":{"type":"number"},` +
		`"on":{"type":"boolean"},"parts":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name"],"items":{"type":"object",` +
		`"required":["name"],"properties":{"name":{"type":"string"},"size":{"type":"integer"}}}},` +
		`"tags":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}},"list":{"type":"array","items":{"type":"integer"}},` +
		`"free":{"type":"object","x-kubernetes-preserve-unknown-fields":true},"port":{"x-kubernetes-int-or-string":true},` +
		`"map":{"type":"object","additionalProperties":{"type":"string"}}}},` +
		`"status":{"type":"object","properties":{"replicas":{"type":"integer"},"phase":{"type":"string"}}}}}}}`
}

func paramDefinition(plural, kind, scope string) string {
	return `{"metadata":{"name":"` + plural + `.example.org"},"spec":{"group":"example.org","names":{"plural":"` + plural + `","kind":"` + kind +
		`"},"scope":"` + scope + `","versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object",` +
		`"properties":{"max":{"type":"integer"},"ratio":{"type":"number"},"names":{"type":"array","items":{"type":"string"}}}}}}]}}`
}
