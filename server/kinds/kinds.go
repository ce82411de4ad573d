// Package kinds is what a server does with built-in kinds beyond their schemas: what it refuses, warns of, adds, shows, and how it stores
// and deletes. The server and the command line (deed validate, deed plan) read it, so that both refuse the same objects with the same
// texts.
//
// Package schema/builtin has the rest as data: schemas, forms of Go types, defaults, conversions, and reset fields.
//
// # Where a rule goes
//
// [table] in this file has one row for each kind. A row says what the kind does otherwise than most kinds, and points at functions in the
// file of its family, such as storage.go. To add a rule:
//
//   - A rule about fields goes into the validate function of the kind. The order of calls is the order of errors, which is kube-apiserver's.
//   - A rule about another subresource goes into parts.
//   - A kind without a validate function gets one: func validateX(r *walk.Report, object walk.Place, live value.Value). live is absent for a new
//     object. The row drops bySchema once the function covers what the schema requires.
//   - A warning goes into warnings.go, a cell of Tables into cells, a value that only a server can know into adds.
//
// A [walk.Place] is a value with its path: p.At("spec"), p.Index(i), p.Entry(i). A [walk.Report] collects errors: r.Required(p, detail),
// r.Invalid(p, detail), r.Forbidden(p, detail), r.OnlyAmong(p, values...), r.Unchanged(p, was), and others. Errors that kube-apiserver
// derives from the tags of its types come after the others: r.RequiredLater, r.InvalidLater, r.UnchangedLater. Rules of pods, and what
// other kinds share with pods, are in kinds/pods. Rules of Services, of Jobs and of devices are in packages of their own, too.
//
// Texts of errors are kube-apiserver's. A walk visits each value a bounded number of times, and allocates nothing for a valid object but
// sets of names. docs/builtin.md has the table for readers (go test ./server/kinds -update), docs/divergences.md the known gaps.
package kinds

import (
	"strconv"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/kinds/devices"
	"github.com/deed-project/deed/server/kinds/jobs"
	"github.com/deed-project/deed/server/kinds/pods"
	"github.com/deed-project/deed/server/kinds/services"
	"github.com/deed-project/deed/value"
)

const (
	admissionGroup   = "admissionregistration.k8s.io"
	aggregationGroup = "apiregistration.k8s.io"
	certificateGroup = "certificates.k8s.io"
	flowGroup        = "flowcontrol.apiserver.k8s.io"
	networkGroup     = "networking.k8s.io"
	rbacGroup        = "rbac.authorization.k8s.io"
	resourceGroup    = "resource.k8s.io"
	storageGroup     = "storage.k8s.io"
)

// What names are used for.
const (
	ofPod  = "this is used in the Pod's hostname"
	ofPods = "this is used in Pod names and hostnames"
)

