package server_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/deed-project/deed/server/internal/servertest"
)

// TestRandomNodes compares the requests of a transcript with those that its seed makes: random pods and volumes, and what nodes may do with
// them and with the objects they use. See checkRandom.
func TestRandomNodes(t *testing.T) {
	checkRandom(t, "testdata/transcripts/rbac_nodes_random.txt", randomNodes(rand.New(rand.NewPCG(36, 1))))
}

// Parts of random pods, volumes and requests of nodes. Few of each, so that many requests are about objects that a node uses.
var (
	nodeNames      = []string{"n0", "n1", "n2"}
	nodeNamespaces = []string{"default", "kube-public"}
	nodeUsed       = []string{"a", "b", "c", "d"} // names of secrets, configmaps, accounts and claims
	nodePods       = []string{"p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7"}
	nodeVolumes    = []string{"v0", "v1", "v2", "v3", "v4"}
)

// nodeMaker makes random pods and volumes, and requests of nodes.
type nodeMaker struct{ accessMaker }

// randomNodes returns the blocks of a transcript: objects, a pause, requests, changes of the objects, another pause, and more requests.
func randomNodes(r *rand.Rand) []string {
	m := nodeMaker{accessMaker{r}}
	blocks := []string{"WITH NodeRestriction", "# Random pods and volumes, and requests of nodes about them: see TestRandomNodes."}
	post := func(path string, object map[string]any) {
		blocks = append(blocks, "POST "+path+servertest.JSON+"\n< "+text(object))
	}
	for _, name := range nodeNames[:2] { // the last node does not exist yet
		post("/api/v1/nodes", m.node(name))
	}
	for _, name := range nodePods[:6] {
		namespace := m.pick(nodeNamespaces)
		post("/api/v1/namespaces/"+namespace+"/pods", m.pod(name))
		if m.IntN(2) == 0 {
			blocks = append(blocks, "PATCH /api/v1/namespaces/"+namespace+"/pods/"+name+"/status Content-Type=application/merge-patch+json\n< "+text(m.claimed()))
		}
	}
	for _, name := range nodeUsed[:2] {
		for _, namespace := range nodeNamespaces {
			post("/api/v1/namespaces/"+namespace+"/serviceaccounts", map[string]any{"metadata": map[string]any{"name": name}})
			post("/api/v1/namespaces/"+namespace+"/persistentvolumeclaims", named(name, "spec", map[string]any{
				"accessModes": []any{"ReadWriteOnce"}, "resources": map[string]any{"requests": map[string]any{"storage": "1"}},
			}))
		}
	}
	for _, name := range nodeVolumes {
		post("/api/v1/persistentvolumes", m.volume(name))
	}
	for _, name := range nodeUsed[:3] {
		post("/apis/storage.k8s.io/v1/volumeattachments", named(name, "spec", map[string]any{
			"attacher": "a.example.org", "nodeName": m.pick(nodeNames), "source": map[string]any{"persistentVolumeName": m.pick(nodeVolumes)},
		}))
		post("/apis/resource.k8s.io/v1/resourceslices", m.slice(name))
	}
	for range 2 {
		blocks = append(blocks, "SLEEP 2s")
		for range 200 {
			blocks = append(blocks, "POST /apis/authorization.k8s.io/v1/subjectaccessreviews"+servertest.JSON+"\n< "+text(m.review()))
		}
		for range 120 {
			blocks = append(blocks, m.request()...)
		}
		for _, name := range nodePods {
			if m.IntN(2) == 0 {
				namespace := m.pick(nodeNamespaces)
				blocks = append(blocks, "DELETE /api/v1/namespaces/"+namespace+"/pods/"+name+"?gracePeriodSeconds=0")
				post("/api/v1/namespaces/"+namespace+"/pods", m.pod(name))
			}
			claim := map[string]any{"spec": map[string]any{"claimRef": m.claimRef()}}
			blocks = append(blocks, "PATCH /api/v1/persistentvolumes/"+m.pick(nodeVolumes)+" Content-Type=application/merge-patch+json\n< "+text(claim))
		}
	}
	return blocks
}

