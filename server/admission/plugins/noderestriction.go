package plugins

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/diff"

	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/server/admission/expressions"
	"github.com/deed-project/deed/server/auth/nodes"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
	"github.com/deed-project/deed/value/structs"
)

// Nodes is the plugin NodeRestriction: a kubelet may write its own Node, the pods that are bound to it, and little else.
type Nodes struct {
	Store  store.Store
	Allows expressions.Authorize // decides about tokens and certificates that no volume of a pod asks for
}

// Prefixes of the keys of objects that are about nodes.
const (
	nodesPrefix      = "/registry/minions/"
	podsPrefix       = "/registry/pods/"
	claimsPrefix     = "/registry/persistentvolumeclaims/"
	volumesPrefix    = "/registry/persistentvolumes/"
	csiDriversPrefix = "/registry/csidrivers/"
)

const (
	leaseNamespace = "kube-node-lease"
	servingSigner  = "kubernetes.io/kubelet-serving"
	kubeletSigner  = "kubernetes.io/kube-apiserver-client-kubelet"
)

// restrictions lists what a node may do with a resource. A function returns why the node may not.
var restrictions = map[kschema.GroupResource]func(*nodeRequest) error{
	pods:                          (*nodeRequest).pod,
	{Resource: "nodes"}:           (*nodeRequest).self,
	claims:                        (*nodeRequest).claim,
	{Resource: "serviceaccounts"}: (*nodeRequest).token,
	{Group: "certificates.k8s.io", Resource: "podcertificaterequests"}: (*nodeRequest).podCertificate,
	{Group: "coordination.k8s.io", Resource: "leases"}:                 (*nodeRequest).lease,
	{Group: "storage.k8s.io", Resource: "csinodes"}:                    (*nodeRequest).csiNode,
	{Group: "resource.k8s.io", Resource: "resourceslices"}:             (*nodeRequest).slice,
	requests: (*nodeRequest).certificate,
}

// nodeRequest is a write of a node.
type nodeRequest struct {
	Nodes
	*admission.Request
	ctx  context.Context
	node string
}

// Admit refuses a write of a node that is none of its business. Writes of other users are admitted.
func (p Nodes) Admit(ctx context.Context, r *admission.Request) error {
	node, isNode := nodes.Identity(r.User.Name, r.User.Groups)
	switch {
	case !isNode || r.Operation == admission.Connect:
		return nil
	case node == "":
		return forbid(r, fmt.Errorf("could not determine node from user %q", r.User.Name))
	}
	if restrict := restrictions[r.Resource.GroupResource()]; restrict != nil {
		return restrict(&nodeRequest{p, r, ctx, node})
	}
	return nil
}

// refuse returns a 403 with a text.
func (q *nodeRequest) refuse(format string, args ...any) error {
	return forbid(q.Request, fmt.Errorf(format, args...))
}

// stored returns a stored object that the node names. The error is a 404 if there is none, for which kind is the lower-case kind.
func (q *nodeRequest) stored(prefix, namespace, name string, kind kschema.GroupResource) (value.Value, error) {
	if namespace != "" {
		prefix += namespace + "/"
	}
	o, err := object(q.ctx, q.Store, prefix+name)
	switch {
	case err != nil:
		return o, forbid(q.Request, err)
	case o.IsAbsent():
		return o, apierrors.NewNotFound(kind, name)
	}
	return o, nil
}

func (q *nodeRequest) storedPod(name string) (value.Value, error) {
	return q.stored(podsPrefix, q.Namespace, name, kschema.GroupResource{Resource: "pod"})
}

func (q *nodeRequest) storedNode(name string) (value.Value, error) {
	return q.stored(nodesPrefix, "", name, kschema.GroupResource{Resource: "node"})
}

// onNode reports whether a pod is bound to the node.
func (q *nodeRequest) onNode(pod value.Value) bool {
	return pod.Get("spec", "nodeName").Str() == q.node
}

// pod lets a node create and delete mirror pods, and write the status of its pods, and evict them.
func (q *nodeRequest) pod() error {
	switch q.Subresource {
	case "":
		switch q.Operation {
		case admission.Create:
			return q.mirrorPod()
		case admission.Delete:
			switch pod, err := q.storedPod(q.Name); {
			case err != nil:
				return err
			case !q.onNode(pod):
				return q.refuse("node %q can only delete pods with spec.nodeName set to itself", q.node)
			}
			return nil
		}
		return q.refuse("unexpected operation %q, node %q can only create and delete mirror pods", q.Operation, q.node)
	case "status":
		if q.Operation != admission.Update {
			return q.refuse("unexpected operation %q", q.Operation)
		}
		return q.podStatus()
	case "eviction":
		if q.Operation != admission.Create {
			return q.refuse("unexpected operation %s", q.Operation)
		}
		switch pod, err := q.storedPod(q.Name); {
		case err != nil:
			return err
		case !q.onNode(pod):
			return q.refuse("node %s can only evict pods with spec.nodeName set to itself", q.node)
		}
		return nil
	}
	return q.refuse("unexpected pod subresource %q, only 'status' and 'eviction' are allowed", q.Subresource)
}