// table returns the rows of all kinds. It is a function so that a process that needs no kinds does not pay for it.
func table() []Traits {
	return []Traits{
		// The core group.
		{
			Name:  "ComponentStatus",
			cells: componentCells,
		},
		{
			Name: "ConfigMap", finalizersFirst: true, validate: validateConfigMap,
			cells: cells(name, configSize, age),
		},
		{
			Name: "Endpoints", finalizersFirst: true, validate: services.ValidateEndpoints, warn: warnOfEndpoints, CreateOnUpdate: true, Prefix: "services/endpoints",
			cells: cells(name, shown(endpointsOf), age),
		},
		{
			Name: "Event", metadataLast: true, namedOnce: true, validate: validateEvent, anyFinalizer: true, CreateOnUpdate: true, HasTTL: true, NoDependents: true,
			cells: eventCells,
			Fields: []string{
				"involvedObject.kind", "involvedObject.namespace", "involvedObject.name", "involvedObject.uid", "involvedObject.apiVersion",
				"involvedObject.resourceVersion", "involvedObject.fieldPath", "reason", "reportingComponent", "type",
			},
			Derived: map[string]func(value.Value) string{"source": eventComponent},
		},
		{
			Name: "LimitRange", validate: validateLimitRange, CreateOnUpdate: true, complete: withName,
			cells: cells(name, created),
		},
		{
			Name: "Namespace", complete: labelledByName, name: apivalidation.ValidateNamespaceName, validate: validateNamespace,
			parts:          map[string]check{"status": validatePhase, "finalize": validateFinalize},
			answersDeleted: true, PreconditionFailed: "Precondition failed",
			cells:  cells(name, text("status", "phase"), age),
			Fields: []string{"status.phase"},
		},
		{
			Name: "Node", validate: validateNode, warn: warnOfNode, parts: map[string]check{"status": validateNodeStatus}, Prefix: "minions",
			adds:    []Allocated{{Paths: []string{"spec taints key=node.kubernetes.io/not-ready"}, Reason: "admission: TaintNodesByCondition"}},
			cells:   nodeCells,
			Derived: map[string]func(value.Value) string{"spec.unschedulable": boolAt("spec", "unschedulable")},
		},
		{
			Name: "PersistentVolume", validate: validateVolume, warn: warnOfVolume, answersDeleted: true,
			adds: []Allocated{{
				Paths: []string{"metadata finalizers kubernetes.io/pv-protection"}, Reason: "admission: StorageObjectInUseProtection",
			}},
			cells: volumeCells,
		},
		{
			Name: "PersistentVolumeClaim", finalizersFirst: true, validate: validateClaim, warn: warnOfClaim, parts: map[string]check{"status": validateClaimState}, answersDeleted: true,
			adds: []Allocated{
				{Paths: []string{"metadata finalizers kubernetes.io/pvc-protection"}, Reason: "admission: StorageObjectInUseProtection"},
				{Paths: []string{"spec storageClassName"}, Reason: "admission: DefaultStorageClass, if a class is the default", Optional: true},
			},
			cells: claimCells,
		},
		{
			Name: "Pod", finalizersFirst: true, validate: pods.Validate, warnStatus: warnOfPodStatus, WarnOfNew: pods.WarnOfNew, pods: "spec", named: ofPod, answersDeleted: true, Grace: podGrace, admit: admitPod,
			parts: map[string]check{"status": pods.ValidateStatus, "ephemeralcontainers": pods.ValidateEphemeral, "resize": pods.ValidateResize},
			adds: []Allocated{
				{
					Paths:  []string{"spec tolerations key=node.kubernetes.io/not-ready", "spec tolerations key=node.kubernetes.io/unreachable"},
					Reason: "admission: DefaultTolerationSeconds",
				},
				{Paths: []string{"spec priority", "spec preemptionPolicy"}, Reason: "admission: Priority, from the priority classes of the cluster"},
				{
					Paths:  []string{"spec serviceAccountName", "spec volumes", "spec containers * volumeMounts"},
					Reason: "admission: ServiceAccount, which mounts a token", Optional: true,
					when: func(pod value.Value) bool { return pod.Get("spec", "serviceAccountName").Str() == "" },
				},
			},
			cells: podCells,
			Fields: []string{
				"spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName", "status.phase",
				"status.nominatedNodeName",
			},
			Derived: map[string]func(value.Value) string{
				"spec.host":        func(pod value.Value) string { return pod.Get("spec", "nodeName").Str() },
				"spec.hostNetwork": boolAt("spec", "hostNetwork"),
				"status.podIP":     podIP,
				"status.podIPs":    func(value.Value) string { return "" }, // a valid label whose text is always empty
			},
		},
		{
			Name: "PodTemplate", namedOnce: true, validate: validatePodTemplate, pods: "template.spec", answersDeleted: true,
			cells: func() []cell {
				return []cell{name, containers("template"), images("template"), labelsOf("template", "metadata", "labels")}
			},
		},
		{
			Name: "ReplicationController", namedLast: true, validate: validateReplicationController, parts: map[string]check{"status": controllerCounts.Check}, pods: "spec.template.spec", named: ofPods,
			podsBefore: true, Orphans: true, Prefix: "controllers",
			cells:   controllerCells,
			Derived: map[string]func(value.Value) string{"status.replicas": intAt("status", "replicas")},
		},
		{
			Name: "ResourceQuota", namedOnce: true, warn: warnOfQuota, validate: validateQuota, parts: map[string]check{"status": validateQuotaStatus}, answersDeleted: true,
			cells: cells(name, quotaCell(false), quotaCell(true), age),
		},
		{
			Name: "Secret", finalizersFirst: true, validate: validateSecret, warn: warnOfSecret,
			cells:  cells(name, text("type"), count("data"), age),
			Fields: []string{"type"},
		},
		{
			Name: "Service", namedOnce: true, name: apivalidation.NameIsDNSLabel, early: services.IPv4Only.ValidateAddresses, validate: services.Validate, parts: map[string]check{"status": services.ValidateStatus}, warn: warnOfService, warnStatus: warnOfBalancer, CreateOnUpdate: true, answersDeleted: true,
			Prefix: "services/specs", complete: services.IPv4Only.Complete, adds: serviceAdds,
			cells:  serviceCells,
			Fields: []string{"spec.clusterIP", "spec.type"},
		},
		{
			Name: "ServiceAccount", finalizersFirst: true, warn: warnOfServiceAccount, answersDeleted: true,
			cells: cells(name, age),
		},

		// Aggregation.
		{
			Group: aggregationGroup, Name: "APIService", NoStatusTable: true, nameOf: apiServiceName, validate: validateAPIService,
			parts: map[string]check{"status": validateAPIServiceStatus}, conditional: true, anyFinalizer: true,
			Prefix: aggregationGroup + "/apiservices",
			cells:  cells(name, shown(apiServiceBackend), shown(availability), age),
		},

		// Workloads.
		{
			Group: "apps", Name: "ControllerRevision", finalizersFirst: true, validate: validateRevision, bySchema: true,
			cells: cells(name, shown(controller), number("revision"), age),
		},
		{
			Group: "apps", Name: "DaemonSet", empty: withGeneration, CheckConversion: checkGeneration, namedOnce: true, validate: validateDaemonSet, parts: map[string]check{"status": daemonSetCounts.Check}, pods: "spec.template.spec",
			cells: daemonSetCells,
		},
		{
			Group: "apps", Name: "Deployment", empty: withoutReplicas, namedOnce: true, validate: validateDeployment, parts: map[string]check{"status": deploymentCounts.Check}, pods: "spec.template.spec", named: ofPods,
			cells: deploymentCells,
		},
		{
			Group: "apps", Name: "ReplicaSet", empty: withoutReplicas, namedOnce: true, validate: validateReplicaSet, parts: map[string]check{"status": replicaSetCounts.Check}, pods: "spec.template.spec", named: ofPods,
			cells: replicaSetCells,
		},
		{
			Group: "apps", Name: "StatefulSet", empty: withoutReplicas, namedOnce: true, warn: warnOfStatefulSet, name: apivalidation.NameIsDNSLabel, validate: validateStatefulSet, parts: map[string]check{"status": statefulSetCounts.Check}, pods: "spec.template.spec",
			cells: statefulSetCells,
		},
		{
			Group: "autoscaling", Name: "HorizontalPodAutoscaler", namedOnce: true, validate: validateAutoscaler, asHub: true,
			parts: map[string]check{"status": validateAutoscalerStatus},
			cells: autoscalerCells, shownAs: schema.GVK{Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler"},
		},
		{
			Group: "batch", Name: "CronJob", namedOnce: true, freeStatus: true, warn: warnOfCronJob, validate: jobs.ValidateCron, pods: "spec.jobTemplate.spec.template.spec", named: ofPods,
			cells: cronJobCells,
		},
		{
			Group: "batch", Name: "Job", namedOnce: true, validate: jobs.Validate, parts: map[string]check{"status": jobs.ValidateStatus}, pods: "spec.template.spec", named: ofPods, complete: jobs.WithSelector, Orphans: true,
			OrphanWarning: "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them " +
				"or set propagationPolicy=Orphan to suppress this warning",
			adds: []Allocated{{
				Paths: []string{"spec selector", "spec template metadata labels", "metadata labels"}, Reason: "name the uid of the job",
				when: func(job value.Value) bool { return !job.Get("spec", "manualSelector").Bool() },
			}},
			cells:        jobCells,
			Derived:      map[string]func(value.Value) string{"status.successful": intAt("status", "succeeded")},
			FieldRefusal: "field label %q not supported for Job",
		},
		{
			Group: "policy", Name: "PodDisruptionBudget", complete: withoutOldLabel, namedOnce: true, parts: map[string]check{"status": validateBudgetStatus}, name: api.PathSegment, validate: validateBudget, fieldsFirst: true,
			anyFinalizer: true, conditional: true,
			cells: cells(name, shareCell("spec", "minAvailable"), shareCell("spec", "maxUnavailable"), number("status", "disruptionsAllowed"), age),
		},

		// The network.
		{
			Group: "discovery.k8s.io", Name: "EndpointSlice", validate: services.ValidateEndpointSlice, warn: warnOfSlice,
			cells: cells(name, text("addressType"), shown(slicePorts), shown(sliceEndpoints), age),
		},
		{
			Group: networkGroup, Name: "IPAddress", name: addressName, validate: validateAddress, PrefixAsName: true,
			cells: cells(name, shown(parentRef), age),
		},
		{
			Group: networkGroup, Name: "Ingress", finalizersFirst: true, validate: validateIngress, warn: warnOfIngress, warnStatus: warnOfBalancer, parts: map[string]check{"status": services.ValidateIngressStatus}, Prefix: "ingress",
			adds: []Allocated{{
				Paths: []string{"spec ingressClassName"}, Reason: "admission: DefaultIngressClass, if a class is the default", Optional: true,
			}},
			cells: ingressCells,
		},
		{
			Group: networkGroup, Name: "IngressClass", namedOnce: true, validate: validateIngressClass,
			cells: cells(shown(ingressClassName), text("spec", "controller"), shown(ingressParameters), age),
		},
		{
			Group: networkGroup, Name: "NetworkPolicy", namedOnce: true, validate: validateNetworkPolicy, warn: warnOfNetworkPolicy,
			cells: cells(name, selectorOf("spec", "podSelector"), age),
		},
		{
			Group: networkGroup, Name: "ServiceCIDR", namedOnce: true, validate: validateServiceCIDR,
			cells: cells(name, joined("", "spec", "cidrs"), age),
		},

		// Storage.
		{
			Group: storageGroup, Name: "CSIDriver", namedOnce: true, validate: validateDriver, warn: warnOfDriver, conditional: true, answersDeleted: true,
			mayBeEmpty: []string{"spec.tokenRequests[].audience"}, // which is kube-apiserver's own
			cells:      driverCells,
		},
		{
			Group: storageGroup, Name: "CSINode", validate: validateCSINode, conditional: true, answersDeleted: true,
			cells: cells(name, count("spec", "drivers"), age),
		},
		{
			Group: storageGroup, Name: "CSIStorageCapacity", validate: validateStorageCapacity, warn: warnOfCapacity, conditional: true,
			cells: cells(name, created),
		},
		{
			Group: storageGroup, Name: "StorageClass", validate: validateClass, warn: warnOfClass, answersDeleted: true, Default: defaultClass,
			cells: classCells,
		},
		{
			Group: storageGroup, Name: "VolumeAttachment", namedAlways: true, validate: validateAttachment, parts: map[string]check{"status": validateAttachment}, conditional: true, answersDeleted: true,
			cells: attachmentCells,
		},
		{
			Group: storageGroup, Name: "VolumeAttributesClass", finalizersFirst: true, validate: validateAttributesClass, answersDeleted: true,
			adds: []Allocated{{
				Paths: []string{"metadata finalizers kubernetes.io/vac-protection"}, Reason: "admission: StorageObjectInUseProtection",
			}},
			cells: cells(name, text("driverName"), age),
		},
		{
			Group: "storagemigration.k8s.io", Name: "StorageVersionMigration", parts: map[string]check{"status": validateMigrationStatus}, validate: validateMigration, bySchema: true, conditional: true,
			mayBeEmpty: []string{"spec.resource.group"}, // the core group has no name
			cells:      cells(name, shown(migrated), shown(migration)),
		},

		// Who may do what.
		{
			Group: rbacGroup, Name: "ClusterRole", name: roleName, validate: validateClusterRole, CreateOnUpdate: true,
			cells: cells(name, created),
		},
		{
			Group: rbacGroup, Name: "ClusterRoleBinding", name: roleName, validate: validateClusterRoleBinding, CreateOnUpdate: true,
			cells: bindingCells,
		},
		{
			Group: rbacGroup, Name: "Role", name: roleName, validate: validateRole, CreateOnUpdate: true,
			cells: cells(name, created),
		},
		{
			Group: rbacGroup, Name: "RoleBinding", name: roleName, validate: validateRoleBinding, CreateOnUpdate: true,
			cells: bindingCells,
		},
		{
			Group: certificateGroup, Name: "CertificateSigningRequest", namedOnce: true, name: anyName, validate: validateSigning,
			parts: map[string]check{"status": validateSigningStatus, "approval": validateApproval},
			adds: []Allocated{{
				Paths: []string{"spec username", "spec uid", "spec groups", "spec extra"}, Reason: "who sends the request", Optional: true,
			}},
			cells:  signingCells,
			Fields: []string{"spec.signerName"},
		},
		{
			Group: certificateGroup, Name: "ClusterTrustBundle", nameOf: bundleName, namedAgain: true, validate: validateBundle, conditional: true,
			cells:  cells(name, textOr(none, "spec", "signerName")),
			Fields: []string{"spec.signerName"},
		},
		{
			Group: certificateGroup, Name: "PodCertificateRequest", namedOnce: true, validate: validatePodCertificate, parts: map[string]check{"status": validatePodCertificateStatus}, conditional: true,
			cells:  podCertificateCells,
			Fields: []string{"spec.signerName", "spec.podName", "spec.nodeName"}, NoNamespaceField: true,
		},

		// The control plane.
		{
			Group: admissionGroup, Name: "MutatingAdmissionPolicy", name: unreserved, validate: validateMutatingPolicy, anyFinalizer: true, conditional: true,
			cells: cells(name, count("spec", "mutations"), shown(paramKind), age),
		},
		{
			Group: admissionGroup, Name: "MutatingAdmissionPolicyBinding", name: unreserved, validate: validateMutatingBinding, anyFinalizer: true, conditional: true,
			cells: policyBindingCells,
		},
		{
			Group: admissionGroup, Name: "MutatingWebhookConfiguration", name: unreserved, anyFinalizer: true, conditional: true, // validated by server/admission/webhook
			cells: cells(name, count("webhooks"), age),
		},
		{
			Group: admissionGroup, Name: "ValidatingAdmissionPolicy", name: unreserved, parts: map[string]check{"status": validatePolicyStatus}, validate: validatePolicy, anyFinalizer: true, conditional: true, CreateOnApply: true,
			cells: cells(name, count("spec", "validations"), shown(paramKind), age),
		},
		{
			Group: admissionGroup, Name: "ValidatingAdmissionPolicyBinding", name: unreserved, validate: validatePolicyBinding, anyFinalizer: true, conditional: true,
			cells: policyBindingCells,
		},
		{
			Group: admissionGroup, Name: "ValidatingWebhookConfiguration", name: unreserved, anyFinalizer: true, conditional: true, // validated by server/admission/webhook
			cells: cells(name, count("webhooks"), age),
		},
		{
			Group: "apiextensions.k8s.io", Name: "CustomResourceDefinition", namedOnce: true, // validated by server/catalog/crd
			cells: definitionCells,
		},
		{
			Group: "coordination.k8s.io", Name: "Lease", namedOnce: true, validate: validateLease, bySchema: true, anyFinalizer: true, conditional: true,
			CreateOnUpdate: true,
			cells:          cells(name, text("spec", "holderIdentity"), age),
		},
		{
			Group: "coordination.k8s.io", Name: "LeaseCandidate", name: candidateName, namedOnce: true, validate: validateCandidate, anyFinalizer: true, conditional: true,
			CreateOnUpdate: true,
			cells:          cells(name, text("spec", "leaseName"), text("spec", "binaryVersion"), text("spec", "emulationVersion"), age),
		},
		{
			Group: "internal.apiserver.k8s.io", Name: "StorageVersion", name: storageVersionName, namedOnce: true, finalizersOnce: true, parts: map[string]check{"status": validateStorageStatus}, conditional: true,
			cells: cells(name, textIfSet(unset, "status", "commonEncodingVersion"), shown(storageVersions), age),
		},
		{
			Group: "events.k8s.io", Name: "Event", namedOnce: true, validate: validateNewEvent, CreateOnUpdate: true, HasTTL: true, NoDependents: true,
			cells: eventCells, shownAs: schema.GVK{Version: "v1", Kind: "Event"},
			Fields: []string{
				"regarding.kind", "regarding.namespace", "regarding.name", "regarding.uid", "regarding.apiVersion", "regarding.resourceVersion",
				"regarding.fieldPath", "reason", "reportingController", "type",
			},
		},
		{
			Group: flowGroup, Name: "FlowSchema", validate: validateFlowSchema, parts: map[string]check{"status": validateConditionTypes},
			cells: flowCells,
		},
		{
			Group: flowGroup, Name: "PriorityLevelConfiguration", validate: validateLevel, parts: map[string]check{"status": validateConditionTypes},
			cells: levelCells,
		},

		// Nodes and devices.
		{
			Group: "node.k8s.io", Name: "RuntimeClass", validate: validateRuntimeClass, warn: warnOfRuntimeClass, anyFinalizer: true, conditional: true, CreateOnUpdate: true,
			cells: cells(name, text("handler"), age),
		},
		{
			Group: "scheduling.k8s.io", Name: "PriorityClass", namedOnce: true, validate: validatePriority, Kept: keptPriority,
			cells: cells(name, number("value"), flag("globalDefault"), age, text("preemptionPolicy")),
		},
		{
			Group: resourceGroup, Name: "DeviceClass", namedLast: true, validate: devices.ValidateClass, asHub: true, bySchema: true, answersDeleted: true, adds: deviceAdds,
			cells: cells(name, age),
		},
		{
			Group: resourceGroup, Name: "DeviceTaintRule", NoStatusTable: true, namedOnce: true, parts: map[string]check{"status": devices.ValidateTaintRuleStatus}, validate: devices.ValidateTaintRule, bySchema: true, conditional: true, lenient: []string{"v1alpha3", "v1beta2"}, asHub: true,
			cells: taintRuleCells,
		},
		{
			Group: resourceGroup, Name: "ResourceClaim", NoStatusTable: true, validate: devices.ValidateClaim, asHub: true, taggedPath: devices.ClaimPath, parts: map[string]check{"status": devices.ValidateClaimStatus}, answersDeleted: true, adds: deviceAdds,
			cells: cells(name, shown(claimState), age),
		},
		{
			Group: resourceGroup, Name: "ResourceClaimTemplate", validate: devices.ValidateTemplate, asHub: true, taggedPath: devices.ClaimPath, answersDeleted: true,
			mayBeEmpty: []string{
				"spec.metadata.ownerReferences[].apiVersion", "spec.metadata.ownerReferences[].kind", "spec.metadata.ownerReferences[].name",
				"spec.metadata.ownerReferences[].uid",
			},
			adds:  deviceAdds,
			cells: cells(name, age),
		},
		{
			Group: resourceGroup, Name: "ResourcePoolStatusRequest", namedOnce: true, parts: map[string]check{"status": devices.ValidatePoolRequestStatus}, validate: devices.ValidatePoolRequest, conditional: true, answersDeleted: true,
			cells: poolRequestCells,
		},
		{
			Group: resourceGroup, Name: "ResourceSlice", namedOnce: true, warn: warnOfResourceSlice, validate: devices.ValidateSlice, asHub: true, taggedPath: devices.SlicePath, answersDeleted: true,
			cells:        cells(name, text("spec", "nodeName"), text("spec", "driver"), text("spec", "pool", "name"), age),
			Fields:       []string{"spec.nodeName", "spec.driver", "spec.pool.name"},
			FieldRefusal: "field label not supported for resource.k8s.io/VERSION, Kind=ResourceSlice: %s",
		},
	}
}

// anyName is the name rule of a kind whose names are not validated.
func anyName(string, bool) []string { return nil }

// cells returns a function that returns cells.
func cells(all ...cell) func() []cell { return func() []cell { return all } }

// boolAt returns the text of a bool. An absent bool is false.
func boolAt(path ...string) func(value.Value) string {
	return func(object value.Value) string { return strconv.FormatBool(object.Get(path...).Bool()) }
}

// intAt returns the text of a number. An absent number is 0.
func intAt(path ...string) func(value.Value) string {
	return func(object value.Value) string { return strconv.FormatInt(object.Get(path...).Int(), 10) }
}
