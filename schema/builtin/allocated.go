package builtin

import (
	"slices"
	"strings"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// Allocated is a part of objects that only a server can know, because it allocates that, or an admission plugin of its cluster
// sets it.
type Allocated struct {
	Kinds  []schema.GVK // without versions; none for all kinds
	Paths  []string     // names of members with spaces between them; * is each item of a list, and a=b the items whose member a is b
	Reason string
	// Optional is for what not every cluster sets.
	Optional bool

	when func(object value.Value) bool // nil for always
}

func coreKind(name string) []schema.GVK { return []schema.GVK{{Kind: name}} }

var deviceKinds = []schema.GVK{
	{Group: "resource.k8s.io", Kind: "DeviceClass"}, {Group: "resource.k8s.io", Kind: "ResourceClaim"},
	{Group: "resource.k8s.io", Kind: "ResourceClaimTemplate"},
}

// allocated is the closed list of what only a server knows. docs/divergences.md has it as tables.
var allocated = []Allocated{
	{Paths: []string{"metadata uid", "metadata creationTimestamp", "metadata resourceVersion"}, Reason: "made by the server"},
	{
		Kinds: coreKind("Service"), Paths: []string{"spec clusterIP", "spec clusterIPs", "spec ipFamilies", "spec ipFamilyPolicy"},
		Reason: "follow from the addresses that the server allocates",
		when:   func(service value.Value) bool { return service.Get("spec", "type").Str() != "ExternalName" },
	},
	{
		Kinds: coreKind("Service"), Paths: []string{"spec ports * nodePort"}, Reason: "allocated from a range of the server",
		when: func(service value.Value) bool { return needsNodePorts(service.Get("spec")) },
	},
	{
		Kinds: coreKind("Service"), Paths: []string{"spec healthCheckNodePort"}, Reason: "allocated from a range of the server",
		when: func(service value.Value) bool { return needsHealthPort(service.Get("spec")) },
	},
	{
		Kinds: coreKind("Pod"), Reason: "admission: DefaultTolerationSeconds",
		Paths: []string{"spec tolerations key=node.kubernetes.io/not-ready", "spec tolerations key=node.kubernetes.io/unreachable"},
	},
	{
		Kinds: coreKind("Pod"), Paths: []string{"spec priority", "spec preemptionPolicy"},
		Reason: "admission: Priority, from the priority classes of the cluster",
	},
	{
		Kinds:  []schema.GVK{{Group: "batch", Kind: "Job"}},
		Paths:  []string{"spec selector", "spec template metadata labels", "metadata labels"},
		Reason: "name the uid of the job",
		when:   func(job value.Value) bool { return !job.Get("spec", "manualSelector").Bool() },
	},
	{
		Kinds: coreKind("Node"), Paths: []string{"spec taints key=node.kubernetes.io/not-ready"},
		Reason: "admission: TaintNodesByCondition",
	},
	{
		Kinds: coreKind("PersistentVolumeClaim"), Paths: []string{"metadata finalizers kubernetes.io/pvc-protection"},
		Reason: "admission: StorageObjectInUseProtection",
	},
	{
		Kinds: coreKind("PersistentVolume"), Paths: []string{"metadata finalizers kubernetes.io/pv-protection"},
		Reason: "admission: StorageObjectInUseProtection",
	},
	{
		Kinds:  []schema.GVK{{Group: "storage.k8s.io", Kind: "VolumeAttributesClass"}},
		Paths:  []string{"metadata finalizers kubernetes.io/vac-protection"},
		Reason: "admission: StorageObjectInUseProtection",
	},
	{
		Kinds: deviceKinds, Paths: []string{"metadata generation"},
		Reason: "parameters that the server keeps as text count as changed, and as owned, when a client writes them with other spaces",
		when:   func(value.Value) bool { return false }, // it is another number, and never added
	},
	{
		Kinds: coreKind("Pod"), Optional: true,
		Paths:  []string{"spec serviceAccountName", "spec volumes", "spec containers * volumeMounts"},
		Reason: "admission: ServiceAccount, which mounts a token",
		when:   func(pod value.Value) bool { return pod.Get("spec", "serviceAccountName").Str() == "" },
	},
	{
		Kinds: coreKind("PersistentVolumeClaim"), Optional: true, Paths: []string{"spec storageClassName"},
		Reason: "admission: DefaultStorageClass, if a class is the default",
	},
	{
		Kinds: []schema.GVK{{Group: "networking.k8s.io", Kind: "Ingress"}}, Optional: true, Paths: []string{"spec ingressClassName"},
		Reason: "admission: DefaultIngressClass, if a class is the default",
	},
	{
		Kinds: []schema.GVK{{Group: "certificates.k8s.io", Kind: "CertificateSigningRequest"}}, Optional: true,
		Paths: []string{"spec username", "spec uid", "spec groups", "spec extra"}, Reason: "who sends the request",
	},
}

// EachAllocated returns what only a server can know, by kind. The caller must not modify it.
func EachAllocated() []Allocated { return allocated }

// Allocates returns what a server adds to object, which is to be stored instead of live, or absent if there is nothing to add: what
// all objects get is left out. An absent live is an object that does not exist yet; what stands in one that does was added then,
// unless object now needs it for the first time. It takes time in proportion to object.
func (k *Kind) Allocates(live, object value.Value) []Allocated {
	k = k.known()
	var out []Allocated
	for _, a := range allocated {
		if !slices.Contains(a.Kinds, schema.GVK{Group: k.GVK.Group, Kind: k.GVK.Kind}) || a.when != nil && !a.when(object) {
			continue
		}
		if !live.IsAbsent() && (a.when == nil || a.when(live)) {
			continue
		}
		missing := slices.DeleteFunc(slices.Clone(a.Paths), func(path string) bool { return leads(object, strings.Fields(path)) })
		if len(missing) > 0 {
			a.Paths = missing
			out = append(out, a)
		}
	}
	return out
}

// leads reports whether there is something at path in v, which is written as in [Allocated].
func leads(v value.Value, path []string) bool {
	switch {
	case len(path) == 0:
		return !isNothing(v)
	case v.Kind() != value.KindList:
		return leads(v.Get(path[0]), path[1:])
	case path[0] == "*":
		for item := range v.Items() {
			if !leads(item, path[1:]) {
				return false
			}
		}
		return true
	}
	name, want, _ := strings.Cut(path[0], "=")
	for item := range v.Items() {
		if item.Str() == path[0] || item.Kind() == value.KindObject && item.Get(name).Str() == want {
			return true
		}
	}
	return false
}
