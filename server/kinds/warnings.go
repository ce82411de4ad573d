package kinds

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/deed-project/deed/value"
)

// Warnings: what is valid, and probably a mistake. They are answered with the object, and never refuse it. Their order is kube-apiserver's.

// Warnings returns what is not wrong with object and may not be meant: about its name, and about the pods that it is or makes. An object
// that replaces live is looked at if its generation says that it is another one; pods are so only when they are new. A write through
// another subresource than the status or the scale gives none.
// Once ctx has ended, what it returns is of no use.
func (k Kind) Warnings(ctx context.Context, object, live value.Value, subresource string) []string {
	warn := k.warn
	switch subresource {
	case "", "scale":
	case "status":
		warn = k.warnStatus
	default:
		return nil
	}
	pods := k.pods != "" && subresource != "status" && !(isSet(live) && (k.pods == "spec" || !k.changedPods(object, live)))
	if !pods && warn == nil {
		return nil
	}
	w := newWay(ctx)
	defer w.free()
	out := warner{}
	if pods {
		k.warnOfPods(&out, w, object, live)
	}
	if warn != nil {
		warn(&out, w.root(object), live)
	}
	return out.texts
}

// warnOfPods warns of the name of an object, and of the pods that it is or makes.
func (k Kind) warnOfPods(out *warner, w *way, object, live value.Value) {
	if name := object.Get("metadata", "name").Str(); k.named != "" && !isSet(live) && !isLabel(name) {
		out.add("metadata.name: %s, which can result in surprising behavior; a DNS label is recommended: %v", k.named,
			validation.IsDNS1123Label(name))
	}
	// kube-apiserver looks at the object before the update here.
	if k.podsBefore && isSet(live) {
		object = live
	}
	at, owner, maker := w.root(object), place{}, place{}
	for name := range strings.SplitSeq(k.pods, ".") {
		at, owner, maker = at.at(name), at, owner
	}
	if k.Group == "batch" {
		out.manyIndexes(maker)
	}
	out.pod(at, owner.at("metadata").at("annotations"), k.pods != "spec")
}

// manyIndexes warns of a job with more indexes than its status may be able to list.
func (w *warner) manyIndexes(job place) {
	if job.text("completionMode") == "Indexed" && job.Get("completions").Int() > manyIndexes && job.Get("parallelism").Int() > mostOfMany {
		w.add("%s: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able "+
			"to track completedIndexes when a big number of indexes fail", job.path())
	}
}

// warnOfCronJob warns of a time zone in the schedule of a CronJob that there was already.
func warnOfCronJob(w *warner, object place, live value.Value) {
	if isSet(live) && strings.Contains(object.Get("spec", "schedule").Str(), "TZ") {
		w.add("cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see " +
			"https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details")
	}
}

// warnOfStatefulSet warns of the claims of a StatefulSet, and of the number of its revisions. An update names claims otherwise than a create.
func warnOfStatefulSet(w *warner, object place, live value.Value) {
	spec := object.at("spec")
	w.each(spec.at("volumeClaimTemplates"), func(w *warner, claim place) {
		if asked := claim.Get("spec"); isSet(live) {
			w.claim(claim.below(asked, "Spec", isMember))
		} else {
			w.claim(claim.with(asked))
		}
	})
	if spec.Get("revisionHistoryLimit").Int() < 0 {
		w.add("spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended")
	}
}

// warnOfResourceSlice warns of capital letters in the name of a driver.
func warnOfResourceSlice(w *warner, object place, _ value.Value) {
	if driver := object.Get("spec", "driver").Str(); driver != strings.ToLower(driver) {
		w.add("spec.driver: driver names should be lowercase; %q contains uppercase characters", driver)
	}
}

