// Package conversion calls the conversion webhooks of CustomResourceDefinitions, as kube-apiserver does.
//
// A [Client] reaches webhooks, and a [Webhook] is that of one definition. One call converts any number of objects: review.go. The answer
// must contain the same objects. It may change only labels and annotations of their metadata: check.go.
package conversion
