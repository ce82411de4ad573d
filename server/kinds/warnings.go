package kinds

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/deed-project/deed/server/kinds/jobs"
	"github.com/deed-project/deed/server/kinds/pods"
	"github.com/deed-project/deed/server/kinds/walk"
	"github.com/deed-project/deed/value"
)

// Warnings: what is valid, and probably a mistake. They are answered with the object, and never refuse it. Their order is kube-apiserver's.

// Warnings returns what is not wrong with object and may not be meant: about its name, and about the pods that it is or makes. An object
// that replaces live is looked at if its generation says that it is another one; pods are so only when they are new. A write through
// another subresource than the status or the scale gives none. A write that creates an object is the same through each endpoint.
// Once ctx has ended, what it returns is of no use.
func (k Kind) Warnings(ctx context.Context, object, live value.Value, subresource string) []string {
	warn := k.warn
	if live.IsAbsent() {
		subresource = ""
	}
	switch subresource {
	case "", "scale":
	case "status":
		warn = k.warnStatus
	default:
		return nil
	}
	pods := k.pods != "" && subresource != "status" && !(walk.IsSet(live) && (k.pods == "spec" || !k.changedPods(object, live)))
	if !pods && warn == nil {
		return nil
	}
	w := walk.New(ctx)
	defer w.Free()
	out := walk.Warnings{Minor: k.Minor()}
	if pods {
		k.warnOfPods(&out, w, object, live)
	}
	if warn != nil {
		warn(&out, w.Root(object), live)
	}
	return out.Texts
}

// warnOfPods warns of the name of an object, and of the pods that it is or makes.
func (k Kind) warnOfPods(out *walk.Warnings, w *walk.Walk, object, live value.Value) {
	if name := object.Get("metadata", "name").Str(); k.named != "" && !walk.IsSet(live) && !walk.IsLabel(name) {
		out.Add("metadata.name: %s, which can result in surprising behavior; a DNS label is recommended: %v", k.named,
			validation.IsDNS1123Label(name))
	}
	// kube-apiserver looks at the object before the update here.
	if k.podsBefore && walk.IsSet(live) {
		object = live
	}
	at, owner, maker := w.Root(object), walk.Place{}, walk.Place{}
	for name := range strings.SplitSeq(k.pods, ".") {
		at, owner, maker = at.At(name), at, owner
	}
	if k.Group == "batch" {
		warnOfManyIndexes(out, maker)
	}
	pods.Warn(out, at, owner.At("metadata").At("annotations"), k.pods != "spec")
}

// warnOfManyIndexes warns of a job with more indexes than its status may be able to list.
func warnOfManyIndexes(w *walk.Warnings, job walk.Place) {
	if job.Text("completionMode") == "Indexed" && job.Get("completions").Int() > jobs.ManyIndexes && job.Get("parallelism").Int() > jobs.MostOfMany {
		w.Add("%s: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able "+
			"to track completedIndexes when a big number of indexes fail", job.Path())
	}
}

// warnOfCronJob warns of a time zone in the schedule of a CronJob that there was already.
func warnOfCronJob(w *walk.Warnings, object walk.Place, live value.Value) {
	if walk.IsSet(live) && strings.Contains(object.Get("spec", "schedule").Str(), "TZ") {
		w.Add("cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see " +
			"https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details")
	}
}

// warnOfStatefulSet warns of the claims of a StatefulSet, and of the number of its revisions. An update names claims otherwise than a create.
func warnOfStatefulSet(w *walk.Warnings, object walk.Place, live value.Value) {
	spec := object.At("spec")
	w.Each(spec.At("volumeClaimTemplates"), func(w *walk.Warnings, claim walk.Place) {
		if asked := claim.Get("spec"); walk.IsSet(live) {
			pods.WarnOfClaim(w, claim.Below(asked, "Spec", walk.IsMember))
		} else {
			pods.WarnOfClaim(w, claim.WithValue(asked))
		}
	})
	if spec.Get("revisionHistoryLimit").Int() < 0 {
		w.Add("spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended")
	}
}