// warnOfQuota warns of a new ResourceQuota that lets pods request more than their limits may be.
func warnOfQuota(w *warner, object place, live value.Value) {
	hard := object.Get("spec", "hard")
	for _, name := range [...]string{"cpu", "memory", "storage", "ephemeral-storage"} {
		asked, limit := "requests."+name, "limits."+name
		if !isSet(hard.Get(asked)) && (name == "cpu" || name == "memory") {
			asked = name
		}
		request, most := hard.Get(asked), hard.Get(limit)
		if !isSet(live) && isSet(request) && isSet(most) && compare(request, most) > 0 {
			w.add("ResourceQuota %s (%s) should be less than %s (%s)", asked, request.Str(), limit, most.Str())
		}
	}
}

// warnOfServiceAccount warns of an annotation that is new.
func warnOfServiceAccount(w *warner, object place, live value.Value) {
	const name = "kubernetes.io/enforce-mountable-secrets"
	if !live.Get("metadata", "annotations", name).IsAbsent() {
		return
	}
	w.annotation(object.at("metadata").at("annotations"), name, "deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets")
}

// warnOfBalancer warns of addresses of a load balancer in a status. It names their place, not them.
func warnOfBalancer(w *warner, object place, _ value.Value) {
	w.each(object.at("status").at("loadBalancer").at("ingress"), func(w *warner, ingress place) { w.ip(ingress.with(ingress.Get("ip"))) })
}

// warnOfPodStatus warns of addresses of a pod and its node.
func warnOfPodStatus(w *warner, object place, _ value.Value) {
	status := object.at("status")
	for _, name := range [...]string{"podIPs", "hostIPs"} {
		w.each(status.at(name), func(w *warner, ip place) { w.ip(ip.at("ip")) })
	}
}

// changedPods reports whether an object that makes pods may make others than live, by its generation. A DaemonSet counts the changes of its
// template.
func (k Kind) changedPods(object, live value.Value) bool {
	path := []string{"metadata", "generation"}
	if k.Name == "DaemonSet" {
		path = []string{"metadata", "annotations", "deprecated.daemonset.template.generation"}
	}
	return !object.Get(path...).Equal(live.Get(path...))
}

// warner collects warnings.
type warner struct{ texts []string }

// enough is how many warnings are looked for: more than an answer has room for.
const enough = 1000

// add adds a warning.
func (w *warner) add(format string, args ...any) {
	w.texts = append(w.texts, fmt.Sprintf(format, args...))
}

// retiredVolume is a member of a volume, with since when it does not work. as is its name in the warning, if that differs.
type retiredVolume struct{ member, since, as string }

// retired says since when volumes of some sorts do not work any more.
var retired = []retiredVolume{
	{"photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+", ""},
	{"gitRepo", "deprecated in v1.11, and disabled by default in v1.33+", ""},
	{"scaleIO", "deprecated in v1.16, non-functional in v1.22+", ""}, {"flocker", "deprecated in v1.22, non-functional in v1.25+", ""},
	{"storageos", "deprecated in v1.22, non-functional in v1.25+", "storageOS"}, {"quobyte", "deprecated in v1.22, non-functional in v1.25+", ""},
	{"glusterfs", "deprecated in v1.25, non-functional in v1.26+", ""}, {"cephfs", "deprecated in v1.28, non-functional in v1.31+", ""},
	{"rbd", "deprecated in v1.28, non-functional in v1.31+", ""},
}

// retired warns of a volume that does not work any more.
func (w *warner) retired(volume place) {
	for _, r := range retired {
		if v := volume.Get(r.member); isSet(v) {
			w.add("%s: %s", volume.below(v, cmp.Or(r.as, r.member), isMember).path(), r.since)
		}
	}
}

// retiredSource warns of a PersistentVolume of a sort that does not work any more.
func (w *warner) retiredSource(name string) {
	i := slices.IndexFunc(retired, func(r retiredVolume) bool { return r.member == name })
	w.add("spec.%s: %s", cmp.Or(retired[i].as, name), retired[i].since)
}

