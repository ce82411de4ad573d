package main

// What random scenarios are made of. Expressions do not show the order of maps, which is random in kube-apiserver.

var matchConditions = []string{
	"true", "false", "has(object.metadata.labels)", "object.metadata.name != 'n1'", "request.operation == 'CREATE'", "oldObject == null",
	"object.spec.absent == 1", "request.userInfo.username == 'admin'", "'system:masters' in request.userInfo.groups",
	"authorizer.group('').resource('pods').namespace(request.namespace).check('get').allowed()", "object == null || object.kind != ''",
	"namespaceObject == null", "!(request.resource.resource in ['leases'])",
}

var paramExpressions = []string{
	"params != null", "params == null || true", "size(object.metadata.name) < (has(params.max) ? int(params.max) : 100)", "params.metadata.name == 'x'",
	"params.max > 2", "int(params.data.max) > 2", "object.metadata.name in params.names", "has(params.data) && params.data.name == object.metadata.name",
	"params.kind + params.apiVersion == 'ConfigMapv1'", "params.ratio < 1.0", "params.ratio == 1", "type(params.ratio) == int",
	"has(params.metadata.managedFields)", "params.metadata.labels['use'] == request.namespace",
}

var variableExpressions = []string{
	"variables.n != 'n1'", "string(variables.n) == 'n0'", "size(variables.l) > 0", "variables.both == 'n01'", "variables.l.all(k, k != 'app')",
	"variables.n == variables.n && variables.n != 'n2'",
}

var anyExpressions = []string{
	"true", "false", "object.metadata.name == 'n0'", "object.metadata.name.startsWith('n')", "object != null && object.metadata.name != 'n2'",
	"oldObject == null", "oldObject != null", "has(object.metadata.labels) && object.metadata.labels.app == 'web'", "object.metadata.labels['app'] == 'web'",
	"request.operation in ['CREATE', 'DELETE']", "request.name == 'n0' || request.namespace == ''", "request.dryRun", "!request.dryRun",
	"request.kind.kind == request.requestKind.kind", "request.resource.version == 'v1'", "request.requestResource.version == request.resource.version",
	"request.subResource == ''", "request.requestSubResource == 'scale'", "request.userInfo.username == 'nobody'", "request.userInfo.groups.size() > 3",
	"request.userInfo.extra.size() == 0", "request.userInfo.uid == '1'", "request.options.kind == 'CreateOptions'", "has(request.options.fieldManager)",
	"request.options.fieldManager == 'test'", "namespaceObject.metadata.labels.team == 'red'", "namespaceObject.metadata.name == request.namespace",
	"namespaceObject.status.phase == 'Active'", "namespaceObject.spec.finalizers == ['kubernetes']", "has(namespaceObject.metadata.annotations)",
	"authorizer.group('').resource('configmaps').namespace('default').check('create').allowed()", "authorizer.path('/healthz').check('get').allowed()",
	"authorizer.requestResource.check('custom').allowed()", "authorizer.serviceAccount('default', 'sa').group('').resource('pods').check('get').reason() == ''",
	"1 / 0 == 1", "[1, 2][2] == 2", "object.spec.absent.deeper == 1", "has(object.spec.absent.deeper)", "object.?metadata.?labels.?app.orValue('none') != 'none'",
	"object.metadata.?annotations.?note.optMap(n, size(n) > 10).orValue(true)", "quantity('1Gi').isGreaterThan(quantity('500Mi'))", "isQuantity(object.metadata.name)",
	"url('https://example.org/a').getHost() == object.metadata.name", "object.metadata.name.matches('^n[0-2]$')", "'%s-%d'.format([object.metadata.name, 3]) == 'n0-3'",
	"ip('10.0.0.1').family() == 4", "cidr('10.0.0.0/8').containsIP('10.1.1.1')", "['a', 'b'].exists_one(x, x == 'a')", "[3, 1, 2].isSorted()", "[1, 2, 3].sum() == 6",
	"object.metadata.name.find('[0-9]') == '1'", "object.metadata.name.split('').size() == 2", "sets.contains([1, 2], [2])", "timestamp('2026-01-01T00:00:00Z') < timestamp('2027-01-01T00:00:00Z')",
	"has(object.metadata.creationTimestamp)", "has(object.metadata.uid)", "has(object.metadata.managedFields)", "object.metadata.managedFields.all(m, m.manager == 'test')",
	"object.metadata.managedFields.exists(m, 'f:metadata' in m.fieldsV1)", "oldObject == null || object.metadata.uid == oldObject.metadata.uid",
	"oldObject == null || object == null || object.metadata.labels == oldObject.metadata.labels", "oldObject == null || object == oldObject",
	"has(object.metadata.generation)", "object.apiVersion == 'v1' && object.kind == 'ConfigMap'", "object.metadata.namespace == request.namespace", "has(object.metadata.resourceVersion)",
	"type(object.metadata.name) == string", "size(object.metadata) > 3", "dyn(object.metadata.name) + 1 == 2", "object.metadata.name > 'n0' ? true : object.missing",
	"[0,1,2,3,4,5,6,7,8,9].all(a, [0,1,2,3,4,5,6,7,8,9].all(b, [0,1,2,3,4,5,6,7,8,9].all(c, [0,1,2,3,4,5,6,7,8,9].all(d, [0,1,2,3,4,5,6,7,8,9].all(e, [0,1,2,3,4,5,6,7,8,9].all(f, [0,1,2,3,4,5,6,7,8,9].all(g, '0123456789' == '0123456789')))))))",
	"object.metadata.name.lowerAscii() == 'n0'", "format.dns1123Label().validate(object.metadata.name).hasValue()", "semver('1.2.3').major() == 2", "!(null in [object])",
}

