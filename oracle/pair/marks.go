package pair

import (
	"slices"
	"strings"
)

// mark is an annotation or a label that kube-apiserver reads, with values of which some are wrong. A * stands for the name of a container.
type mark struct {
	kinds  []string // nil for all kinds
	names  []string
	values []string
}

var (
	ofPods     = []string{"Pod"}
	ofServices = []string{"Service"}
	ofNodes    = []string{"Node"}
	ofVolumes  = []string{"PersistentVolume", "PersistentVolumeClaim", "StorageClass"}
	ofScalers  = []string{"HorizontalPodAutoscaler"}
)

var annotations = []mark{
	{ofPods, []string{"kubernetes.io/config.mirror"}, []string{"", "x", "y"}},
	{ofPods, []string{"scheduler.alpha.kubernetes.io/tolerations"}, []string{
		"", "x", "[]", "null", "{}", `[{"key":"a","operator":"Exists"}]`, `[{"key":"a","operator":"Exists","value":"v"}]`, `[{"key":"a b","operator":"No"}]`,
		`[{"operator":"Equal","effect":"No"}]`, `[{"key":"a","tolerationSeconds":5}]`, `[{"nope":1}]`, `[{"key":1}]`,
	}},
	{ofPods, []string{"controller.kubernetes.io/pod-deletion-cost"}, []string{"", "0", "1", "-1", "-0", "+1", "01", "x", "1.5", "-", "2147483648", "-2147483648"}},
	{ofPods, []string{"seccomp.security.alpha.kubernetes.io/pod", "container.seccomp.security.alpha.kubernetes.io/*", "container.seccomp.security.alpha.kubernetes.io/"}, []string{
		"", "x", "runtime/default", "docker/default", "unconfined", "localhost/a", "localhost/", "localhost//a", "localhost/../a",
	}},
	{ofPods, []string{"container.apparmor.security.beta.kubernetes.io/*", "container.apparmor.security.beta.kubernetes.io/absent"}, []string{
		"", "x", "runtime/default", "unconfined", "localhost/a", "localhost/", "localhost/ a",
	}},
	{ofPods, []string{
		"pod.alpha.kubernetes.io/init-containers", "pod.beta.kubernetes.io/init-containers", "pod.alpha.kubernetes.io/init-container-statuses",
		"pod.beta.kubernetes.io/init-container-statuses", "scheduler.alpha.kubernetes.io/critical-pod", "scheduler.alpha.kubernetes.io/affinity",
		"security.alpha.kubernetes.io/sysctls", "security.alpha.kubernetes.io/unsafe-sysctls", "kubernetes.io/limit-ranger", "pod.kubernetes.io/maxunavailable",
		"batch.kubernetes.io/job-completion-index", "kubernetes.io/psp", "pod.alpha.kubernetes.io/initialized",
	}, []string{"", "x", "[]", "0"}},
	{ofNodes, []string{"scheduler.alpha.kubernetes.io/preferAvoidPods"}, []string{
		"", "x", "{}", "[]", `{"preferAvoidPods":[]}`, `{"preferAvoidPods":[{}]}`, `{"preferAvoidPods":[{"podSignature":{}}]}`,
		`{"preferAvoidPods":[{"podSignature":{"podController":{"apiVersion":"v1","kind":"ReplicationController","name":"a","uid":"u"}}}]}`,
		`{"preferAvoidPods":[{"podSignature":{"podController":{"kind":"ReplicationController","name":"a","controller":true}}}]}`,
	}},
	{ofNodes, []string{"scheduler.alpha.kubernetes.io/taints", "node.alpha.kubernetes.io/ttl", "volumes.kubernetes.io/controller-managed-attach-detach"}, []string{"", "x", "[]", "0"}},
	{ofServices, []string{"service.beta.kubernetes.io/load-balancer-source-ranges"}, []string{
		"", " ", "x", ",", "10.0.0.0/8", "10.0.0.0/8,1.2.3.4/32", " 10.0.0.0/8 , 1.2.3.4/32 ", "10.0.0.0/33", "10.0.0.1/8", "010.0.0.0/8", "fd00::/64", "1.2.3.4",
	}},
	{ofServices, []string{
		"service.kubernetes.io/topology-mode", "service.kubernetes.io/topology-aware-hints", "service.alpha.kubernetes.io/tolerate-unready-endpoints",
		"service.beta.kubernetes.io/external-traffic", "service.beta.kubernetes.io/healthcheck-nodeport",
	}, []string{"", "Auto", "auto", "Disabled", "x", "OnlyLocal", "30000"}},
	{ofVolumes, []string{
		"volume.beta.kubernetes.io/storage-class", "volume.beta.kubernetes.io/mount-options", "volume.alpha.kubernetes.io/storage-class",
		"volume.alpha.kubernetes.io/node-affinity", "volume.beta.kubernetes.io/storage-provisioner", "pv.kubernetes.io/bind-completed",
		"pv.kubernetes.io/migrated-to", "volume.kubernetes.io/selected-node", "volume.kubernetes.io/storage-resizer",
	}, []string{"", "x", "y", "Not Valid", "slow"}},
	{[]string{"Ingress"}, []string{"kubernetes.io/ingress.class"}, []string{"", "x", "Not Valid"}},
	{ofScalers, []string{"autoscaling.alpha.kubernetes.io/metrics", "autoscaling.alpha.kubernetes.io/current-metrics"}, []string{
		"", "x", "null", "[]", "{}", "[{}]", `[{"type":"Resource","resource":{"name":"memory","targetAverageUtilization":50}}]`,
		`[{"type":"Resource","resource":{"name":"cpu","targetAverageUtilization":60}}]`, `[{"type":"Pods","pods":{"metricName":"m","targetAverageValue":"1"}}]`,
		`[{"type":"Resource","resource":{"name":"cpu","currentAverageValue":"1"}}]`, `[{"type":"Nope","nope":1}]`,
	}},
	{ofScalers, []string{"autoscaling.alpha.kubernetes.io/behavior"}, []string{
		"", "x", "null", "{}", `{"ScaleUp":{"StabilizationWindowSeconds":5}}`, `{"scaleDown":{"selectPolicy":"Max","policies":[{"type":"Pods","value":1,"periodSeconds":5}]}}`,
		`{"ScaleDown":{"Tolerance":"0.1"}}`, `{"nope":1}`,
	}},
	{ofScalers, []string{"autoscaling.alpha.kubernetes.io/conditions"}, []string{
		"", "x", "null", "[]", `[{"type":"AbleToScale","status":"True","lastTransitionTime":"2024-01-01T00:00:00Z","reason":"r"}]`, `[{"type":1}]`,
	}},
	{[]string{"Deployment"}, []string{"deprecated.deployment.rollback.rollbackTo", "deployment.kubernetes.io/revision"}, []string{"", "x", "1", "-1"}},
	{[]string{"DaemonSet"}, []string{"deprecated.daemonset.template.generation"}, []string{"", "x", "0", "1", "7", "-1", "01", "1.5", "9223372036854775808"}},
	{[]string{"ReplicationController"}, []string{"non-convertible.kubernetes.io", "non-convertible.kubernetes.io/spec.selector"}, []string{"", "x"}},
	{[]string{"Job", "CronJob"}, []string{"batch.kubernetes.io/job-tracking", "batch.kubernetes.io/cronjob-scheduled-timestamp"}, []string{"", "x"}},
	{[]string{"ServiceAccount"}, []string{"kubernetes.io/enforce-mountable-secrets"}, []string{"", "true", "false"}},
	{[]string{"Secret"}, []string{"kubernetes.io/service-account.name", "kubernetes.io/service-account.uid"}, []string{"", "default", "absent", "u"}},
	{[]string{"CSINode"}, []string{"storage.alpha.kubernetes.io/migrated-plugins"}, []string{"", "a", "a,b"}},
	{[]string{"CustomResourceDefinition"}, []string{"api-approved.kubernetes.io"}, []string{"", "x", "https://a.b/c", "unapproved", "unapproved, x"}},
	{[]string{"PriorityLevelConfiguration", "FlowSchema"}, []string{
		"flowcontrol.k8s.io/concurrency-shares-defaults-to-zero", "apf.kubernetes.io/autoupdate-spec",
	}, []string{"", "x", "true"}},
	{[]string{"Endpoints"}, []string{"endpoints.kubernetes.io/over-capacity", "endpoints.kubernetes.io/last-change-trigger-time"}, []string{"", "x"}},
	{nil, []string{"kubectl.kubernetes.io/last-applied-configuration", "kubernetes.io/change-cause", "deprecated.example.org/a"}, []string{"", "x", "{}"}},
}

