package write

import (
	stderrors "errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/errors"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/kjson"
	"github.com/deed-project/deed/server/rest"
	"github.com/deed-project/deed/server/rest/read"
	"github.com/deed-project/deed/server/wire"
	"github.com/deed-project/deed/value"
)

// How the body of a create or update becomes an object. A body with several faults gets the error that kube-apiserver reports first. So the
// order of the stages is the order of the refusals:
//
//	receive        media type and length          415, 413
//	readBody       syntax, apiVersion and kind     400
//	decodeAs       the form of the kind            400
//	strictFields   unknown and repeated fields     400 if the request demands it, else warnings or nothing
//	Decode         the version is the one served   400

// Decode reads the object of a create or update: text, form, strictness, version, in this order. It shares parts with last, which is the
// object as it was read last, or the zero read.Live.
//
// Most updates send back what they have read, with few changes. So equal parts of the body take the storage of last. Parts that are the
// same storage as in a settled object need no decoding.
func Decode(q *rest.Request, options api.WriteOptions, last *read.Live) (managedfields.Object, error) {
	sent, err := readBody(q, options.Validation == api.Ignore)
	if err != nil {
		return managedfields.Object{}, err
	}
	object, err := objectOf(q, sent, options, last)
	if err == nil {
		record(q, q.Version, object)
	}
	return object, err
}

// record notes the object of a body in the event of the request, as its Go type prints it.
func record(q *rest.Request, v *catalog.Version, object managedfields.Object) {
	q.Record.Send(object.Content.Get("metadata"), func(b []byte) []byte {
		if form, ok := v.Form.(catalog.PrintingForm); ok {
			if printed, err := form.Print(object.Content); err == nil { // the Go type has read the object
				object.Content = printed
			}
			if len(object.Entries) == 0 {
				object.Entries = nil // an empty list is not printed
			}
		}
		return object.AppendJSON(b)
	})
}

// objectOf returns the object of a body that is read: all steps of Decode after readBody.
func objectOf(q *rest.Request, sent wire.Decoded, options api.WriteOptions, last *read.Live) (managedfields.Object, error) {
	gvk := schema.ParseGVK(sent.Content.Get("apiVersion").Str(), sent.Content.Get("kind").Str())
	object, strict, err := decodeAs(q.Version, storage.Share(sent.Content, last.Content), last.SettledContent(), sent.JSON)
	if err == nil && sent.Duplicates {
		strict, err = strictFields(q.Version, sent.JSON)
	}
	if costly := costly(err); costly != nil {
		return object, costly
	}
	if err != nil {
		return object, wire.CannotHandle(gvk.Kind, gvk.Version, q.Version.Kind, err)
	}
	if sent.AllStrict {
		strict = nil
	}
	if strict = append(sent.Strict, strict...); len(strict) > 0 && options.Validation == api.Strict {
		wanted := q.Version.Kind
		if q.Version.Custom {
			wanted = gvk.Kind // it was decoded as the kind that it names
		}
		return object, wire.CannotHandle(gvk.Kind, gvk.Version, wanted, strictError(strict))
	}
	warnStrict(q, options, strict)
	// Last, as in kube-apiserver: a body of a wrong version is first decoded by its own terms.
	if gvk.APIVersion() != q.Version.APIVersion() && !slices.Contains(q.Version.Takes, gvk.APIVersion()) {
		return object, errors.NewBadRequest(fmt.Sprintf(
			"the API version in the data (%s) does not match the expected API version (%s)", gvk.APIVersion(), q.Version.APIVersion()))
	}
	return object, nil
}

// readBody reads the body of a create or update of an object.
//
// lenient tells that field validation is off. Then a custom resource need not have a kind, and its repeated names are not searched for.
func readBody(q *rest.Request, lenient bool) (wire.Decoded, error) {
	if q.Version.Custom {
		return readCustom(q, lenient)
	}
	return readStandard(q, q.Version.GVK(), q.Version.New(), q.Offer())
}

// readCustom reads a body that is a custom resource.
//
// kube-apiserver's accessor for unstructured objects fails on an apiVersion that is null, but not on an absent one.
func readCustom(q *rest.Request, lenient bool) (wire.Decoded, error) {
	media, body, err := receive(q, q.Offer())
	switch {
	case err != nil:
		return wire.Decoded{}, err
	case media == wire.CBOR:
		return wire.DecodeCBOR(body, q.Version.Kind)
	}
	sent, err := wire.DecodeObject(body, media, q.Version.GVK(), lenient)
	if v := sent.Content.Get("apiVersion"); err == nil && v.IsNull() {
		return sent, wire.CannotHandle(sent.Content.Get("kind").Str(), "", q.Version.Kind,
			stderrors.New(".apiVersion accessor error: <nil> is of the type <nil>, expected string"))
	}
	return sent, err
}

