package kinds

import (
	"math"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/server/kinds/walk"
	"github.com/deed-project/deed/value"
)

// tokenRequests shows the audiences of the tokens that a driver gets.
func tokenRequests(s source) string {
	requests := s.Get("spec", "tokenRequests")
	if requests.Kind() != value.KindList {
		return unset
	}
	return strings.Join(walk.NamesIn(requests, "audience"), ",")
}

// validateAttachment validates a VolumeAttachment.
//
// It is about a PersistentVolume by its name, or about a volume that it contains.
func validateAttachment(r *walk.Report, object walk.Place, live value.Value) {
	spec, status := object.At("spec"), object.At("status")
	if attacher := spec.At("attacher"); walk.IsSet(live) {
		r.DriverName(attacher)
	} else {
		r.DriverNameLater(attacher)
	}
	source := spec.At("source")
	inline, name := source.At("inlineVolumeSpec"), source.At("persistentVolumeName")
	const one = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"
	switch {
	case !inline.IsSet() && !name.IsSet():
		r.Required(source, one)
	case inline.IsSet() && name.IsSet():
		r.Forbidden(source, one)
	case inline.IsSet():
		validatePersistentVolume(r, inline, "", true)
	case name.Str() == "":
		r.Required(name, "must specify non empty persistentVolumeName")
	}
	node := spec.At("nodeName")
	r.InvalidAs(node, node.Str(), validation.IsDNS1123Subdomain(node.Str())...)
	if metadata := status.At("attachmentMetadata"); textSize(metadata.Value) > mostOfParameters {
		r.Add(field.TooLong(metadata.Path(), "", mostOfParameters))
	}
	for _, member := range [...]string{"attachError", "detachError"} {
		validateVolumeError(r, status.At(member))
	}
	if name.IsSet() {
		r.Invalid(name, validation.IsDNS1123Subdomain(name.Str())...)
	}
	if walk.IsSet(live) {
		r.UnchangedLater(spec, live.Get("spec"))
	}
}

// validateVolumeError validates the error of attaching or detaching a volume.
func validateVolumeError(r *walk.Report, p walk.Place) {
	if message := p.At("message"); len(message.Str()) > 1024 {
		r.Add(field.TooLong(message.Path(), "", 1024))
	}
	if code := p.At("errorCode"); code.Int() < 0 {
		r.Invalid(code, validation.InclusiveRangeError(0, math.MaxInt32))
	}
}

// validateAttributesClass validates a VolumeAttributesClass.
func validateAttributesClass(r *walk.Report, object walk.Place, live value.Value) {
	driver, parameters := object.At("driverName"), object.At("parameters")
	if walk.IsSet(live) && driver.Str() != live.Get("driverName").Str() {
		r.Forbidden(driver, "updates to driverName are forbidden.")
	}
	if walk.IsSet(live) && !r.Same(parameters, live.Get("parameters")) {
		r.Forbidden(parameters, "updates to parameters are forbidden.")
	}
	r.Named = len(r.Errs)
	if r.Present(driver) {
		name := strings.ToLower(driver.Str())
		r.InvalidAs(driver, name, validation.IsQualifiedName(name)...)
	}
	validateParameters(r, parameters, false)
}

// validateStorageCapacity validates a CSIStorageCapacity.
func validateStorageCapacity(r *walk.Report, object walk.Place, live value.Value) {
	topology, class := object.At("nodeTopology"), object.At("storageClassName")
	if topology.IsSet() {
		r.Selector(topology)
	}
	r.InvalidAs(class, class.Str(), validation.IsDNS1123Subdomain(class.Str())...)
	if capacity := object.At("capacity"); strings.HasPrefix(capacity.Str(), "-") {
		r.Invalid(capacity, "must be greater than or equal to 0")
	}
	if walk.IsSet(live) {
		r.Unchanged(topology, live.Get("nodeTopology"))
		r.Unchanged(class, live.Get("storageClassName"))
	}
}

// validateCSINode validates a CSINode.
//
// A driver stays as it is, apart from how many volumes it takes. It may be removed and come back otherwise.
func validateCSINode(r *walk.Report, object walk.Place, live value.Value) {
	spec := object.At("spec")
	drivers := spec.At("drivers")
	var met walk.Names
	for i := range drivers.Indexes() {
		d := drivers.Index(i)
		name, id := d.At("name"), d.At("nodeID")
		r.DriverName(name)
		if id.Str() == "" {
			r.Required(id, "")
		}
		if len(id.Str()) > 256 {
			r.Invalid(id, "must be 256 characters or less")
		}
		allocatable := d.At("allocatable")
		r.Natural(allocatable.At("count"))
		if !met.Add(name.Str()) {
			r.Duplicate(name)
		}
		var keys walk.Names
		for key := range d.Get("topologyKeys").Items() {
			told := d.WithValue(key)
			if key.Str() == "" {
				r.Required(told, "")
			}
			if !keys.Add(key.Str()) {
				r.Add(field.Duplicate(told.Path(), key.Str()))
			}
			r.LabelKey(told)
		}
	}
	const driver = "spec.drivers[0]"
	for had := range live.Get("spec", "drivers").Items() {
		for has := range drivers.Items() {
			if !has.Get("name").Equal(had.Get("name")) {
				continue
			}
			had := had
			if !r.Before(mutableCounts) {
				has, had = has.With("allocatable", value.Value{}), had.With("allocatable", value.Value{})
			}
			if !walk.SameInside(r.InsideTypeAt(driver), has, had) {
				r.InvalidAs(drivers, r.Inside(driver, has), "field is immutable")
			}
		}
	}
}

// validateDriver validates a CSIDriver.
//
// Most of its fields may change. The mode of attaching and the life cycles may not.
func validateDriver(r *walk.Report, object walk.Place, live value.Value) {
	spec := object.At("spec")
	if policy := spec.At("fsGroupPolicy"); policy.IsSet() {
		r.OnlyAmong(policy, "File", "None", "ReadWriteOnceWithFSType")
	}
	requests := spec.At("tokenRequests")
	var met walk.Names
	for i := range requests.Indexes() {
		request := requests.Index(i)
		audience, seconds := request.At("audience"), request.At("expirationSeconds")
		switch {
		case !met.Add(audience.Str()):
			r.Add(field.Duplicate(audience.Path(), audience.Str()))
		case !seconds.IsSet():
		case seconds.Int() < 600:
			r.Invalid(seconds, "may not specify a duration less than 10 minutes")
		case seconds.Int() > 1<<32:
			r.Invalid(seconds, "may not specify a duration larger than 2^32 seconds")
		}
	}
	modes := spec.At("volumeLifecycleModes")
	for mode := range modes.Items() {
		r.OnlyAmong(modes.WithValue(mode), "Persistent", "Ephemeral")
	}
	if period := spec.At("nodeAllocatableUpdatePeriodSeconds"); period.IsSet() && period.Int() < 10 {
		r.Invalid(period, "must be greater than or equal to 10 seconds")
	}
	if secrets := spec.At("serviceAccountTokenInSecrets"); secrets.IsSet() && requests.Len() == 0 {
		r.Invalid(secrets, "serviceAccountTokenInSecrets is set but no tokenRequests are specified")
	}
	if !walk.IsSet(live) {
		return
	}
	was := live.Get("spec")
	if required := spec.Get("attachRequired"); !walk.Same(required, was.Get("attachRequired")) {
		r.Invalid(spec.Below(required, "attachedRequired", walk.IsMember), "field is immutable") // with the name that kube-apiserver has for it
	}
	r.Unchanged(modes, was.Get("volumeLifecycleModes"))
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
