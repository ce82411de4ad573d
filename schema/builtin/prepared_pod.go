package builtin

import (
	"slices"
	"strings"
	"time"

	"github.com/deed-project/deed/schema/form"
	"github.com/deed-project/deed/value"
)

// preparedPod makes a new pod pending, and keeps fields that old clients drop. ephemeralcontainers and resize write only their parts.
func preparedPod(k *Kind, subresource string, live, pod value.Value) value.Value {
	if live.IsAbsent() {
		pod = withAppArmor(withLabelKeys(k.preparePodResources(pod)))
		status := object(member("phase", value.String("Pending")), member("qosClass", value.String(k.newServiceClass(pod))))
		if pod.Get("spec", "schedulingGates").Len() > 0 {
			now := value.String(k.clock()().UTC().Format(time.RFC3339))
			status = status.With("conditions", value.List(gated.With("lastTransitionTime", now)))
		}
		return pod.With("status", status)
	}
	switch subresource {
	case "status":
		status := pod.Get("status")
		if k.Minor() >= minorOf("v1.32") {
			status = keepMissing(status, live.Get("status"), "qosClass")
		}
		status = keepMissing(status, live.Get("status"), "observedGeneration", "resourceClaimStatuses", "extendedResourceClaimStatus",
			"nodeAllocatableResourceClaimStatuses")
		return pod.With("status", keepObserved(status, live.Get("status")))
	case "ephemeralcontainers":
		return onlySpec(live, pod, live.Get("spec").With("ephemeralContainers", pod.Get("spec", "ephemeralContainers")))
	case "resize":
		return k.resizedPod(live, pod)
	}
	if k.Minor() < minorOf(podResourcesSince) {
		return pod
	}
	return pod.With("spec", keepMissing(pod.Get("spec"), live.Get("spec"), "resources"))
}

// serviceClassSince is the first release in which a server computes the class of each new pod. Earlier releases keep the class that the
// client sent. In them, empty resources of the pod override those of its containers.
const serviceClassSince = "v1.37"

// newServiceClass returns the class of a new pod.
func (k *Kind) newServiceClass(pod value.Value) string {
	sent, resources := pod.Get("status", "qosClass").Str(), pod.Get("spec", "resources")
	switch {
	case sent != "" && k.keepsServiceClass():
		return sent
	case !isNothing(resources) && k.Minor() < minorOf(serviceClassSince):
		return resourcesClass(resources)
	}
	return ServiceClass(pod)
}

// keepsServiceClass reports whether a new object keeps status.qosClass.
func (k *Kind) keepsServiceClass() bool {
	return k.GVK.Kind == "Pod" && k.release != nil && !k.release.emulated && k.Minor() < minorOf(serviceClassSince)
}

// gated is the condition of a new pod with scheduling gates, without its time.
var gated = object(
	member("type", value.String("PodScheduled")), member("status", value.String("False")),
	member("lastProbeTime", value.Null()),
	member("reason", value.String("SchedulingGated")),
	member("message", value.String("Scheduling is blocked due to non-empty scheduling gates")),
)

// withLabelKeys adds requirements to the affinity and spread constraints of a new pod. They select the pod's own values of the labels that
// the constraints name.
func withLabelKeys(pod value.Value) value.Value {
	labels := pod.Get("metadata", "labels")
	constraint := func(c value.Value) value.Value {
		return selecting(c, labels, "matchLabelKeys", "In")
	}
	term := func(t value.Value) value.Value {
		return selecting(selecting(t, labels, "matchLabelKeys", "In"), labels, "mismatchLabelKeys", "NotIn")
	}
	pod = eachItem(pod, constraint, "spec", "topologySpreadConstraints")
	for _, affinity := range []string{"podAffinity", "podAntiAffinity"} {
		pod = eachItem(pod, term, "spec", "affinity", affinity, "requiredDuringSchedulingIgnoredDuringExecution")
		pod = eachItem(pod, func(weighted value.Value) value.Value { return within(weighted, term, "podAffinityTerm") },
			"spec", "affinity", affinity, "preferredDuringSchedulingIgnoredDuringExecution")
	}
	return pod
}

