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
	utilerrors "k8s.io/apimachinery/pkg/util/errors"

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

// mirrorPod lets a node create a pod that mirrors one of its own, is owned by the node, and uses no objects.
func (q *nodeRequest) mirrorPod() error {
	pod := q.Object.Content()
	owners := pod.Get("metadata", "ownerReferences")
	switch {
	case !isMirror(pod):
		return q.refuse("pod does not have %q annotation, node %q can only create mirror pods", mirror, q.node)
	case !q.onNode(pod):
		return q.refuse("node %q can only create pods with spec.nodeName set to itself", q.node)
	case owners.Len() > 1:
		return q.refuse("node %q can only create pods with a single owner reference set to itself", q.node)
	case owners.Len() == 0:
		return q.refuse("node %q can only create pods with an owner reference set to itself", q.node)
	}
	owner := owners.Item(0)
	switch {
	case owner.Get("apiVersion").Str() != "v1" || owner.Get("kind").Str() != "Node" || owner.Get("name").Str() != q.node:
		return q.refuse("node %q can only create pods with an owner reference set to itself", q.node)
	case !owner.Get("controller").Bool():
		return q.refuse("node %q can only create pods with a controller owner reference set to itself", q.node)
	case owner.Get("blockOwnerDeletion").Bool():
		return q.refuse("node %q must not set blockOwnerDeletion on an owner reference", q.node)
	}
	node, err := q.storedNode(q.node)
	if err != nil {
		return err
	}
	if uid, want := owner.Get("uid").Str(), node.Get("metadata", "uid").Str(); uid != want {
		return q.refuse("node %s UID mismatch: expected %s got %s", q.node, uid, want)
	}
	used, err := usedObjects(pod.Get("spec"))
	switch {
	case err != nil:
		return q.refuse("error checking mirror pod for API references: %w", err)
	case used != "":
		return q.refuse("node %q can not create pods that reference %s", q.node, used)
	}
	return nil
}

// Sources of volumes, by whether a pod that has one uses other objects.
var (
	// plainSources need no other object.
	plainSources = []string{
		"awsElasticBlockStore", "azureDisk", "cephfs", "cinder", "downwardAPI", "emptyDir", "fc", "flexVolume", "flocker", "gcePersistentDisk",
		"gitRepo", "hostPath", "image", "iscsi", "nfs", "photonPersistentDisk", "portworxVolume", "quobyte", "rbd", "scaleIO", "storageos",
		"vsphereVolume",
	}
	usingSources = []usingSource{
		{"configMap", "configmaps (via configmap volumes)"},
		{"secret", "secrets (via secret volumes)"},
		{"csi", "csidrivers (via CSI volumes)"},
		{"glusterfs", "endpoints (via glusterFS volumes)"},
		{"persistentVolumeClaim", "persistentvolumeclaims"},
		{"ephemeral", "persistentvolumeclaims (via ephemeral volumes)"},
		{"azureFile", "secrets (via azureFile volumes)"},
	}
	projectedSources = []usingSource{
		{"configMap", "configmaps (via projected volumes)"},
		{"secret", "secrets (via projected volumes)"},
		{"serviceAccountToken", "serviceaccounts (via projected volumes)"},
		{"clusterTrustBundle", "clustertrustbundles"},
		{"podCertificate", "podcertificates"},
	}
)

// usingSource is a source of a volume, and what a pod that has one uses.
type usingSource struct{ source, uses string }

// usedOf returns what a volume uses by one of some sources, "" for nothing.
func usedOf(volume value.Value, of []usingSource) string {
	if i := slices.IndexFunc(of, func(s usingSource) bool { return isSet(volume.Get(s.source)) }); i >= 0 {
		return of[i].uses
	}
	return ""
}

// usedObjects returns the first kind of objects that a pod uses, as refusals name it, "" for none. The error says that a volume has an unknown
// source.
func usedObjects(spec value.Value) (string, error) {
	switch {
	case spec.Get("serviceAccountName").Str() != "":
		return "serviceaccounts", nil
	case usesSecrets(spec):
		return "secrets", nil
	case usesConfigMaps(spec):
		return "configmaps", nil
	case spec.Get("resourceClaims").Len() > 0:
		return "resourceclaims", nil
	}
	for v := range spec.Get("volumes").Items() {
		if slices.ContainsFunc(plainSources, func(name string) bool { return isSet(v.Get(name)) }) {
			continue
		}
		used := usedOf(v, usingSources)
		switch {
		case used != "":
			return used, nil
		case !isSet(v.Get("projected")):
			return "", fmt.Errorf("unknown volume type for volume  %q", v.Get("name").Str())
		}
		for source := range v.Get("projected", "sources").Items() {
			if used := usedOf(source, projectedSources); used != "" {
				return used, nil
			}
			if !isSet(source.Get("downwardAPI")) {
				return "", fmt.Errorf("unknown source for projected volume %q", v.Get("name").Str())
			}
		}
	}
	return "", nil
}

