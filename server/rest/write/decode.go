package write

import (
	stderrors "errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/errors"

	"github.com/deed-project/deed/internal/door"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/form"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/kjson"
	"github.com/deed-project/deed/server/rest/read"
	"github.com/deed-project/deed/server/wire"
	"github.com/deed-project/deed/value"
)

// decode reads the object of a create or update: text, form, strictness, version, in this order. Most of the object may be as in last, the
// zero read.Live for none.
func (r *Request) decode(options api.WriteOptions, last read.Live) (managedfields.Object, error) {
	var object managedfields.Object
	sent, err := r.readBody(options.Validation == api.Ignore)
	if err != nil {
		return object, err
	}
	gvk := schema.ParseGVK(sent.Content.Get("apiVersion").Str(), sent.Content.Get("kind").Str())
	object, strict, err := r.form(storage.Share(sent.Content, last.Content), last.SettledContent())
	if costly := costly(err); costly != nil {
		return object, costly
	}
	if err != nil {
		if gvk == r.Version.GVK() {
			err = r.firstFault(sent.JSON, err)
		}
		return object, wire.CannotHandle(gvk.Kind, gvk.Version, r.Version.Kind, err)
	}
	if sent.Text != nil {
		strict, err = r.strictFields(sent.Text)
		if costly := costly(err); costly != nil {
			return object, costly
		}
		if err != nil {
			return object, wire.CannotHandle(gvk.Kind, gvk.Version, r.Version.Kind, err)
		}
	}
	if strict = append(sent.Strict, strict...); len(strict) > 0 && options.Validation == api.Strict {
		wanted := r.Version.Kind
		if r.Version.Custom {
			wanted = gvk.Kind // it was read as what it says it is
		}
		return object, wire.CannotHandle(gvk.Kind, gvk.Version, wanted, strictError(strict))
	}
	r.warnStrict(options, strict)
	if gvk.APIVersion() != r.Version.APIVersion() && !slices.Contains(r.Version.Takes, gvk.APIVersion()) {
		return object, errors.NewBadRequest(fmt.Sprintf(
			"the API version in the data (%s) does not match the expected API version (%s)", gvk.APIVersion(), r.Version.APIVersion()))
	}
	return object, nil
}

// firstFault returns what is wrong first in a text that was sent, nil for none. err is what was found wrong in it in another order.
func (r *Request) firstFault(text []byte, err error) error {
	if text == nil {
		return err
	}
	if first := kjson.Unmarshal(text, r.Version.New()); first != nil {
		return first
	}
	return err
}

// readBody reads the body of a create or update of an object.
func (r *Request) readBody(lenient bool) (wire.Sent, error) {
	if r.Version.Custom {
		return r.readCustom(lenient)
	}
	return r.readStandard(r.Version.GVK(), r.Version.New(), r.Offer())
}

// readCustom reads a body that is a custom resource.
func (r *Request) readCustom(lenient bool) (wire.Sent, error) {
	media, body, err := r.receive(r.Offer())
	switch {
	case err != nil:
		return wire.Sent{}, err
	case media == wire.CBOR:
		return wire.DecodeCBOR(body, r.Version.Kind)
	}
	sent, err := wire.DecodeObject(body, media, r.Version.GVK(), lenient)
	if v := sent.Content.Get("apiVersion"); err == nil && v.IsNull() {
		return sent, wire.CannotHandle(sent.Content.Get("kind").Str(), "", r.Version.Kind,
			stderrors.New(".apiVersion accessor error: <nil> is of the type <nil>, expected string"))
	}
	return sent, err
}

// readStandard reads a body that is of a built-in kind, which it need not say. empty is an object of its Go type.
func (r *Request) readStandard(kind schema.GVK, empty any, offer wire.Offer) (wire.Sent, error) {
	media, body, err := r.receive(offer)
	switch {
	case err != nil:
		return wire.Sent{}, err
	case media == wire.Protobuf:
		sent, err := wire.DecodeProtobuf(body, empty, kind)
		if costly := costly(err); costly != nil {
			return sent, costly
		}
		return sent, err
	case media == wire.CBOR:
		return wire.DecodeStandardCBOR(body, kind)
	}
	return wire.DecodeStandard(body, media, kind)
}

// receive returns the body with its media type, one of those that are offered.
func (r *Request) receive(offer wire.Offer) (media string, body []byte, err error) {
	if media, err = wire.BodyMedia(r.HTTP, offer); err != nil {
		return media, nil, err
	}
	body, err = wire.ReadBody(r.HTTP, MaxBody)
	return media, body, err
}

// storage lets objects share what they have in common.
var storage = door.Open(value.Internal{})

// form returns content as an object of the version, and what strict decoding says about its fields. settled is an object that it may share
// parts with, see Live.settled.
func (r *Request) form(content, settled value.Value) (managedfields.Object, []string, error) {
	decode := r.Version.Form.Decode
	if form, ok := r.Version.Form.(catalog.Sparing); ok && !settled.IsAbsent() {
		decode = func(sent value.Value) (value.Value, []string, error) { return form.DecodeBeside(sent, settled) }
	}
	decoded, unknown, err := decode(content)
	if err != nil {
		return managedfields.Object{}, nil, err
	}
	strict := make([]string, 0, len(unknown))
	for _, path := range unknown {
		strict = append(strict, fmt.Sprintf("unknown field %q", path))
	}
	object, err := managedfields.ObjectOf(decoded)
	return object, strict, err
}

// strictFields returns what strict decoding of a text says about its fields: those that the Go type of a built-in kind does not know,
// and those that stand twice.
func (r *Request) strictFields(text []byte) ([]string, error) {
	if hasLongNumber(text) {
		return nil, form.ErrQuantityLength
	}
	found, err := kjson.UnmarshalStrict(text, r.Version.New())
	var out []string
	for _, e := range found {
		out = append(out, e.Error())
	}
	return out, err
}

// strictError is what a request fails with that must not say what strict decoding finds.
func strictError(found []string) error {
	return fmt.Errorf("strict decoding error: %s", api.Join(found, ", "))
}

// warnStrict warns of what strict decoding finds, if the request asks for warnings.
func (r *Request) warnStrict(options api.WriteOptions, found []string) {
	if options.Validation == api.Warn {
		r.Warnings.AddStrict(found)
	}
}

// update lets the field manager of the endpoint replace live by object. If it cannot keep track of the managed fields, they
// stay as they were.
func (r *Request) update(live read.Live, object managedfields.Object, options api.WriteOptions) (managedfields.Object, error) {
	if r.Version.Custom && r.Target.Subresource == "status" {
		is := schema.ParseGVK(object.Content.Get("apiVersion").Str(), object.Content.Get("kind").Str())
		if is != r.Version.GVK() {
			return object, nil // what it says it is has no field manager, and is not written: all that changes is the status
		}
	}
	manager := options.ManagerOr(r.HTTP.UserAgent())
	updated, err := r.manager().Update(live.Object, object, manager)
	if err != nil && updated.Content.IsAbsent() {
		return updated, api.Refused(err)
	}
	return updated, nil
}

// withoutRepeatedOwners returns content with each owner reference once, and warns of those that it takes out.
func (r *Request) withoutRepeatedOwners(content value.Value) value.Value {
	content, uids := api.UniqueOwners(content)
	if len(uids) > 0 {
		r.Warnings.Add(fmt.Sprintf(".metadata.ownerReferences contains duplicate entries; API server dedups owner references "+
			"in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: %s",
			strings.Join(uids, ", ")))
	}
	return content
}
