package builtin

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// preparations are writes, and what is stored of them. A live object that is empty does not exist yet. Of what is stored, some members are
// looked at, each as path=JSON; NOW is when it is written.
var preparations = []struct{ kind, live, sent, want string }{
	// A namespace has the finalizer of Kubernetes, whatever it is created with, and keeps those that it has.
	{"v1 Namespace", ``, `{}`, `spec.finalizers=["kubernetes"]`},
	{"v1 Namespace", ``, `{"spec":{"finalizers":["a.b/c"]}}`, `spec.finalizers=["a.b/c","kubernetes"]`},
	{"v1 Namespace", ``, `{"spec":{"finalizers":["kubernetes","a.b/c"]}}`, `spec.finalizers=["kubernetes","a.b/c"]`},
	{"v1 Namespace", `{"spec":{"finalizers":["x"]}}`, `{"spec":{"finalizers":["y"]}}`, `spec.finalizers=["x"]`},
	{"v1 Namespace finalize", `{"spec":{"finalizers":["x"]},"status":{"phase":"Terminating"}}`, `{"spec":{"finalizers":["y"]},"status":{"phase":"Active"}}`,
		`spec.finalizers=["y"]; status.phase="Terminating"`},

	// A volume is pending at first, and says since when it is what it is, unless the client does.
	{"v1 PersistentVolume", ``, `{"status":{"phase":"Bound"}}`, `status.phase="Pending"; status.lastPhaseTransitionTime=NOW`},
	{"v1 PersistentVolume", `{"status":{"phase":"Bound"}}`, `{"status":{"phase":"Failed"}}`, `status.phase="Bound"; status.lastPhaseTransitionTime=-`},
	{"v1 PersistentVolume status", `{"status":{"phase":"Bound","lastPhaseTransitionTime":"2020-01-01T00:00:00Z"}}`, `{"status":{"phase":"Bound"}}`,
		`status.lastPhaseTransitionTime="2020-01-01T00:00:00Z"`},
	{"v1 PersistentVolume status", `{"status":{"phase":"Bound","lastPhaseTransitionTime":"2020-01-01T00:00:00Z"}}`,
		`{"status":{"phase":"Bound","lastPhaseTransitionTime":"2021-01-01T00:00:00Z"}}`, `status.lastPhaseTransitionTime="2021-01-01T00:00:00Z"`},
	{"v1 PersistentVolume status", `{"status":{"phase":"Bound"}}`, `{"status":{"phase":"Failed"}}`, `status.phase="Failed"; status.lastPhaseTransitionTime=NOW`},
	{"v1 PersistentVolume status", `{"status":{"phase":"Bound","lastPhaseTransitionTime":"2020-01-01T00:00:00Z"}}`,
		`{"status":{"phase":"Failed","lastPhaseTransitionTime":"2020-01-01T00:00:00Z"}}`, `status.lastPhaseTransitionTime=NOW`},
	{"v1 PersistentVolume status", `{"status":{"phase":"Bound","lastPhaseTransitionTime":"2020-01-01T00:00:00Z"}}`,
		`{"status":{"phase":"Failed","lastPhaseTransitionTime":"2022-01-01T00:00:00Z"}}`, `status.lastPhaseTransitionTime="2022-01-01T00:00:00Z"`},

	// An account only names its secrets.
	{"v1 ServiceAccount", ``, `{"secrets":[{"name":"a","namespace":"n","uid":"u"},{"name":"b"}]}`, `secrets=[{"name":"a"},{"name":"b"}]`},

	// A DaemonSet counts its templates, from what it is created with but not from less than 1.
	{"apps/v1 DaemonSet", ``, `{}`, `metadata.annotations={"deprecated.daemonset.template.generation":"1"}`},
	{"apps/v1 DaemonSet", ``, `{"metadata":{"annotations":{"deprecated.daemonset.template.generation":"-2"}}}`, `metadata.annotations={"deprecated.daemonset.template.generation":"1"}`},
	{"apps/v1 DaemonSet", ``, `{"metadata":{"annotations":{"deprecated.daemonset.template.generation":"4"}}}`, `metadata.annotations={"deprecated.daemonset.template.generation":"4"}`},
	{"apps/v1 DaemonSet", `{"metadata":{"annotations":{"deprecated.daemonset.template.generation":"4"}}}`, `{"spec":{"template":{"spec":{"nodeName":"n"}}}}`,
		`metadata.annotations={"deprecated.daemonset.template.generation":"5"}`},
	{"apps/v1 DaemonSet", `{"metadata":{"annotations":{"deprecated.daemonset.template.generation":"4"}}}`, `{"spec":{"minReadySeconds":1}}`,
		`metadata.annotations={"deprecated.daemonset.template.generation":"4"}`},
	{"apps/v1 DaemonSet status", `{"metadata":{"annotations":{"deprecated.daemonset.template.generation":"4"}}}`, `{"spec":{"template":{"spec":{"nodeName":"n"}}}}`,
		`spec.template.spec.nodeName=-`},

	// A taint whose effect changes is a new one, unless the client says since when it is there.
	{"resource.k8s.io/v1beta2 DeviceTaintRule", `{"spec":{"taint":{"key":"k","effect":"NoSchedule","timeAdded":"2020-01-01T00:00:00Z"}}}`,
		`{"spec":{"taint":{"key":"k","effect":"NoExecute","timeAdded":"2020-01-01T00:00:00Z"}}}`, `spec.taint.timeAdded=NOW`},
	{"resource.k8s.io/v1beta2 DeviceTaintRule", `{"spec":{"taint":{"key":"k","effect":"NoSchedule","timeAdded":"2020-01-01T00:00:00Z"}}}`,
		`{"spec":{"taint":{"key":"l","effect":"NoSchedule","timeAdded":"2020-01-01T00:00:00Z"}}}`, `spec.taint.timeAdded="2020-01-01T00:00:00Z"`},
	{"resource.k8s.io/v1beta2 DeviceTaintRule", `{"spec":{"taint":{"key":"k","effect":"NoSchedule","timeAdded":"2020-01-01T00:00:00Z"}}}`,
		`{"spec":{"taint":{"key":"k","effect":"NoExecute","timeAdded":"2021-01-01T00:00:00Z"}}}`, `spec.taint.timeAdded="2021-01-01T00:00:00Z"`},

	// A service of another type does not keep what its type does not need, unless the client changed that.
	{"v1 Service", `{"spec":{"type":"ClusterIP","clusterIP":"10.0.0.1","clusterIPs":["10.0.0.1"],"ipFamilies":["IPv4"],"ipFamilyPolicy":"SingleStack"}}`,
		`{"spec":{"type":"ExternalName","clusterIP":"10.0.0.1","clusterIPs":["10.0.0.1"],"ipFamilies":["IPv4"],"ipFamilyPolicy":"SingleStack"}}`,
		`spec.clusterIP=-; spec.clusterIPs=-; spec.ipFamilies=-; spec.ipFamilyPolicy=-`},
	{"v1 Service", `{"spec":{"type":"ClusterIP","clusterIP":"10.0.0.1","clusterIPs":["10.0.0.1"],"ipFamilyPolicy":"SingleStack"}}`,
		`{"spec":{"type":"ExternalName","clusterIP":"10.0.0.2","clusterIPs":["10.0.0.2"],"ipFamilyPolicy":"PreferDualStack"}}`,
		`spec.clusterIP="10.0.0.2"; spec.clusterIPs=["10.0.0.2"]; spec.ipFamilyPolicy="PreferDualStack"`},
	{"v1 Service", `{"spec":{"type":"ExternalName","clusterIP":"10.0.0.1"}}`, `{"spec":{"type":"ExternalName","clusterIP":"10.0.0.1"}}`, `spec.clusterIP="10.0.0.1"`},
	{"v1 Service", `{"spec":{"type":"NodePort","clusterIP":"10.0.0.1","ports":[{"port":1,"nodePort":30000}]}}`,
		`{"spec":{"type":"ClusterIP","clusterIP":"10.0.0.1","ports":[{"port":1,"nodePort":30000},{"port":2}]}}`,
		`spec.clusterIP="10.0.0.1"; spec.ports.0.nodePort=-; spec.ports.1.nodePort=-`},
	{"v1 Service", `{"spec":{"type":"NodePort","ports":[{"port":1,"nodePort":30000}]}}`, `{"spec":{"type":"ClusterIP","ports":[{"port":1,"nodePort":30001}]}}`, `spec.ports.0.nodePort=30001`},
	{"v1 Service", `{"spec":{"type":"NodePort","ports":[{"port":1,"nodePort":30000}]}}`,
		`{"spec":{"type":"LoadBalancer","allocateLoadBalancerNodePorts":false,"ports":[{"port":1,"nodePort":30000}]}}`, `spec.ports.0.nodePort=30000`},
	{"v1 Service", `{"spec":{"type":"LoadBalancer","allocateLoadBalancerNodePorts":false,"ports":[{"port":1,"nodePort":30000}]}}`,
		`{"spec":{"type":"ClusterIP","allocateLoadBalancerNodePorts":false,"ports":[{"port":1,"nodePort":30000}]}}`,
		`spec.ports.0.nodePort=-; spec.allocateLoadBalancerNodePorts=-`},
	{"v1 Service", `{"spec":{"type":"LoadBalancer","loadBalancerClass":"a/b","allocateLoadBalancerNodePorts":true,"externalTrafficPolicy":"Local","healthCheckNodePort":30009},
		"status":{"loadBalancer":{"ingress":[{"ip":"1.2.3.4"}]}}}`,
		`{"spec":{"type":"NodePort","loadBalancerClass":"a/b","allocateLoadBalancerNodePorts":true,"externalTrafficPolicy":"Local","healthCheckNodePort":30009}}`,
		`spec.loadBalancerClass=-; spec.allocateLoadBalancerNodePorts=-; spec.healthCheckNodePort=-; spec.externalTrafficPolicy="Local"; status.loadBalancer={}`},
	{"v1 Service", `{"spec":{"type":"LoadBalancer","loadBalancerClass":"a/b","externalTrafficPolicy":"Local","healthCheckNodePort":30009},"status":{"loadBalancer":{"ingress":[{"ip":"1.2.3.4"}]}}}`,
		`{"spec":{"type":"LoadBalancer","loadBalancerClass":"a/b","externalTrafficPolicy":"Cluster","healthCheckNodePort":30009}}`,
		`spec.loadBalancerClass="a/b"; spec.healthCheckNodePort=-; spec.externalTrafficPolicy="Cluster"; status.loadBalancer.ingress.0.ip="1.2.3.4"`},
	{"v1 Service", `{"spec":{"type":"LoadBalancer","loadBalancerClass":"a/b","externalTrafficPolicy":"Local","healthCheckNodePort":30009}}`,
		`{"spec":{"type":"NodePort","loadBalancerClass":"c/d","externalTrafficPolicy":"Local","healthCheckNodePort":30010}}`,
		`spec.loadBalancerClass="c/d"; spec.healthCheckNodePort=30010`},
	// What was allocated stays, and so do the families that follow from it.
	{"v1 Service", `{"spec":{"type":"NodePort","clusterIP":"10.0.0.1","clusterIPs":["10.0.0.1"],"ipFamilies":["IPv4"],"ipFamilyPolicy":"PreferDualStack","ports":[{"name":"a","port":1,"nodePort":30000},{"name":"b","port":2,"nodePort":30001}]}}`,
		`{"spec":{"type":"NodePort","ports":[{"name":"b","port":3},{"name":"c","port":4}]}}`,
		`spec.clusterIP="10.0.0.1"; spec.clusterIPs=["10.0.0.1"]; spec.ipFamilies=["IPv4"]; spec.ipFamilyPolicy="PreferDualStack"; spec.ports.0.nodePort=30001; spec.ports.1.nodePort=-`},
	{"v1 Service", `{"spec":{"type":"NodePort","ports":[{"name":"a","port":1,"nodePort":30000}]}}`, `{"spec":{"type":"NodePort","ports":[{"name":"a","port":1},{"name":"b","port":2,"nodePort":30000}]}}`,
		`spec.ports.0.nodePort=-; spec.ports.1.nodePort=30000`},
	{"v1 Service", `{"spec":{"type":"LoadBalancer","externalTrafficPolicy":"Local","healthCheckNodePort":30009,"ports":[{"port":1,"nodePort":30000}]}}`,
		`{"spec":{"type":"LoadBalancer","externalTrafficPolicy":"Local","allocateLoadBalancerNodePorts":false,"ports":[{"port":1}]}}`,
		`spec.healthCheckNodePort=30009; spec.ports.0.nodePort=-`},
	{"v1 Service", `{"spec":{"type":"ClusterIP","clusterIP":"10.0.0.1","clusterIPs":["10.0.0.1","fd00::1"],"ipFamilies":["IPv4","IPv6"],"ipFamilyPolicy":"RequireDualStack"}}`,
		`{"spec":{"type":"ClusterIP","ipFamilyPolicy":"SingleStack"}}`, `spec.clusterIPs=["10.0.0.1"]; spec.ipFamilies=["IPv4"]; spec.ipFamilyPolicy="SingleStack"`},
	{"v1 Service", `{"spec":{"type":"ClusterIP","clusterIP":"10.0.0.1","clusterIPs":["10.0.0.1","fd00::1"],"ipFamilies":["IPv4","IPv6"],"ipFamilyPolicy":"RequireDualStack"}}`,
		`{"spec":{"type":"ClusterIP","clusterIP":"10.0.0.2","ipFamilyPolicy":"SingleStack","clusterIPs":["10.0.0.1","fd00::1"],"ipFamilies":["IPv4","IPv6"]}}`,
		`spec.clusterIPs=["10.0.0.1","fd00::1"]; spec.ipFamilies=["IPv4"]`},
	{"v1 Service", `{"spec":{"type":"ClusterIP","clusterIP":"None","clusterIPs":["None"],"ipFamilies":["IPv6"],"ipFamilyPolicy":"SingleStack"}}`,
		`{"spec":{"type":"ClusterIP"}}`, `spec.clusterIP="None"; spec.clusterIPs=["None"]; spec.ipFamilies=["IPv6"]; spec.ipFamilyPolicy="SingleStack"`},
	{"v1 Service", `{"spec":{"type":"ClusterIP","clusterIP":"10.0.0.1","clusterIPs":["10.0.0.1"],"ipFamilies":["IPv4"],"ipFamilyPolicy":"SingleStack"}}`,
		`{"spec":{"type":"ClusterIP","clusterIP":"10.0.0.1","clusterIPs":["10.0.0.1","fd00::1"],"ipFamilyPolicy":"PreferDualStack"}}`, `spec.ipFamilies=["IPv4","IPv6"]; spec.ipFamilyPolicy="PreferDualStack"`},
	{"v1 Service", `{"spec":{"type":"ExternalName","externalName":"a"}}`, `{"spec":{"type":"ClusterIP"}}`, `spec.clusterIP=-; spec.ipFamilies=-`},
	{"v1 Service", `{"spec":{"type":"NodePort","externalTrafficPolicy":"Cluster"}}`, `{"spec":{"type":"ClusterIP","externalTrafficPolicy":"Cluster"}}`, `spec.externalTrafficPolicy=-`},
	{"v1 Service", `{"spec":{"type":"NodePort","externalTrafficPolicy":"Cluster"}}`, `{"spec":{"type":"ClusterIP","externalTrafficPolicy":"Local"}}`, `spec.externalTrafficPolicy="Local"`},
	{"v1 Service", `{"spec":{"type":"NodePort","externalTrafficPolicy":"Cluster"}}`, `{"spec":{"type":"ClusterIP","externalIPs":["1.2.3.4"],"externalTrafficPolicy":"Cluster"}}`,
		`spec.externalTrafficPolicy="Cluster"`},
	{"v1 Service status", `{"spec":{"type":"NodePort"}}`, `{"spec":{"type":"ClusterIP"},"status":{"loadBalancer":{"ingress":[{"ip":"1.2.3.4"}]}}}`,
		`spec.type="NodePort"; status.loadBalancer.ingress.0.ip="1.2.3.4"`},

	{"v1 Service", ``, `{"spec":{"type":"ExternalName","internalTrafficPolicy":"Local"}}`, `spec.internalTrafficPolicy=-`},
	{"v1 Service", `{"spec":{"type":"ClusterIP","internalTrafficPolicy":"Local"}}`, `{"spec":{"type":"ExternalName","internalTrafficPolicy":"Local"}}`,
		`spec.internalTrafficPolicy=-`},

	// A pod begins pending, in the class that its resources put it in, and says why it is not scheduled yet.
	{"v1 Pod", ``, `{"spec":{"containers":[{"name":"c"}]},"status":{"phase":"Running"}}`, `status={"phase":"Pending","qosClass":"BestEffort"}`},
	{"v1 Pod", ``, `{"spec":{"containers":[{"name":"c","resources":{"limits":{"cpu":"1","memory":"1Gi"}}}]}}`, `status.qosClass="Guaranteed"`},
	{"v1 Pod", ``, `{"spec":{"containers":[{"name":"c","resources":{"limits":{"cpu":"1","memory":"1Gi"},"requests":{"cpu":"500m"}}}]}}`, `status.qosClass="Burstable"`},
	{"v1 Pod", ``, `{"spec":{"containers":[{"name":"c","resources":{"limits":{"cpu":"1","memory":"1Gi"},"requests":{"memory":"0"}}}]}}`, `status.qosClass="Burstable"`},
	{"v1 Pod", ``, `{"spec":{"containers":[{"name":"c","resources":{"limits":{"cpu":"0","memory":"0"}}}]}}`, `status.qosClass="BestEffort"`},
	{"v1 Pod", ``, `{"spec":{"containers":[{"name":"c","resources":{"limits":{"cpu":"1"}}}]}}`, `status.qosClass="Burstable"`},
	{"v1 Pod", ``, `{"spec":{"containers":[{"name":"c","resources":{"requests":{"memory":"0"},"limits":{"cpu":"0","example.org/x":"1"}}}]}}`, `status.qosClass="BestEffort"`},
	{"v1 Pod", ``, `{"spec":{"containers":[{"name":"c","resources":{"limits":{"cpu":"1","memory":"1Gi"}}}],"initContainers":[{"name":"i"}]}}`, `status.qosClass="Burstable"`},
	// What the resources of a pod as a whole do not say follows from its containers.
	{"v1 Pod", ``, `{"spec":{"resources":{"limits":{"cpu":"2"}},"containers":[{"name":"a","resources":{"requests":{"cpu":"500m","memory":"1Gi"}}},{"name":"b","resources":{"requests":{"cpu":"250m"}}}]}}`,
		`spec.resources={"limits":{"cpu":"2"},"requests":{"cpu":"750m","memory":"1Gi"}}`},
	{"v1 Pod", ``, `{"spec":{"resources":{"requests":{"cpu":"1"}},"initContainers":[{"name":"i","resources":{"limits":{"cpu":"4"}}},{"name":"s","restartPolicy":"Always","resources":{"limits":{"cpu":"1"}}}],"containers":[{"name":"a","resources":{"limits":{"cpu":"2500m","hugepages-2Mi":"4Mi"}}}]}}`,
		`spec.resources={"limits":{"cpu":"4","hugepages-2Mi":"4Mi"},"requests":{"cpu":"1","hugepages-2Mi":"4Mi"}}; status.qosClass="Burstable"`},
	{"v1 Pod", ``, `{"spec":{"containers":[{"name":"a","resources":{"requests":{"cpu":"1"}}}]}}`, `spec.resources=-`},
	{"v1 Pod resize", `{"spec":{"resources":{"limits":{"cpu":"2"},"requests":{"cpu":"1"}},"containers":[{"name":"a","resources":{"requests":{"cpu":"1"}}}]}}`,
		`{"spec":{"resources":{"limits":{"cpu":"2","memory":"2Gi"},"requests":{"cpu":"1"}},"containers":[{"name":"a","resources":{"requests":{"cpu":"1","memory":"1Gi"}}}]}}`,
		`spec.resources={"limits":{"cpu":"2","memory":"2Gi"},"requests":{"cpu":"1","memory":"1Gi"}}`},
	{"v1 Pod", ``, `{"spec":{"schedulingGates":[{"name":"a.b/c"}]}}`,
		`status.conditions=[{"lastProbeTime":null,"lastTransitionTime":NOW,"message":"Scheduling is blocked due to non-empty scheduling gates","reason":"SchedulingGated","status":"False","type":"PodScheduled"}]`},
	{"v1 Pod status", `{"status":{"qosClass":"Burstable","observedGeneration":3,"resourceClaimStatuses":[{"name":"a"}],"conditions":[{"type":"A","status":"True","observedGeneration":2},{"type":"B","status":"True"}]}}`,
		`{"status":{"phase":"Running","conditions":[{"type":"B","status":"False"},{"type":"A","status":"False"},{"type":"C","status":"False"}]}}`,
		`status.qosClass="Burstable"; status.observedGeneration=3; status.resourceClaimStatuses=[{"name":"a"}]; status.conditions.1.observedGeneration=2; status.conditions.0.observedGeneration=-; status.conditions.2.observedGeneration=-`},
	{"v1 Pod status", `{"status":{"resourceClaimStatuses":[{"name":"a"}]}}`, `{"status":{"resourceClaimStatuses":[]}}`, `status.resourceClaimStatuses=-`},
	{"v1 Pod status", `{"status":{"observedGeneration":3,"conditions":[{"type":"A","status":"True","observedGeneration":2}]}}`,
		`{"status":{"observedGeneration":4,"conditions":[{"type":"A","status":"False","observedGeneration":5}]}}`, `status.observedGeneration=4; status.conditions.0.observedGeneration=5`},
	{"v1 Pod ephemeralcontainers", `{"metadata":{"labels":{"a":"b"},"resourceVersion":"1"},"spec":{"nodeName":"n","containers":[{"name":"c","image":"i"}]},"status":{"phase":"Running"}}`,
		`{"metadata":{"labels":{"c":"d"},"resourceVersion":"2"},"spec":{"nodeName":"m","ephemeralContainers":[{"name":"e"}]}}`,
		`metadata.labels={"a":"b"}; metadata.resourceVersion="2"; spec.nodeName="n"; spec.ephemeralContainers.0.name="e"; status.phase="Running"`},
	{"v1 Pod resize", `{"metadata":{"annotations":{"a":"b"}},"spec":{"nodeName":"n","containers":[{"name":"c","image":"i","resources":{"limits":{"cpu":"1"}}}],"initContainers":[{"name":"d","image":"i"}]}}`,
		`{"spec":{"nodeName":"m","containers":[{"name":"c","image":"j","resources":{"limits":{"cpu":"2"}},"resizePolicy":[{"resourceName":"cpu","restartPolicy":"NotRequired"}]}],"initContainers":[{"name":"d","image":"j","resources":{"limits":{"cpu":"3"}}}]}}`,
		`metadata.annotations={"a":"b"}; spec.nodeName="n"; spec.containers.0.image="i"; spec.containers.0.resources.limits.cpu="2"; spec.containers.0.resizePolicy.0.resourceName="cpu"; spec.initContainers.0.resources.limits.cpu="3"; spec.initContainers.0.image="i"`},
	{"v1 Pod resize", `{"spec":{"nodeName":"n","containers":[{"name":"c","image":"i"},{"name":"e","image":"i"}]}}`, `{"spec":{"nodeName":"n","containers":[{"name":"c","image":"j"},{"name":"d","image":"j"}]}}`,
		`spec.containers.0.image="j"; spec.containers.1.name="d"; spec.containers.1.image="j"`},
	{"v1 Pod resize", `{"spec":{"nodeName":"n","containers":[{"name":"c","image":"i"}]}}`, `{"spec":{"nodeName":"m","containers":[]}}`, `spec.nodeName="m"`},

	// What only a server writes stays, and a cluster's objects are in no namespace.
	{"v1 Node", ``, `{"metadata":{"namespace":"n","uid":"u","selfLink":"s","resourceVersion":"1"},"status":{"phase":"Running"}}`,
		`metadata.namespace=-; metadata.uid=-; metadata.selfLink=-; metadata.resourceVersion=-; status.phase="Running"`},
	{"v1 Node", `{"metadata":{"uid":"u","creationTimestamp":"2020-01-01T00:00:00Z","generation":3},"status":{"phase":"Running"}}`,
		`{"metadata":{"uid":"v","creationTimestamp":"2021-01-01T00:00:00Z","deletionTimestamp":"2021-01-01T00:00:00Z","deletionGracePeriodSeconds":3,"generation":4,"resourceVersion":"5"},"status":{"phase":"Pending"}}`,
		`metadata={"creationTimestamp":"2020-01-01T00:00:00Z","generation":3,"resourceVersion":"5","uid":"u"}; status.phase="Running"`},
	{"v1 ConfigMap", ``, `{"metadata":{"namespace":"n","generation":3}}`, `metadata={"generation":3,"namespace":"n"}`},
	{"certificates.k8s.io/v1 CertificateSigningRequest status", `{"spec":{"request":"YQ=="},"status":{"conditions":[{"type":"Approved","status":"True"}]}}`,
		`{"spec":{"request":"Yg=="},"status":{"certificate":"Yw==","conditions":[{"type":"Approved","status":"True","reason":"r"},{"type":"Failed","status":"True"}]}}`,
		`spec.request="YQ=="; status.certificate="Yw=="; status.conditions.0.type="Approved"; status.conditions.0.reason=-; status.conditions.1.type="Failed"`},
	{"certificates.k8s.io/v1 CertificateSigningRequest approval", `{"spec":{"request":"YQ=="},"status":{"certificate":"YQ=="}}`,
		`{"spec":{"request":"Yg=="},"status":{"certificate":"Yw==","conditions":[{"type":"Approved","status":"True"}]}}`,
		`spec.request="YQ=="; status.certificate="YQ=="; status.conditions.0.type="Approved"`},

	// A create keeps what updates do not write, but for the status.
	{"certificates.k8s.io/v1 CertificateSigningRequest", ``, `{"spec":{"request":"YQ==","signerName":"a.b/c"},"status":{"certificate":"Yw=="}}`,
		`spec.request="YQ=="; spec.signerName="a.b/c"; status={}`},
	{"certificates.k8s.io/v1 CertificateSigningRequest", `{"spec":{"request":"YQ=="}}`, `{"spec":{"request":"Yg=="}}`, `spec.request="YQ=="`},
	{"networking.k8s.io/v1 ServiceCIDR", ``, `{"spec":{"cidrs":["10.0.0.0/24"]},"status":{"conditions":[{"type":"A"}]}}`, `spec.cidrs=["10.0.0.0/24"]; status.conditions=-`},
	{"networking.k8s.io/v1 ServiceCIDR", `{"status":{"conditions":[{"type":"A"}]}}`, `{"status":{"conditions":[{"type":"B"}]}}`, `status.conditions.0.type="A"`},

	// What is behind a gate that is off goes, unless the object has it already.
	{"coordination.k8s.io/v1 Lease", ``, `{"spec":{"strategy":"S","preferredHolder":"p","holderIdentity":"h"}}`, `spec={"holderIdentity":"h"}`},
	{"coordination.k8s.io/v1 Lease", `{"spec":{"holderIdentity":"h"}}`, `{"spec":{"strategy":"S"}}`, `spec={}`},
	{"v1 Node", ``, `{"spec":{"configSource":{"configMap":{"name":"a"}}},"status":{"config":{"error":"e"},"phase":"Running"}}`,
		`spec={}; status.config=-; status.phase="Running"`},
	{"v1 Pod", ``, `{"spec":{"schedulingGroup":{"podGroupName":"g"},"evictionResponders":[{"name":"a.b/c"}],"volumes":[{"name":"v","emptyDir":{"mode":420}}],
		"containers":[{"name":"c","lifecycle":{"stopSignal":"SIGTERM"}},{"name":"d","lifecycle":{"stopSignal":"SIGTERM","preStop":{"sleep":{"seconds":1}}},"volumeMounts":[{"name":"v","mountPath":"/v","bindMountOptions":["a"]}]}]}}`,
		`spec.schedulingGroup=-; spec.evictionResponders=-; spec.volumes.0.emptyDir={}; spec.containers.0.lifecycle=-; spec.containers.1.lifecycle.preStop.sleep.seconds=1; spec.containers.1.lifecycle.stopSignal=-; spec.containers.1.volumeMounts.0.bindMountOptions=-`},
	{"batch/v1 CronJob", ``, `{"spec":{"jobTemplate":{"spec":{"scheduling":{},"template":{"spec":{"schedulingGroup":{"podGroupName":"g"}}}}}}}`,
		`spec.jobTemplate.spec.scheduling=-; spec.jobTemplate.spec.template.spec.schedulingGroup=-`},
	{"apps/v1 Deployment", `{"spec":{"template":{"spec":{"schedulingGroup":{"podGroupName":"g"}}}}}`, `{"spec":{"template":{"spec":{"schedulingGroup":{"podGroupName":"h"}}}}}`,
		`spec.template.spec.schedulingGroup.podGroupName="h"`},
	{"resource.k8s.io/v1 ResourceSlice", ``, `{"spec":{"devices":[{"name":"d","attributes":{"a":{"strings":["s"]},"b":{"int":1}}}]}}`,
		`spec.devices.0.attributes={"a":{},"b":{"int":1}}`},
	{"discovery.k8s.io/v1 EndpointSlice", ``, `{"endpoints":[{"addresses":["1.2.3.4"],"deprecatedTopology":{"kubernetes.io/hostname":"h"}}]}`, `endpoints.0.deprecatedTopology=-; endpoints.0.nodeName=-`},
	{"discovery.k8s.io/v1 EndpointSlice", `{"endpoints":[{"addresses":["1.2.3.4"],"deprecatedTopology":{"kubernetes.io/hostname":"h"}}]}`,
		`{"endpoints":[{"addresses":["1.2.3.5"],"deprecatedTopology":{"kubernetes.io/hostname":"h"}}]}`, `endpoints.0.deprecatedTopology=-; endpoints.0.nodeName="h"`},
	{"apps/v1 DaemonSet status", `{"metadata":{"annotations":{"deprecated.daemonset.template.generation":"3"}}}`, `{"metadata":{"annotations":{"a":"b"}}}`,
		`metadata.annotations={"a":"b","deprecated.daemonset.template.generation":"3"}`},

	// A claim names its source twice.
	{"v1 PersistentVolumeClaim", ``, `{"spec":{"dataSource":{"kind":"PersistentVolumeClaim","name":"c"}}}`, `spec.dataSourceRef={"apiGroup":null,"kind":"PersistentVolumeClaim","name":"c"}`},
	{"v1 PersistentVolumeClaim", ``, `{"spec":{"dataSourceRef":{"apiGroup":"a.b","kind":"K","name":"c"}}}`, `spec.dataSource={"apiGroup":"a.b","kind":"K","name":"c"}`},
	{"v1 PersistentVolumeClaim", ``, `{"spec":{"dataSource":{"apiGroup":"a.b","kind":"K","name":"c"}}}`, `spec.dataSource=-; spec.dataSourceRef=-`},
	{"v1 PersistentVolumeClaim", ``, `{"spec":{"dataSourceRef":{"kind":"K","name":"c","namespace":"n"}}}`, `spec.dataSource=-; spec.dataSourceRef=-`},

	// The resources of a pod come before those of its containers, and selectors have the labels that constraints name.
	{"v1 Pod", ``, `{"spec":{"resources":{"limits":{"cpu":"1","memory":"1Gi"},"requests":{"cpu":"1","memory":"1Gi"}},"containers":[{"name":"c"}]}}`, `status.qosClass="Guaranteed"`},
	{"v1 Pod", ``, `{"spec":{"resources":{"requests":{"cpu":"1"}},"containers":[{"name":"c"}]}}`, `status.qosClass="Burstable"`},
	{"v1 Pod", ``, `{"metadata":{"labels":{"l":"1","m":"2"}},"spec":{"topologySpreadConstraints":[{"topologyKey":"k","labelSelector":{},"matchLabelKeys":["l","n"]}],
		"affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"k","labelSelector":{},"matchLabelKeys":["l"],"mismatchLabelKeys":["m"]}]}}}}`,
		`spec.topologySpreadConstraints.0.labelSelector.matchExpressions=[{"key":"l","operator":"In","values":["1"]}]; ` +
			`spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution.0.labelSelector.matchExpressions=[{"key":"l","operator":"In","values":["1"]},{"key":"m","operator":"NotIn","values":["2"]}]`},
	{"v1 Pod", ``, `{"metadata":{"annotations":{"container.apparmor.security.beta.kubernetes.io/c":"localhost/p"}},"spec":{"containers":[{"name":"c"},{"name":"d"}]}}`,
		`spec.containers.0.securityContext.appArmorProfile={"localhostProfile":"p","type":"Localhost"}; spec.containers.1.securityContext=-`},
	{"autoscaling/v1 HorizontalPodAutoscaler", ``, `{"metadata":{"annotations":{"a":"b","autoscaling.alpha.kubernetes.io/conditions":"[{\"type\":\"AbleToScale\",\"status\":\"True\",\"lastTransitionTime\":null}]","autoscaling.alpha.kubernetes.io/metrics":"[{\"type\":\"Resource\",\"resource\":{\"name\":\"memory\",\"targetAverageUtilization\":70}}]"}}}`,
		`metadata.annotations={"a":"b","autoscaling.alpha.kubernetes.io/metrics":"[{\"type\":\"Resource\",\"resource\":{\"name\":\"memory\",\"targetAverageUtilization\":70}}]"}`},
	{"autoscaling/v1 HorizontalPodAutoscaler status", `{"metadata":{"annotations":{"autoscaling.alpha.kubernetes.io/metrics":"[{\"type\":\"Resource\",\"resource\":{\"name\":\"memory\",\"targetAverageUtilization\":70}}]"}}}`,
		`{"metadata":{"annotations":{"a":"b","autoscaling.alpha.kubernetes.io/conditions":"[{\"type\":\"AbleToScale\",\"status\":\"True\",\"lastTransitionTime\":null}]"}}}`,
		`metadata.annotations={"a":"b","autoscaling.alpha.kubernetes.io/conditions":"[{\"type\":\"AbleToScale\",\"status\":\"True\",\"lastTransitionTime\":null}]","autoscaling.alpha.kubernetes.io/metrics":"[{\"type\":\"Resource\",\"resource\":{\"name\":\"memory\",\"targetAverageUtilization\":70}}]"}`},

	// What an endpoint counts: see testdata of the server for whole histories.
	{"apps/v1 Deployment", ``, `{"metadata":{"generation":5}}`, `metadata.generation=1`},
	{"apps/v1 Deployment", `{"metadata":{"generation":5}}`, `{"metadata":{"annotations":{"a":"b"}}}`, `metadata.generation=6`},
	{"apps/v1 Deployment", `{"metadata":{"generation":5}}`, `{"metadata":{"labels":{"a":"b"}}}`, `metadata.generation=5`},
	{"apps/v1 Deployment status", `{"metadata":{"generation":5}}`, `{"metadata":{"annotations":{"a":"b"}},"spec":{"paused":true}}`, `metadata.generation=5; metadata.annotations={"a":"b"}; spec.paused=-`},
	{"autoscaling/v2 HorizontalPodAutoscaler", `{"metadata":{"generation":5}}`, `{"spec":{"maxReplicas":3}}`, `metadata.generation=6`},
	{"autoscaling/v1 HorizontalPodAutoscaler", `{"metadata":{"generation":5}}`, `{"spec":{"maxReplicas":3}}`, `metadata.generation=6`},
	{"autoscaling/v1 HorizontalPodAutoscaler", `{"metadata":{"generation":5}}`, `{"metadata":{"labels":{"a":"b"}}}`, `metadata.generation=5`},
	{"storage.k8s.io/v1 CSIDriver", ``, `{"metadata":{"generation":5}}`, `metadata.generation=5`},
	{"storage.k8s.io/v1 CSIDriver", ``, `{}`, `metadata.generation=-`},
	{"storage.k8s.io/v1 CSIDriver", `{"metadata":{"generation":5}}`, `{"spec":{"attachRequired":false}}`, `metadata.generation=6`},
	{"scheduling.k8s.io/v1 PriorityClass", `{"metadata":{"generation":5}}`, `{"value":3}`, `metadata.generation=5`},
	{"admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration", `{"metadata":{"generation":5}}`, `{"webhooks":[]}`, `metadata.generation=6`},
	{"admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration", `{"metadata":{"generation":5}}`, `{"metadata":{"labels":{"a":"b"}}}`, `metadata.generation=5`},
	{"discovery.k8s.io/v1 EndpointSlice", `{"metadata":{"generation":5}}`, `{"metadata":{"labels":{"a":"b"}}}`, `metadata.generation=6`},
	{"discovery.k8s.io/v1 EndpointSlice", `{"metadata":{"generation":5}}`, `{"metadata":{"annotations":{"a":"b"}}}`, `metadata.generation=5`},
}

