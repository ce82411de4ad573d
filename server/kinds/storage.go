package kinds

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/diff"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/value"
)

// volumeSources are what a volume may be, in the order in which they are looked at.
var volumeSources = []string{
	"emptyDir", "hostPath", "gitRepo", "gcePersistentDisk", "awsElasticBlockStore", "secret", "nfs", "iscsi", "glusterfs", "flocker",
	"persistentVolumeClaim", "rbd", "cinder", "cephfs", "quobyte", "downwardAPI", "fc", "flexVolume", "configMap", "azureFile",
	"vsphereVolume", "photonPersistentDisk", "portworxVolume", "azureDisk", "storageos", "scaleIO", "projected", "csi", "ephemeral", "image",
}

// volumeList refuses volumes of a pod, and notes the names of the others: only those may be mounted.
func (w *podWalk) volumeList(p place) {
	for i := range p.indexes() {
		v, before := p.item(i), len(w.errs)
		name := v.at("name")
		w.source(v)
		if w.present(name) {
			w.label(name)
		}
		if w.volumes.has(name.Str()) {
			w.duplicate(name)
		}
		if len(w.errs) == before {
			w.volumes.add(name.Str())
		}
	}
}

// source refuses a volume that is nothing, or several things.
func (w *podWalk) source(v place) {
	found := false
	for i := range v.indexes() { // of the members that it has, as most have two
		if name := v.Member(i).Name; name != "name" && isSet(v.Member(i).Value) && slices.Contains(volumeSources, name) {
			if found {
				w.oneSource(v)
				return
			}
			found = true
			w.sourceOf(v.at(name))
		}
	}
	if !found {
		w.required(v, "must specify a volume type")
	}
}

// oneSource refuses all but the first of what a volume is.
func (w *podWalk) oneSource(v place) {
	found := false
	for _, name := range volumeSources {
		s := v.at(name)
		switch {
		case !s.is():
		case found:
			w.forbidden(s, "may not specify more than 1 volume type")
		default:
			found = true
		}
	}
}

// sourceOf refuses what is wrong with what a volume is.
func (w *podWalk) sourceOf(s place) {
	switch s.name() {
	case "emptyDir":
		if size := s.at("sizeLimit"); strings.HasPrefix(size.Str(), "-") {
			w.forbidden(size, "SizeLimit field must be a valid resource quantity")
		}
	case "hostPath":
		at := s.at("path")
		if w.present(at) {
			w.noBacksteps(at, at)
			w.hostPathType(s.at("type"))
		}
	case "secret":
		w.present(s.at("secretName"))
		w.files(s)
	case "configMap":
		w.present(s.at("name"))
		w.files(s)
	case "persistentVolumeClaim":
		w.present(s.at("claimName"))
	case "nfs":
		w.present(s.at("server"))
		if at := s.at("path"); w.present(at) && !strings.HasPrefix(at.Str(), "/") {
			w.invalid(at, "must be an absolute path")
		}
	case "csi":
		w.present(s.at("driver"))
	case "projected":
		w.projected(s)
	case "ephemeral":
		if template := s.at("volumeClaimTemplate"); !template.is() {
			w.required(template, "")
		}
	}
}

