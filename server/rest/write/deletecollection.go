package write

import (
	"net/http"

	"k8s.io/apimachinery/pkg/api/errors"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/rest/read"
)

// DeleteCollection carries out DELETE of all objects of a collection that selectors are about, one after the other, and answers
// with the list of what was there. It is not atomic.
func (r *Request) DeleteCollection() (*read.Answer, error) {
	listed, err := api.ParseListOptions(r.Query)
	if err != nil {
		return nil, err
	}
	options, err := r.deleteOptions()
	if err != nil {
		return nil, err
	}
	list, err := r.Objects(listed)
	if err != nil {
		return nil, err
	}
	r.warnOfOrphans(options)
	for _, item := range list.Items {
		one := *r
		one.ObjectName = api.Meta(item, "name")
		one.Target.Namespace = api.Meta(item, "namespace")
		w := &write{Request: &one, dryRun: len(options.DryRun) > 0, deletion: options, unnamed: true}
		if _, _, err := w.delete(options.DeepCopy()); err != nil && !errors.IsNotFound(err) {
			return nil, err
		}
	}
	return &read.Answer{Code: http.StatusOK, List: list, Converted: true}, nil
}
