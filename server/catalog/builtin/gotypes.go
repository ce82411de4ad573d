package builtin

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	admissionregistrationv1alpha1 "k8s.io/api/admissionregistration/v1alpha1"
	admissionregistrationv1beta1 "k8s.io/api/admissionregistration/v1beta1"
	apiserverinternalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	certificatesv1beta1 "k8s.io/api/certificates/v1beta1"
	coordinationv1 "k8s.io/api/coordination/v1"
	coordinationv1alpha2 "k8s.io/api/coordination/v1alpha2"
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	eventsv1 "k8s.io/api/events/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	networkingv1 "k8s.io/api/networking/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	resourcev1 "k8s.io/api/resource/v1"
	resourcev1alpha3 "k8s.io/api/resource/v1alpha3"
	resourcev1beta1 "k8s.io/api/resource/v1beta1"
	resourcev1beta2 "k8s.io/api/resource/v1beta2"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	storagemigrationv1beta1 "k8s.io/api/storagemigration/v1beta1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

// goTypes holds constructors of the Go types, by apiVersion and kind. The scheme of client-go has the same types, but importing it
// registers all versions of all kinds at process start.
var goTypes = map[string]map[string]func() any{
	"v1": {
		"ComponentStatus": newOf[corev1.ComponentStatus],
		"ConfigMap":       newOf[corev1.ConfigMap],
		//lint:ignore SA1019 servers serve it
		"Endpoints":             newOf[corev1.Endpoints],
		"Event":                 newOf[corev1.Event],
		"LimitRange":            newOf[corev1.LimitRange],
		"Namespace":             newOf[corev1.Namespace],
		"Node":                  newOf[corev1.Node],
		"PersistentVolume":      newOf[corev1.PersistentVolume],
		"PersistentVolumeClaim": newOf[corev1.PersistentVolumeClaim],
		"Pod":                   newOf[corev1.Pod],
		"PodTemplate":           newOf[corev1.PodTemplate],
		"ReplicationController": newOf[corev1.ReplicationController],
		"ResourceQuota":         newOf[corev1.ResourceQuota],
		"Secret":                newOf[corev1.Secret],
		"Service":               newOf[corev1.Service],
		"ServiceAccount":        newOf[corev1.ServiceAccount],
	},
	"admissionregistration.k8s.io/v1": {
		"MutatingAdmissionPolicy":          newOf[admissionregistrationv1.MutatingAdmissionPolicy],
		"MutatingAdmissionPolicyBinding":   newOf[admissionregistrationv1.MutatingAdmissionPolicyBinding],
		"MutatingWebhookConfiguration":     newOf[admissionregistrationv1.MutatingWebhookConfiguration],
		"ValidatingAdmissionPolicy":        newOf[admissionregistrationv1.ValidatingAdmissionPolicy],
		"ValidatingAdmissionPolicyBinding": newOf[admissionregistrationv1.ValidatingAdmissionPolicyBinding],
		"ValidatingWebhookConfiguration":   newOf[admissionregistrationv1.ValidatingWebhookConfiguration],
	},
	"admissionregistration.k8s.io/v1alpha1": {
		"MutatingAdmissionPolicy":        newOf[admissionregistrationv1alpha1.MutatingAdmissionPolicy],
		"MutatingAdmissionPolicyBinding": newOf[admissionregistrationv1alpha1.MutatingAdmissionPolicyBinding],
	},
	"admissionregistration.k8s.io/v1beta1": {
		"MutatingAdmissionPolicy":        newOf[admissionregistrationv1beta1.MutatingAdmissionPolicy],
		"MutatingAdmissionPolicyBinding": newOf[admissionregistrationv1beta1.MutatingAdmissionPolicyBinding],
	},
	"apiregistration.k8s.io/v1": {
		"APIService": newOf[apiregistrationv1.APIService],
	},
	"apps/v1": {
		"ControllerRevision": newOf[appsv1.ControllerRevision],
		"DaemonSet":          newOf[appsv1.DaemonSet],
		"Deployment":         newOf[appsv1.Deployment],
		"ReplicaSet":         newOf[appsv1.ReplicaSet],
		"StatefulSet":        newOf[appsv1.StatefulSet],
	},
	"autoscaling/v1": {
		"HorizontalPodAutoscaler": newOf[autoscalingv1.HorizontalPodAutoscaler],
		"Scale":                   newOf[autoscalingv1.Scale],
	},
	"autoscaling/v2": {
		"HorizontalPodAutoscaler": newOf[autoscalingv2.HorizontalPodAutoscaler],
	},
	"batch/v1": {
		"CronJob": newOf[batchv1.CronJob],
		"Job":     newOf[batchv1.Job],
	},
	"certificates.k8s.io/v1": {
		"CertificateSigningRequest": newOf[certificatesv1.CertificateSigningRequest],
		"ClusterTrustBundle":        newOf[certificatesv1.ClusterTrustBundle],
		"PodCertificateRequest":     newOf[certificatesv1.PodCertificateRequest],
	},
	"certificates.k8s.io/v1beta1": {
		"ClusterTrustBundle":    newOf[certificatesv1beta1.ClusterTrustBundle],
		"PodCertificateRequest": newOf[certificatesv1beta1.PodCertificateRequest],
	},
	"coordination.k8s.io/v1": {
		"Lease": newOf[coordinationv1.Lease],
	},
	"coordination.k8s.io/v1alpha2": {
		"LeaseCandidate": newOf[coordinationv1alpha2.LeaseCandidate],
	},
	"coordination.k8s.io/v1beta1": {
		"LeaseCandidate": newOf[coordinationv1beta1.LeaseCandidate],
	},
	"discovery.k8s.io/v1": {
		"EndpointSlice": newOf[discoveryv1.EndpointSlice],
	},
	"events.k8s.io/v1": {
		"Event": newOf[eventsv1.Event],
	},
	"flowcontrol.apiserver.k8s.io/v1": {
		"FlowSchema":                 newOf[flowcontrolv1.FlowSchema],
		"PriorityLevelConfiguration": newOf[flowcontrolv1.PriorityLevelConfiguration],
	},
	"internal.apiserver.k8s.io/v1alpha1": {
		"StorageVersion": newOf[apiserverinternalv1alpha1.StorageVersion],
	},
	"networking.k8s.io/v1": {
		"IPAddress":     newOf[networkingv1.IPAddress],
		"Ingress":       newOf[networkingv1.Ingress],
		"IngressClass":  newOf[networkingv1.IngressClass],
		"NetworkPolicy": newOf[networkingv1.NetworkPolicy],
		"ServiceCIDR":   newOf[networkingv1.ServiceCIDR],
	},
	"node.k8s.io/v1": {
		"RuntimeClass": newOf[nodev1.RuntimeClass],
	},
	"policy/v1": {
		"PodDisruptionBudget": newOf[policyv1.PodDisruptionBudget],
	},
	"rbac.authorization.k8s.io/v1": {
		"ClusterRole":        newOf[rbacv1.ClusterRole],
		"ClusterRoleBinding": newOf[rbacv1.ClusterRoleBinding],
		"Role":               newOf[rbacv1.Role],
		"RoleBinding":        newOf[rbacv1.RoleBinding],
	},
	"resource.k8s.io/v1": {
		"DeviceClass":           newOf[resourcev1.DeviceClass],
		"DeviceTaintRule":       newOf[resourcev1.DeviceTaintRule],
		"ResourceClaim":         newOf[resourcev1.ResourceClaim],
		"ResourceClaimTemplate": newOf[resourcev1.ResourceClaimTemplate],
		"ResourceSlice":         newOf[resourcev1.ResourceSlice],
	},
	"resource.k8s.io/v1alpha3": {
		"DeviceTaintRule":           newOf[resourcev1alpha3.DeviceTaintRule],
		"ResourcePoolStatusRequest": newOf[resourcev1alpha3.ResourcePoolStatusRequest],
	},
	"resource.k8s.io/v1beta1": {
		"DeviceClass":           newOf[resourcev1beta1.DeviceClass],
		"ResourceClaim":         newOf[resourcev1beta1.ResourceClaim],
		"ResourceClaimTemplate": newOf[resourcev1beta1.ResourceClaimTemplate],
		"ResourceSlice":         newOf[resourcev1beta1.ResourceSlice],
	},
	"resource.k8s.io/v1beta2": {
		"DeviceClass":           newOf[resourcev1beta2.DeviceClass],
		"DeviceTaintRule":       newOf[resourcev1beta2.DeviceTaintRule],
		"ResourceClaim":         newOf[resourcev1beta2.ResourceClaim],
		"ResourceClaimTemplate": newOf[resourcev1beta2.ResourceClaimTemplate],
		"ResourceSlice":         newOf[resourcev1beta2.ResourceSlice],
	},
	"scheduling.k8s.io/v1": {
		"PriorityClass": newOf[schedulingv1.PriorityClass],
	},
	"storage.k8s.io/v1": {
		"CSIDriver":             newOf[storagev1.CSIDriver],
		"CSINode":               newOf[storagev1.CSINode],
		"CSIStorageCapacity":    newOf[storagev1.CSIStorageCapacity],
		"StorageClass":          newOf[storagev1.StorageClass],
		"VolumeAttachment":      newOf[storagev1.VolumeAttachment],
		"VolumeAttributesClass": newOf[storagev1.VolumeAttributesClass],
	},
	"storagemigration.k8s.io/v1": {
		"StorageVersionMigration": newOf[storagemigrationv1.StorageVersionMigration],
	},
	"storagemigration.k8s.io/v1beta1": {
		"StorageVersionMigration": newOf[storagemigrationv1beta1.StorageVersionMigration],
	},
}

// newOf returns a pointer to an empty object of type T.
func newOf[T any]() any { return new(T) }
