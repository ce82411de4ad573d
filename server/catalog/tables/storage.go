package tables

import (
	"slices"
	"strings"

	"github.com/deed-project/deed/value"
)

var storage = map[string][]cell{
	"persistentvolumes": {
		name, shown(func(s source) string { return orElse(s.Get("spec", "capacity", "storage").Str(), "0") }),
		accessModes("spec"), text("spec", "persistentVolumeReclaimPolicy"), terminating("status", "phase"), shown(claimRef),
		shown(storageClass), textOr(unset, "spec", "volumeAttributesClassName"), text("status", "reason"), age,
		textOr(unset, "spec", "volumeMode"),
	},
	"persistentvolumeclaims": {
		name, terminating("status", "phase"), text("spec", "volumeName"), bound(shown(func(s source) string {
			return orElse(s.Get("status", "capacity", "storage").Str(), "0")
		})), bound(accessModes("status")), shown(storageClass), textOr(unset, "spec", "volumeAttributesClassName"), age,
		textOr(unset, "spec", "volumeMode"),
	},
	"storageclasses.storage.k8s.io": {
		name, text("provisioner"), textOr("Delete", "reclaimPolicy"), textOr("Immediate", "volumeBindingMode"),
		flag("allowVolumeExpansion"), age,
	},
	"volumeattributesclasses.storage.k8s.io": {name, text("driverName"), age},
	"volumeattachments.storage.k8s.io": {
		name, text("spec", "attacher"), text("spec", "source", "persistentVolumeName"), text("spec", "nodeName"),
		flag("status", "attached"), age,
	},
	"csinodes.storage.k8s.io":             {name, count("spec", "drivers"), age},
	"csistoragecapacities.storage.k8s.io": {name, created},
	"csidrivers.storage.k8s.io": {
		name, func(s source) value.Value {
			required := s.Get("spec", "attachRequired")
			return value.Bool(required.IsAbsent() || required.Bool())
		}, flag("spec", "podInfoOnMount"), flag("spec", "storageCapacity"), shown(tokenRequests), flag("spec", "requiresRepublish"),
		joined(none, "spec", "volumeLifecycleModes"), age,
	},
}

// bound shows a cell of claims that have a volume, and nothing of others.
func bound(c cell) cell {
	return func(s source) value.Value {
		if s.Get("spec", "volumeName").Str() == "" {
			return value.String("")
		}
		return c(s)
	}
}

// accessModes shows the access modes that part of an object lists, each once and in short.
func accessModes(part string) cell {
	modes := []struct{ name, short string }{
		{"ReadWriteOnce", "RWO"}, {"ReadOnlyMany", "ROX"}, {"ReadWriteMany", "RWX"}, {"ReadWriteOncePod", "RWOP"},
	}
	return shown(func(s source) string {
		has := texts(s.Get(part, "accessModes"))
		var out []string
		for _, mode := range modes {
			if slices.Contains(has, mode.name) {
				out = append(out, mode.short)
			}
		}
		return strings.Join(out, ",")
	})
}

func claimRef(s source) string {
	claim := s.Get("spec", "claimRef")
	if claim.Kind() != value.KindObject {
		return ""
	}
	return claim.Get("namespace").Str() + "/" + claim.Get("name").Str()
}

// storageClass shows the class of a volume or claim, which an annotation of old may name.
func storageClass(s source) string {
	if class := s.Get("metadata", "annotations", "volume.beta.kubernetes.io/storage-class"); !class.IsAbsent() {
		return class.Str()
	}
	return s.Get("spec", "storageClassName").Str()
}

func tokenRequests(s source) string {
	requests := s.Get("spec", "tokenRequests")
	if requests.Kind() != value.KindList {
		return unset
	}
	return strings.Join(names(requests, "audience"), ",")
}

// DefaultClass returns the name of the StorageClass that is the default among items: of those that are marked the newest, and of
// several the first by name. It returns "" if none is.
func DefaultClass(items []value.Value) string {
	best, created := "", ""
	for _, item := range items {
		metadata := item.Get("metadata")
		annotations := metadata.Get("annotations")
		marked := annotations.Get("storageclass.kubernetes.io/is-default-class").Str() == "true" ||
			annotations.Get("storageclass.beta.kubernetes.io/is-default-class").Str() == "true"
		name, at := metadata.Get("name").Str(), metadata.Get("creationTimestamp").Str()
		if marked && (best == "" || at > created || at == created && name < best) {
			best, created = name, at
		}
	}
	return best
}