// pod warns of the spec of a pod, or of a template of pods, with its annotations.
func (w *warner) pod(spec, annotations place, template bool) {
	w.nodes(spec)
	spread := spec.at("topologySpreadConstraints")
	for i := range spread.indexes() {
		s := spread.item(i)
		if key := s.at("topologyKey"); deprecatedLabels[key.Str()] != "" {
			w.add("%s: %s is %s", key.path(), key.Str(), deprecatedLabels[key.Str()])
		}
		w.selectsNone(s)
	}
	for _, a := range podAnnotations {
		w.annotation(annotations, a[0], a[1])
	}
	volumes := spec.at("volumes")
	for i := range volumes.indexes() {
		v := volumes.item(i)
		w.retired(v)
		w.claim(v.at("ephemeral").at("volumeClaimTemplate").at("spec"))
	}
	for volume := range volumes.Items() {
		w.files(volume)
	}
	w.repeats(spec.at("hostAliases"), "ip")
	secrets := spec.at("imagePullSecrets")
	w.repeats(secrets, "name")
	for i := range secrets.indexes() {
		if secret := secrets.item(i); secret.text("name") == "" {
			w.add("%s: invalid empty name \"\"", secret.at("name").path())
		}
	}
	w.fractions(spec.at("overhead"))
	if !isSet(spec.Get("securityContext", "seccompProfile")) {
		w.annotation(annotations, "seccomp.security.alpha.kubernetes.io/pod", noSeccomp)
	}
	lists := [...]place{spec.at("initContainers"), spec.at("containers"), spec.at("ephemeralContainers")}
	for _, list := range lists {
		for i := range list.indexes() {
			c := list.item(i)
			w.profiles(annotations, c, spec, template)
			resources := c.at("resources")
			for _, name := range [...]string{"memory", "ephemeral-storage"} {
				w.fraction(resources.at("limits"), name)
				w.fraction(resources.at("requests"), name)
			}
			w.env(c.at("env"))
		}
	}
	w.ports(lists[:])
	if grace := spec.at("terminationGracePeriodSeconds"); grace.Int() < 0 {
		w.add("%s: must be >= 0; negative values are invalid and will be treated as 1", grace.path())
	}
	affinity := spec.at("affinity")
	w.affinity(affinity.at("podAffinity"))
	w.affinity(affinity.at("podAntiAffinity"))
	servers := spec.at("dnsConfig").at("nameservers")
	for i := range servers.indexes() {
		w.ip(servers.item(i))
	}
	aliases := spec.at("hostAliases")
	for i := range aliases.indexes() {
		w.ip(aliases.item(i).at("ip"))
	}
}

// claim warns of amounts of storage with parts of bytes.
func (w *warner) claim(spec place) {
	resources := spec.at("resources")
	w.fraction(resources.at("requests"), "storage")
	w.fraction(resources.at("limits"), "storage")
}

// selectsNone warns of what selects no pod because it does not say which.
func (w *warner) selectsNone(p place) {
	if selector := p.at("labelSelector"); !selector.is() {
		w.add("%s: a null labelSelector results in matching no pod", selector.path())
	}
}

// affinity warns of terms about pods.
func (w *warner) affinity(p place) {
	required, preferred := p.at("requiredDuringSchedulingIgnoredDuringExecution"), p.at("preferredDuringSchedulingIgnoredDuringExecution")
	for i := range required.indexes() {
		w.selectsNone(required.item(i))
	}
	for i := range preferred.indexes() {
		term := preferred.item(i)
		w.selectsNone(term.at("podAffinityTerm"))
	}
}

// repeats warns of items that say the same in a member.
func (w *warner) repeats(p place, member string) {
	var met names
	for i := range p.indexes() {
		item := p.item(i)
		if m := item.at(member); !met.add(m.Str()) {
			w.add("%s: duplicate %s %q", m.path(), member, m.Str())
		}
	}
}

// fractions warns of parts of bytes.
func (w *warner) fractions(p place) {
	w.fraction(p, "memory")
	w.fraction(p, "ephemeral-storage")
}

