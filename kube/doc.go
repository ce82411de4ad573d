// Package kube connects the libraries to Kubernetes' Go types.
//
// Who calls apimachinery's package managedfields today changes one line, and keeps the rest:
//
//	import managedfields "github.com/deed-project/deed/kube"
//
// [NewDefaultFieldManager] and [NewDefaultCRDFieldManager] then make a [FieldManager] with the methods, outcomes and errors of
// apimachinery's. They take every [TypeConverter], also one that the caller made.
//
// Who begins anew makes a [Registry]. It has the field manager of each kind and subresource, for built-in kinds, custom resources
// and the kinds of an OpenAPI document. [Registry.Apply] and [Registry.Update] take objects in every form that [ObjectOf] reads, and
// say whether the content or the ownership changed. [Registry.Lenient] has field managers that refuse no unknown field.
//
// [ObjectOf] and [Into] convert between Go values and [managedfields.Object], and [StatusError] makes the errors of a client.
package kube