// podStatus lets a node write the status of its pods, except what the controllers of claims write there.
func (q *nodeRequest) podStatus() error {
	was, is := q.Old.Content(), q.Object.Content()
	if !q.onNode(was) {
		return q.refuse("node %q can only update pod status for pods with spec.nodeName set to itself", q.node)
	}
	if changes(was, is, "metadata", "labels") {
		return q.refuse("node %q cannot update labels through pod status", q.node)
	}
	for _, kept := range []struct{ field, called string }{
		{"resourceClaimStatuses", "resource claim statues"}, {"extendedResourceClaimStatus", "extended resource claim status"},
		{"nodeAllocatableResourceClaimStatuses", "node allocatable resource claim statuses"},
	} {
		if changes(was, is, "status", kept.field) {
			return q.refuse("node %q cannot update %s", q.node, kept.called)
		}
	}
	return nil
}

// changes reports whether two objects differ at a path. Nothing is equal to an empty list or map.
func changes(was, is value.Value, path ...string) bool {
	a, b := was.Get(path...), is.Get(path...)
	return !(isEmpty(a) && isEmpty(b)) && !a.Equal(b)
}

func isEmpty(v value.Value) bool {
	return !isSet(v) || (v.Kind() == value.KindObject || v.Kind() == value.KindList) && v.Len() == 0
}

// self lets a node write its own Node, but not what steers pods to it.
func (q *nodeRequest) self() error {
	if q.Name != q.node {
		return q.refuse("node %q is not allowed to modify node %q", q.node, q.Name)
	}
	is := q.Object.Content()
	source := is.Get("spec", "configSource")
	switch q.Operation {
	case admission.Create:
		if isSet(source) {
			return q.refuse("node %q is not allowed to create pods with a non-nil configSource", q.node)
		}
		if labels := forbiddenLabels(value.Value{}, is); len(labels) > 0 {
			return q.refuse("node %q is not allowed to set the following labels: %s", q.node, strings.Join(labels, ", "))
		}
	case admission.Update:
		was := q.Old.Content()
		switch {
		case isSet(source) && !source.Equal(was.Get("spec", "configSource")):
			return q.refuse("node %q is not allowed to update configSource to a new non-nil configSource", q.node)
		case changes(was, is, "spec", "taints"):
			return q.refuse("node %q is not allowed to modify taints", q.node)
		case changes(was, is, "metadata", "ownerReferences"):
			return q.refuse("node %q is not allowed to modify ownerReferences", q.node)
		}
		if labels := forbiddenLabels(was, is); len(labels) > 0 {
			return q.refuse("is not allowed to modify labels: %s", strings.Join(labels, ", "))
		}
	}
	return nil
}

// kubeletLabels are the labels of Kubernetes that a kubelet may set, and kubeletLabelPrefixes the prefixes of others.
var (
	kubeletLabels = []string{
		corev1.LabelHostname, corev1.LabelTopologyZone, corev1.LabelTopologyRegion, corev1.LabelFailureDomainBetaZone,
		corev1.LabelFailureDomainBetaRegion, corev1.LabelInstanceType, corev1.LabelInstanceTypeStable, corev1.LabelOSStable,
		corev1.LabelArchStable, "beta.kubernetes.io/os", "beta.kubernetes.io/arch",
	}
	kubeletLabelPrefixes = []string{corev1.LabelNamespaceSuffixKubelet, corev1.LabelNamespaceSuffixNode}
)

