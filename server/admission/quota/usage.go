package quota

import (
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	podresources "k8s.io/component-helpers/resource"

	"github.com/deed-project/deed/server/admission/plugins"
	"github.com/deed-project/deed/value"
	"github.com/deed-project/deed/value/structs"
)

// What objects use, by the names that quotas have for it:
//
//	any object          count/deployments.apps, and services, secrets, ... for some
//	pod                 pods, cpu, requests.cpu, limits.cpu, memory, ..., requests.example.org/gpu; nothing of these once it has ended
//	claim               requests.storage, and the same by storage class
//	service             services.nodeports, services.loadbalancers
//	resource claim      devices by class, see [deviceClasses]

var (
	pods     = kschema.GroupResource{Resource: "pods"}
	claims   = kschema.GroupResource{Resource: "persistentvolumeclaims"}
	services = kschema.GroupResource{Resource: "services"}
)

// counted are the resources whose objects quotas count by their plain names, too.
var counted = []string{"configmaps", "resourcequotas", "replicationcontrollers", "secrets", "services", "persistentvolumeclaims"}

// byClass is in the names of what claims use, between the class and the resource.
const byClass = ".storageclass.storage.k8s.io/"

// computed are the resources of pods that a quota bounds by requests and by limits.
var computed = []string{"cpu", "memory", "ephemeral-storage"}

// one is the amount of one object.
var one = resource.MustParse("1")

// countOf returns the name of the number of objects of a resource.
func countOf(of kschema.GroupResource) string { return "count/" + of.String() }

// beside is what the usage of an object depends on beside the object.
type beside struct {
	now     time.Time
	classes deviceClasses                                    // nil if no resource claims are counted
	podOf   func(claim value.Value) (plugins.Amounts, error) // what the pod of a resource claim uses, see [deviceClasses.usage]
}

// usageOf returns what an object uses. The error is that of the store.
func usageOf(of kschema.GroupResource, object value.Value, b beside) (plugins.Amounts, error) {
	used := plugins.Amounts{countOf(of): one.DeepCopy()}
	if of.Group == "" && slices.Contains(counted, of.Resource) {
		used[of.Resource] = one.DeepCopy()
	}
	switch of {
	case pods:
		if !hasEnded(object, b.now) {
			used.Add(podUsage(wholeOf(object)))
		}
	case claims:
		used.Add(claimUsage(object))
	case services:
		used.Add(serviceUsage(object.Get("spec")))
	case deviceClaims:
		pod, err := b.podOf(object)
		if err != nil {
			return nil, err
		}
		used.Add(b.classes.usage(object, pod))
	}
	return used, nil
}

// hasEnded reports whether a pod uses nothing any more: it ran to its end, or the time that it had to end is over.
func hasEnded(pod value.Value, now time.Time) bool {
	metadata := pod.Get("metadata")
	switch pod.Get("status", "phase").Str() {
	case "Failed", "Succeeded":
		return true
	}
	deleted, grace := metadata.Get("deletionTimestamp"), metadata.Get("deletionGracePeriodSeconds")
	if deleted.IsAbsent() || grace.IsAbsent() {
		return false
	}
	at, err := time.Parse(time.RFC3339, deleted.Str())
	return err == nil && now.After(at.Add(time.Duration(grace.Int())*time.Second))
}

// wholeOf returns the requests and limits of a pod as a whole: with its overhead, and with what its containers have, if that is more than they
// ask for since a resize.
func wholeOf(object value.Value) plugins.Usage {
	pod := &corev1.Pod{}
	if err := structs.Into(object, pod); err != nil {
		return plugins.PodUsage(object.Get("spec")) // cannot be: pods are read by this type
	}
	amounts := func(list corev1.ResourceList) plugins.Amounts {
		out := plugins.Amounts{}
		for name, q := range list {
			out[string(name)] = q
		}
		return out
	}
	options := podresources.PodResourcesOptions{UseStatusResources: true}
	return plugins.Usage{Requests: amounts(podresources.PodRequests(pod, options)), Limits: amounts(podresources.PodLimits(pod, options))}
}