func (m nodeMaker) node(name string) map[string]any {
	metadata := map[string]any{"name": name}
	if m.IntN(2) == 0 {
		metadata["labels"] = map[string]any{m.label(): "x"}
	}
	spec := map[string]any{}
	if m.IntN(4) == 0 {
		spec["taints"] = []any{map[string]any{"key": "a", "effect": "NoSchedule"}}
	}
	return map[string]any{"metadata": metadata, "spec": spec}
}

// label returns the name of a label, which a node may set on its Node or not.
func (m nodeMaker) label() string {
	return m.pick([]string{
		"a", "example.org/a", "node-restriction.kubernetes.io/a", "x.node-restriction.kubernetes.io/a", "kubernetes.io/hostname", "kubernetes.io/arch",
		"kubernetes.io/a", "k8s.io/a", "x.k8s.io/a", "kubelet.kubernetes.io/a", "x.node.kubernetes.io/a", "topology.kubernetes.io/zone",
		"topology.kubernetes.io/a", "notkubernetes.io/a", "node-role.kubernetes.io/a", "failure-domain.beta.kubernetes.io/zone",
	})
}

// pod returns a pod that uses a few objects. In a few cases it is on no node, or mirrors a pod of a node.
func (m nodeMaker) pod(name string) map[string]any {
	metadata, spec := map[string]any{"name": name}, map[string]any{}
	container := map[string]any{"name": "c", "image": "i"}
	var volumes []any
	if m.IntN(5) == 0 {
		metadata["annotations"] = map[string]any{"kubernetes.io/config.mirror": "x"}
	}
	if m.IntN(6) > 0 {
		spec["nodeName"] = m.pick(nodeNames)
	}
	of := func(name string) map[string]any { return map[string]any{"name": name} }
	for n := range m.IntN(4) {
		used := m.pick(nodeUsed)
		volume := func(kind string, source any) {
			volumes = append(volumes, map[string]any{"name": fmt.Sprint("w", n), kind: source})
		}
		switch m.IntN(16) {
		case 0:
			container["env"] = []any{map[string]any{"name": "E", "valueFrom": map[string]any{"secretKeyRef": map[string]any{"name": used, "key": "k"}}}}
		case 1:
			container["env"] = []any{map[string]any{"name": "E", "valueFrom": map[string]any{"configMapKeyRef": map[string]any{"name": used, "key": "k"}}}}
		case 2:
			container["envFrom"] = []any{map[string]any{m.pick([]string{"secretRef", "configMapRef"}): of(used)}}
		case 3:
			spec["imagePullSecrets"] = []any{of(used)}
		case 4:
			spec["initContainers"] = []any{map[string]any{"name": "i", "image": "i", "envFrom": []any{map[string]any{"secretRef": of(used)}}}}
		case 5:
			volume("secret", map[string]any{"secretName": used})
		case 6:
			volume("configMap", of(used))
		case 7, 8:
			volume("persistentVolumeClaim", map[string]any{"claimName": used})
		case 9:
			volume("projected", map[string]any{"sources": []any{map[string]any{"secret": of(used)}, map[string]any{"configMap": of(m.pick(nodeUsed))}}})
		case 10:
			volume("ephemeral", map[string]any{"volumeClaimTemplate": map[string]any{"spec": map[string]any{
				"accessModes": []any{"ReadWriteOnce"}, "resources": map[string]any{"requests": map[string]any{"storage": "1"}},
			}}})
		case 11:
			volume("csi", map[string]any{"driver": "d.example.org", "nodePublishSecretRef": of(used)})
		case 12:
			volume("rbd", map[string]any{"monitors": []any{"m"}, "image": "i", "secretRef": of(used)})
		case 13:
			volume("azureFile", map[string]any{"secretName": used, "shareName": "s"})
		case 14:
			spec["resourceClaims"] = []any{map[string]any{"name": "r", m.pick([]string{"resourceClaimName", "resourceClaimTemplateName"}): used}}
		case 15:
			audience := map[string]any{"path": "t", "audience": m.pick([]string{"a.example.org", "b.example.org"})}
			volume("projected", map[string]any{"sources": []any{map[string]any{"serviceAccountToken": audience}}})
		}
	}
	if m.IntN(2) == 0 {
		spec["serviceAccountName"] = m.pick(nodeUsed)
	}
	if volumes != nil {
		spec["volumes"] = volumes
	}
	spec["containers"] = []any{container}
	return map[string]any{"metadata": metadata, "spec": spec}
}

