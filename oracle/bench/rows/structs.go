package rows

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/oracle/peer"
	"github.com/deed-project/deed/value"
	gostructs "github.com/deed-project/deed/value/structs"
)

// deedStructs holds objects as Go structs, except for applied configurations, and fills a new struct with the answer.
func deedStructs(r request) (deedForm, error) {
	live, err := r.structOf(r.live)
	if err != nil {
		return deedForm{}, err
	}
	sent, err := deedSent(r)
	if err != nil {
		return deedForm{}, err
	}
	src, err := r.kind.Source()
	if err != nil {
		return deedForm{}, err
	}
	var decoder managedfields.Decoder
	var out runtime.Object
	return deedForm{
		live: func() (managedfields.Object, error) {
			r.begin(&decoder)
			return fromStruct(live, &decoder)
		},
		sent: func() (managedfields.Object, error) { return sent(&decoder) },
		done: func(o managedfields.Object) (err error) {
			if out, err = src.Scheme.New(r.kind.GVK); err != nil {
				return err
			}
			if err := gostructs.Into(o.Content, out); err != nil {
				return err
			}
			return setEntries(out, o.Entries)
		},
		answer: func() (string, error) { return canonical(out) },
	}, nil
}

// deedSent returns the function that gives deed what was sent: a configuration out of maps, or an object out of a struct.
func deedSent(r request) (func(*managedfields.Decoder) (managedfields.Object, error), error) {
	if r.verb == apply {
		config, err := decode(r.sent)
		return func(d *managedfields.Decoder) (managedfields.Object, error) { return d.FromAny(config) }, err
	}
	sent, err := r.structOf(r.sent)
	return func(d *managedfields.Decoder) (managedfields.Object, error) { return fromStruct(sent, d) }, err
}

// deedSameStruct is deedStructs for callers that keep the struct they sent, as the peer does: an update changes nothing in
// it but its managed fields.
func deedSameStruct(r request) (deedForm, error) {
	form, err := deedStructs(r)
	if err != nil {
		return deedForm{}, err
	}
	sent, err := r.structOf(r.sent)
	if err != nil {
		return deedForm{}, err
	}
	restore, err := structRestorer(sent)
	if err != nil {
		return deedForm{}, err
	}
	live, err := r.structOf(r.live)
	if err != nil {
		return deedForm{}, err
	}
	var decoder managedfields.Decoder
	form.live = func() (managedfields.Object, error) {
		r.begin(&decoder)
		return fromStruct(live, &decoder)
	}
	form.sent = func() (managedfields.Object, error) {
		restore()
		return fromStruct(sent, &decoder)
	}
	form.done = func(o managedfields.Object) error { return setEntries(sent, o.Entries) }
	form.answer = func() (string, error) { return canonical(sent) }
	return form, nil
}

// peerStructs holds objects as Go structs, as the peer takes and returns them. Applied configurations are maps there too.
func peerStructs(r request, _ *peer.Peer) (peerForm, error) {
	live, err := r.structOf(r.live)
	if err != nil {
		return peerForm{}, err
	}
	sent, err := peerSent(r)
	if err != nil {
		return peerForm{}, err
	}
	var out runtime.Object
	return peerForm{
		live:   func() (runtime.Object, error) { return live, nil },
		sent:   sent,
		done:   func(o runtime.Object) error { out = o; return nil },
		answer: func() (string, error) { return canonical(out) },
	}, nil
}

// peerSent is deedSent for the peer.
func peerSent(r request) (func() (runtime.Object, error), error) {
	if r.verb == apply {
		config, err := decode(r.sent)
		return func() (runtime.Object, error) { return &unstructured.Unstructured{Object: config}, nil }, err
	}
	sent, err := r.structOf(r.sent)
	if err != nil {
		return nil, err
	}
	restore, err := structRestorer(sent)
	return func() (runtime.Object, error) {
		restore()
		return sent, nil
	}, err
}

func (r request) structOf(text []byte) (runtime.Object, error) {
	src, err := r.kind.Source()
	if err != nil {
		return nil, err
	}
	out, err := src.Scheme.New(r.kind.GVK)
	if err != nil {
		return nil, err
	}
	return out, utiljson.Unmarshal(text, out)
}

// structRestorer is restorer for structs.
func structRestorer(object runtime.Object) (func(), error) {
	accessor, err := meta.Accessor(object)
	if err != nil {
		return nil, err
	}
	entries := accessor.GetManagedFields()
	return func() { accessor.SetManagedFields(entries) }, nil
}

// fromStruct converts a Go struct to the decoder's next object. Its managed fields are not converted as data, but entry by entry.
func fromStruct(object runtime.Object, d *managedfields.Decoder) (managedfields.Object, error) {
	accessor, err := meta.Accessor(object)
	if err != nil {
		return managedfields.Object{}, err
	}
	entries := accessor.GetManagedFields()
	accessor.SetManagedFields(nil)
	content, err := gostructs.Decode(&value.Decoder{Last: d.Last()}, object)
	accessor.SetManagedFields(entries)
	return d.Next(managedfields.Object{Content: content, Entries: fromEntries(entries)}), err
}

func fromEntries(entries []metav1.ManagedFieldsEntry) []managedfields.Entry {
	out := make([]managedfields.Entry, len(entries))
	for i, e := range entries {
		out[i] = managedfields.Entry{
			Manager: e.Manager, Operation: merge.Operation(e.Operation), APIVersion: e.APIVersion,
			FieldsType: e.FieldsType, Subresource: e.Subresource,
		}
		if e.Time != nil {
			out[i].Time = e.Time.Time
		}
		if e.FieldsV1 != nil {
			out[i].FieldsV1 = managedfields.FieldsOf(e.FieldsV1.GetRawBytes())
		}
	}
	return out
}

func setEntries(object runtime.Object, entries []managedfields.Entry) error {
	accessor, err := meta.Accessor(object)
	if err != nil {
		return err
	}
	out := make([]metav1.ManagedFieldsEntry, len(entries))
	for i, e := range entries {
		out[i] = metav1.ManagedFieldsEntry{
			Manager: e.Manager, Operation: metav1.ManagedFieldsOperationType(e.Operation), APIVersion: e.APIVersion,
			FieldsType: e.FieldsType, Subresource: e.Subresource,
		}
		if !e.Time.IsZero() {
			out[i].Time = &metav1.Time{Time: e.Time}
		}
		if fields := e.FieldsV1.Bytes(); fields != nil {
			out[i].FieldsV1 = &metav1.FieldsV1{}
			out[i].FieldsV1.SetRawBytes(fields)
		}
	}
	accessor.SetManagedFields(out)
	return nil
}
