package builtin

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/form"
	"github.com/deed-project/deed/value"
)

// release is the release of Kubernetes that the embedded data describes.
const release = "v1.37"

// UnservedError is the error of a version that servers do not serve, or of a kind that is not built-in.
type UnservedError struct {
	GVK schema.GVK
	// Removed is the first release that does not serve the version, and Replacement the served kind to use instead.
	// Both are empty if unknown.
	Removed, Replacement string

	release string // the release of the server; empty for the current one
}

// Error says since which release the version is not served, and which kind replaces it.
func (e *UnservedError) Error() string {
	if e == nil {
		return "<nil>"
	}
	name := fmt.Sprintf("%s %s", e.GVK.APIVersion(), e.GVK.Kind)
	switch {
	case e.Removed == "":
		return name + " is not served by Kubernetes " + cmp.Or(e.release, release)
	case e.Replacement == "":
		return fmt.Sprintf("%s is not served since Kubernetes %s", name, e.Removed)
	}
	return fmt.Sprintf("%s is not served since Kubernetes %s: use %s", name, e.Removed, e.Replacement)
}

// Config returns the configuration of the main endpoint for objects of kind gvk: see [Kind.Config]. The error is an
// [*UnservedError].
func Config(gvk schema.GVK) (managedfields.Config, error) {
	k, ok := Lookup(gvk)
	if !ok {
		return managedfields.Config{}, &UnservedError{GVK: gvk}
	}
	return k.Config("")
}

// Config returns the configuration of the endpoint for a subresource, such as status, or of the main endpoint if that
// is empty. The configuration computes the objects that a server stores, except for parts that only a server can
// know. Its field managers convert managers' fields between all versions of the kind in its group that can be served.
// Each group of a server has types of its own. An Event of events.k8s.io therefore loses the entries of v1, and the
// reverse. The error is an [*UnservedError].
func (k *Kind) Config(subresource string) (managedfields.Config, error) {
	k = k.known()
	if k.Served == NotServed {
		return managedfields.Config{}, k.unserved()
	}
	c := managedfields.Config{
		GVK: k.GVK, Now: k.now, Subresource: subresource, Hub: k.Hub,
		Types: map[string]*schema.Type{}, ResetFields: map[string]merge.Filter{},
		Hold: k.hold, Read: k.read,
		Store: func(c managedfields.Change) (value.Value, error) { return k.store(subresource, c) },
	}
	if k.release != nil {
		c.Profile = k.release.profile
	}
	c.Empty, _ = k.schemas().empty(k.GVK)
	versions := converter{}
	for _, sibling := range k.siblings() {
		t, ok := k.schemas().typeOf(sibling.GVK)
		if !ok || sibling.Served == NotServed || sibling.GVK.Group != k.GVK.Group {
			continue
		}
		apiVersion := sibling.GVK.APIVersion()
		c.Types[apiVersion], versions[apiVersion] = t, sibling.WithClock(k.now)
		if filter, ok := sibling.filter(subresource); ok {
			c.ResetFields[apiVersion] = filter
		}
	}
	c.Converter = versions
	return c, nil
}

// unserved returns the error of a version that is not served.
func (k *Kind) unserved() *UnservedError {
	if k.release == nil {
		return &UnservedError{GVK: k.GVK, Removed: k.Removed, Replacement: k.Replacement}
	}
	e := &UnservedError{GVK: k.GVK, release: k.release.String()}
	if removed := minorOf(k.Removed); removed != 0 && removed <= k.release.minor {
		e.Removed, e.Replacement = k.Removed, k.Replacement
	}
	return e
}

// hold is Held. If the endpoint's version is the stored one, it is also Stored: one walk does both.
func (k *Kind) hold(object value.Value) (value.Value, error) {
	if k.hub {
		return k.normalized(object, k.storage()|form.Converted)
	}
	return k.normalized(object, form.Held|form.Converted)
}

// store is Store for a field manager.
func (k *Kind) store(subresource string, c managedfields.Change) (value.Value, error) {
	known := value.Value{}
	if c.Operation == merge.Apply && k.hub {
		known = c.Held // hold returned it
	}
	return k.storeLike(subresource, c.Live, c.Sent, c.Object, known)
}