func (w *warner) fraction(p place, name string) {
	v := p.Get(name)
	if !strings.HasSuffix(v.Str(), "m") { // which has no fractions, in the form in which quantities are kept
		return
	}
	if q := quantity(v); q.MilliValue()%1000 != 0 {
		w.add("%s: fractional byte value %q is invalid, must be an integer", p.below(v, name, isKey).path(), v.Str())
	}
}

// env warns of variables that hide others, unless they are made of them.
func (w *warner) env(p place) {
	var met names
	for i := range p.indexes() {
		e := p.item(i)
		name, text := e.text("name"), e.text("value")
		if met.add(name) {
			continue
		}
		if ref := "$(" + name + ")"; isSet(e.Get("valueFrom")) || text == ref || !strings.Contains(text, ref) {
			w.add("%s: hides previous definition of %q, which may be dropped when using apply", e.path(), name)
		}
	}
}

// ports warns of ports of containers that are the same, or have one name.
func (w *warner) ports(lists []place) {
	same, named := map[string][]place{}, map[string]place{}
	each := func(visit func(port place)) {
		for _, list := range lists {
			for i := range list.indexes() {
				c := list.item(i)
				ports := c.at("ports")
				for i := range ports.indexes() {
					visit(ports.item(i))
				}
			}
		}
	}
	each(func(port place) {
		if host := port.Get("hostPort").Int(); host == 0 && port.text("hostIP") != "" {
			w.add("%s: hostIP set without hostPort: {Name:%s HostPort:%d ContainerPort:%d Protocol:%s HostIP:%s}", port.path(), port.text("name"),
				host, port.Get("containerPort").Int(), port.text("protocol"), port.text("hostIP"))
		}
		key := strconv.FormatInt(port.Get("containerPort").Int(), 10) + "/" + port.text("protocol")
		for _, other := range same[key] {
			w.twoPorts(port, other)
		}
		if len(w.texts) < enough { // otherwise there are as many pairs as ports squared
			same[key] = append(same[key], port)
		}
	})
	each(func(port place) {
		name := port.text("name")
		if other, found := named[name]; found {
			w.add("%s: duplicate port name %q with %s, services and probes that select ports by name will use %s", port.path(), name,
				other.path(), other.path())
		} else if name != "" {
			named[name] = port
		}
	})
}

// twoPorts warns of two ports of one number.
func (w *warner) twoPorts(port, other place) {
	host, otherHost := port.Get("hostPort").Int(), other.Get("hostPort").Int()
	ip, otherIP := port.text("hostIP"), other.text("hostIP")
	switch {
	case ip == otherIP && host == otherHost:
		w.add("%s: duplicate port definition with %s", port.path(), other.path())
	case host == 0 || otherHost == 0:
		w.add("%s: overlapping port definition with %s", port.path(), other.path())
	case host == otherHost && (ip == "") != (otherIP == ""):
		w.add("%s: dangerously ambiguous port definition with %s", port.path(), other.path())
	}
}

// warnOfVolume warns of a PersistentVolume.
func warnOfVolume(w *warner, object place, _ value.Value) {
	annotations, spec := object.Get("metadata", "annotations"), object.at("spec")
	for _, old := range [...][3]string{
		{"volume.beta.kubernetes.io/storage-class", "v1.8", "storageClassName"},
		{"volume.beta.kubernetes.io/mount-options", "v1.31", "mountOptions"},
	} {
		if isSet(annotations.Get(old[0])) {
			w.add("metadata.annotations[%s]: deprecated since %s; use %q attribute instead", old[0], old[1], old[2])
		}
	}
	if spec.text("persistentVolumeReclaimPolicy") == "Recycle" {
		w.add("spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use " +
			"dynamic provisioning.")
	}
	terms := spec.at("nodeAffinity").at("required").at("nodeSelectorTerms")
	for i := range terms.indexes() {
		w.nodeTerm(terms.item(i), false)
	}
	for _, name := range [...]string{"cephfs", "photonPersistentDisk", "scaleIO", "storageos", "glusterfs", "rbd"} {
		if isSet(spec.Get(name)) {
			w.retiredSource(name)
		}
	}
}