// selecting adds a requirement to the selector of an affinity term or a constraint, for each label in the list keys. A nil selector matches
// nothing and stays.
func selecting(of, labels value.Value, keys, operator string) value.Value {
	selector := of.Get("labelSelector")
	if isNothing(selector) {
		return of
	}
	requirements := slices.Collect(selector.Get("matchExpressions").Items())
	had := len(requirements)
	for key := range of.Get(keys).Items() {
		if label := labels.Get(key.Str()); !label.IsAbsent() {
			requirements = append(requirements, object(
				member("key", key), member("operator", value.String(operator)), member("values", value.List(label))))
		}
	}
	if len(requirements) == had {
		return of
	}
	return of.With("labelSelector", selector.With("matchExpressions", value.List(requirements...)))
}

// initAnnotations held the init containers of pods before the field for them existed.
var initAnnotations = [...]string{
	"pod.alpha.kubernetes.io/init-containers", "pod.beta.kubernetes.io/init-containers",
	"pod.alpha.kubernetes.io/init-container-statuses", "pod.beta.kubernetes.io/init-container-statuses",
}

// withoutInitAnnotations returns object without the initAnnotations of its pod or template. No release reads them any more.
func (k *Kind) withoutInitAnnotations(object value.Value) value.Value {
	spec := k.podSpec()
	if spec == nil {
		return object
	}
	at := spec[:len(spec)-1]
	pod := object.Get(at...)
	annotations := pod.Get("metadata", "annotations")
	for _, name := range initAnnotations {
		if !annotations.Get(name).IsAbsent() {
			pod = annotated(pod, name, "")
			object = withAt(object, at, pod)
		}
	}
	return object
}

const appArmorAnnotation = "container.apparmor.security.beta.kubernetes.io/"

// withAppArmor sets the profiles of containers of a new pod from old annotations. It skips a container that has a profile. It also skips a
// profile that the pod has already.
func withAppArmor(pod value.Value) value.Value {
	annotations := pod.Get("metadata", "annotations")
	if annotations.Len() == 0 || pod.Get("spec", "os", "name").Str() == "windows" {
		return pod
	}
	const field = "appArmorProfile"
	for _, list := range []string{"containers", "initContainers", "ephemeralContainers"} {
		pod = eachItem(pod, func(container value.Value) value.Value {
			profile := appArmorProfile(annotations.Get(appArmorAnnotation + container.Get("name").Str()))
			context := container.Get("securityContext")
			if profile.IsAbsent() || !isNothing(context.Get(field)) || profile.Equal(pod.Get("spec", "securityContext", field)) {
				return container
			}
			if isNothing(context) {
				context = object()
			}
			return container.With("securityContext", context.With(field, profile))
		}, "spec", list)
	}
	return pod
}

// appArmorProfile returns the profile that an annotation names; absent if it names none.
func appArmorProfile(annotation value.Value) value.Value {
	local, isLocal := strings.CutPrefix(annotation.Str(), "localhost/")
	switch {
	case annotation.Str() == "unconfined":
		return object(member("type", value.String("Unconfined")))
	case annotation.Str() == "runtime/default":
		return object(member("type", value.String("RuntimeDefault")))
	case isLocal && local != "" && local == strings.TrimSpace(local) && len(local) <= 4095:
		return object(member("type", value.String("Localhost")), member("localhostProfile", value.String(local)))
	}
	return value.Value{}
}

// keepObserved returns status with the observedGeneration of former for each condition without one.
func keepObserved(status, former value.Value) value.Value {
	had := map[string][]value.Value{}
	for c := range former.Get("conditions").Items() {
		typ := c.Get("type").Str()
		had[typ] = append(had[typ], c)
	}
	return eachItem(status, func(c value.Value) value.Value {
		typ := c.Get("type").Str()
		if len(had[typ]) == 0 {
			return c
		}
		first := had[typ][0]
		had[typ] = had[typ][1:]
		return keepMissing(c, first, "observedGeneration")
	}, "conditions")
}

// onlySpec returns live with spec and the metadata of pod. keepPodMetadata restores the metadata that the subresource does not write.
func onlySpec(live, pod, spec value.Value) value.Value {
	return live.With("metadata", keepPodMetadata(live, pod).Get("metadata")).With("spec", spec)
}

// keepPodMetadata returns pod with the metadata of live that the subresources for containers do not write.
func keepPodMetadata(live, pod value.Value) value.Value {
	metadata := pod.Get("metadata")
	for _, name := range [...]string{"labels", "annotations", "finalizers", "ownerReferences", "deletionTimestamp"} {
		metadata = metadata.With(name, live.Get("metadata", name))
	}
	return pod.With("metadata", metadata)
}

