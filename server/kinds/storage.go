package kinds

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/server/kinds/pods"
	"github.com/deed-project/deed/server/kinds/walk"
	"github.com/deed-project/deed/value"
)

// Storage: volumes, claims, classes and drivers. The sources of volumes are validated in volumes.go, for pods and for PersistentVolumes
// alike.

// onlyVolume is what is said of another change of a claim.
const onlyVolume = "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n"

// validateClaimChange refuses what may not change of a claim: one that has a volume may ask for more.
//
// What may change is set back in a copy of the spec, and the copy must equal the old one:
//
//	volumeName                   may be set once
//	storageClassName             may be set once, to that of an annotation if it was there
//	requests of a bound claim    may change; they may shrink only if they stay above the capacity
//	volumeAttributesClassName    may change if the claim is bound; it stays set once it is in effect
func validateClaimChange(r *walk.Report, object, spec walk.Place, live value.Value) {
	was, is := live.Get("spec"), spec.Value
	if was.Get("volumeName").Str() == "" {
		was = was.With("volumeName", is.Get("volumeName"))
	}
	metadata := object.At("metadata")
	annotations := metadata.At("annotations")
	class, old := annotations.At(oldStorageClass), live.Get("metadata", "annotations", oldStorageClass)
	free := !walk.IsSet(was.Get("storageClassName")) && (!walk.IsSet(old) || old.Equal(is.Get("storageClassName")))
	if class.Str() != old.Str() && !(free && walk.IsSet(old) && !class.IsSet()) {
		r.InvalidAs(class, class.Str(), "field is immutable")
	}
	if free {
		is = is.With("storageClassName", value.Value{})
	}
	had, has := was.Get("resources", "requests", "storage"), is.Get("resources", "requests", "storage")
	if live.Get("status", "phase").Str() == "Bound" {
		if requests := is.Get("resources", "requests"); walk.IsSet(requests) {
			is = is.With("resources", walk.WithMember(is.Get("resources"), "requests", walk.WithMember(requests, "storage", had)))
		}
		is = is.With("volumeAttributesClassName", was.Get("volumeAttributesClassName"))
	}
	if !r.Same(spec.WithValue(is), was) {
		r.Forbidden(spec, onlyVolume+r.Change("spec", was, is))
	}
	if walk.Compare(has, had) < 0 && walk.Compare(has, live.Get("status", "capacity", "storage")) <= 0 {
		resources := spec.At("resources")
		requests := resources.At("requests")
		r.Forbidden(requests.At("storage"), "field can not be less than status.capacity")
	}
	sameMode(r, object, spec.Value, live.Get("spec"))
	attributes := spec.At("volumeAttributesClassName")
	const inEffect = " is forbidden when status.currentVolumeAttributesClassName is not nil"
	switch {
	case !walk.IsSet(live.Get("status", "currentVolumeAttributesClassName")) || walk.Identical(attributes.Value, live.Get("spec", "volumeAttributesClassName")):
	case !attributes.IsSet():
		r.Forbidden(attributes, "update to nil"+inEffect)
	case attributes.Str() == "":
		r.Forbidden(attributes, "update to empty string"+inEffect)
	}
}

// sameMode refuses another mode of a claim or a volume. The error is about a member of the object, as in kube-apiserver.
func sameMode(r *walk.Report, object walk.Place, spec, was value.Value) {
	if mode := spec.Get("volumeMode"); !walk.Same(mode, was.Get("volumeMode")) {
		r.Add(field.Invalid(object.Below(mode, "volumeMode", walk.IsMember).Path(), r.Inside("spec.volumeMode", mode), "field is immutable"))
	}
}

// oldStorageClass is the annotation that named the class of a claim or a volume before the spec did.
const oldStorageClass = "volume.beta.kubernetes.io/storage-class"

// validateClaimState validates the status of a PersistentVolumeClaim: what it has, and how far a change of its size is.
func validateClaimState(r *walk.Report, object walk.Place, live value.Value) {
	status, spec := object.At("status"), object.At("spec")
	if spec.Get("accessModes").Len() == 0 {
		r.Required(object.Below(value.Value{}, "Spec", walk.IsMember).At("accessModes"), "")
	}
	capacity := status.At("capacity")
	for i := range capacity.Indexes() {
		pods.ValidateCountable(r, capacity.Entry(i))
	}
	states := status.At("allocatedResourceStatuses")
	for name, state := range states.Members() {
		pods.ValidateClaimResource(r, states, name)
		if !slices.Contains(resizes, state.Str()) {
			r.Add(field.NotSupported(states.Path(), walk.Enumeration(name), resizes))
		}
	}
	allocated := status.At("allocatedResources")
	for i := range allocated.Indexes() {
		amount := allocated.Entry(i)
		if pods.ValidateClaimResource(r, allocated, amount.Name()) {
			pods.ValidateCountable(r, amount)
		}
	}
}

