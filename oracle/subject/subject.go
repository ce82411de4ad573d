// Package subject implements the interface of package peer with deed's field manager.
package subject

import (
	"encoding/json"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/oracle/peer"
	"github.com/deed-project/deed/schema/builtin"
	"github.com/deed-project/deed/value"
)

// Subject answers requests like a [peer.Peer].
type Subject struct {
	manager *managedfields.FieldManager
	settle  func(value.Value) value.Value // the effect of holding an object
}

// New returns a Subject for config. It answers like a Peer of unstructured objects.
func New(config managedfields.Config) (*Subject, error) {
	manager, err := managedfields.New(config)
	return &Subject{manager, func(v value.Value) value.Value { return v }}, err
}

// NewStructs returns a Subject for config, whose kind must be built in. It answers like a Peer of Go structs: a struct drops zero values
// that it does not print and adds those that it does.
func NewStructs(config managedfields.Config, scheme *runtime.Scheme) (*Subject, error) {
	gvk := apischema.GroupVersionKind(config.GVK)
	empty, ok := builtin.Empty(config.GVK)
	if !ok {
		return nil, fmt.Errorf("%v is not built in", gvk)
	}
	through := func(change func(runtime.Object)) func(value.Value) value.Value {
		return func(v value.Value) value.Value {
			settled, err := throughStruct(scheme, gvk, v, change)
			if err != nil {
				panic("subject: " + err.Error()) // cannot happen: histories contain only fields of the struct
			}
			return settled
		}
	}
	config.Empty, config.Hub, config.Default = empty, config.GVK.APIVersion(), through(scheme.Default)
	manager, err := managedfields.New(config)
	return &Subject{manager, through(func(runtime.Object) {})}, err
}

// throughStruct returns v as the Go struct of its kind prints it, once change has changed the struct.
func throughStruct(
	scheme *runtime.Scheme, gvk apischema.GroupVersionKind, v value.Value, change func(runtime.Object),
) (value.Value, error) {
	obj, err := scheme.New(gvk)
	if err != nil {
		return v, err
	}
	if err := utiljson.Unmarshal(v.AppendJSON(nil), obj); err != nil {
		return v, err
	}
	change(obj)
	text, err := json.Marshal(obj)
	if err != nil {
		return v, err
	}
	return value.Parse(text)
}

// Apply answers a server-side apply of config on live by manager. Empty live means no object.
func (s *Subject) Apply(live, config []byte, manager string, force bool) peer.Answer {
	return answer(live, config, func(live, config managedfields.Object) (managedfields.Object, error) {
		return s.manager.Apply(live, config, manager, force)
	})
}

// Update answers a write by manager that replaces live with object. Empty live means no object.
func (s *Subject) Update(live, object []byte, manager string) peer.Answer {
	return answer(live, object, func(live, object managedfields.Object) (managedfields.Object, error) {
		object.Content = s.settle(object.Content)
		return s.manager.Update(live, object, manager)
	})
}

// answer decodes a request, calls serve, and encodes the outcome.
func answer(live, sent []byte, serve func(live, sent managedfields.Object) (managedfields.Object, error)) peer.Answer {
	var liveObj managedfields.Object
	var err error
	if len(live) > 0 {
		if liveObj, err = managedfields.ParseObject(live); err != nil {
			return peer.Answer{Err: err}
		}
	}
	sentObj, err := managedfields.ParseObject(sent)
	if err != nil {
		return peer.Answer{Err: err}
	}
	return Answer(serve(liveObj, sentObj))
}

// Answer encodes the result of a field manager.
func Answer(object managedfields.Object, err error) peer.Answer {
	if err != nil {
		return failed(err)
	}
	text := object.AppendJSON(nil)
	entries, err := entriesOf(object.Entries)
	return peer.Answer{Object: text, Entries: entries, Err: err}
}

// entriesOf encodes entries member by member as Kubernetes does, with each fieldsV1 as deed wrote it.
func entriesOf(entries []managedfields.Entry) ([]byte, error) {
	if entries == nil {
		return []byte("null"), nil
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
			out[i].FieldsV1 = metav1.NewFieldsV1(string(fields))
		}
	}
	return json.Marshal(out)
}

// failed encodes the status of err.
func failed(err error) peer.Answer {
	text, marshalErr := json.Marshal(managedfields.ToStatus(err))
	return peer.Answer{Err: errors.Join(err, marshalErr), Status: text}
}