var messages = []string{
	"'it is ' + object.metadata.name", "string(object.metadata.absent)", "''", "'  '", "'two\\nlines'", "string(object.metadata.name)", "string(size(object.metadata.name))",
	"'of ' + request.userInfo.username + ' in ' + namespaceObject.metadata.name", "1 / 0 == 1 ? 'a' : 'b'", "' padded '",
	"[0,1,2,3,4,5,6,7,8,9].map(x, 'x').join('-')", "'%s %s'.format([request.operation, request.kind.kind])",
}

var annotations = []string{
	"'v'", "string(object.metadata.name)", "null", "''", "has(object.metadata.labels) ? string(object.metadata.labels['app']) : 'none'", "string(object.absent)", "request.operation + ' '",
	"'long'.replace('l', 'xxxxxxxxxxxxxxxxxxxxxxxxxxx')", "string(1 / 0)", "namespaceObject.metadata.name",
}

var anyConfigurations = []string{
	"Object{}", "Object{metadata: Object.metadata{labels: {'set': 'yes'}}}", "Object{metadata: Object.metadata{labels: {'app': 'db', 'set': string(object.metadata.name)}}}",
	"Object{metadata: Object.metadata{annotations: {'by': request.userInfo.username}}}", "Object{metadata: Object.metadata{finalizers: ['example.org/f']}}",
	"Object{metadata: Object.metadata{wrong: 'field'}}", "Object{spec: Object.wrong{a: 1}}", "Object{metadata: Object.metadata{labels: {'n': 1 / 0 == 1 ? 'a' : 'b'}}}",
	"has(object.metadata.labels) ? Object{} : Object{metadata: Object.metadata{labels: {'app': 'web'}}}", "Object{metadata: Object.metadata{labels: {'x': namespaceObject.metadata.name}}}",
	"Object{metadata: Object.metadata{labels: {'n': 1}}}", "Object{metadata: Object.metadata{ownerReferences: [Object.metadata.ownerReferences{apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u'}]}}",
}