// TestPreparations prepares writes to be stored.
func TestPreparations(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 678, time.FixedZone("", 3600))
	for _, c := range preparations {
		name, subresource, _ := strings.Cut(c.kind, " ")
		kind, subresource, _ := strings.Cut(subresource, " ")
		k, ok := Lookup(schema.ParseGVK(name, kind))
		if !ok {
			t.Fatalf("no %s", c.kind)
		}
		k = k.WithClock(func() time.Time { return now })
		live, sent := value.Value{}, mustParse(t, c.sent)
		held, err := k.Held(sent)
		if err == nil && c.live != "" {
			live, err = k.Held(mustParse(t, c.live))
		}
		if err == nil && c.live != "" {
			live, err = k.Stored(live)
		}
		var got value.Value
		if err == nil {
			got, err = k.Store(subresource, live, sent, held)
		}
		if err != nil {
			t.Errorf("%s: %s in place of %s: %v", c.kind, c.sent, c.live, err)
			continue
		}
		for claim := range strings.SplitSeq(strings.ReplaceAll(c.want, "NOW", `"2026-01-02T02:04:05Z"`), "; ") {
			path, want, _ := strings.Cut(claim, "=")
			if found := shownAt(got, path); found != want {
				t.Errorf("%s: %s in place of %s has %s=%s, want %s", c.kind, c.sent, c.live, path, found, want)
			}
		}
	}
}

// shownAt returns what is at a path of names and numbers, as JSON; a dash for nothing.
func shownAt(v value.Value, path string) string {
	for step := range strings.SplitSeq(path, ".") {
		if v.Kind() == value.KindList {
			var i int
			if fmt.Sscan(step, &i); i >= v.Len() {
				return "-"
			}
			v = v.Item(i)
			continue
		}
		v = v.Get(step)
	}
	if v.IsAbsent() {
		return "-"
	}
	return v.String()
}