// warnOfService warns of members of a Service that are ignored or deprecated.
func warnOfService(w *warner, object place, _ value.Value) {
	at := object.at("spec")
	spec := at.Value
	external, named := spec.Get("externalIPs").Len() > 0, spec.Get("type").Str() == "ExternalName"
	headless := spec.Get("type").Str() == "ClusterIP" && spec.Get("clusterIP").Str() == "None"
	if isSet(object.Get("metadata", "annotations", "service.kubernetes.io/topology-aware-hints")) {
		w.add("annotation service.kubernetes.io/topology-aware-hints is deprecated, please use service.kubernetes.io/topology-mode instead")
	}
	if ip := spec.Get("clusterIP").Str(); ip != "" && ip != "None" {
		w.each(at.at("clusterIPs"), (*warner).ip)
	}
	if headless {
		if spec.Get("loadBalancerIP").Str() != "" {
			w.add("spec.loadBalancerIP is ignored for headless services")
		}
		if external {
			w.add("spec.externalIPs is ignored for headless services")
		}
		if spec.Get("sessionAffinity").Str() != "None" {
			w.add("spec.SessionAffinity is ignored for headless services")
		}
	}
	w.each(at.at("externalIPs"), (*warner).ip)
	if external && !headless && !named {
		w.add("spec.externalIPs is deprecated and may no longer be implemented in some clusters")
	}
	w.ip(at.at("loadBalancerIP"))
	w.each(at.at("loadBalancerSourceRanges"), (*warner).cidr)
	if external && named {
		w.add("spec.externalIPs is ignored when spec.type is %q", "ExternalName")
	}
	if !named && spec.Get("externalName").Str() != "" {
		w.add("spec.externalName is ignored when spec.type is not %q", "ExternalName")
	}
	if spec.Get("trafficDistribution").Str() == "PreferClose" {
		w.add("spec.trafficDistribution: %q is deprecated; use %q", "PreferClose", "PreferSameZone")
	}
}

// warnOfSlice warns of a new EndpointSlice with names of domains.
func warnOfSlice(w *warner, object place, live value.Value) {
	if !isSet(live) && object.text("addressType") == "FQDN" {
		w.add("spec.addressType: FQDN endpoints are deprecated")
	}
	switch object.Get("metadata", "labels", "endpointslice.kubernetes.io/managed-by").Str() {
	case "endpointslice-controller.k8s.io", "endpointslicemirroring-controller.k8s.io":
		return
	}
	endpoints := object.at("endpoints")
	for i := range endpoints.indexes() {
		if object.text("addressType") != "FQDN" {
			w.each(endpoints.item(i).at("addresses"), (*warner).ip)
		}
	}
}

// each warns of each item of a list.
func (w *warner) each(list place, warn func(w *warner, item place)) {
	for i := range list.indexes() {
		warn(w, list.item(i))
	}
}

// warnOfEndpoints warns of addresses of Endpoints that do not come from the controller.
func warnOfEndpoints(w *warner, object place, _ value.Value) {
	if object.Get("metadata", "labels", "endpoints.kubernetes.io/managed-by").Str() == "endpoint-controller" {
		return
	}
	w.each(object.at("subsets"), func(w *warner, subset place) {
		for _, name := range [...]string{"addresses", "notReadyAddresses"} {
			w.each(subset.at(name), func(w *warner, address place) { w.ip(address.at("ip")) })
		}
	})
}

