// Package kube connects the libraries to Kubernetes' Go types.
//
// A caller of apimachinery's package managedfields changes one line, and keeps the rest:
//
//	import managedfields "github.com/deed-project/deed/kube"
//
// [NewDefaultFieldManager] and [NewDefaultCRDFieldManager] then make a [FieldManager] with the methods, outcomes and errors of
// apimachinery's. They take every [TypeConverter], including the caller's own.
//
// New code starts with a [Registry]. It has the field manager of each kind and subresource, for built-in kinds, custom resources and the
// kinds of an OpenAPI document. [Registry.Apply] and [Registry.Update] take objects in every form that [ObjectOf] reads, and report
// whether the content or the ownership changed. [Registry.Lenient] has field managers that accept unknown fields.
//
// [ObjectOf] and [Into] convert between Go values and [managedfields.Object]. [StatusError] makes the errors of a client.
package kube
