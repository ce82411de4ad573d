package pods

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/server/kinds/walk"
	"github.com/deed-project/deed/value"
)

// ValidateClaimSpec refuses what storage is asked for.
//
// It is for claims, for templates of claims in a StatefulSet, and for ephemeral volumes. was is the spec that it replaces: a source in a
// group there allows every group.
func ValidateClaimSpec(r *walk.Report, p walk.Place, was value.Value) {
	modes := p.At("accessModes")
	if modes.Len() == 0 {
		r.Required(modes, "at least 1 access mode is required")
	}
	if selector := p.At("selector"); selector.IsSet() {
		r.Selector(selector)
	}
	ValidateAccessModes(r, modes)
	resources := p.At("resources")
	storage := resources.Below(resources.Get("requests", "storage"), "storage", walk.IsKey)
	if q := walk.Quantity(storage.Value); !storage.IsSet() {
		r.Required(storage, "")
	} else if q.Sign() <= 0 {
		r.Invalid(storage, "must be greater than zero")
	}
	r.OptionalSubdomain(p.At("storageClassName"))
	if mode := p.At("volumeMode"); mode.IsSet() {
		r.OnlyAmong(mode, "Block", "Filesystem")
	}
	validateDataSources(r, p, walk.IsSet(was.Get("dataSource", "apiGroup")) || walk.IsSet(was.Get("dataSourceRef", "apiGroup")))
	if class := p.At("volumeAttributesClassName"); class.Str() != "" {
		r.Subdomain(class)
	}
}

// validateDataSources validates what a volume is filled with.
//
// dataSource is the older field. If both are given, they must mean the same object.
func validateDataSources(r *walk.Report, p walk.Place, anyGroup bool) {
	of, ref := p.At("dataSource"), p.At("dataSourceRef")
	for _, source := range [...]walk.Place{of, ref} {
		if source.IsSet() {
			validateDataSource(r, source, anyGroup)
		}
	}
	if !of.IsSet() || !ref.IsSet() {
		return
	}
	switch {
	case ref.Text("namespace") != "":
		r.InvalidAs(p, of.Path(), "may not be specified when dataSourceRef.namespace is specified")
	case !of.Get("apiGroup").Equal(ref.Get("apiGroup")) || of.Text("kind") != ref.Text("kind") || of.Text("name") != ref.Text("name"):
		r.InvalidAs(p, of.Path(), "must match dataSourceRef")
	}
}

// validateDataSource validates a reference to what a volume is filled with. Without a group, only another claim can be named.
func validateDataSource(r *walk.Report, p walk.Place, anyGroup bool) {
	r.Present(p.At("name"))
	kind, group := p.At("kind"), p.At("apiGroup")
	r.Present(kind)
	if group.Str() == "" && kind.Str() != "PersistentVolumeClaim" {
		r.InvalidAs(p, kind.Str(), "must be 'PersistentVolumeClaim' when referencing the default apiGroup")
	}
	if group.Str() != "" && !anyGroup {
		r.Subdomain(group)
	}
	if namespace := p.At("namespace"); namespace.Str() != "" {
		r.Label(namespace)
	}
}

// ValidateClaimResource refuses the name of a resource that no claim has, and reports whether it is right. Errors are about the map.
func ValidateClaimResource(r *walk.Report, p walk.Place, name string) bool {
	before := len(r.Errs)
	if r.InvalidAs(p, name, validation.IsQualifiedName(name)...); len(r.Errs) == before && walk.IsNative(name) && name != "storage" {
		r.NotOneOf(p.WithValue(value.String(name)), "storage")
	}
	return len(r.Errs) == before
}

// ValidateCountable refuses an amount below zero, as a whole number.
func ValidateCountable(r *walk.Report, p walk.Place) {
	if q := walk.Quantity(p.Value); q.Value() < 0 {
		r.InvalidAs(p, q.Value(), "must be a valid resource quantity")
	}
}

// allAccessModes are how nodes may have a volume.
var allAccessModes = []string{"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"}

// ValidateAccessModes refuses modes that there are not, and those that cannot be together. They are told of the list.
func ValidateAccessModes(r *walk.Report, modes walk.Place) {
	sole, shared := false, false
	for mode := range modes.Items() {
		switch m := mode.Str(); {
		case m == "ReadWriteOncePod":
			sole = true
		case strings.HasPrefix(m, "Read") && (m == allAccessModes[0] || m == allAccessModes[1] || m == allAccessModes[2]):
			shared = true
		default:
			r.Add(field.NotSupported(modes.Path(), walk.Enumeration(m), allAccessModes))
		}
	}
	if sole && shared {
		r.Forbidden(modes, "may not use ReadWriteOncePod with other access modes")
	}
}
