package server_test

import "github.com/deed-project/deed/server/internal/servertest"

// randomKinds are kinds with an object that is fine, by what paths call them.
var randomKinds = map[string]string{
	servertest.Core + "configmaps":      `{"data":{"a":"1","b":"2"},"binaryData":{"x":"aGk="},"immutable":false}`,
	servertest.Core + "secrets":         `{"data":{"a":"aGk="},"stringData":{"s":"t"},"type":"Opaque"}`,
	servertest.Core + "services":        `{"spec":{"clusterIP":"None","ports":[{"port":80,"name":"a","targetPort":8080}],"selector":{"a":"b"}}}`,
	servertest.Core + "serviceaccounts": `{"secrets":[{"name":"s"}]}`,
	servertest.Core + "pods": `{"spec":{"containers":[{"name":"c","image":"i","ports":[{"containerPort":80,"name":"http"}],"env":[{"name":"E","value":"v"}],` +
		`"volumeMounts":[{"name":"v","mountPath":"/v"}],"livenessProbe":{"httpGet":{"path":"/","port":"http"}},` +
		`"resources":{"limits":{"cpu":"1"},"requests":{"cpu":"500m"}}}],"volumes":[{"name":"v","configMap":{"name":"m"}}],"nodeName":"n",` +
		`"tolerations":[{"key":"k","operator":"Exists"}],"securityContext":{"runAsUser":1}},"status":{"phase":"Running"}}`,
	servertest.Core + "limitranges":            `{"spec":{"limits":[{"type":"Pod","max":{"cpu":"1"}}]}}`,
	servertest.Core + "endpoints":              `{"subsets":[{"addresses":[{"ip":"1.2.3.4"}],"ports":[{"port":80,"name":"a"}]}]}`,
	servertest.Core + "resourcequotas":         `{"spec":{"hard":{"pods":"1000"}}}`,
	servertest.Core + "podtemplates":           `{"template":` + randomTemplate + `}`,
	servertest.Core + "replicationcontrollers": `{"spec":{"replicas":1,"selector":{"a":"b"},"template":` + randomTemplate + `}}`,
	servertest.Core + "persistentvolumeclaims": `{"metadata":{"finalizers":["kubernetes.io/pvc-protection"]},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}`,
	"/apis/apps/v1/deployments":                `{"spec":{"replicas":1,` + randomSelector + `,"strategy":{"rollingUpdate":{"maxSurge":1}},"template":` + randomTemplate + `}}`,
	"/apis/apps/v1/replicasets":                `{"spec":{"replicas":1,` + randomSelector + `,"template":` + randomTemplate + `}}`,
	"/apis/apps/v1/daemonsets":                 `{"spec":{` + randomSelector + `,"template":` + randomTemplate + `}}`,
	"/apis/apps/v1/statefulsets": `{"spec":{"serviceName":"s",` + randomSelector + `,"template":` + randomTemplate + `,"volumeClaimTemplates":[` +
		`{"metadata":{"name":"d"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}]}}`,
	"/apis/apps/v1/controllerrevisions": `{"revision":1,"data":{"a":1}}`,
	"/apis/batch/v1/jobs":               `{"spec":{"completions":1,"backoffLimit":2,"template":` + randomJobTemplate + `}}`,
	"/apis/batch/v1/cronjobs":           `{"spec":{"schedule":"* * * * *","jobTemplate":{"spec":{"template":` + randomJobTemplate + `}}}}`,
	"/apis/autoscaling/v2/horizontalpodautoscalers": `{"spec":{"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"d"},"minReplicas":1,` +
		`"maxReplicas":3,"metrics":[{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":50}}}]}}`,
	"/apis/networking.k8s.io/v1/ingresses": `{"spec":{"rules":[{"host":"a.b","http":{"paths":[{"path":"/","pathType":"Prefix",` +
		`"backend":{"service":{"name":"s","port":{"number":80}}}}]}}],"tls":[{"hosts":["a.b"],"secretName":"t"}]}}`,
	"/apis/networking.k8s.io/v1/networkpolicies": `{"spec":{"podSelector":{"matchLabels":{"a":"b"}},"ingress":[{"from":[{"ipBlock":{"cidr":"10.0.0.0/8"}}],` +
		`"ports":[{"port":80,"protocol":"TCP"}]}],"policyTypes":["Ingress"]}}`,
	"/apis/discovery.k8s.io/v1/endpointslices": `{"addressType":"IPv4","endpoints":[{"addresses":["1.2.3.4"],"conditions":{"ready":true}}],` +
		`"ports":[{"name":"a","port":80}]}`,
	"/apis/coordination.k8s.io/v1/leases":      `{"spec":{"holderIdentity":"me","leaseDurationSeconds":10,"renewTime":"2020-01-01T00:00:00.000000Z"}}`,
	"/apis/rbac.authorization.k8s.io/v1/roles": `{"rules":[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]}`,
	"/apis/rbac.authorization.k8s.io/v1/rolebindings": `{"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"r"},` +
		`"subjects":[{"kind":"User","name":"u","apiGroup":"rbac.authorization.k8s.io"}]}`,
	"/apis/policy/v1/poddisruptionbudgets": `{"spec":{"minAvailable":1,"selector":{"matchLabels":{"a":"b"}}}}`,
	servertest.Group + "widgets":           `{"spec":{"color":"red","replicas":2},"status":{"replicas":1}}`,
}

// The parts that objects of several kinds have.
const (
	randomSelector = `"selector":{"matchLabels":{"a":"b"}}`
	randomTemplate = `{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i","ports":[{"containerPort":80}],` +
		`"env":[{"name":"E","valueFrom":{"secretKeyRef":{"name":"s","key":"k"}}}]}]}}`
	randomJobTemplate = `{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}`
)

// kindNames are the kinds of resources.
var kindNames = map[string]string{
	"configmaps": "ConfigMap", "secrets": "Secret", "services": "Service", "serviceaccounts": "ServiceAccount", "pods": "Pod",
	"limitranges": "LimitRange", "endpoints": "Endpoints", "resourcequotas": "ResourceQuota", "podtemplates": "PodTemplate",
	"replicationcontrollers": "ReplicationController", "persistentvolumeclaims": "PersistentVolumeClaim", "deployments": "Deployment",
	"replicasets": "ReplicaSet", "daemonsets": "DaemonSet", "statefulsets": "StatefulSet", "controllerrevisions": "ControllerRevision",
	"jobs": "Job", "cronjobs": "CronJob", "horizontalpodautoscalers": "HorizontalPodAutoscaler", "ingresses": "Ingress",
	"networkpolicies": "NetworkPolicy", "endpointslices": "EndpointSlice", "leases": "Lease", "roles": "Role", "rolebindings": "RoleBinding",
	"poddisruptionbudgets": "PodDisruptionBudget", "widgets": "Widget",
}