var anyPatches = []string{
	"[JSONPatch{op: 'add', path: '/metadata/labels', value: {'set': 'yes'}}]", "[JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('a/b'), value: 'c'}]",
	"[JSONPatch{op: 'remove', path: '/metadata/labels/app'}]", "[JSONPatch{op: 'test', path: '/metadata/name', value: 'n0'}, JSONPatch{op: 'add', path: '/metadata/annotations', value: {'n': '0'}}]",
	"[JSONPatch{op: 'replace', path: '/metadata/absent/deeper', value: 1}]", "[JSONPatch{op: 'add', path: '/metadata/annotations', value: {}}, JSONPatch{op: 'copy', from: '/metadata/name', path: '/metadata/annotations/copy'}]",
	"[JSONPatch{op: 'add', path: '/unknown', value: 'x'}]", "[JSONPatch{op: 'replace', path: '/kind', value: 'Other'}]", "[JSONPatch{op: 'remove', path: '/kind'}]",
	"[JSONPatch{op: 'add', path: '/metadata/labels', value: Object.metadata.labels{app: 'web'}}]", "[JSONPatch{op: 'nonsense', path: '/metadata'}]",
	"has(object.metadata.labels) ? [JSONPatch{op: 'add', path: '/metadata/labels/more', value: 'yes'}] : []", "[JSONPatch{op: 'add', path: '/metadata/labels', value: object.metadata.labels}]",
	"[JSONPatch{op: 'replace', path: '/metadata/labels', value: {'n': string(1 / 0)}}]", "[JSONPatch{op: 'add', path: '/metadata/finalizers', value: ['example.org/f']}]",
	"[JSONPatch{op: 'move', from: '/metadata/labels', path: '/metadata/annotations'}]", "[JSONPatch{op: 'add', path: '/metadata/labels', value: {'n': 1}}]",
}