// warnOfNetworkPolicy warns of ranges of addresses in a NetworkPolicy.
func warnOfNetworkPolicy(w *warner, object place, _ value.Value) {
	spec := object.at("spec")
	for _, direction := range [...][2]string{{"ingress", "from"}, {"egress", "to"}} {
		w.each(spec.at(direction[0]), func(w *warner, rule place) {
			w.each(rule.at(direction[1]), func(w *warner, peer place) {
				block := peer.at("ipBlock")
				w.cidr(block.at("cidr"))
				w.each(block.at("except"), (*warner).cidr)
			})
		})
	}
}

// warnOfIngress warns of a new Ingress that names its class in an annotation.
func warnOfIngress(w *warner, object place, live value.Value) {
	const name = "kubernetes.io/ingress.class"
	if !isSet(live) && !object.Get("metadata", "annotations", name).IsAbsent() && !isSet(object.Get("spec", "ingressClassName")) {
		w.add("annotation %q is deprecated, please use 'spec.ingressClassName' instead", name)
	}
}

// warnOfClaim warns of a PersistentVolumeClaim.
func warnOfClaim(w *warner, object place, _ value.Value) {
	w.annotation(object.at("metadata").at("annotations"), "volume.beta.kubernetes.io/storage-class",
		`deprecated since v1.8; use "storageClassName" attribute instead`)
	w.claim(object.at("spec"))
}

// warnOfNode warns of members of a Node that have no effect.
func warnOfNode(w *warner, object place, _ value.Value) {
	spec := object.at("spec")
	if isSet(spec.Get("configSource")) {
		w.add("spec.configSource: the feature is removed")
	}
	if spec.text("externalID") != "" {
		w.add("spec.externalID: this field is deprecated, and is unused by Kubernetes")
	}
	w.each(spec.at("podCIDRs"), (*warner).cidr)
}

// warnOfRuntimeClass warns of deprecated labels of nodes. The warning does not name the label.
func warnOfRuntimeClass(w *warner, object place, _ value.Value) {
	selector := object.at("scheduling").at("nodeSelector")
	for name := range selector.Members() {
		if said := deprecatedLabels[name]; said != "" {
			w.add("%s: %s", selector.path(), said)
		}
	}
}

// warnOfClass warns of deprecated labels of nodes in the topologies of a StorageClass.
func warnOfClass(w *warner, object place, _ value.Value) {
	w.each(object.at("allowedTopologies"), func(w *warner, term place) {
		w.each(term.at("matchLabelExpressions"), func(w *warner, e place) {
			if key := e.at("key"); deprecatedLabels[key.Str()] != "" {
				w.add("%s: %s", key.path(), deprecatedLabels[key.Str()])
			}
		})
	})
}

// warnOfCapacity warns of deprecated labels of nodes in the topology of a CSIStorageCapacity.
func warnOfCapacity(w *warner, object place, _ value.Value) {
	topology := object.at("nodeTopology")
	w.nodeTerm(topology, false)
	matched := topology.at("matchLabels")
	for name := range matched.Members() {
		if said := deprecatedLabels[name]; said != "" {
			w.add("%s: %s", matched.at(name).path(), said)
		}
	}
}

// warnOfDriver warns of a CSIDriver that gets tokens beside other attributes of volumes.
func warnOfDriver(w *warner, object place, live value.Value) {
	requests := object.Get("spec", "tokenRequests")
	changed := !isSet(live) || !same(requests, live.Get("spec", "tokenRequests"))
	if changed && requests.Len() > 0 && !isSet(object.Get("spec", "serviceAccountTokenInSecrets")) {
		w.add("spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens " +
			"in volume attributes")
	}
}

// warnOfSecret warns of a certificate without its key.
func warnOfSecret(w *warner, object place, _ value.Value) {
	if object.text("type") != "kubernetes.io/tls" {
		return
	}
	var pair [2][]byte
	for i, name := range [...]string{"tls.crt", "tls.key"} {
		pair[i], _ = base64.StdEncoding.DecodeString(object.Get("data", name).Str()) // it was decoded before
	}
	if _, err := tls.X509KeyPair(pair[0], pair[1]); err != nil {
		w.add("%v", err)
	}
}