// warnOfResourceSlice warns of capital letters in the name of a driver.
func warnOfResourceSlice(w *walk.Warnings, object walk.Place, _ value.Value) {
	if driver := object.Get("spec", "driver").Str(); driver != strings.ToLower(driver) {
		w.Add("spec.driver: driver names should be lowercase; %q contains uppercase characters", driver)
	}
}

// warnOfQuota warns of a new ResourceQuota that lets pods request more than their limits may be.
func warnOfQuota(w *walk.Warnings, object walk.Place, live value.Value) {
	hard := object.Get("spec", "hard")
	for _, name := range [...]string{"cpu", "memory", "storage", "ephemeral-storage"} {
		asked, limit := "requests."+name, "limits."+name
		if !walk.IsSet(hard.Get(asked)) && (name == "cpu" || name == "memory") {
			asked = name
		}
		request, most := hard.Get(asked), hard.Get(limit)
		if !walk.IsSet(live) && walk.IsSet(request) && walk.IsSet(most) && walk.Compare(request, most) > 0 {
			w.Add("ResourceQuota %s (%s) should be less than %s (%s)", asked, request.Str(), limit, most.Str())
		}
	}
}

// warnOfServiceAccount warns of an annotation that is new.
func warnOfServiceAccount(w *walk.Warnings, object walk.Place, live value.Value) {
	const name = "kubernetes.io/enforce-mountable-secrets"
	if !live.Get("metadata", "annotations", name).IsAbsent() {
		return
	}
	pods.WarnOfAnnotation(w, object.At("metadata").At("annotations"), name, "deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets")
}

// warnOfBalancer warns of addresses of a load balancer in a status. It names their place, not them.
func warnOfBalancer(w *walk.Warnings, object walk.Place, _ value.Value) {
	w.Each(object.At("status").At("loadBalancer").At("ingress"), func(w *walk.Warnings, ingress walk.Place) { pods.WarnOfIP(w, ingress.WithValue(ingress.Get("ip"))) })
}

// warnOfPodStatus warns of addresses of a pod and its node.
func warnOfPodStatus(w *walk.Warnings, object walk.Place, _ value.Value) {
	status := object.At("status")
	for _, name := range [...]string{"podIPs", "hostIPs"} {
		w.Each(status.At(name), func(w *walk.Warnings, ip walk.Place) { pods.WarnOfIP(w, ip.At("ip")) })
	}
}

// changedPods reports whether an object that makes pods may make others than live, by its generation. A DaemonSet counts the changes of its
// template.
func (k Kind) changedPods(object, live value.Value) bool {
	path := []string{"metadata", "generation"}
	if k.Name == "DaemonSet" {
		path = []string{"metadata", "annotations", templateGeneration}
	}
	return !object.Get(path...).Equal(live.Get(path...))
}

// warnOfVolume warns of a PersistentVolume.
func warnOfVolume(w *walk.Warnings, object walk.Place, _ value.Value) {
	annotations, spec := object.Get("metadata", "annotations"), object.At("spec")
	for _, old := range [...][3]string{
		{"volume.beta.kubernetes.io/storage-class", "v1.8", "storageClassName"},
		{"volume.beta.kubernetes.io/mount-options", "v1.31", "mountOptions"},
	} {
		if walk.IsSet(annotations.Get(old[0])) {
			w.Add("metadata.annotations[%s]: deprecated since %s; use %q attribute instead", old[0], old[1], old[2])
		}
	}
	if spec.Text("persistentVolumeReclaimPolicy") == "Recycle" {
		w.Add("spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use " +
			"dynamic provisioning.")
	}
	terms := spec.At("nodeAffinity").At("required").At("nodeSelectorTerms")
	for i := range terms.Indexes() {
		pods.WarnOfNodeTerm(w, terms.Index(i), false)
	}
	for _, name := range [...]string{"cephfs", "photonPersistentDisk", "scaleIO", "storageos", "glusterfs", "rbd"} {
		if walk.IsSet(spec.Get(name)) {
			pods.WarnOfRetiredSource(w, name)
		}
	}
}

