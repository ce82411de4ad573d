package validation

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/diff"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/value"
)

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