// hostPathTypes are what may be looked for at a path of a node.
var hostPathTypes = []string{"", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"}

func (w *podWalk) hostPathType(p place) {
	if p.is() {
		w.onlyAmong(p, hostPathTypes...)
	}
}

// files refuses the files that keys of an object become.
func (w *podWalk) files(s place) {
	w.mode(s.at("defaultMode"))
	items := s.at("items")
	for i := range items.indexes() {
		item := items.item(i)
		at := item.at("path")
		w.present(item.at("key"))
		w.present(at)
		w.descending(at, at)
		if strings.HasPrefix(at.Str(), "..") && !strings.HasPrefix(at.Str(), "../") && at.Str() != ".." {
			w.invalid(at, "must not start with '..'")
		}
		w.mode(item.at("mode"))
	}
}

// mode refuses what are no permissions of a file.
func (w *podWalk) mode(p place) {
	if n := p.Int(); n < 0 || n > 0o777 {
		w.invalid(p, "must be a number between 0 and 0777 (octal), both inclusive")
	}
}

// projected refuses several objects that become files in one place.
func (w *podWalk) projected(s place) {
	w.mode(s.at("defaultMode"))
	sources := s.at("sources")
	for i := range sources.indexes() {
		source := sources.item(i)
		for _, name := range [...]string{"secret", "configMap"} {
			if object := source.at(name); object.is() {
				w.present(object.at("name"))
				w.files(object)
			}
		}
	}
}

// accessModes are how nodes may have a volume.
var accessModes = []string{"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"}

// claimSpec refuses what storage is asked for.
func (r *report) claimSpec(p place) {
	modes := p.at("accessModes")
	if modes.Len() == 0 {
		r.required(modes, "at least 1 access mode is required")
	}
	if selector := p.at("selector"); selector.is() {
		r.selector(selector)
	}
	r.accessModes(modes)
	resources := p.at("resources")
	storage := resources.below(resources.Get("requests", "storage"), "storage", isKey)
	if q := quantity(storage.Value); !storage.is() {
		r.required(storage, "")
	} else if q.Sign() <= 0 {
		r.invalid(storage, "must be greater than zero")
	}
	r.optionalSubdomain(p.at("storageClassName"))
	if mode := p.at("volumeMode"); mode.is() {
		r.onlyAmong(mode, "Block", "Filesystem")
	}
}

// onlyVolume is what is said of another change of a claim.
const onlyVolume = "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n"

// claimChange refuses what may not change of a claim: one that has a volume may ask for more.
func (r *report) claimChange(spec place, live value.Value) {
	was, is := live.Get("spec"), spec.Value
	if was.Get("volumeName").Str() == "" {
		was = was.With("volumeName", is.Get("volumeName"))
	}
	if !isSet(was.Get("storageClassName")) {
		is = is.With("storageClassName", value.Value{}) // which may be set once
	}
	had, has := was.Get("resources", "requests", "storage"), is.Get("resources", "requests", "storage")
	if live.Get("status", "phase").Str() == "Bound" {
		requests := with(is.Get("resources", "requests"), "storage", had)
		is = is.With("resources", with(is.Get("resources"), "requests", requests))
		is = is.With("volumeAttributesClassName", was.Get("volumeAttributesClassName"))
	}
	if !same(is, was) {
		r.forbidden(spec, onlyVolume+diff.Diff(was, is))
	}
	if compare(has, had) < 0 && compare(has, live.Get("status", "capacity", "storage")) <= 0 {
		resources := spec.at("resources")
		requests := resources.at("requests")
		r.forbidden(requests.at("storage"), "field can not be less than status.capacity")
	}
}

// accessModes refuses modes that there are not, and those that cannot be together. They are told of the list.
func (r *report) accessModes(modes place) {
	sole, shared := false, false
	for mode := range modes.Items() {
		switch m := mode.Str(); {
		case m == "ReadWriteOncePod":
			sole = true
		case strings.HasPrefix(m, "Read") && (m == accessModes[0] || m == accessModes[1] || m == accessModes[2]):
			shared = true
		default:
			r.add(field.NotSupported(modes.path(), Enumeration(m), accessModes))
		}
	}
	if sole && shared {
		r.forbidden(modes, "may not use ReadWriteOncePod with other access modes")
	}
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

// modesCell shows the access modes that part of an object lists, each once and in short.
func modesCell(part string) cell {
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
	return strings.Join(namesIn(requests, "audience"), ",")
}

// defaultClass returns the name of the StorageClass that is the default among items: of those that are marked the newest, and of
// several the first by name. It returns "" if none is.
func defaultClass(items []value.Value) string {
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

// validateClaim refuses a PersistentVolumeClaim.
func validateClaim(r *report, object place, live value.Value) {
	spec := object.at("spec")
	r.claimSpec(spec)
	if isSet(live) {
		r.claimChange(spec, live)
		r.unchanged(object.below(spec.Get("volumeMode"), "volumeMode", isMember), live.Get("spec", "volumeMode"))
	}
}

// validateVolume validates a PersistentVolume.
func validateVolume(r *report, object place, _ value.Value) {
	spec := object.at("spec")
	for _, name := range [...]string{"accessModes", "capacity"} {
		if p := spec.at(name); p.Len() == 0 {
			r.required(p, "")
		}
	}
	if host := spec.at("hostPath"); host.is() {
		r.present(host.at("path"))
	}
}

// validateClass validates a StorageClass.
func validateClass(r *report, object place, live value.Value) {
	r.present(object.at("provisioner"))
	if isSet(live) {
		for _, name := range [...]string{"parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"} {
			r.unchangedLater(object.at(name), live.Get(name))
		}
	}
}

// validateDriver validates a CSIDriver.
func validateDriver(r *report, object place, live value.Value) {
	if !isSet(live) {
		return
	}
	spec, was := object.at("spec"), live.Get("spec")
	if required := spec.Get("attachRequired"); !same(required, was.Get("attachRequired")) {
		r.invalid(spec.below(required, "attachedRequired", isMember), "field is immutable") // with the name that kube-apiserver has for it
	}
	r.unchanged(spec.at("volumeLifecycleModes"), was.Get("volumeLifecycleModes"))
}

func volumeCells() []cell {
	return []cell{
		name, textOr("0", "spec", "capacity", "storage"), modesCell("spec"), text("spec", "persistentVolumeReclaimPolicy"),
		terminating("status", "phase"), shown(claimRef), shown(storageClass), textOr(unset, "spec", "volumeAttributesClassName"),
		text("status", "reason"), age, textOr(unset, "spec", "volumeMode"),
	}
}

func claimCells() []cell {
	return []cell{
		name, terminating("status", "phase"), text("spec", "volumeName"), bound(textOr("0", "status", "capacity", "storage")),
		bound(modesCell("status")), shown(storageClass), textOr(unset, "spec", "volumeAttributesClassName"), age,
		textOr(unset, "spec", "volumeMode"),
	}
}

func classCells() []cell {
	return []cell{
		name, text("provisioner"), textOr("Delete", "reclaimPolicy"), textOr("Immediate", "volumeBindingMode"),
		flag("allowVolumeExpansion"), age,
	}
}

func attachmentCells() []cell {
	return []cell{
		name, text("spec", "attacher"), text("spec", "source", "persistentVolumeName"), text("spec", "nodeName"), flag("status", "attached"), age,
	}
}

func driverCells() []cell {
	required := func(s source) value.Value {
		required := s.Get("spec", "attachRequired")
		return value.Bool(required.IsAbsent() || required.Bool())
	}
	return []cell{
		name, required, flag("spec", "podInfoOnMount"), flag("spec", "storageCapacity"), shown(tokenRequests),
		flag("spec", "requiresRepublish"), joined(none, "spec", "volumeLifecycleModes"), age,
	}
}