// resizes are how far a claim is on its way to another size.
var resizes = []string{
	"ControllerResizeInProgress", "ControllerResizeInfeasible", "NodeResizeInProgress", "NodeResizeInfeasible", "NodeResizePending",
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
		has := walk.Texts(s.Get(part, "accessModes"))
		var out []string
		for _, mode := range modes {
			if slices.Contains(has, mode.name) {
				out = append(out, mode.short)
			}
		}
		return strings.Join(out, ",")
	})
}

// claimRef shows the claim that a volume belongs to.
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
//
// The path of the mode lacks the spec in front, as in kube-apiserver.
func validateClaim(r *walk.Report, object walk.Place, live value.Value) {
	spec := object.At("spec")
	pods.ValidateClaimSpec(r, spec, live.Get("spec"))
	if walk.IsSet(live) {
		validateClaimChange(r, object, spec, live)
	}
}

// validateVolume validates a PersistentVolume.
//
// What a volume is cannot change, apart from a secret for expanding it that may be set later.
func validateVolume(r *walk.Report, object walk.Place, live value.Value) {
	spec, was := object.At("spec"), live.Get("spec")
	validatePersistentVolume(r, spec, object.Get("metadata", "name").Str(), false)
	validateMountAnnotation(r, object.At("metadata").At("annotations"), spec.Value)
	if !walk.IsSet(live) {
		return
	}
	is, had := pods.VolumeSourceOf(spec.Value), pods.VolumeSourceOf(was)
	if csi := had.Get("csi"); walk.IsSet(csi) && !walk.IsSet(csi.Get("controllerExpandSecretRef")) && walk.IsSet(is.Get("csi")) {
		is = is.With("csi", is.Get("csi").With("controllerExpandSecretRef", value.Value{})) // which may be set later
	}
	const source = "spec.persistentvolumesource"
	if !walk.SameInside(r.InsideTypeAt(source), is, had) {
		r.Forbidden(spec.Below(is, "persistentvolumesource", walk.IsMember), source+" is immutable after creation\n"+r.Change(source, had, is))
	}
	sameMode(r, object, spec.Value, was)
	if affinity := spec.Get("nodeAffinity"); walk.IsSet(was.Get("nodeAffinity")) && !sameNodes(r, spec.At("nodeAffinity"), was.Get("nodeAffinity")) {
		r.InvalidAs(object.Below(affinity, "nodeAffinity", walk.IsMember), r.Inside("spec.nodeAffinity", affinity), "field is immutable, except for updating from beta label to GA")
	}
	if class := spec.At("volumeAttributesClassName"); walk.IsSet(was.Get("volumeAttributesClassName")) && !class.IsSet() {
		r.Forbidden(class, "update from non-nil value to nil is forbidden")
	}
}

// mountable are the volumes that may have options of mounts in an annotation.
var mountable = [...]string{
	"gcePersistentDisk", "awsElasticBlockStore", "glusterfs", "nfs", "rbd", "quobyte", "iscsi", "cinder", "cephfs", "azureFile", "vsphereVolume",
	"azureDisk", "photonPersistentDisk",
}

// validateMountAnnotation refuses options of mounts in an annotation of another volume.
func validateMountAnnotation(r *walk.Report, p walk.Place, spec value.Value) {
	const name = "volume.beta.kubernetes.io/mount-options"
	isMountable := slices.ContainsFunc(mountable[:], func(source string) bool { return walk.IsSet(spec.Get(source)) })
	if options := p.At(name); !options.IsAbsent() && !isMountable {
		r.Forbidden(options, "may not specify mount options for this volume type")
	}
}

// newerLabels has labels of nodes by their names before they were stable.
var newerLabels = map[string]string{
	"failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
	"beta.kubernetes.io/os": "kubernetes.io/os", "beta.kubernetes.io/arch": "kubernetes.io/arch",
	"beta.kubernetes.io/instance-type": "node.kubernetes.io/instance-type",
}