// warnOfService warns of members of a Service that are ignored or deprecated.
func warnOfService(w *walk.Warnings, object walk.Place, _ value.Value) {
	at := object.At("spec")
	spec := at.Value
	external, named := spec.Get("externalIPs").Len() > 0, spec.Get("type").Str() == "ExternalName"
	headless := spec.Get("type").Str() == "ClusterIP" && spec.Get("clusterIP").Str() == "None"
	if walk.IsSet(object.Get("metadata", "annotations", "service.kubernetes.io/topology-aware-hints")) {
		w.Add("annotation service.kubernetes.io/topology-aware-hints is deprecated, please use service.kubernetes.io/topology-mode instead")
	}
	if ip := spec.Get("clusterIP").Str(); ip != "" && ip != "None" {
		w.Each(at.At("clusterIPs"), pods.WarnOfIP)
	}
	if headless {
		if spec.Get("loadBalancerIP").Str() != "" {
			w.Add("spec.loadBalancerIP is ignored for headless services")
		}
		if external {
			w.Add("spec.externalIPs is ignored for headless services")
		}
		if spec.Get("sessionAffinity").Str() != "None" {
			w.Add("spec.SessionAffinity is ignored for headless services")
		}
	}
	w.Each(at.At("externalIPs"), pods.WarnOfIP)
	if external && !headless && !named {
		w.Add("spec.externalIPs is deprecated and may no longer be implemented in some clusters")
	}
	pods.WarnOfIP(w, at.At("loadBalancerIP"))
	w.Each(at.At("loadBalancerSourceRanges"), pods.WarnOfCIDR)
	if external && named {
		w.Add("spec.externalIPs is ignored when spec.type is %q", "ExternalName")
	}
	if !named && spec.Get("externalName").Str() != "" {
		w.Add("spec.externalName is ignored when spec.type is not %q", "ExternalName")
	}
	if spec.Get("trafficDistribution").Str() == "PreferClose" {
		w.Add("spec.trafficDistribution: %q is deprecated; use %q", "PreferClose", "PreferSameZone")
	}
}

// warnOfSlice warns of a new EndpointSlice with names of domains.
func warnOfSlice(w *walk.Warnings, object walk.Place, live value.Value) {
	if !walk.IsSet(live) && object.Text("addressType") == "FQDN" {
		w.Add("spec.addressType: FQDN endpoints are deprecated")
	}
	switch object.Get("metadata", "labels", "endpointslice.kubernetes.io/managed-by").Str() {
	case "endpointslice-controller.k8s.io", "endpointslicemirroring-controller.k8s.io":
		return
	}
	endpoints := object.At("endpoints")
	for i := range endpoints.Indexes() {
		if object.Text("addressType") != "FQDN" {
			w.Each(endpoints.Index(i).At("addresses"), pods.WarnOfIP)
		}
	}
}

// warnOfEndpoints warns of addresses of Endpoints that do not come from the controller.
func warnOfEndpoints(w *walk.Warnings, object walk.Place, _ value.Value) {
	if object.Get("metadata", "labels", "endpoints.kubernetes.io/managed-by").Str() == "endpoint-controller" {
		return
	}
	w.Each(object.At("subsets"), func(w *walk.Warnings, subset walk.Place) {
		for _, name := range [...]string{"addresses", "notReadyAddresses"} {
			w.Each(subset.At(name), func(w *walk.Warnings, address walk.Place) { pods.WarnOfIP(w, address.At("ip")) })
		}
	})
}

// warnOfNetworkPolicy warns of ranges of addresses in a NetworkPolicy.
func warnOfNetworkPolicy(w *walk.Warnings, object walk.Place, _ value.Value) {
	spec := object.At("spec")
	for _, direction := range [...][2]string{{"ingress", "from"}, {"egress", "to"}} {
		w.Each(spec.At(direction[0]), func(w *walk.Warnings, rule walk.Place) {
			w.Each(rule.At(direction[1]), func(w *walk.Warnings, peer walk.Place) {
				block := peer.At("ipBlock")
				pods.WarnOfCIDR(w, block.At("cidr"))
				w.Each(block.At("except"), pods.WarnOfCIDR)
			})
		})
	}
}