// resizedPod returns live with the resources of the containers of pod. A pod with another number of containers only gets its missing
// resources as a whole; validation refuses it later.
//
// Before v1.36, the resources of the pod as a whole stay.
func (k *Kind) resizedPod(live, pod value.Value) value.Value {
	if k.Minor() >= minorOf(podResourcesSince) {
		pod = pod.With("spec", keepMissing(pod.Get("spec"), live.Get("spec"), "resources"))
	}
	spec := live.Get("spec")
	if k.Minor() >= minorOf("v1.36") {
		spec = spec.With("resources", pod.Get("spec", "resources"))
	}
	for _, list := range []string{"containers", "initContainers"} {
		was, is := live.Get("spec", list), pod.Get("spec", list)
		if was.Len() != is.Len() {
			return k.preparePodResources(pod)
		}
		var resized []value.Value
		for i := range was.Len() {
			container := was.Item(i)
			if !container.Get("name").Equal(is.Item(i).Get("name")) {
				resized = slices.Collect(is.Items())
				break
			}
			resized = append(resized, container.With("resources", is.Item(i).Get("resources")).With("resizePolicy", is.Item(i).Get("resizePolicy")))
		}
		if len(resized) > 0 {
			spec = spec.With(list, value.List(resized...))
		}
	}
	return k.preparePodResources(onlySpec(live, pod, spec))
}

// podWritten returns pod with only those fields of its metadata and spec that the subresource writes. For other subresources and the main
// endpoint, it returns pod itself.
func podWritten(subresource string, pod value.Value) value.Value {
	spec := pod.Get("spec")
	if subresource == "ephemeralcontainers" || subresource == "resize" {
		pod = keepPodMetadata(value.Value{}, pod)
	}
	switch subresource {
	case "ephemeralcontainers":
		return pod.With("spec", object(member("ephemeralContainers", spec.Get("ephemeralContainers"))))
	case "resize":
		resources := func(of value.Value) value.Value {
			return object(member("resources", of.Get("resources")), member("resizePolicy", of.Get("resizePolicy")))
		}
		pod = pod.With("spec", object(
			member("containers", spec.Get("containers")), member("initContainers", spec.Get("initContainers")), member("resources", spec.Get("resources")),
		))
		return eachItem(eachItem(pod, resources, "spec", "containers"), resources, "spec", "initContainers")
	}
	return pod
}

// keepMissing returns object with the named members that it lacks, as former has them.
func keepMissing(object, former value.Value, names ...string) value.Value {
	for _, name := range names {
		if v := former.Get(name); object.Get(name).IsAbsent() && !v.IsAbsent() {
			object = object.With(name, v)
		}
	}
	return object
}

// ServiceClass returns the class of a pod. The pod's own resources decide if they have CPU, memory or huge pages. Otherwise its containers
// decide: the class is the one that all of them have, or Burstable.
func ServiceClass(pod value.Value) string {
	if resources := pod.Get("spec", "resources"); hasPodResources(resources) {
		return resourcesClass(resources)
	}
	class := ""
	for _, list := range []string{"containers", "initContainers"} {
		for container := range pod.Get("spec", list).Items() {
			switch of := resourcesClass(container.Get("resources")); class {
			case "", of:
				class = of
			default:
				return "Burstable"
			}
		}
	}
	if class == "" {
		return "BestEffort"
	}
	return class
}

// hasPodResources reports whether the resources of a pod have a limit or request that a pod may have.
func hasPodResources(resources value.Value) bool {
	for _, list := range []string{"limits", "requests"} {
		for name := range resources.Get(list).Members() {
			if name == "cpu" || name == "memory" || strings.HasPrefix(name, "hugepages-") {
				return true
			}
		}
	}
	return false
}

// resourcesClass returns Guaranteed if the requests of CPU and memory equal the limits, BestEffort if there are none of either, and
// Burstable otherwise. An absent request defaults to the limit. A zero counts as none.
func resourcesClass(resources value.Value) string {
	class := ""
	for _, name := range []string{"cpu", "memory"} {
		limit, request := resources.Get("limits", name).Str(), resources.Get("requests", name).Str()
		if request == "" {
			request = limit
		}
		of := "Guaranteed"
		switch none := []string{"", "0"}; {
		case slices.Contains(none, limit) && slices.Contains(none, request):
			of = "BestEffort"
		case limit == "" || form.CompareQuantities(limit, request) != 0:
			of = "Burstable"
		}
		if class != "" && class != of {
			return "Burstable"
		}
		class = of
	}
	return class
}