// claimed returns a change of the status of a pod: its claims of devices.
func (m nodeMaker) claimed() map[string]any {
	return map[string]any{"status": map[string]any{"resourceClaimStatuses": []any{map[string]any{"name": "r", "resourceClaimName": m.pick(nodeUsed)}}}}
}

func (m nodeMaker) claimRef() any {
	if m.IntN(4) == 0 {
		return nil
	}
	return map[string]any{"namespace": m.pick(nodeNamespaces), "name": m.pick(append(slices.Clone(nodeUsed), "p0-w0", "p1-w1"))}
}

// volume returns a volume that uses a secret, in a few cases of another namespace.
func (m nodeMaker) volume(name string) map[string]any {
	spec := map[string]any{"capacity": map[string]any{"storage": "1"}, "accessModes": []any{"ReadWriteOnce"}}
	if ref := m.claimRef(); ref != nil {
		spec["claimRef"] = ref
	}
	secret := map[string]any{"name": m.pick(nodeUsed)}
	if m.IntN(2) == 0 {
		secret["namespace"] = m.pick(nodeNamespaces)
	}
	switch m.IntN(6) {
	case 0:
		file := map[string]any{"secretName": secret["name"], "shareName": "s"}
		if in := secret["namespace"]; in != nil {
			file["secretNamespace"] = in
		}
		spec["azureFile"] = file
	case 1:
		spec["rbd"] = map[string]any{"monitors": []any{"m"}, "image": "i", "secretRef": secret}
	case 2:
		spec["flexVolume"] = map[string]any{"driver": "d/d", "secretRef": secret}
	case 3:
		spec["iscsi"] = map[string]any{"targetPortal": "1.2.3.4", "iqn": "iqn.2001-04.com.example:a", "lun": 0, "secretRef": secret}
	default:
		secret["namespace"] = m.pick(nodeNamespaces)
		of := m.pick([]string{"nodePublishSecretRef", "nodeStageSecretRef", "nodeExpandSecretRef", "controllerPublishSecretRef"})
		spec["csi"] = map[string]any{"driver": "d.example.org", "volumeHandle": name, of: secret}
	}
	return named(name, "spec", spec)
}

func (m nodeMaker) slice(name string) map[string]any {
	spec := map[string]any{"driver": "d.example.org", "pool": map[string]any{"name": name, "generation": 1, "resourceSliceCount": 1}, "devices": []any{}}
	if m.IntN(5) > 0 {
		spec["nodeName"] = m.pick(nodeNames)
	} else {
		spec["allNodes"] = true
	}
	return named(name, "spec", spec)
}

