package wire

import (
	"bytes"
	"encoding/json"
	stderrors "errors"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/server/structsize"
	"github.com/deed-project/deed/value"
	"github.com/deed-project/deed/value/structs"
)

// Bodies in protobuf. Objects are in an envelope, which names their kind:
//
//	6b 38 73 00    runtime.Unknown{TypeMeta: {apps/v1 Deployment}, Raw: the message of the Go type}
//
// The Go type decodes the message. What it holds then is turned to a document, as if the client had sent JSON.

// protobufMagic begins every protobuf body.
var protobufMagic = []byte("k8s\x00")

// ErrAbort is the error of a body with raw data that is no JSON. kube-apiserver panics, and ends the connection without an answer.
var ErrAbort = stderrors.New("the body has raw data that is no JSON")

// message is a Go type that decodes itself from protobuf.
type message interface{ Unmarshal([]byte) error }

// DecodeProtobuf reads a protobuf body into object, a pointer to a Go type of Kubernetes, and returns the same object as a client would
// send it in JSON. standard is the kind of a body that states none. The error is a 400, a 415 if the Go type has no protobuf encoding, or
// [structsize.ErrSize], or [ErrAbort].
//
// The size of what the message decodes to is computed before, since a short message can make a large object.
func DecodeProtobuf(body []byte, object any, standard schema.GVK) (Decoded, error) {
	m, ok := object.(message)
	if !ok {
		return Decoded{}, Unsupported(JSON, YAML)
	}
	if len(body) == 0 {
		return Decoded{}, unrecognized(standard.Kind, stderrors.New("empty data"), summary(body))
	}
	raw, isEnvelope := bytes.CutPrefix(body, protobufMagic)
	if !isEnvelope {
		return Decoded{}, unrecognized(standard.Kind,
			stderrors.New("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"), summary(body))
	}
	var envelope runtime.Unknown
	err := envelope.Unmarshal(raw)
	if err == nil {
		if err := structsize.Protobuf(envelope.Raw, reflect.TypeOf(object).Elem()); err != nil {
			return Decoded{}, err
		}
		err = m.Unmarshal(envelope.Raw)
	}
	if err != nil {
		return Decoded{}, errors.NewBadRequest(err.Error())
	}
	forgetUnreadable(object)
	content, err := structs.From(object)
	if err != nil {
		tidyRaw(reflect.ValueOf(object))
		content, err = structs.From(object)
	}
	if err != nil {
		return Decoded{}, fmt.Errorf("%w: %w", ErrAbort, err)
	}
	apiVersion, kind := envelope.APIVersion, envelope.Kind
	// A body that states one of the two and not the other keeps what it states.
	if apiVersion == "" && kind == "" {
		apiVersion, kind = standard.APIVersion(), standard.Kind
	}
	return Decoded{Content: content.With("apiVersion", value.String(apiVersion)).With("kind", value.String(kind))}, nil
}

// tidyRaw rewrites the raw JSON in a Go value that has a name twice in one object, or bytes that are no UTF-8: the last member counts, and the
// replacement character stands for such bytes. Raw data that is no JSON stays.
func tidyRaw(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if raw, is := v.Interface().(*runtime.RawExtension); is && raw != nil {
			var document any
			decoder := json.NewDecoder(bytes.NewReader(raw.Raw))
			decoder.UseNumber()
			if err := decoder.Decode(&document); err == nil && json.Valid(raw.Raw) {
				raw.Raw, _ = json.Marshal(document) // which was JSON
			}
			return
		}
		if !v.IsNil() {
			tidyRaw(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() && v.Field(i).CanAddr() {
				tidyRaw(v.Field(i).Addr())
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			tidyRaw(v.Index(i).Addr())
		}
	}
}

// forgetUnreadable takes the managed fields from an object with an entry whose fields are no JSON. kube-apiserver ignores them.
func forgetUnreadable(object any) {
	of, ok := object.(metav1.Object)
	if !ok {
		return
	}
	for _, entry := range of.GetManagedFields() {
		if entry.FieldsV1 == nil {
			continue
		}
		if fields := entry.FieldsV1.GetRawBytes(); len(fields) > 0 && !json.Valid(fields) {
			of.SetManagedFields(nil)
			return
		}
	}
}
