package plugins

import (
	"fmt"
	"strings"

	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/server/admission/expressions"
	"github.com/deed-project/deed/value"
)

// What NodeRestriction says of tokens and certificates, for the pods of a node and for the node itself.

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
//
// An object that does not exist is a 500, as in kube-apiserver. So its error is no longer the 404 of the object.
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
		return fmt.Errorf("while retrieving node %q named in the PodCertificateRequest: %v", q.node, err)
	}
	named := q.Namespace + "/" + text("podName")
	if uid := node.Get("metadata", "uid").Str(); uid != text("nodeUID") {
		return fmt.Errorf("PodCertificateRequest for pod %q names node UID %q, inconsistent with the running node (%q)", named, text("nodeUID"), uid)
	}
	pod, err := q.storedPod(text("podName"))
	if err != nil {
		return fmt.Errorf("while retrieving pod %q named in the PodCertificateRequest: %v", named, err)
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
		return fmt.Errorf("while retrieving service account %q named in the PodCertificateRequest: %v", q.Namespace+"/"+account, err)
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