// read is Held for an object that a client sent, with the errors of kube-apiserver. It returns the object as the
// server compares it with the stored one: see spelled.
func (k *Kind) read(object value.Value) (value.Value, error) {
	held, err := k.Held(object)
	var refused *form.Error
	if errors.As(err, &refused) {
		return value.Value{}, &ReadError{k.GVK, refused}
	}
	if err != nil {
		return held, err
	}
	return k.Spelled(object, held), nil
}

// Spelled returns held as a server compares it with the stored object. held must be the result of [Kind.Held] for
// sent. An atomic list stays as it was sent if an empty list or map in an item, or the spelling of a quantity,
// changes it. The result is only for the comparison by a field manager: Held turns it back.
//
// Cost: linear in the size of sent.
func (k *Kind) Spelled(sent, held value.Value) value.Value {
	k = k.known()
	if t, ok := k.schemas().typeOf(k.GVK); ok {
		return spelled(k.Form(), t, sent, held)
	}
	return held
}

// spelled returns held with atomic lists as they were sent, if the server takes them for changed. held is a value of
// the types f and t that was read from sent. The server compares the Go values of the items. An empty list or map in
// a Go value differs from an absent one, and one spelling of a quantity differs from another.
//
//	live  limits: [{type: Pod}]    sent  limits: [{type: Pod, max: {}}]    held  limits: [{type: Pod}]    limits is changed
//
// Cost: linear in the size of sent.
func spelled(f *form.Type, t *schema.Type, sent, held value.Value) value.Value {
	if f == nil || t == nil {
		return held
	}
	switch list := t.List(); {
	case list != nil && sent.Kind() == value.KindList && list.Topology() == schema.AtomicList:
		if sent.Len() == 0 || !f.Unlike(sent, value.Value{}) {
			return held
		}
		if kept, err := f.Normalize(sent, form.Held|form.Spelled); err == nil {
			return kept
		}
		return held
	case list != nil && sent.Kind() == value.KindList && sent.Len() == held.Len():
		var items []value.Value
		same := true
		for i := range sent.Len() {
			items = append(items, spelled(f.Item(), list.Element(), sent.Item(i), held.Item(i)))
			same = same && items[i].Same(held.Item(i))
		}
		if !same {
			return value.List(items...)
		}
	case t.Map() != nil && sent.Kind() == value.KindObject:
		var members []value.Member
		for name, member := range sent.Members() {
			inner, ok := t.Map().Lookup(name)
			if was := held.Get(name); ok && (member.Kind() == value.KindObject || member.Kind() == value.KindList) && !was.IsAbsent() {
				members = append(members, value.Member{Name: name, Value: spelled(f.Member(name), inner, member, was)})
			}
		}
		if members != nil {
			return documents.WithAll(held, value.Object(members...))
		}
	}
	return held
}

// ReadError is the error of an object from a client that its type cannot hold.
type ReadError struct {
	GVK schema.GVK
	Err *form.Error
}

// Error returns the defect in the words of kube-apiserver for objects that clients send.
func (e *ReadError) Error() string {
	if e == nil {
		return "<nil>"
	}
	return fmt.Sprintf("%s in version %q cannot be handled as a %s: %v", e.GVK.Kind, e.GVK.Version, e.GVK.Kind, e.Err)
}

// Unwrap returns the place and the reason.
func (e *ReadError) Unwrap() error {
	if e == nil || e.Err == nil {
		return nil
	}
	return e.Err
}

// ConvertError is the error of an object that cannot be converted because its type cannot hold it.
type ConvertError struct {
	GVK schema.GVK
	Err *form.Error
}

// Error returns the defect in the words of kube-apiserver for the outcome of an apply.
func (e *ConvertError) Error() string {
	if e == nil {
		return "<nil>"
	}
	return fmt.Sprintf("unable to convert unstructured object to %v: %s", e.GVK, e.Err.Converting())
}

// Unwrap returns the place and the reason.
func (e *ConvertError) Unwrap() error {
	if e == nil || e.Err == nil {
		return nil
	}
	return e.Err
}