// readStandard reads a body of a built-in kind, which the body need not name. empty is an object of its Go type.
func readStandard(q *rest.Request, kind schema.GVK, empty any, offer wire.Offer) (wire.Decoded, error) {
	media, body, err := receive(q, offer)
	switch {
	case err != nil:
		return wire.Decoded{}, err
	case media == wire.Protobuf:
		return bounded(wire.DecodeProtobuf(body, empty, kind))
	case media == wire.CBOR:
		return bounded(wire.DecodeStandardCBOR(body, empty, kind, costlyNumber))
	}
	return wire.DecodeStandard(body, media, kind)
}

// bounded returns what was decoded, with a 422 in place of the error of an object that is too large.
func bounded(sent wire.Decoded, err error) (wire.Decoded, error) {
	if costly := costly(err); costly != nil {
		return sent, costly
	}
	return sent, err
}

// receive returns the body with its media type, one of those that are offered.
//
// The media type comes first: kube-apiserver answers 415 without reading the body.
func receive(q *rest.Request, offer wire.Offer) (media string, body []byte, err error) {
	if media, err = wire.BodyMedia(q.HTTP, offer); err != nil {
		return media, nil, err
	}
	body, err = wire.ReadBody(q.HTTP, MaxBody)
	return media, body, err
}

// decodeAs returns content as an object of a version, and the faults that strict decoding finds in its fields. settled is the content of an
// object that it may share parts with, see read.Live.SettledContent. text is the JSON text of content if it is known: the faults of a built-in
// kind come in its order, and otherwise by name.
func decodeAs(v *catalog.Version, content, settled value.Value, text []byte) (managedfields.Object, []string, error) {
	decode := v.Form.Decode
	switch form := v.Form.(type) {
	case catalog.IncrementalForm:
		decode = func(sent value.Value) (value.Value, []string, error) { return form.DecodeIncremental(sent, settled) }
	case catalog.TextForm:
		if text != nil {
			decode = func(sent value.Value) (value.Value, []string, error) { return form.DecodeText(sent, text) }
		}
	}
	decoded, unknown, err := decode(content)
	if err == nil {
		err = unconverted(v, content)
	}
	if err != nil {
		return managedfields.Object{}, nil, err
	}
	strict := make([]string, 0, len(unknown))
	for _, path := range unknown {
		strict = append(strict, fmt.Sprintf("unknown field %q", path))
	}
	object, err := managedfields.ObjectOf(decoded)
	if !v.Custom {
		object = fields.WithSent(object, content)
	}
	return object, strict, err
}

// conversionError is why an object that was decoded has no internal form.
type conversionError struct{ error }

// unconverted returns the [conversionError] of an object that can be decoded, nil if it has an internal form.
func unconverted(v *catalog.Version, content value.Value) error {
	if v.CheckConversion == nil {
		return nil
	}
	if err := v.CheckConversion(content); err != nil {
		return conversionError{err}
	}
	return nil
}

// strictFields returns the faults that strict decoding finds in a text: fields that the Go type of a built-in kind does not have, and
// fields that stand twice.
//
// Numbers are checked before, because the Go types parse quantities while they decode. The time for that grows with the square of the number
// of digits, and a power of ten may name a billion of them.
func strictFields(v *catalog.Version, text []byte) ([]string, error) {
	if err := costlyNumber(text); err != nil {
		return nil, err
	}
	found, err := kjson.UnmarshalStrict(text, v.New())
	var out []string
	for _, e := range found {
		out = append(out, e.Error())
	}
	return out, err
}

// strictError returns the error of a request that demands strict decoding, with the faults that were found.
func strictError(found []string) error {
	return fmt.Errorf("strict decoding error: %s", api.Join(found, ", "))
}

// warnStrict warns of the faults that strict decoding finds, if the request asks for warnings.
func warnStrict(q *rest.Request, options api.WriteOptions, found []string) {
	if options.Validation == api.Warn {
		q.Warnings.AddStrict(found)
	}
}

// identified returns the content of an object in the namespace of the request. The error is a 400 if the object is not the one
// that the path names.
//
// A body without a namespace takes that of the path.
func identified(q *rest.Request, object managedfields.Object) (value.Value, error) {
	content, err := api.InNamespace(object.Content, q.Target.Namespace)
	if err != nil {
		return content, err
	}
	return content, api.CheckName(content, q.Target.Name)
}