var targets = []target{
	{
		group: "", version: "v1", plural: "configmaps", kind: "ConfigMap",
		objects:        []string{`{"data":{"a":"1","b":"two"}}`, `{}`, `{"data":{"a":"9"},"binaryData":{"bin":"AQID"},"immutable":false}`},
		patches:        []string{`{"data":{"a":"2"}}`, `{"data":null}`, `{"data":{"c":"x"}}`, `{}`},
		expressions:    []string{"has(object.data)", "size(object.data) < 2", "object.data.a == '1'", "int(object.data.a) < 5", "object.data.all(k, size(k) == 1)", "'b' in object.data", "object.binaryData.bin == 'AQID'", "has(object.immutable) && object.immutable == false", "object.data == {'a': '1', 'b': 'two'}", "oldObject == null || object.data == oldObject.data", "type(object.data) == map"},
		configurations: []string{"Object{data: {'a': '2'}}", "Object{data: {'new': object.metadata.name}}", "Object{immutable: true}", "Object{data: {'a': 1}}"},
		jsonPatches:    []string{"[JSONPatch{op: 'add', path: '/data', value: {'a': '7'}}]", "[JSONPatch{op: 'replace', path: '/data/a', value: 'seven'}]", "[JSONPatch{op: 'add', path: '/data/n', value: 7}]", "[JSONPatch{op: 'add', path: '/immutable', value: true}]"},
	},
	{
		group: "apps", version: "v1", plural: "deployments", kind: "Deployment", subresources: true,
		objects: []string{
			`{"spec":{"replicas":2,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i","resources":{"limits":{"cpu":"100m","memory":"1Gi"}},"ports":[{"containerPort":80}],"env":[{"name":"E","value":"1"}]}]}}}}`,
			`{"spec":{"selector":{"matchLabels":{"a":"b"}},"strategy":{"rollingUpdate":{"maxSurge":"50%","maxUnavailable":1}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"securityContext":{"runAsNonRoot":true},"containers":[{"name":"c","image":"i:1","args":["x"]},{"name":"d","image":"j:2"}],"volumes":[{"name":"v","emptyDir":{}}]}}}}`,
		},
		patches:        []string{`{"spec":{"replicas":3}}`, `{"spec":{"replicas":9,"paused":true}}`, `{"spec":{"template":{"metadata":{"annotations":{"x":"y"}}}}}`, `{}`},
		expressions:    []string{"object.spec.replicas <= 2", "object.spec.template.spec.containers.all(c, has(c.resources) && has(c.resources.limits))", "object.spec.template.spec.containers.exists(c, c.image.contains(':'))", "object.spec.template.spec.containers[0].name == 'c'", "has(object.spec.paused)", "object.spec.strategy.rollingUpdate.maxSurge == '25%'", "object.spec.strategy.rollingUpdate.maxUnavailable == 1", "oldObject == null || object.spec.replicas >= oldObject.spec.replicas", "quantity(object.spec.template.spec.containers[0].resources.limits.memory).compareTo(quantity('2Gi')) < 0", "object.spec.template.spec.securityContext.runAsNonRoot == true", "object.spec.template.spec.containers.map(c, c.name) == ['c', 'd']", "has(object.status)", "object.status == {}", "object.spec.template.spec.volumes[0].emptyDir == {}", "object.spec.selector == object.spec.template.metadata.labels", "size(object.spec.template.spec.containers[0].args) == 1", "has(object.spec.template.metadata.creationTimestamp)", "object.spec.replicas == 2.0", "object.spec.replicas + 1 > 3"},
		configurations: []string{"Object{spec: Object.spec{replicas: 5}}", "Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{containers: [Object.spec.template.spec.containers{name: 'side', image: 's'}]}}}}", "Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{containers: object.spec.template.spec.containers.map(c, Object.spec.template.spec.containers{name: c.name, imagePullPolicy: 'Always'})}}}}", "Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{containers: [Object.spec.template.spec.containers{name: 'c', args: ['y']}]}}}}", "Object{spec: Object.spec{replicas: 'many'}}", "Object{spec: Object.spec{selector: Object.spec.selector{matchLabels: {'x': 'y'}}}}", "Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{containers: [Object.spec.template.spec.containers{image: 'noname'}]}}}}", "Object{spec: Object.spec{replicas: object.spec.replicas + 1}}"},
		jsonPatches:    []string{"[JSONPatch{op: 'replace', path: '/spec/replicas', value: object.spec.replicas + 10}]", "[JSONPatch{op: 'add', path: '/spec/template/spec/containers/-', value: Object.spec.template.spec.containers{name: 'side', image: 's'}}]", "[JSONPatch{op: 'add', path: '/spec/template/spec/containers/0/env', value: [Object.spec.template.spec.containers.env{name: 'A', value: 'b'}]}]", "[JSONPatch{op: 'replace', path: '/spec/replicas', value: 'many'}]", "[JSONPatch{op: 'remove', path: '/spec/replicas'}]", "[JSONPatch{op: 'add', path: '/spec/wrong', value: 1}]", "[JSONPatch{op: 'add', path: '/metadata/labels', value: object.spec.selector.matchLabels}]", "[JSONPatch{op: 'add', path: '/spec/template/spec/tolerations', value: [Object.spec.template.spec.tolerations{key: 'k', operator: 'Exists'}]}]"},
	},
	{
		group: "example.org", version: "v1", plural: "widgets", kind: "Widget", subresources: true,
		objects:        []string{`{"spec":{"color":"red","replicas":2,"ratio":0.5,"on":true,"parts":[{"name":"a","size":1},{"name":"b"}],"tags":["x","y"],"list":[1,2],"free":{"any":{"thing":1}},"port":80,"map":{"k":"v"}}}`, `{"spec":{"color":"blue","ratio":1.0,"port":"http"}}`, `{}`},
		patches:        []string{`{"spec":{"color":"green"}}`, `{"spec":{"replicas":4,"tags":["z"]}}`, `{"spec":{"parts":[{"name":"c","size":5}]}}`, `{"status":{"phase":"Up"}}`, `{}`},
		expressions:    []string{"object.spec.color == 'red'", "object.spec.replicas < 3", "object.spec.ratio < 1", "object.spec.ratio <= 1.0", "type(object.spec.ratio) == double", "object.spec.on == true", "object.spec.parts.all(p, has(p.size))", "object.spec.tags == ['x', 'y']", "object.spec.list.sum() == 3", "object.spec.free.any.thing == 1", "object.spec.port == 80", "object.spec.map.k == 'v'", "has(object.spec)", "has(object.status)", "object.spec == oldObject.spec", "object.spec.parts.map(p, p.name).join(',') == 'a,b'", "object.apiVersion == 'example.org/v1'", "has(object.spec.color)"},
		configurations: []string{"Object{spec: Object.spec{color: 'black'}}", "Object{spec: Object.spec{parts: [Object.spec.parts{name: 'b', size: 7}, Object.spec.parts{name: 'n'}]}}", "Object{spec: Object.spec{tags: ['new']}}", "Object{spec: Object.spec{list: [9]}}", "Object{spec: Object.spec{free: Object.spec.free{x: 1}}}", "Object{spec: Object.spec{ratio: 0.25, on: false}}", "Object{spec: Object.spec{unknown: 1}}", "Object{spec: Object.spec{replicas: 'x'}}", "Object{spec: Object.spec{map: {'m': 'n'}}}", "Object{status: Object.status{phase: 'Set'}}", "Object{spec: Object.spec{parts: [Object.spec.parts{size: 7}]}}", "Object{spec: Object.spec{port: 'https'}}"},
		jsonPatches:    []string{"[JSONPatch{op: 'add', path: '/spec', value: {'color': 'white'}}]", "[JSONPatch{op: 'add', path: '/spec/color', value: 'white'}]", "[JSONPatch{op: 'add', path: '/spec/unknown', value: 1}]", "[JSONPatch{op: 'add', path: '/spec/parts/-', value: Object.spec.parts{name: 'z', size: 3}}]", "[JSONPatch{op: 'replace', path: '/spec/replicas', value: 'x'}]", "[JSONPatch{op: 'remove', path: '/spec/replicas'}]", "[JSONPatch{op: 'add', path: '/spec/ratio', value: 0.75}]", "[JSONPatch{op: 'add', path: '/spec/free', value: {'a': dyn(1), 'b': dyn([1.5, 2]), 'c': dyn(null)}}]"},
	},
	{
		group: "autoscaling", version: "v2", plural: "horizontalpodautoscalers", kind: "HorizontalPodAutoscaler",
		objects:        []string{`{"spec":{"maxReplicas":3,"minReplicas":1,"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"d"},"metrics":[{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":50}}}]}}`, `{"spec":{"maxReplicas":9,"scaleTargetRef":{"kind":"Deployment","name":"d"}}}`},
		patches:        []string{`{"spec":{"maxReplicas":5}}`, `{"spec":{"minReplicas":2}}`, `{}`},
		expressions:    []string{"object.spec.maxReplicas < 5", "has(object.spec.targetCPUUtilizationPercentage)", "has(object.spec.metrics)", "object.apiVersion == 'autoscaling/v1'", "object.spec.minReplicas == 1", "object.spec.targetCPUUtilizationPercentage == 50", "has(object.metadata.annotations)"},
		configurations: []string{"Object{spec: Object.spec{maxReplicas: 4}}", "Object{spec: Object.spec{targetCPUUtilizationPercentage: 60}}", "Object{spec: Object.spec{scaleTargetRef: Object.spec.scaleTargetRef{name: 'x'}}}"},
		jsonPatches:    []string{"[JSONPatch{op: 'replace', path: '/spec/maxReplicas', value: 7}]", "[JSONPatch{op: 'add', path: '/spec/targetCPUUtilizationPercentage', value: 70}]"},
	},
	{
		group: "", version: "v1", plural: "secrets", kind: "Secret",
		objects:        []string{`{"data":{"a":"MQ=="}}`, `{"stringData":{"s":"t"}}`, `{"type":"example.org/x","data":{}}`},
		patches:        []string{`{"data":{"a":"Mg=="}}`, `{"stringData":{"b":"x"}}`, `{}`},
		expressions:    []string{"object.data.a == 'MQ=='", "object.type == 'Opaque'", "has(object.stringData)", "size(object.data) == 1"},
		configurations: []string{"Object{type: 'Opaque'}", "Object{data: {'x': 'eA=='}}", "Object{stringData: {'q': 'r'}}"},
		jsonPatches:    []string{"[JSONPatch{op: 'add', path: '/data', value: {'z': 'eg=='}}]", "[JSONPatch{op: 'add', path: '/data', value: {'z': '*'}}]"},
	},
}
