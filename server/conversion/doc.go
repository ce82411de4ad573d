// Package conversion asks conversion webhooks for objects of custom resources in another version, as kube-apiserver does: those that
// CustomResourceDefinitions name.
//
// A [Client] knows how to reach them, and a [Webhook] is that of one definition. Objects are asked for in one call, however many they
// are: review.go; and the answer must be about the same objects, whose metadata it may not change but for labels and annotations:
// check.go.
package conversion
