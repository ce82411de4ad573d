package kinds

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/value"
)

// Storage: volumes, claims, classes and drivers. The sources of volumes are validated in volumes.go, for pods and for PersistentVolumes
// alike.

// volumeList validates volumes of a pod, and notes the names of the valid ones: only those may be mounted.
//
// A pod makes a claim for each ephemeral volume, called POD-VOLUME. Another volume must not use that claim.
func (w *podWalk) volumeList(p place) {
	var created names
	for v := range p.Items() {
		if w.name != "" && isSet(v.Get("ephemeral")) {
			created.add(w.name + "-" + v.Get("name").Str())
		}
	}
	for i := range p.indexes() {
		v, before := p.item(i), len(w.errs)
		name := v.at("name")
		w.volume = volumeWalk{report: w.report, volume: v, name: name.Str(), pod: w.name}
		w.volume.source(podVolumes)
		if w.present(name) {
			w.label(name)
		}
		if w.volumes.has(name.Str()) {
			w.duplicate(name)
		}
		if len(w.errs) == before {
			w.volumes.add(name.Str())
			if isSet(v.Get("persistentVolumeClaim")) || isSet(v.Get("ephemeral")) {
				w.devices.add(name.Str())
			}
		}
		claim := v.at("persistentVolumeClaim")
		if of := claim.at("claimName"); claim.is() && created.has(of.Str()) {
			w.invalidAs(of, of.Str(), "must not reference a PVC that gets created for an ephemeral volume")
		}
	}
}

// accessModes are how nodes may have a volume.
var accessModes = []string{"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"}

// claimSpec refuses what storage is asked for.
//
// It is for claims, for templates of claims in a StatefulSet, and for ephemeral volumes. was is the spec that it replaces: a source in a
// group there allows every group.
func (r *report) claimSpec(p place, was value.Value) {
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
	r.dataSources(p, isSet(was.Get("dataSource", "apiGroup")) || isSet(was.Get("dataSourceRef", "apiGroup")))
	if class := p.at("volumeAttributesClassName"); class.Str() != "" {
		r.subdomain(class)
	}
}

// dataSources validates what a volume is filled with.
//
// dataSource is the older field. If both are given, they must mean the same object.
func (r *report) dataSources(p place, anyGroup bool) {
	of, ref := p.at("dataSource"), p.at("dataSourceRef")
	for _, source := range [...]place{of, ref} {
		if source.is() {
			r.dataSource(source, anyGroup)
		}
	}
	if !of.is() || !ref.is() {
		return
	}
	switch {
	case ref.text("namespace") != "":
		r.invalidAs(p, of.path(), "may not be specified when dataSourceRef.namespace is specified")
	case !of.Get("apiGroup").Equal(ref.Get("apiGroup")) || of.text("kind") != ref.text("kind") || of.text("name") != ref.text("name"):
		r.invalidAs(p, of.path(), "must match dataSourceRef")
	}
}

// dataSource validates a reference to what a volume is filled with. Without a group, only another claim can be named.
func (r *report) dataSource(p place, anyGroup bool) {
	r.present(p.at("name"))
	kind, group := p.at("kind"), p.at("apiGroup")
	r.present(kind)
	if group.Str() == "" && kind.Str() != "PersistentVolumeClaim" {
		r.invalidAs(p, kind.Str(), "must be 'PersistentVolumeClaim' when referencing the default apiGroup")
	}
	if group.Str() != "" && !anyGroup {
		r.subdomain(group)
	}
	if namespace := p.at("namespace"); namespace.Str() != "" {
		r.label(namespace)
	}
}

// onlyVolume is what is said of another change of a claim.
const onlyVolume = "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n"

