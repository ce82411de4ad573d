package namespaces

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/rest"
	"github.com/deed-project/deed/server/rest/read"
	"github.com/deed-project/deed/server/rest/write"
)

// Delete carries out DELETE of a namespace.
func Delete(w *write.Writer, q *rest.Request) (*rest.Answer, error) { return w.Delete(q, pinUID) }

// pinUID adds a UID precondition, so that the delete cannot hit a successor with the same name.
//
// It is a write.Before, called with each version of the namespace that a delete tries. A precondition of the client stays.
func pinUID(live *read.Live, options *metav1.DeleteOptions) {
	if options.Preconditions == nil {
		options.Preconditions = &metav1.Preconditions{}
	}
	if options.Preconditions.UID == nil {
		options.Preconditions.UID = new(types.UID(api.Meta(live.Content, "uid")))
	}
}