// warnOfIngress warns of a new Ingress that names its class in an annotation.
func warnOfIngress(w *walk.Warnings, object walk.Place, live value.Value) {
	const name = "kubernetes.io/ingress.class"
	if !walk.IsSet(live) && !object.Get("metadata", "annotations", name).IsAbsent() && !walk.IsSet(object.Get("spec", "ingressClassName")) {
		w.Add("annotation %q is deprecated, please use 'spec.ingressClassName' instead", name)
	}
}

// warnOfClaim warns of a PersistentVolumeClaim.
func warnOfClaim(w *walk.Warnings, object walk.Place, _ value.Value) {
	pods.WarnOfAnnotation(w, object.At("metadata").At("annotations"), "volume.beta.kubernetes.io/storage-class",
		`deprecated since v1.8; use "storageClassName" attribute instead`)
	pods.WarnOfClaim(w, object.At("spec"))
}

// warnOfNode warns of members of a Node that have no effect.
func warnOfNode(w *walk.Warnings, object walk.Place, _ value.Value) {
	spec := object.At("spec")
	if walk.IsSet(spec.Get("configSource")) {
		w.Add("spec.configSource: the feature is removed")
	}
	if spec.Text("externalID") != "" {
		w.Add("spec.externalID: this field is deprecated, and is unused by Kubernetes")
	}
	w.Each(spec.At("podCIDRs"), pods.WarnOfCIDR)
}

// warnOfRuntimeClass warns of deprecated labels of nodes. The warning does not name the label.
func warnOfRuntimeClass(w *walk.Warnings, object walk.Place, _ value.Value) {
	selector := object.At("scheduling").At("nodeSelector")
	for name := range selector.Members() {
		if said := pods.DeprecatedLabels[name]; said != "" {
			w.Add("%s: %s", selector.Path(), said)
		}
	}
}

// warnOfClass warns of deprecated labels of nodes in the topologies of a StorageClass.
func warnOfClass(w *walk.Warnings, object walk.Place, _ value.Value) {
	w.Each(object.At("allowedTopologies"), func(w *walk.Warnings, term walk.Place) {
		w.Each(term.At("matchLabelExpressions"), func(w *walk.Warnings, e walk.Place) {
			if key := e.At("key"); pods.DeprecatedLabels[key.Str()] != "" {
				w.Add("%s: %s", key.Path(), pods.DeprecatedLabels[key.Str()])
			}
		})
	})
}

// warnOfCapacity warns of deprecated labels of nodes in the topology of a CSIStorageCapacity.
func warnOfCapacity(w *walk.Warnings, object walk.Place, _ value.Value) {
	topology := object.At("nodeTopology")
	pods.WarnOfNodeTerm(w, topology, false)
	matched := topology.At("matchLabels")
	for name := range matched.Members() {
		if said := pods.DeprecatedLabels[name]; said != "" {
			w.Add("%s: %s", matched.At(name).Path(), said)
		}
	}
}

// tokenSecretsSince is the minor release since which drivers may get tokens as secrets.
const tokenSecretsSince = 35

// warnOfDriver warns of a CSIDriver that gets tokens beside other attributes of volumes.
func warnOfDriver(w *walk.Warnings, object walk.Place, live value.Value) {
	requests := object.Get("spec", "tokenRequests")
	changed := !walk.IsSet(live) || !walk.Same(requests, live.Get("spec", "tokenRequests"))
	if changed && !w.Before(tokenSecretsSince) && requests.Len() > 0 && !walk.IsSet(object.Get("spec", "serviceAccountTokenInSecrets")) {
		w.Add("spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens " +
			"in volume attributes")
	}
}

// warnOfSecret warns of a certificate without its key.
func warnOfSecret(w *walk.Warnings, object walk.Place, _ value.Value) {
	if object.Text("type") != "kubernetes.io/tls" {
		return
	}
	var pair [2][]byte
	for i, name := range [...]string{"tls.crt", "tls.key"} {
		pair[i], _ = base64.StdEncoding.DecodeString(object.Get("data", name).Str()) // it was decoded before
	}
	if _, err := tls.X509KeyPair(pair[0], pair[1]); err != nil {
		w.Add("%v", err)
	}
}