// claimChange refuses what may not change of a claim: one that has a volume may ask for more.
//
// What may change is set back in a copy of the spec, and the copy must equal the old one:
//
//	volumeName                   may be set once
//	storageClassName             may be set once, to that of an annotation if it was there
//	requests of a bound claim    may change; they may shrink only if they stay above the capacity
//	volumeAttributesClassName    may change if the claim is bound; it stays set once it is in effect
func (r *report) claimChange(object, spec place, live value.Value) {
	was, is := live.Get("spec"), spec.Value
	if was.Get("volumeName").Str() == "" {
		was = was.With("volumeName", is.Get("volumeName"))
	}
	metadata := object.at("metadata")
	annotations := metadata.at("annotations")
	class, old := annotations.below(annotations.Get(oldStorageClass), oldStorageClass, isKey), live.Get("metadata", "annotations", oldStorageClass)
	free := !isSet(was.Get("storageClassName")) && (!isSet(old) || old.Equal(is.Get("storageClassName")))
	if class.Str() != old.Str() && !(free && isSet(old) && !class.is()) {
		r.invalidAs(class, class.Str(), "field is immutable")
	}
	if free {
		is = is.With("storageClassName", value.Value{})
	}
	had, has := was.Get("resources", "requests", "storage"), is.Get("resources", "requests", "storage")
	if live.Get("status", "phase").Str() == "Bound" {
		if requests := is.Get("resources", "requests"); isSet(requests) {
			is = is.With("resources", with(is.Get("resources"), "requests", with(requests, "storage", had)))
		}
		is = is.With("volumeAttributesClassName", was.Get("volumeAttributesClassName"))
	}
	if !r.same(spec.with(is), was) {
		r.forbidden(spec, onlyVolume+r.change("spec", was, is))
	}
	if compare(has, had) < 0 && compare(has, live.Get("status", "capacity", "storage")) <= 0 {
		resources := spec.at("resources")
		requests := resources.at("requests")
		r.forbidden(requests.at("storage"), "field can not be less than status.capacity")
	}
	r.sameMode(object, spec.Value, live.Get("spec"))
	attributes := spec.at("volumeAttributesClassName")
	const inEffect = " is forbidden when status.currentVolumeAttributesClassName is not nil"
	switch {
	case !isSet(live.Get("status", "currentVolumeAttributesClassName")) || identical(attributes.Value, live.Get("spec", "volumeAttributesClassName")):
	case !attributes.is():
		r.forbidden(attributes, "update to nil"+inEffect)
	case attributes.Str() == "":
		r.forbidden(attributes, "update to empty string"+inEffect)
	}
}

// sameMode refuses another mode of a claim or a volume. The error is about a member of the object, as in kube-apiserver.
func (r *report) sameMode(object place, spec, was value.Value) {
	if mode := spec.Get("volumeMode"); !same(mode, was.Get("volumeMode")) {
		r.add(field.Invalid(object.below(mode, "volumeMode", isMember).path(), r.inside("spec.volumeMode", mode), "field is immutable"))
	}
}

// oldStorageClass is the annotation that named the class of a claim or a volume before the spec did.
const oldStorageClass = "volume.beta.kubernetes.io/storage-class"

// validateClaimState validates the status of a PersistentVolumeClaim: what it has, and how far a change of its size is.
func validateClaimState(r *report, object place, live value.Value) {
	status, spec := object.at("status"), object.at("spec")
	if spec.Get("accessModes").Len() == 0 {
		r.required(object.below(value.Value{}, "Spec", isMember).at("accessModes"), "")
	}
	capacity := status.at("capacity")
	for i := range capacity.indexes() {
		r.countable(capacity.entry(i))
	}
	states := status.at("allocatedResourceStatuses")
	for name, state := range states.Members() {
		r.claimResource(states, name)
		if !slices.Contains(resizes, state.Str()) {
			r.add(field.NotSupported(states.path(), Enumeration(name), resizes))
		}
	}
	allocated := status.at("allocatedResources")
	for i := range allocated.indexes() {
		amount := allocated.entry(i)
		if r.claimResource(allocated, amount.name()) {
			r.countable(amount)
		}
	}
}

// resizes are how far a claim is on its way to another size.
var resizes = []string{
	"ControllerResizeInProgress", "ControllerResizeInfeasible", "NodeResizeInProgress", "NodeResizeInfeasible", "NodeResizePending",
}