// forbiddenLabels returns the labels that differ between two Nodes and that a kubelet may not change, sorted.
func forbiddenLabels(was, is value.Value) (all []string) {
	before, after := was.Get("metadata", "labels"), is.Get("metadata", "labels")
	for _, pair := range [][2]value.Value{{before, after}, {after, before}} {
		for name, v := range pair[0].Members() {
			if !v.Equal(pair[1].Get(name)) && isForbidden(name) && !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	slices.Sort(all)
	return all
}

// isForbidden reports whether a kubelet may not change a label.
func isForbidden(label string) bool {
	prefix, _, isPrefixed := strings.Cut(label, "/")
	if !isPrefixed {
		return false
	}
	in := func(domain string) bool { return prefix == domain || strings.HasSuffix(prefix, "."+domain) }
	switch {
	case in(corev1.LabelNamespaceNodeRestriction):
		return true
	case !in("kubernetes.io") && !in("k8s.io"):
		return false
	}
	return !slices.Contains(kubeletLabels, label) && !slices.ContainsFunc(kubeletLabelPrefixes, in)
}

// name returns the name of the object that is written.
func (q *nodeRequest) name() string {
	if q.Operation == admission.Create {
		return q.Object.Content().Get("metadata", "name").Str()
	}
	return q.Name
}

func (q *nodeRequest) lease() error {
	switch {
	case q.Namespace != leaseNamespace:
		return q.refuse("can only access leases in the %q system namespace", leaseNamespace)
	case q.name() != q.node:
		return q.refuse("can only access node lease with the same name as the requesting node")
	}
	return nil
}

func (q *nodeRequest) csiNode() error {
	switch {
	case q.name() != q.node:
		return q.refuse("can only access CSINode with the same name as the requesting node")
	case q.Subresource == "status": // is behind a feature gate that is off
		return q.refuse("CSIVolumeHealth feature gate is disabled")
	}
	return nil
}

// slice checks the node of a new ResourceSlice, and of those that go one by one in the deletion of a collection.
func (q *nodeRequest) slice() error {
	of := func(slice value.Value) bool { return slice.Get("spec", "nodeName").Str() == q.node }
	switch {
	case q.Operation == admission.Create && !of(q.Object.Content()):
		return forbid(q.Request, errors.New("can only create ResourceSlice with the same NodeName as the requesting node"))
	case q.Operation == admission.Delete && !of(q.Old.Content()):
		return forbid(q.Request, errors.New("can only delete ResourceSlice with the same NodeName as the requesting node"))
	}
	return nil
}

// claim lets a node write the capacity, the resizes and the conditions in the status of claims.
func (q *nodeRequest) claim() error {
	switch {
	case q.Subresource != "status":
		return q.refuse("may only update PVC status")
	case q.Operation != admission.Update:
		return q.refuse("unexpected operation %q", q.Operation)
	}
	was, err := keptOfClaim(q.Old.Content())
	if err != nil {
		return forbid(q.Request, err)
	}
	is, err := keptOfClaim(q.Object.Content())
	if err != nil {
		return forbid(q.Request, err)
	}
	if !equality.Semantic.DeepEqual(was, is) {
		return q.refuse("node %q is not allowed to update fields other than status.quantity and status.conditions: %v", q.node, diff.Diff(was, is))
	}
	return nil
}

// keptClaim is a claim in the form in which a refusal shows what differs: its members have the names of Go fields.
type keptClaim struct {
	metav1.TypeMeta
	metav1.ObjectMeta
	Spec struct {
		AccessModes               []corev1.PersistentVolumeAccessMode
		Selector                  *metav1.LabelSelector
		Resources                 struct{ Limits, Requests corev1.ResourceList }
		VolumeName                string
		StorageClassName          *string
		VolumeMode                *corev1.PersistentVolumeMode
		DataSource                *localReference
		DataSourceRef             *reference
		VolumeAttributesClassName *string
	}
	Status struct {
		Phase                            corev1.PersistentVolumeClaimPhase
		AccessModes                      []corev1.PersistentVolumeAccessMode
		Capacity                         corev1.ResourceList
		Conditions                       []corev1.PersistentVolumeClaimCondition
		AllocatedResources               corev1.ResourceList
		AllocatedResourceStatuses        map[corev1.ResourceName]corev1.ClaimResourceStatus
		CurrentVolumeAttributesClassName *string
		ModifyVolumeStatus               *modification
	}
}

// Parts of a keptClaim.
type (
	localReference struct {
		APIGroup   *string
		Kind, Name string
	}
	reference struct {
		APIGroup   *string
		Kind, Name string
		Namespace  *string
	}
	modification struct {
		TargetVolumeAttributesClassName string
		Status                          corev1.PersistentVolumeClaimModifyVolumeStatus
	}
)

// keptOfClaim returns what a node may not change of a claim.
func keptOfClaim(o value.Value) (*keptClaim, error) {
	var claim corev1.PersistentVolumeClaim
	if err := structs.Into(o, &claim); err != nil {
		return nil, err
	}
	k := &keptClaim{ObjectMeta: claim.ObjectMeta}
	k.ResourceVersion, k.ManagedFields = "", nil
	k.Spec.AccessModes, k.Spec.Selector, k.Spec.VolumeName = claim.Spec.AccessModes, claim.Spec.Selector, claim.Spec.VolumeName
	k.Spec.Resources.Limits, k.Spec.Resources.Requests = claim.Spec.Resources.Limits, claim.Spec.Resources.Requests
	k.Spec.StorageClassName, k.Spec.VolumeMode = claim.Spec.StorageClassName, claim.Spec.VolumeMode
	k.Spec.VolumeAttributesClassName = claim.Spec.VolumeAttributesClassName
	if of := claim.Spec.DataSource; of != nil {
		k.Spec.DataSource = &localReference{of.APIGroup, of.Kind, of.Name}
	}
	if of := claim.Spec.DataSourceRef; of != nil {
		k.Spec.DataSourceRef = &reference{of.APIGroup, of.Kind, of.Name, of.Namespace}
	}
	k.Status.Phase, k.Status.AccessModes = claim.Status.Phase, claim.Status.AccessModes
	k.Status.CurrentVolumeAttributesClassName = claim.Status.CurrentVolumeAttributesClassName
	if of := claim.Status.ModifyVolumeStatus; of != nil {
		k.Status.ModifyVolumeStatus = &modification{of.TargetVolumeAttributesClassName, of.Status}
	}
	return k, nil
}