// podUsage returns the requests and limits of a pod or container by the names of quotas.
func podUsage(u plugins.Usage) plugins.Amounts {
	used := plugins.Amounts{"pods": one.DeepCopy()}
	for name, q := range u.Requests {
		isComputed, isHuge := slices.Contains(computed, name), strings.HasPrefix(name, "hugepages-")
		if isComputed || isHuge {
			used[name] = q
		}
		if isComputed || isHuge || isExtended(name) {
			used["requests."+name] = q
		}
	}
	for name, q := range u.Limits {
		if slices.Contains(computed, name) {
			used["limits."+name] = q
		}
	}
	return used
}

// isExtended reports whether a resource is none of Kubernetes' own, or stands for a device class.
func isExtended(name string) bool {
	return strings.HasPrefix(name, implicitPrefix) || strings.Contains(name, "/") && !strings.Contains(name, "kubernetes.io/")
}

// claimUsage returns the storage of a claim: what it requests, or what it has already if that is more.
func claimUsage(claim value.Value) plugins.Amounts {
	used := plugins.Amounts{}
	class := plugins.ClassOf(claim)
	if class != "" {
		used[class+byClass+"persistentvolumeclaims"] = one.DeepCopy()
	}
	if claim.Get("spec", "resources", "requests", "storage").IsAbsent() {
		return used
	}
	size := plugins.Quantity(claim.Get("spec", "resources", "requests", "storage"))
	if has := plugins.Quantity(claim.Get("status", "allocatedResources", "storage")); has.Cmp(size) > 0 {
		size = has
	}
	size.RoundUp(0)
	if used["requests.storage"] = size; class != "" {
		used[class+byClass+"requests.storage"] = size
	}
	return used
}

// serviceUsage returns the ports on nodes and the load balancers of a service.
func serviceUsage(spec value.Value) plugins.Amounts {
	ports, balancers := 0, 0
	switch typ := spec.Get("type").Str(); {
	case typ == "LoadBalancer" && spec.Get("allocateLoadBalancerNodePorts").Kind() == value.KindBool && !spec.Get("allocateLoadBalancerNodePorts").Bool():
		for p := range spec.Get("ports").Items() {
			if p.Get("nodePort").Int() != 0 {
				ports++
			}
		}
		balancers = 1
	case typ == "LoadBalancer":
		ports, balancers = spec.Get("ports").Len(), 1
	case typ == "NodePort":
		ports = spec.Get("ports").Len()
	}
	return plugins.Amounts{
		"services.nodeports":     *resource.NewQuantity(int64(ports), resource.DecimalSI),
		"services.loadbalancers": *resource.NewQuantity(int64(balancers), resource.DecimalSI),
	}
}

// bounds reports whether a name of a quota bounds what objects of a resource use.
func bounds(name string, of kschema.GroupResource, classes deviceClasses) bool {
	if name == countOf(of) || of.Group == "" && slices.Contains(counted, of.Resource) && name == of.Resource {
		return true
	}
	switch of {
	case pods:
		plain := strings.TrimPrefix(strings.TrimPrefix(name, "requests."), "limits.")
		return name == "pods" || slices.Contains(computed, plain) || strings.HasPrefix(plain, "hugepages-") && !strings.HasPrefix(name, "limits.") ||
			strings.HasPrefix(name, requests) && isExtended(strings.TrimPrefix(name, requests))
	case claims:
		return name == "requests.storage" || strings.HasSuffix(name, byClass+"requests.storage") || strings.HasSuffix(name, byClass+"persistentvolumeclaims")
	case services:
		return name == "services.nodeports" || name == "services.loadbalancers"
	case deviceClaims:
		return classes.bounds(name)
	}
	return false
}

// matches reports whether all scopes of a quota hold for an object. Only pods and claims have scopes.
func matches(quota value.Value, of kschema.GroupResource, object value.Value) bool {
	for s := range scopesOf(quota) {
		if !inScope(s.name, s.operator, s.values, of, object) {
			return false
		}
	}
	return true
}

