package builtin

import (
	"fmt"

	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/form"
	"github.com/deed-project/deed/value"
)

// conversion converts the objects of a version to the common form of all versions of the kind, and back.
type conversion struct {
	toCommon, fromCommon func(value.Value) value.Value
}

// conversions has the versions that differ in more than the set of their fields.
var conversions = map[schema.GVK]conversion{
	{Group: "autoscaling", Version: "v1", Kind: "HorizontalPodAutoscaler"}:        {scalerFromV1, scalerToV1},
	{Group: "resource.k8s.io", Version: "v1beta1", Kind: "ResourceClaim"}:         requestsAt("spec", "devices"),
	{Group: "resource.k8s.io", Version: "v1beta1", Kind: "ResourceClaimTemplate"}: requestsAt("spec", "spec", "devices"),
	{Group: "resource.k8s.io", Version: "v1beta1", Kind: "ResourceSlice"}:         {devicesFromBasic, devicesToBasic},
	{Group: "events.k8s.io", Version: "v1", Kind: "Event"}:                        {eventFromNew, eventToNew},
}

// Convert returns object, which has version k of a kind, in version to. Fields that the other version does not have are lost.
// Values that reading and printing loses are lost, too, such as empty members. The error is a [*ConvertError].
func (k *Kind) Convert(object value.Value, to *Kind) (value.Value, error) {
	converted, _, err := k.convert(object, to)
	return converted, err
}

// convert is Convert. It also reports whether reading and printing lost nothing.
func (k *Kind) convert(object value.Value, to *Kind) (converted value.Value, whole bool, err error) {
	k, to = k.known(), to.known()
	printed, err := k.normalized(object, form.Printed|form.Converted)
	if err != nil {
		return value.Value{}, false, err
	}
	converted, err = to.converted(k.common(printed))
	return converted, printed.Same(object), err
}

// ConvertWhole is Convert for an object with the empty lists and maps of a request: see [Kind.WithEmpties]. The result has them, too.
func (k *Kind) ConvertWhole(object value.Value, to *Kind) (value.Value, error) {
	converted, whole, err := k.convert(object, to)
	if err != nil || whole {
		return converted, err
	}
	return to.known().Form().WithEmpties(converted, to.version(k.common(object))), nil
}

// convertSpelled is Convert for the outcome of an apply. The result is spelled as a server compares it: see [Kind.Spelled].
func (k *Kind) convertSpelled(object value.Value, to *Kind) (value.Value, error) {
	converted, whole, err := k.convert(object, to)
	if err != nil || whole {
		return converted, err
	}
	return to.Spelled(to.version(k.common(object)), converted), nil
}

// common returns object, which has version k, in the common form of all versions of the kind.
func (k *Kind) common(object value.Value) value.Value {
	if c := conversions[k.GVK]; c.toCommon != nil {
		return c.toCommon(object)
	}
	return object
}

// version returns object, which has the common form, in version k.
func (k *Kind) version(object value.Value) value.Value {
	if c := conversions[k.GVK]; c.fromCommon != nil {
		object = c.fromCommon(object)
	}
	return object.With("apiVersion", value.String(k.GVK.APIVersion())).With("kind", value.String(k.GVK.Kind))
}

// ConvertRead is Convert for an object that was read from sent. sent is absent if it is not known. Reading a scaler of
// autoscaling/v1 adds an annotation that says more than the fields it is derived from. ConvertRead does not convert this
// annotation.
func (k *Kind) ConvertRead(object, sent value.Value, to *Kind) (value.Value, error) {
	isDerived := !sent.IsAbsent() && sent.Get("metadata", "annotations", scalerCurrentMetrics).IsAbsent()
	if k = k.known(); k.GVK.Kind != "HorizontalPodAutoscaler" || k.GVK.Version != "v1" || !isDerived {
		return k.Convert(object, to)
	}
	return to.known().converted(scalerFromV1(annotated(object, scalerCurrentMetrics, "")))
}

// converted returns an object of the common form in the version of k.
func (k *Kind) converted(object value.Value) (value.Value, error) {
	return k.normalized(k.version(object), 0)
}

// Stored returns the object that a server reads back after it stored object. object must be a result of [Kind.Held]. A server
// stores objects in one version of their kind, [Kind.Hub]. Fields that this version does not have are lost. The error is a
// [*ConvertError].
func (k *Kind) Stored(object value.Value) (value.Value, error) {
	return k.known().storedLike(object, value.Value{})
}

// Encoded returns object as a server encodes it into the store. The result lacks the defaults that object lacks. A server adds
// these defaults when it reads the object, so that [Kind.Stored] of the result equals Stored of object. The error is a
// [*ConvertError]. The kind must be the [Kind.Hub] of its group.
func (k *Kind) Encoded(object value.Value) (value.Value, error) {
	k = k.known()
	return k.normalized(object, k.storage()&^form.Defaults)
}

// storedLike is Stored for an object that shares members with known, a result of Stored.
func (k *Kind) storedLike(object, known value.Value) (value.Value, error) {
	if k.hub {
		return k.normalizedLike(object, known, k.storage())
	}
	hub, _ := Lookup(schema.ParseGVK(k.Hub, k.GVK.Kind))
	hub = hub.WithClock(k.now)
	object, err := k.Convert(object, hub)
	if err != nil {
		return value.Value{}, err
	}
	if object, err = hub.normalized(object, hub.storage()); err != nil {
		return value.Value{}, err
	}
	return hub.Convert(object, k)
}

// storage returns the mode to read stored objects. Two groups store JSON, which keeps empty lists.
func (k *Kind) storage() form.Mode {
	if k.GVK.Group == "apiextensions.k8s.io" || k.GVK.Group == "apiregistration.k8s.io" {
		return form.Held
	}
	return form.Held | form.Stored
}

// converter converts the objects of a kind between its versions, for a field manager.
type converter map[string]*Kind // by apiVersion

// Convert implements [managedfields.Converter].
func (c converter) Convert(object value.Value, apiVersion string) (value.Value, error) {
	return c.convert(object, apiVersion, (*Kind).Convert)
}

// ConvertApplied is Convert for the outcome of an apply: see [managedfields.Config]. An empty list in an atomic list stays there.
func (c converter) ConvertApplied(object value.Value, apiVersion string) (value.Value, error) {
	return c.convert(object, apiVersion, (*Kind).convertSpelled)
}

// convert converts object to a version by way, a method of the kind in the version of object.
func (c converter) convert(
	object value.Value, apiVersion string, way func(from *Kind, object value.Value, to *Kind) (value.Value, error),
) (value.Value, error) {
	from, ok := c[object.Get("apiVersion").Str()]
	if !ok {
		return value.Value{}, fmt.Errorf("%w %s", merge.ErrNoVersion, object.Get("apiVersion").Str())
	}
	to, ok := c[apiVersion]
	if !ok {
		return value.Value{}, fmt.Errorf("%w %s", merge.ErrNoVersion, apiVersion)
	}
	return way(from, object, to)
}
