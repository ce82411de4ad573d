// Package reviews answers requests for virtual resources: reviews, such as a SubjectAccessReview. Nothing is stored of them.
package reviews

import (
	"net/http"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/rest"
	"github.com/deed-project/deed/server/rest/read"
	"github.com/deed-project/deed/server/rest/write"
	"github.com/deed-project/deed/value"
)

// Create carries out POST of a review: the object in the body comes back with an answer.
//
//	options   of the query
//	decode    the object
//	own       everything in it is the manager's
//	answer    what it asks
//
// Admission is not asked: reviews are never sent to webhooks. The answer may be a Table or metadata.
func Create(q *rest.Request, answer func(review value.Value) (value.Value, error)) (*rest.Answer, error) {
	options, err := api.ParseCreateOptions(q.Query)
	if err != nil {
		return nil, err
	}
	review, err := write.Decode(q, options, &read.Live{})
	if err != nil {
		return nil, err
	}
	review.Content = api.Wipe(review.Content)
	if review.Content, err = api.InNamespace(review.Content, q.Target.Namespace); err != nil {
		return nil, err
	}
	if review, err = write.Own(q, &read.Live{}, review, options); err != nil {
		return nil, err
	}
	whole, err := review.Value()
	if err != nil {
		return nil, err
	}
	out, err := answer(whole)
	if err != nil {
		return nil, err
	}
	answered := rest.NewDocument(http.StatusCreated, out)
	answered.Converted = true
	return answered, nil
}