// scope is a scope of a quota.
type scope struct {
	name, operator string
	values         []string
}

// scopesOf yields the scopes of a quota.
func scopesOf(quota value.Value) iter.Seq[scope] {
	return func(yield func(scope) bool) {
		spec := quota.Get("spec")
		for s := range spec.Get("scopes").Items() {
			if !yield(scope{s.Str(), "Exists", nil}) {
				return
			}
		}
		for e := range spec.Get("scopeSelector", "matchExpressions").Items() {
			var values []string
			for v := range e.Get("values").Items() {
				values = append(values, v.Str())
			}
			if !yield(scope{e.Get("scopeName").Str(), e.Get("operator").Str(), values}) {
				return
			}
		}
	}
}

// inScope reports whether a scope holds for an object.
func inScope(scope, operator string, values []string, of kschema.GroupResource, object value.Value) bool {
	spec := object.Get("spec")
	switch {
	case of == claims && scope == "VolumeAttributesClass":
		return named(operator, values, spec.Get("volumeAttributesClassName").Str(), object.Get("status", "currentVolumeAttributesClassName").Str(),
			object.Get("status", "modifyVolumeStatus", "targetVolumeAttributesClassName").Str())
	case of != pods:
		return false
	}
	switch scope {
	case "Terminating":
		return isBrief(spec)
	case "NotTerminating":
		return !isBrief(spec)
	case "BestEffort":
		return isBestEffort(spec)
	case "NotBestEffort":
		return !isBestEffort(spec)
	case "PriorityClass":
		return named(operator, values, spec.Get("priorityClassName").Str())
	case "CrossNamespacePodAffinity":
		return crossesNamespaces(spec.Get("affinity", "podAffinity")) || crossesNamespaces(spec.Get("affinity", "podAntiAffinity"))
	}
	return false
}

// named reports whether an operator holds for names, of which empty ones do not count.
func named(operator string, values []string, names ...string) bool {
	names = slices.DeleteFunc(names, func(n string) bool { return n == "" })
	isIn := slices.ContainsFunc(names, func(n string) bool { return slices.Contains(values, n) })
	switch operator {
	case "Exists":
		return len(names) > 0
	case "DoesNotExist":
		return len(names) == 0
	case "In":
		return isIn
	case "NotIn":
		return len(names) == 0 || slices.ContainsFunc(names, func(n string) bool { return !slices.Contains(values, n) })
	}
	return false
}

// isBrief reports whether a pod has a deadline.
func isBrief(spec value.Value) bool {
	deadline := spec.Get("activeDeadlineSeconds")
	return !deadline.IsAbsent() && !deadline.IsNull() && deadline.Int() >= 0
}

// isBestEffort reports whether no container of a pod, nor the pod itself, requests or limits CPU or memory.
func isBestEffort(spec value.Value) bool {
	all := []value.Value{spec}
	for c := range plugins.Containers(spec) {
		all = append(all, c)
	}
	for _, of := range all {
		for _, list := range []string{"requests", "limits"} {
			for _, name := range []string{"cpu", "memory"} {
				if q := plugins.Quantity(of.Get("resources", list, name)); q.Sign() > 0 {
					return false
				}
			}
		}
	}
	return true
}

// crossesNamespaces reports whether an affinity is about pods of other namespaces.
func crossesNamespaces(affinity value.Value) bool {
	foreign := func(term value.Value) bool {
		selector := term.Get("namespaceSelector")
		return term.Get("namespaces").Len() > 0 || !selector.IsAbsent() && !selector.IsNull()
	}
	for term := range affinity.Get("requiredDuringSchedulingIgnoredDuringExecution").Items() {
		if foreign(term) {
			return true
		}
	}
	for term := range affinity.Get("preferredDuringSchedulingIgnoredDuringExecution").Items() {
		if foreign(term.Get("podAffinityTerm")) {
			return true
		}
	}
	return false
}

// printed returns amounts as refusals have them.
func printed(a plugins.Amounts) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(a)) {
		parts = append(parts, name+"="+a.Text(name))
	}
	return strings.Join(parts, ",")
}