// sameNodes reports whether a volume is bound to the nodes that it was bound to. An expression may name the stable label in the place of an
// older one. kube-apiserver also lets the name of any other label go.
func sameNodes(r *walk.Report, affinity walk.Place, was value.Value) bool {
	terms, had := affinity.Get("required", "nodeSelectorTerms"), was.Get("required", "nodeSelectorTerms")
	var items []value.Value
	for i := range terms.Len() {
		term := terms.Item(i)
		for _, list := range [...]string{"matchExpressions", "matchFields"} {
			var expressions []value.Value
			for j := range term.Get(list).Len() {
				e, old := term.Get(list).Item(j), had.Item(i).Get(list).Item(j).Get("key").Str()
				if key := e.Get("key").Str(); key != old && newerLabels[old] == key {
					e = e.With("key", value.String(old))
				}
				expressions = append(expressions, e)
			}
			if len(expressions) > 0 {
				term = term.With(list, value.List(expressions...))
			}
		}
		items = append(items, term)
	}
	if len(items) == had.Len() && len(items) > 0 {
		affinity = affinity.WithValue(affinity.With("required", affinity.Get("required").With("nodeSelectorTerms", value.List(items...))))
	}
	return r.Same(affinity, was)
}

// validatePersistentVolume validates the spec of a PersistentVolume. inline is for one in a VolumeAttachment.
//
// An inline volume is part of an attachment, and has no claim, class or capacity.
func validatePersistentVolume(r *walk.Report, spec walk.Place, name string, inline bool) {
	const notInline = "may not be specified in the context of inline volumes"
	capacity, policy, affinity := spec.At("capacity"), spec.At("persistentVolumeReclaimPolicy"), spec.At("nodeAffinity")
	if inline {
		r.NoMembers(spec, notInline, "claimRef")
		if capacity.Len() > 0 {
			r.Forbidden(capacity, notInline)
		}
		if csi := spec.At("csi"); !csi.IsSet() {
			r.Required(csi, "has to be specified in the context of inline volumes")
		}
	}
	modes := spec.At("accessModes")
	if modes.Len() == 0 {
		r.Required(modes, "")
	}
	pods.ValidateAccessModes(r, modes)
	if !inline {
		validateCapacity(r, capacity)
	}
	switch {
	case policy.Str() == "":
	case !inline:
		r.OnlyAmong(policy, "Delete", "Recycle", "Retain")
	case policy.Str() != "Retain":
		r.Forbidden(policy, "may only be Retain in the context of inline volumes")
	}
	if affinity.IsSet() && inline {
		r.Forbidden(affinity, notInline)
		spec.Value = spec.With("nodeAffinity", value.Value{}) // so it does not count for the source
	} else if affinity.IsSet() {
		if required := affinity.At("required"); required.IsSet() {
			pods.ValidateNodeSelector(r, required)
		} else {
			r.Required(required, "must specify required node constraints")
		}
	}
	pods.ValidateVolumeSource(r, spec, name)
	if host := spec.Get("hostPath"); walk.IsSet(host) && path.Clean(host.Get("path").Str()) == "/" && policy.Str() == "Recycle" {
		r.Forbidden(policy, "may not be 'recycle' for a hostPath mount of '/'")
	}
	validateVolumeClasses(r, spec, inline)
}

// validateCapacity validates how much storage a PersistentVolume has.
//
// A volume has one capacity, of storage.
func validateCapacity(r *walk.Report, p walk.Place) {
	if p.Len() == 0 {
		r.Required(p, "")
	}
	if !walk.IsSet(p.Get("storage")) || p.Len() > 1 {
		r.Add(field.NotSupported(p.Path(), r.Shown(p), []string{"storage"}))
	}
	for i := range p.Indexes() {
		entry := p.Entry(i)
		pods.ValidateCountable(r, entry)
		if q := walk.Quantity(entry.Value); q.Sign() <= 0 {
			r.Invalid(entry, "must be greater than zero")
		}
	}
}

// validateVolumeClasses validates the classes and the mode of a PersistentVolume.
func validateVolumeClasses(r *walk.Report, spec walk.Place, inline bool) {
	class, mode, attributes := spec.At("storageClassName"), spec.At("volumeMode"), spec.At("volumeAttributesClassName")
	switch {
	case class.Str() == "":
	case inline:
		r.Forbidden(class, "may not be specified in the context of inline volumes")
	default:
		r.Subdomain(class)
	}
	switch {
	case !mode.IsSet():
	case !inline:
		r.OnlyAmong(mode, "Block", "Filesystem")
	case mode.Str() != "Filesystem":
		r.Forbidden(mode, "may not specify volumeMode other than Filesystem in the context of inline volumes")
	}
	if !attributes.IsSet() || inline {
		return
	}
	if attributes.Str() == "" {
		r.Required(attributes, "an empty string is disallowed")
	} else {
		r.Subdomain(attributes)
	}
	if csi := spec.At("csi"); !csi.IsSet() {
		r.Required(csi, "has to be specified when using volumeAttributesClassName")
	}
}