var labels = []mark{
	{[]string{"EndpointSlice"}, []string{"endpointslice.kubernetes.io/managed-by"}, []string{
		"", "endpointslice-controller.k8s.io", "endpointslicemirroring-controller.k8s.io", "x",
	}},
	{[]string{"EndpointSlice", "Endpoints"}, []string{"kubernetes.io/service-name", "service.kubernetes.io/headless", "endpointslice.kubernetes.io/skip-mirror"}, []string{
		"", "x", "true",
	}},
	{[]string{"Endpoints"}, []string{"endpoints.kubernetes.io/managed-by"}, []string{"", "endpoint-controller", "x"}},
	{ofPods, []string{"job-name", "controller-uid", "batch.kubernetes.io/job-name", "batch.kubernetes.io/controller-uid"}, []string{"", "x", "y"}},
	{ofPods, []string{"topology.kubernetes.io/zone", "topology.kubernetes.io/region", "pod-template-hash", "statefulset.kubernetes.io/pod-name"}, []string{"", "x"}},
	{[]string{"Node"}, []string{"kubernetes.io/os", "beta.kubernetes.io/os", "node-role.kubernetes.io/x", "failure-domain.beta.kubernetes.io/zone"}, []string{"", "linux", "windows"}},
	{[]string{"Namespace"}, []string{"kubernetes.io/metadata.name", "resource.kubernetes.io/admin-access"}, []string{"", "x", "true"}},
	{[]string{"IPAddress"}, []string{"ipaddress.kubernetes.io/managed-by", "ipaddress.kubernetes.io/ip-family"}, []string{"", "ipallocator.k8s.io", "IPv4", "x"}},
	{[]string{"ClusterRole"}, []string{"rbac.authorization.k8s.io/aggregate-to-none", "kubernetes.io/bootstrapping"}, []string{"", "true"}},
}

// Mark returns an annotation or a label that kube-apiserver reads in objects of a kind, or in templates of pods if the kind is Pod: the member of
// the metadata that it is in, its name and its value. Those that are about a container get the name of it. Mark chooses by choose, which returns a
// number below n.
func Mark(kind, container string, choose func(n int) int) (member, name, value string) {
	of := func(all []mark) []mark {
		return slices.DeleteFunc(slices.Clone(all), func(m mark) bool { return m.kinds != nil && !slices.Contains(m.kinds, kind) })
	}
	member, all := "annotations", of(annotations)
	if of := of(labels); len(of) > 0 && choose(4) == 0 {
		member, all = "labels", of
	}
	m := all[choose(len(all))]
	return member, strings.Replace(m.names[choose(len(m.names))], "*", container, 1), m.values[choose(len(m.values))]
}