// usesConfigMaps reports whether a pod names a ConfigMap: in the environment of a container, or in a volume.
func usesConfigMaps(spec value.Value) bool {
	for _, list := range []string{"initContainers", "containers", "ephemeralContainers"} {
		for c := range spec.Get(list).Items() {
			for env := range c.Get("env").Items() {
				if isSet(env.Get("valueFrom", "configMapKeyRef")) {
					return true
				}
			}
			for from := range c.Get("envFrom").Items() {
				if isSet(from.Get("configMapRef")) {
					return true
				}
			}
		}
	}
	for v := range spec.Get("volumes").Items() {
		if isSet(v.Get("configMap")) {
			return true
		}
		for source := range v.Get("projected", "sources").Items() {
			if isSet(source.Get("configMap")) {
				return true
			}
		}
	}
	return false
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

// token lets a node create tokens that are bound to its pods, for audiences that a volume of the pod names.
func (q *nodeRequest) token() error {
	if q.Operation != admission.Create || q.Subresource != "token" {
		return nil
	}
	spec := q.Object.Content().Get("spec")
	ref := spec.Get("boundObjectRef")
	name, uid := ref.Get("name").Str(), ref.Get("uid").Str()
	switch {
	case ref.Get("apiVersion").Str() != "v1" || ref.Get("kind").Str() != "Pod" || name == "":
		return q.refuse("node requested token not bound to a pod")
	case uid == "":
		return q.refuse("node requested token with a pod binding without a uid")
	}
	pod, err := q.storedPod(name)
	switch {
	case err != nil:
		return err
	case uid != pod.Get("metadata", "uid").Str():
		return q.refuse("the UID in the bound object reference (%s) does not match the UID in record. "+
			"The object might have been deleted and then recreated", uid)
	case !q.onNode(pod):
		return q.refuse("node requested token bound to a pod scheduled on a different node")
	}
	audience := ""
	switch audiences := spec.Get("audiences"); audiences.Len() {
	case 0:
	case 1:
		audience = audiences.Item(0).Str()
	default:
		return q.refuse("node may only request 0 or 1 audiences")
	}
	switch is, err := q.namesAudience(pod, audience); {
	case err != nil:
		return q.refuse("error validating audience %q: %w", audience, err)
	case is || q.may("request-serviceaccounts-token-audience", audience, q.Name):
		return nil
	}
	return q.refuse("%s is not authorized to request tokens for audience %q", q.User.Name, audience)
}

// may reports whether an authorizer allows the node something with a service account.
func (q *nodeRequest) may(verb, resource, account string) bool {
	allowed, _ := q.Allows(q.ctx, q.User, expressions.Action{
		Verb: verb, Group: q.Resource.Group, Version: q.Resource.Version, Resource: resource, Namespace: q.Namespace, Name: account,
	})
	return allowed
}

// inTree are the names of CSI drivers that replace sources of volumes.
var inTree = []struct{ source, driver string }{
	{"awsElasticBlockStore", "ebs.csi.aws.com"}, {"azureDisk", "disk.csi.azure.com"}, {"azureFile", "file.csi.azure.com"},
	{"cinder", "cinder.csi.openstack.org"}, {"gcePersistentDisk", "pd.csi.storage.gke.io"}, {"portworxVolume", "pxd.portworx.com"},
	{"vsphereVolume", "csi.vsphere.vmware.com"},
}

// driverOf returns the CSI driver of a volume of a pod, or of the spec of a PersistentVolume, "" for none.
func driverOf(v value.Value) string {
	if driver := v.Get("csi", "driver").Str(); driver != "" {
		return driver
	}
	for _, of := range inTree {
		if isSet(v.Get(of.source)) {
			return of.driver
		}
	}
	return ""
}

// namesAudience reports whether a volume of a pod asks for tokens for an audience, by itself or by its CSI driver. The error has everything
// that was not found, if no volume does.
func (q *nodeRequest) namesAudience(pod value.Value, audience string) (bool, error) {
	var errs []error
	for v := range pod.Get("spec", "volumes").Items() {
		for source := range v.Get("projected", "sources").Items() {
			if token := source.Get("serviceAccountToken"); isSet(token) && token.Get("audience").Str() == audience {
				return true, nil
			}
		}
		is, err := q.driverNamesAudience(pod, v, audience)
		if is {
			return true, nil
		}
		errs = append(errs, err)
	}
	return false, utilerrors.NewAggregate(errs)
}

// driverNamesAudience is namesAudience of the CSI driver of one volume.
func (q *nodeRequest) driverNamesAudience(pod, v value.Value, audience string) (bool, error) {
	claim := v.Get("persistentVolumeClaim", "claimName").Str()
	if isSet(v.Get("ephemeral", "volumeClaimTemplate")) {
		claim = pod.Get("metadata", "name").Str() + "-" + v.Get("name").Str()
	}
	driver := driverOf(v)
	if claim != "" {
		bound, err := q.stored(claimsPrefix, q.Namespace, claim, kschema.GroupResource{Resource: "persistentvolumeclaim"})
		if err != nil {
			return false, err
		}
		volume, err := q.stored(volumesPrefix, "", bound.Get("spec", "volumeName").Str(), kschema.GroupResource{Resource: "persistentvolume"})
		if err != nil {
			return false, err
		}
		driver = driverOf(volume.Get("spec"))
	}
	if driver == "" {
		return false, nil
	}
	of, err := q.stored(csiDriversPrefix, "", driver, kschema.GroupResource{Group: "storage.k8s.io", Resource: "csidriver"})
	for asked := range of.Get("spec", "tokenRequests").Items() {
		if asked.Get("audience").Str() == audience {
			return true, nil
		}
	}
	return false, err
}

// podCertificate lets a node ask for certificates of its pods.
func (q *nodeRequest) podCertificate() error {
	switch {
	case q.Operation != admission.Create:
		return q.refuse("unexpected operation %v", q.Operation)
	case q.Subresource != "":
		return q.refuse("unexpected subresource %v", q.Subresource)
	}
	spec := q.Object.Content().Get("spec")
	text := func(name string) string { return spec.Get(name).Str() }
	if text("nodeName") != q.node {
		return q.refuse("PodCertificateRequest.Spec.NodeName=%q, which is not the requesting node %q", text("nodeName"), q.node)
	}
	node, err := q.storedNode(q.node)
	if err != nil {
		return fmt.Errorf("while retrieving node %q named in the PodCertificateRequest: %w", q.node, err)
	}
	named := q.Namespace + "/" + text("podName")
	if uid := node.Get("metadata", "uid").Str(); uid != text("nodeUID") {
		return fmt.Errorf("PodCertificateRequest for pod %q names node UID %q, inconsistent with the running node (%q)", named, text("nodeUID"), uid)
	}
	pod, err := q.storedPod(text("podName"))
	if err != nil {
		return fmt.Errorf("while retrieving pod %q named in the PodCertificateRequest: %w", named, err)
	}
	account := pod.Get("spec", "serviceAccountName").Str()
	switch uid := pod.Get("metadata", "uid").Str(); {
	case uid != text("podUID"):
		return fmt.Errorf("PodCertificateRequest for pod %q contains pod UID (%q) which differs from running pod %q", named, text("podUID"), uid)
	case !q.onNode(pod):
		return q.refuse("pod %q is not running on node %q named in the PodCertificateRequest", named, q.node)
	case isMirror(pod):
		return q.refuse("pod %q is a mirror pod", named)
	case account != text("serviceAccountName"):
		return q.refuse("PodCertificateRequest for pod %q contains serviceAccountName (%q) that differs from running pod (%q)",
			named, text("serviceAccountName"), account)
	}
	stored, err := q.stored(accountsPrefix, q.Namespace, account, kschema.GroupResource{Resource: "serviceaccount"})
	if err != nil {
		return fmt.Errorf("while retrieving service account %q named in the PodCertificateRequest: %w", q.Namespace+"/"+account, err)
	}
	if uid := stored.Get("metadata", "uid").Str(); uid != text("serviceAccountUID") {
		return fmt.Errorf("PodCertificateRequest for pod %q names service account UID %q, which differs from the running service account (%q)",
			named, text("serviceAccountUID"), uid)
	}
	signer := text("signerName")
	if mountsCertificate(pod, signer) || q.may("request-serviceaccounts-podcertificate-signer", strings.ReplaceAll(signer, "/", ":"), account) {
		return nil
	}
	return q.refuse("pod %q does not mount a podCertificate projected volume for signer %q", named, signer)
}

// mountsCertificate reports whether a volume of a pod asks for a certificate of a signer.
func mountsCertificate(pod value.Value, signer string) bool {
	for v := range pod.Get("spec", "volumes").Items() {
		for source := range v.Get("projected", "sources").Items() {
			if of := source.Get("podCertificate"); isSet(of) && of.Get("signerName").Str() == signer {
				return true
			}
		}
	}
	return false
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

// certificate lets a node ask for its own certificates.
func (q *nodeRequest) certificate() error {
	spec := q.Object.Content().Get("spec")
	if signer := spec.Get("signerName").Str(); q.Operation != admission.Create || signer != servingSigner && signer != kubeletSigner {
		return nil
	}
	parsed, err := parseRequest(spec.Get("request").Str())
	switch {
	case err != nil:
		return q.refuse("unable to parse csr: %w", err)
	case parsed.Subject.CommonName != "system:node:"+q.node:
		return q.refuse("can only create a node CSR with CN=system:node:%s", q.node)
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