// validateClass validates a StorageClass.
//
// A class cannot change, as volumes were made by it, apart from topologies, options and expansion.
func validateClass(r *walk.Report, object walk.Place, live value.Value) {
	provisioner := object.At("provisioner")
	if provisioner.Str() == "" {
		r.RequiredLater(provisioner, "")
	} else {
		text := strings.ToLower(provisioner.Str())
		r.InvalidAs(provisioner, text, validation.IsQualifiedName(text)...)
	}
	validateParameters(r, object.At("parameters"), true)
	if policy := object.At("reclaimPolicy"); policy.Str() != "" {
		r.OnlyAmong(policy, "Delete", "Retain")
	}
	if mode := object.At("volumeBindingMode"); !mode.IsSet() {
		r.Required(mode, "")
	} else {
		r.OnlyAmong(mode, "Immediate", "WaitForFirstConsumer")
	}
	validateTopologies(r, object.At("allowedTopologies"))
	if walk.IsSet(live) {
		names := []string{"provisioner", "parameters", "reclaimPolicy", "volumeBindingMode"}
		if r.Before(walk.TaggedSince) {
			names[0], names[1] = names[1], names[0]
		}
		for _, name := range names {
			r.UnchangedLater(object.At(name), live.Get(name))
		}
	}
}

// mostOfParameters is how many bytes the names and texts of parameters have at most, and those of what an attached volume is told to have.
const mostOfParameters = 256 << 10

// textSize returns how many bytes the names and texts of a map have.
func textSize(m value.Value) (size int) {
	for name, text := range m.Members() {
		size += len(name) + len(text.Str())
	}
	return size
}

// validateParameters validates parameters of a driver.
//
// The limits are on their number, and on the bytes of names and values together.
func validateParameters(r *walk.Report, p walk.Place, mayBeEmpty bool) {
	if p.Len() > 512 {
		r.Add(field.TooLong(p.Path(), "", 512))
		return
	}
	for name := range p.Members() {
		if name == "" {
			r.InvalidAs(p, name, "field can not be empty.")
		}
	}
	if textSize(p.Value) > mostOfParameters {
		r.Add(field.TooLong(p.Path(), "", mostOfParameters))
	}
	if !mayBeEmpty && p.Len() == 0 {
		r.Required(p, "must contain at least one key/value pair")
	}
}

// validateTopologies validates where volumes of a class may be.
//
// Two terms are the same if they have the same keys with the same values, in any order.
func validateTopologies(r *walk.Report, p walk.Place) {
	var met walk.Names
	for i := range p.Indexes() {
		term := p.Index(i)
		list := term.At("matchLabelExpressions")
		found := map[string]string{}
		for i := range list.Indexes() {
			e := list.Index(i)
			key, values := e.At("key"), e.At("values")
			if values.Len() == 0 {
				r.Required(values, "")
			}
			var has walk.Names
			for i := range values.Indexes() {
				if v := values.Index(i); !has.Add(v.Str()) {
					r.Add(field.Duplicate(v.Path(), v.Str()))
				}
			}
			r.LabelKey(key)
			if _, twice := found[key.Str()]; twice {
				r.Add(field.Duplicate(key.Path(), key.Str()))
			}
			found[key.Str()] = fmt.Sprint(slices.Sorted(has.Each()))
		}
		if len(found) == 0 || !met.Add(fmt.Sprint(found)) {
			r.Add(field.Duplicate(list.Path(), ""))
		}
	}
}

// mutableCounts is the minor release since which a driver may change how many volumes a node takes.
const mutableCounts = 35

func volumeCells() []cell {
	return []cell{
		name, textOr("0", "spec", "capacity", "storage"), modesCell("spec"), text("spec", "persistentVolumeReclaimPolicy"),
		terminating("status", "phase"), shown(claimRef), shown(storageClass), textIfSet(unset, "spec", "volumeAttributesClassName"),
		text("status", "reason"), age, textOr(unset, "spec", "volumeMode"),
	}
}

func claimCells() []cell {
	return []cell{
		name, terminating("status", "phase"), text("spec", "volumeName"), bound(textOr("0", "status", "capacity", "storage")),
		bound(modesCell("status")), shown(storageClass), textIfSet(unset, "spec", "volumeAttributesClassName"), age,
		textOr(unset, "spec", "volumeMode"),
	}
}

func classCells() []cell {
	return []cell{
		name, text("provisioner"), textOr("Delete", "reclaimPolicy"), textOr("Immediate", "volumeBindingMode"),
		flag("allowVolumeExpansion"), age,
	}
}
