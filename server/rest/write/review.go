package write

import (
	"net/http"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/rest/read"
	"github.com/deed-project/deed/value"
)

// Review carries out POST of a question: the object that is sent comes back with an answer, and nothing is stored.
func (r *Request) Review(answer func(question value.Value) (value.Value, error)) (*read.Answer, error) {
	options, err := api.ParseCreateOptions(r.Query)
	if err != nil {
		return nil, err
	}
	question, err := r.decode(options, read.Live{})
	if err != nil {
		return nil, err
	}
	question.Content = api.Wipe(question.Content)
	if question.Content, err = api.InNamespace(question.Content, r.Target.Namespace); err != nil {
		return nil, err
	}
	if question, err = r.update(read.Live{}, question, options); err != nil {
		return nil, err
	}
	whole, err := question.Value()
	if err != nil {
		return nil, err
	}
	out, err := answer(whole)
	if err != nil {
		return nil, err
	}
	return read.NewDocument(http.StatusCreated, out), nil
}
