package builtin

import (
	"fmt"

	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/form"
	"github.com/deed-project/deed/value"
)

// conversion is how the objects of a version become those that all versions of the kind have in common, and back.
type conversion struct {
	toCommon, fromCommon func(value.Value) value.Value
}

// conversions has the versions whose objects differ in more than the fields that they have.
var conversions = map[schema.GVK]conversion{
	{Group: "autoscaling", Version: "v1", Kind: "HorizontalPodAutoscaler"}:        {scalerFromV1, scalerToV1},
	{Group: "resource.k8s.io", Version: "v1beta1", Kind: "ResourceClaim"}:         requestsAt("spec", "devices"),
	{Group: "resource.k8s.io", Version: "v1beta1", Kind: "ResourceClaimTemplate"}: requestsAt("spec", "spec", "devices"),
	{Group: "resource.k8s.io", Version: "v1beta1", Kind: "ResourceSlice"}:         {devicesFromBasic, devicesToBasic},
	{Group: "events.k8s.io", Version: "v1", Kind: "Event"}:                        {eventFromNew, eventToNew},
}

// Convert returns object, which is of version k of a kind, in version to of it. What the other version does not
// have is lost, and so is what reading and printing it loses: empty members, for instance. The error is a
// [*ConvertError].
func (k *Kind) Convert(object value.Value, to *Kind) (value.Value, error) {
	k, to = k.known(), to.known()
	object, err := k.normalized(object, form.Printed|form.Converted)
	if err != nil {
		return value.Value{}, err
	}
	if c := conversions[k.GVK]; c.toCommon != nil {
		object = c.toCommon(object)
	}
	return to.converted(object)
}

// ConvertRead is Convert for an object that was read from sent, which is absent if it is not known. What reading adds to the annotations of
// a scaler of autoscaling/v1 says more than the fields that it comes from: it is not converted.
func (k *Kind) ConvertRead(object, sent value.Value, to *Kind) (value.Value, error) {
	isDerived := !sent.IsAbsent() && sent.Get("metadata", "annotations", scalerCurrentMetrics).IsAbsent()
	if k = k.known(); k.GVK.Kind != "HorizontalPodAutoscaler" || k.GVK.Version != "v1" || !isDerived {
		return k.Convert(object, to)
	}
	return to.known().converted(scalerFromV1(annotated(object, scalerCurrentMetrics, "")))
}

// converted returns an object in the version of k, given what all versions have in common.
func (k *Kind) converted(object value.Value) (value.Value, error) {
	if c := conversions[k.GVK]; c.fromCommon != nil {
		object = c.fromCommon(object)
	}
	object = object.With("apiVersion", value.String(k.GVK.APIVersion())).With("kind", value.String(k.GVK.Kind))
	return k.normalized(object, 0)
}

// Stored returns what a server reads back after it stored object, which is as [Kind.Held] returns it. Objects are
// stored in one version of their kind, [Kind.Hub], and what that does not have is lost. The error is a
// [*ConvertError].
func (k *Kind) Stored(object value.Value) (value.Value, error) {
	return k.known().storedLike(object, value.Value{})
}

// Encoded returns object as a server encodes it into the store: the outcome lacks the defaults that object lacks. A server adds these defaults
// when it reads the object, so that [Kind.Stored] of the outcome equals Stored of object. The error is a [*ConvertError]. The kind must be
// the [Kind.Hub] of its group.
func (k *Kind) Encoded(object value.Value) (value.Value, error) {
	k = k.known()
	return k.normalized(object, k.storage()&^form.Defaults)
}

// storedLike is Stored for an object that shares members with known, which is what a server reads back already.
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

// storage says how what is stored is read. Two groups store JSON, which keeps empty lists.
func (k *Kind) storage() form.Mode {
	if k.GVK.Group == "apiextensions.k8s.io" || k.GVK.Group == "apiregistration.k8s.io" {
		return form.Held
	}
	return form.Held | form.Stored
}

// converter converts the objects of a kind between its versions, as a field manager wants it.
type converter map[string]*Kind // by apiVersion

// Convert implements [managedfields.Converter].
func (c converter) Convert(object value.Value, apiVersion string) (value.Value, error) {
	from, ok := c[object.Get("apiVersion").Str()]
	if !ok {
		return value.Value{}, fmt.Errorf("%w %s", merge.ErrNoVersion, object.Get("apiVersion").Str())
	}
	to, ok := c[apiVersion]
	if !ok {
		return value.Value{}, fmt.Errorf("%w %s", merge.ErrNoVersion, apiVersion)
	}
	return from.Convert(object, to)
}