// claimResource refuses the name of a resource that no claim has, and reports whether it is right. Errors are about the map.
func (r *report) claimResource(p place, name string) bool {
	before := len(r.errs)
	if r.invalidAs(p, name, validation.IsQualifiedName(name)...); len(r.errs) == before && isNative(name) && name != "storage" {
		r.notOneOf(p.with(value.String(name)), "storage")
	}
	return len(r.errs) == before
}

// countable refuses an amount below zero, as a whole number.
func (r *report) countable(p place) {
	if q := quantity(p.Value); q.Value() < 0 {
		r.invalidAs(p, q.Value(), "must be a valid resource quantity")
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

// tokenRequests shows the audiences of the tokens that a driver gets.
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
//
// The path of the mode lacks the spec in front, as in kube-apiserver.
func validateClaim(r *report, object place, live value.Value) {
	spec := object.at("spec")
	r.claimSpec(spec, live.Get("spec"))
	if isSet(live) {
		r.claimChange(object, spec, live)
	}
}

// validateVolume validates a PersistentVolume.
//
// What a volume is cannot change, apart from a secret for expanding it that may be set later.
func validateVolume(r *report, object place, live value.Value) {
	spec, was := object.at("spec"), live.Get("spec")
	r.persistentVolume(spec, object.Get("metadata", "name").Str(), false)
	if !isSet(live) {
		return
	}
	is, had := volumeSourceOf(spec.Value), volumeSourceOf(was)
	if csi := had.Get("csi"); isSet(csi) && !isSet(csi.Get("controllerExpandSecretRef")) && isSet(is.Get("csi")) {
		is = is.With("csi", is.Get("csi").With("controllerExpandSecretRef", value.Value{})) // which may be set later
	}
	const source = "spec.persistentvolumesource"
	if !sameInside(r.insideTypeAt(source), is, had) {
		r.forbidden(spec.below(is, "persistentvolumesource", isMember), source+" is immutable after creation\n"+r.change(source, had, is))
	}
	r.sameMode(object, spec.Value, was)
	if affinity := spec.Get("nodeAffinity"); isSet(was.Get("nodeAffinity")) && !r.sameNodes(spec.at("nodeAffinity"), was.Get("nodeAffinity")) {
		r.invalidAs(object.below(affinity, "nodeAffinity", isMember), r.inside("spec.nodeAffinity", affinity), "field is immutable, except for updating from beta label to GA")
	}
	if class := spec.at("volumeAttributesClassName"); isSet(was.Get("volumeAttributesClassName")) && !class.is() {
		r.forbidden(class, "update from non-nil value to nil is forbidden")
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
func (r *report) sameNodes(affinity place, was value.Value) bool {
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
		affinity = affinity.with(affinity.With("required", affinity.Get("required").With("nodeSelectorTerms", value.List(items...))))
	}
	return r.same(affinity, was)
}

// volumeSourceOf returns the members of the spec of a PersistentVolume that say what it is.
func volumeSourceOf(spec value.Value) value.Value {
	var out []value.Member
	for _, t := range persistentVolumes {
		if v := spec.Get(t.name); isSet(v) {
			out = append(out, value.Member{Name: t.name, Value: v})
		}
	}
	return value.Object(out...)
}

// persistentVolume validates the spec of a PersistentVolume. inline is for one in a VolumeAttachment.
//
// An inline volume is part of an attachment, and has no claim, class or capacity.
func (r *report) persistentVolume(spec place, name string, inline bool) {
	const notInline = "may not be specified in the context of inline volumes"
	capacity, policy, affinity := spec.at("capacity"), spec.at("persistentVolumeReclaimPolicy"), spec.at("nodeAffinity")
	if inline {
		r.noMembers(spec, notInline, "claimRef")
		if capacity.Len() > 0 {
			r.forbidden(capacity, notInline)
		}
		if csi := spec.at("csi"); !csi.is() {
			r.required(csi, "has to be specified in the context of inline volumes")
		}
	}
	modes := spec.at("accessModes")
	if modes.Len() == 0 {
		r.required(modes, "")
	}
	r.accessModes(modes)
	if !inline {
		r.capacity(capacity)
	}
	switch {
	case policy.Str() == "":
	case !inline:
		r.onlyAmong(policy, "Delete", "Recycle", "Retain")
	case policy.Str() != "Retain":
		r.forbidden(policy, "may only be Retain in the context of inline volumes")
	}
	if affinity.is() && inline {
		r.forbidden(affinity, notInline)
	} else if affinity.is() {
		if required := affinity.at("required"); required.is() {
			r.nodeSelector(required)
		} else {
			r.required(required, "must specify required node constraints")
		}
	}
	r.volumeSource(spec, name)
	if host := spec.Get("hostPath"); isSet(host) && path.Clean(host.Get("path").Str()) == "/" && policy.Str() == "Recycle" {
		r.forbidden(policy, "may not be 'recycle' for a hostPath mount of '/'")
	}
	r.volumeClasses(spec, inline)
}

// capacity validates how much storage a PersistentVolume has.
//
// A volume has one capacity, of storage.
func (r *report) capacity(p place) {
	if p.Len() == 0 {
		r.required(p, "")
	}
	if !isSet(p.Get("storage")) || p.Len() > 1 {
		r.add(field.NotSupported(p.path(), r.shown(p), []string{"storage"}))
	}
	for i := range p.indexes() {
		entry := p.entry(i)
		r.countable(entry)
		if q := quantity(entry.Value); q.Sign() <= 0 {
			r.invalid(entry, "must be greater than zero")
		}
	}
}

// volumeClasses validates the classes and the mode of a PersistentVolume.
func (r *report) volumeClasses(spec place, inline bool) {
	class, mode, attributes := spec.at("storageClassName"), spec.at("volumeMode"), spec.at("volumeAttributesClassName")
	switch {
	case class.Str() == "":
	case inline:
		r.forbidden(class, "may not be specified in the context of inline volumes")
	default:
		r.subdomain(class)
	}
	switch {
	case !mode.is():
	case !inline:
		r.onlyAmong(mode, "Block", "Filesystem")
	case mode.Str() != "Filesystem":
		r.forbidden(mode, "may not specify volumeMode other than Filesystem in the context of inline volumes")
	}
	if !attributes.is() || inline {
		return
	}
	if attributes.Str() == "" {
		r.required(attributes, "an empty string is disallowed")
	} else {
		r.subdomain(attributes)
	}
	if csi := spec.at("csi"); !csi.is() {
		r.required(csi, "has to be specified when using volumeAttributesClassName")
	}
}

// attacherLater validates the name of the driver that attaches a new volume, after the rest. Its letters may be in upper case.
func (r *report) attacherLater(p place) {
	if p.Str() == "" {
		r.later(p, "")
		return
	}
	//lint:ignore SA1019 kube-apiserver validates the names of drivers with this rule
	for _, detail := range content.IsDNS1123SubdomainCaseless(p.Str()) {
		r.laterInvalid(p, p.Str(), detail)
	}
	if len(p.Str()) > longestDriver {
		r.last = append(r.last, field.TooLongCharacters(p.path(), p.Str(), longestDriver))
	}
}

// validateAttachment validates a VolumeAttachment.
//
// It is about a PersistentVolume by its name, or about a volume that it contains.
func validateAttachment(r *report, object place, live value.Value) {
	spec, status := object.at("spec"), object.at("status")
	if attacher := spec.at("attacher"); isSet(live) {
		r.driverName(attacher)
	} else {
		r.attacherLater(attacher)
	}
	source := spec.at("source")
	inline, name := source.at("inlineVolumeSpec"), source.at("persistentVolumeName")
	const one = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"
	switch {
	case !inline.is() && !name.is():
		r.required(source, one)
	case inline.is() && name.is():
		r.forbidden(source, one)
	case inline.is():
		r.persistentVolume(inline, "", true)
	case name.Str() == "":
		r.required(name, "must specify non empty persistentVolumeName")
	}
	node := spec.at("nodeName")
	r.invalidAs(node, node.Str(), validation.IsDNS1123Subdomain(node.Str())...)
	for _, member := range [...]string{"attachError", "detachError"} {
		r.volumeError(status.at(member))
	}
	if name.is() {
		r.invalid(name, validation.IsDNS1123Subdomain(name.Str())...)
	}
	if isSet(live) {
		r.unchangedLater(spec, live.Get("spec"))
	}
}

// volumeError validates the error of attaching or detaching a volume.
func (r *report) volumeError(p place) {
	if message := p.at("message"); len(message.Str()) > 1024 {
		r.add(field.TooLong(message.path(), "", 1024))
	}
	if code := p.at("errorCode"); code.Int() < 0 {
		r.invalid(code, validation.InclusiveRangeError(0, math.MaxInt32))
	}
}

// validateClass validates a StorageClass.
//
// A class cannot change, as volumes were made by it, apart from topologies, options and expansion.
func validateClass(r *report, object place, live value.Value) {
	provisioner := object.at("provisioner")
	if provisioner.Str() == "" {
		r.later(provisioner, "")
	} else {
		text := strings.ToLower(provisioner.Str())
		r.invalidAs(provisioner, text, validation.IsQualifiedName(text)...)
	}
	r.parameters(object.at("parameters"), true)
	if policy := object.at("reclaimPolicy"); policy.Str() != "" {
		r.onlyAmong(policy, "Delete", "Retain")
	}
	if mode := object.at("volumeBindingMode"); !mode.is() {
		r.required(mode, "")
	} else {
		r.onlyAmong(mode, "Immediate", "WaitForFirstConsumer")
	}
	r.topologies(object.at("allowedTopologies"))
	if isSet(live) {
		for _, name := range [...]string{"provisioner", "parameters", "reclaimPolicy", "volumeBindingMode"} {
			r.unchangedLater(object.at(name), live.Get(name))
		}
	}
}

// parameters validates parameters of a driver.
//
// The limits are on their number, and on the bytes of names and values together.
func (r *report) parameters(p place, mayBeEmpty bool) {
	if p.Len() > 512 {
		r.add(field.TooLong(p.path(), "", 512))
		return
	}
	size := 0
	for name, text := range p.Members() {
		if name == "" {
			r.invalidAs(p, name, "field can not be empty.")
		}
		size += len(name) + len(text.Str())
	}
	if size > 256*1024 {
		r.add(field.TooLong(p.path(), "", 256*1024))
	}
	if !mayBeEmpty && p.Len() == 0 {
		r.required(p, "must contain at least one key/value pair")
	}
}

// topologies validates where volumes of a class may be.
//
// Two terms are the same if they have the same keys with the same values, in any order.
func (r *report) topologies(p place) {
	var met names
	for i := range p.indexes() {
		term := p.item(i)
		list := term.at("matchLabelExpressions")
		found := map[string]string{}
		for i := range list.indexes() {
			e := list.item(i)
			key, values := e.at("key"), e.at("values")
			if values.Len() == 0 {
				r.required(values, "")
			}
			var has names
			for i := range values.indexes() {
				if v := values.item(i); !has.add(v.Str()) {
					r.add(field.Duplicate(v.path(), v.Str()))
				}
			}
			r.labelKey(key)
			if _, twice := found[key.Str()]; twice {
				r.add(field.Duplicate(key.path(), key.Str()))
			}
			found[key.Str()] = fmt.Sprint(slices.Sorted(has.each()))
		}
		if len(found) == 0 || !met.add(fmt.Sprint(found)) {
			r.add(field.Duplicate(list.path(), ""))
		}
	}
}

// validateAttributesClass validates a VolumeAttributesClass.
func validateAttributesClass(r *report, object place, live value.Value) {
	driver, parameters := object.at("driverName"), object.at("parameters")
	if isSet(live) && driver.Str() != live.Get("driverName").Str() {
		r.forbidden(driver, "updates to driverName are forbidden.")
	}
	if isSet(live) && !r.same(parameters, live.Get("parameters")) {
		r.forbidden(parameters, "updates to parameters are forbidden.")
	}
	if r.present(driver) {
		name := strings.ToLower(driver.Str())
		r.invalidAs(driver, name, validation.IsQualifiedName(name)...)
	}
	r.parameters(parameters, false)
}

// validateStorageCapacity validates a CSIStorageCapacity.
func validateStorageCapacity(r *report, object place, live value.Value) {
	topology, class := object.at("nodeTopology"), object.at("storageClassName")
	if topology.is() {
		r.selector(topology)
	}
	r.invalidAs(class, class.Str(), validation.IsDNS1123Subdomain(class.Str())...)
	if capacity := object.at("capacity"); strings.HasPrefix(capacity.Str(), "-") {
		r.invalid(capacity, "must be greater than or equal to 0")
	}
	if isSet(live) {
		r.unchanged(topology, live.Get("nodeTopology"))
		r.unchanged(class, live.Get("storageClassName"))
	}
}

// validateCSINode validates a CSINode.
//
// A driver stays as it is, apart from how many volumes it takes. It may be removed and come back otherwise.
func validateCSINode(r *report, object place, live value.Value) {
	spec := object.at("spec")
	drivers := spec.at("drivers")
	var met names
	for i := range drivers.indexes() {
		d := drivers.item(i)
		name, id := d.at("name"), d.at("nodeID")
		r.driverName(name)
		if id.Str() == "" {
			r.required(id, "")
		}
		if len(id.Str()) > 256 {
			r.invalid(id, "must be 256 characters or less")
		}
		allocatable := d.at("allocatable")
		r.natural(allocatable.at("count"))
		if !met.add(name.Str()) {
			r.duplicate(name)
		}
		var keys names
		for key := range d.Get("topologyKeys").Items() {
			told := d.with(key)
			if key.Str() == "" {
				r.required(told, "")
			}
			if !keys.add(key.Str()) {
				r.add(field.Duplicate(told.path(), key.Str()))
			}
			r.labelKey(told)
		}
	}
	for had := range live.Get("spec", "drivers").Items() {
		for has := range drivers.Items() {
			if has.Get("name").Equal(had.Get("name")) && !same(has.With("allocatable", value.Value{}), had.With("allocatable", value.Value{})) {
				r.invalidAs(drivers, r.inside("spec.drivers[0]", has.With("allocatable", value.Value{})), "field is immutable")
			}
		}
	}
}

// validateDriver validates a CSIDriver.
//
// Most of its fields may change. The mode of attaching and the life cycles may not.
func validateDriver(r *report, object place, live value.Value) {
	spec := object.at("spec")
	if policy := spec.at("fsGroupPolicy"); policy.is() {
		r.onlyAmong(policy, "File", "None", "ReadWriteOnceWithFSType")
	}
	requests := spec.at("tokenRequests")
	var met names
	for i := range requests.indexes() {
		request := requests.item(i)
		audience, seconds := request.at("audience"), request.at("expirationSeconds")
		switch {
		case !met.add(audience.Str()):
			r.add(field.Duplicate(audience.path(), audience.Str()))
		case !seconds.is():
		case seconds.Int() < 600:
			r.invalid(seconds, "may not specify a duration less than 10 minutes")
		case seconds.Int() > 1<<32:
			r.invalid(seconds, "may not specify a duration larger than 2^32 seconds")
		}
	}
	modes := spec.at("volumeLifecycleModes")
	for mode := range modes.Items() {
		r.onlyAmong(modes.with(mode), "Persistent", "Ephemeral")
	}
	if period := spec.at("nodeAllocatableUpdatePeriodSeconds"); period.is() && period.Int() < 10 {
		r.invalid(period, "must be greater than or equal to 10 seconds")
	}
	if secrets := spec.at("serviceAccountTokenInSecrets"); secrets.is() && requests.Len() == 0 {
		r.invalid(secrets, "serviceAccountTokenInSecrets is set but no tokenRequests are specified")
	}
	if !isSet(live) {
		return
	}
	was := live.Get("spec")
	if required := spec.Get("attachRequired"); !same(required, was.Get("attachRequired")) {
		r.invalid(spec.below(required, "attachedRequired", isMember), "field is immutable") // with the name that kube-apiserver has for it
	}
	r.unchanged(modes, was.Get("volumeLifecycleModes"))
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
