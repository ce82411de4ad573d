package plugins

import (
	"fmt"
	"slices"

	"github.com/deed-project/deed/value"
)

// What NodeRestriction says of new pods: a kubelet may create a pod that mirrors one of its own and uses no other objects.

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
	for c := range containersOf(spec) {
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