// review returns a SubjectAccessReview about a node.
func (m nodeMaker) review() map[string]any {
	spec := map[string]any{"user": "system:node:" + m.pick(nodeNames), "groups": []any{"system:nodes"}}
	if m.IntN(20) == 0 {
		delete(spec, "groups")
	}
	of := map[string]any{"verb": m.pick([]string{"get", "get", "get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "*"})}
	name := m.pick(nodeUsed)
	resource := m.pick([]string{
		"secrets", "secrets", "secrets", "configmaps", "configmaps", "persistentvolumeclaims", "persistentvolumeclaims", "persistentvolumes",
		"serviceaccounts", "pods", "pods", "nodes", "services", "events", "resource.k8s.io/resourceclaims", "resource.k8s.io/resourceslices",
		"storage.k8s.io/volumeattachments", "storage.k8s.io/csinodes", "storage.k8s.io/csidrivers", "coordination.k8s.io/leases",
		"certificates.k8s.io/podcertificaterequests", "certificates.k8s.io/certificatesigningrequests", "certificates.k8s.io/clustertrustbundles",
	})
	if group, plural, is := strings.Cut(resource, "/"); is {
		of["group"], resource = group, plural
	}
	switch of["resource"] = resource; resource {
	case "pods":
		name = m.pick(nodePods)
	case "persistentvolumes":
		name = m.pick(nodeVolumes)
	case "nodes", "csinodes", "leases":
		name = m.pick(nodeNames)
	}
	if m.IntN(8) > 0 {
		of["name"] = name
	}
	if m.IntN(8) > 0 {
		of["namespace"] = m.pick(nodeNamespaces)
	}
	if resource == "leases" && m.IntN(3) > 0 {
		of["namespace"] = "kube-node-lease"
	}
	if m.IntN(6) == 0 {
		of["subresource"] = m.pick([]string{"status", "token", "eviction", "log", "x"})
	}
	if m.IntN(4) == 0 {
		of["fieldSelector"] = map[string]any{"requirements": []any{map[string]any{
			"key": m.pick([]string{"spec.nodeName", "spec.nodeName", "metadata.name"}), "operator": m.pick([]string{"In", "In", "In", "NotIn", "Exists"}),
			"values": []any{m.pick(nodeNames)},
		}}}
		if at := of["fieldSelector"].(map[string]any)["requirements"].([]any)[0].(map[string]any); at["operator"] == "Exists" {
			delete(at, "values")
		}
	}
	spec["resourceAttributes"] = of
	return map[string]any{"spec": spec}
}

// request returns the blocks of a request of a node.
func (m nodeMaker) request() []string {
	node := m.pick(nodeNames)
	as := " Impersonate-User=system:node:" + node + " Impersonate-Group=system:nodes"
	with := func(method, path, contentType string, body any) []string {
		return []string{method + " " + path + as + " Content-Type=application/" + contentType + "\n< " + text(body)}
	}
	create := func(path string, body any) []string { return with("POST", path, "json", body) }
	patch := func(path string, body any) []string { return with("PATCH", path, "merge-patch+json", body) }
	namespaced := "/api/v1/namespaces/" + m.pick(nodeNamespaces) + "/"
	pod := namespaced + "pods/" + m.pick(nodePods)
	other := node
	if m.IntN(4) == 0 {
		other = m.pick(nodeNames)
	}
	switch m.IntN(17) {
	case 0:
		return []string{"GET " + namespaced + m.pick([]string{"secrets", "configmaps", "serviceaccounts", "persistentvolumeclaims"}) + "/" + m.pick(nodeUsed) + as}
	case 1:
		return []string{"GET " + m.pick([]string{"/api/v1/pods", namespaced + "pods", "/apis/resource.k8s.io/v1/resourceslices"}) +
			m.pick([]string{"", "?fieldSelector=spec.nodeName%3D" + other, "?fieldSelector=spec.nodeName!%3D" + other, "?labelSelector=a"}) + as}
	case 2:
		return []string{"GET " + pod + as}
	case 3:
		return create("/api/v1/nodes", m.node(other))
	case 4:
		change := map[string]any{"metadata": map[string]any{"labels": map[string]any{m.label(): m.pick([]string{"x", "y"}), m.label(): nil}}}
		switch m.IntN(4) {
		case 0:
			change = map[string]any{"spec": map[string]any{"taints": m.node(other)["spec"].(map[string]any)["taints"]}}
		case 1:
			change = map[string]any{"metadata": map[string]any{"ownerReferences": []any{map[string]any{"apiVersion": "v1", "kind": "Node", "name": other, "uid": "u"}}}}
		}
		return patch("/api/v1/nodes/"+other+m.pick([]string{"", "/status"}), change)
	case 5, 6:
		change := m.claimed()
		switch m.IntN(4) {
		case 0:
			change = map[string]any{"metadata": map[string]any{"labels": map[string]any{"a": m.pick(nodeUsed)}}}
		case 1, 2:
			change = map[string]any{"status": map[string]any{"phase": m.pick([]string{"Running", "Failed"}), "message": m.pick(nodeUsed)}}
		}
		return patch(pod+m.pick([]string{"/status", "/status", "/status", ""}), change)
	case 7:
		return []string{"DELETE " + pod + m.pick([]string{"", "?gracePeriodSeconds=0", "?dryRun=All"}) + as, "SLEEP 300ms"}
	case 8:
		return append(create(pod+"/eviction", map[string]any{"metadata": map[string]any{"name": pod[strings.LastIndex(pod, "/")+1:]}}), "SLEEP 300ms")
	case 9:
		mirror := m.pod(m.pick(nodePods))
		metadata := mirror["metadata"].(map[string]any)
		metadata["annotations"] = map[string]any{"kubernetes.io/config.mirror": "x"}
		if m.IntN(3) > 0 {
			metadata["ownerReferences"] = []any{map[string]any{"apiVersion": "v1", "kind": "Node", "name": other, "uid": "u", "controller": true}}
		}
		if m.IntN(2) == 0 {
			mirror["spec"] = map[string]any{"nodeName": other, "containers": []any{map[string]any{"name": "c", "image": "i"}}}
		}
		return append(create(namespaced+"pods", mirror), "SLEEP 300ms")
	case 10:
		spec := map[string]any{"audiences": []any{m.pick([]string{"a.example.org", "b.example.org", "https://kubernetes.default.svc"})}}
		if m.IntN(5) > 0 {
			spec["boundObjectRef"] = map[string]any{"apiVersion": "v1", "kind": m.pick([]string{"Pod", "Pod", "Pod", "Secret"}), "name": m.pick(nodePods), "uid": "u"}
		}
		return create(namespaced+"serviceaccounts/"+m.pick(nodeUsed)+"/token", map[string]any{"spec": spec})
	case 11:
		in := m.pick([]string{"kube-node-lease", "kube-node-lease", "default"})
		return create("/apis/coordination.k8s.io/v1/namespaces/"+in+"/leases", named(other, "spec", map[string]any{"holderIdentity": other}))
	case 12:
		lease := "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/" + other
		if m.IntN(3) == 0 {
			return []string{m.pick([]string{"GET ", "DELETE "}) + lease + as}
		}
		return patch(lease, map[string]any{"spec": map[string]any{"renewTime": "2026-01-01T00:00:00.000000Z"}})
	case 13:
		driver := map[string]any{"name": "d.example.org", "nodeID": m.pick(nodeUsed), "topologyKeys": []any{}}
		if m.IntN(2) == 0 {
			return create("/apis/storage.k8s.io/v1/csinodes", named(other, "spec", map[string]any{"drivers": []any{driver}}))
		}
		return patch("/apis/storage.k8s.io/v1/csinodes/"+other, map[string]any{"metadata": map[string]any{"annotations": map[string]any{"a": m.pick(nodeUsed)}}})
	case 14:
		return create("/apis/resource.k8s.io/v1/resourceslices", m.slice(m.pick(nodeUsed)))
	case 15:
		return []string{"DELETE /apis/resource.k8s.io/v1/resourceslices" +
			m.pick([]string{"/a", "/b", "/c", "?dryRun=All&fieldSelector=spec.nodeName%3D" + other, ""}) + as}
	}
	change := map[string]any{"status": map[string]any{"capacity": map[string]any{"storage": m.pick([]string{"1", "2"})}}}
	if m.IntN(2) == 0 {
		change = map[string]any{"status": map[string]any{"phase": m.pick([]string{"Bound", "Lost"})}}
	}
	return patch(namespaced+"persistentvolumeclaims/"+m.pick(nodeUsed)+m.pick([]string{"/status", "/status", ""}), change)
}
