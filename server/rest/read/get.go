package read

import (
	stderrors "errors"
	"fmt"
	"net/http"

	"k8s.io/apimachinery/pkg/api/errors"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/rest"
	"github.com/deed-project/deed/server/store"
)

// Get answers with an object, with the whole of it for its subresource status, or with its Scale.
//
// A resource version in the query is a lower bound: the store must have reached it, and then the latest object is returned. Events refuse a
// malformed version as lists do: kube-apiserver has no watch cache for them.
func (b *Reader) Get(q *rest.Request) (*rest.Answer, error) {
	asked, err := api.ParseVersion(q.Query.Get("resourceVersion"), q.Version.HasTTL)
	if err != nil {
		return nil, err
	}
	if err := b.reach(q.Context(), asked); err != nil {
		return nil, err
	}
	if q.IsScale() {
		return b.getScale(q)
	}
	if err := q.CheckKey(); err != nil {
		return nil, err
	}
	record, err := b.Store.Get(q.Context(), q.Key(), 0)
	if stderrors.Is(err, store.ErrNotFound) {
		return nil, q.NotFound()
	}
	if err != nil {
		return nil, err
	}
	view := b.View(q.Version)
	// The stored text is the answer, and nothing is decoded.
	if text := view.TextOf(record); text != nil && q.Textual {
		return &rest.Answer{Code: http.StatusOK, Text: text, Converted: true}, nil
	}
	o, err := view.read(record)
	if err != nil {
		return nil, err
	}
	return rest.NewAnswer(http.StatusOK, o.Object), nil
}

// getScale answers with the Scale of an object.
//
// The 500 of an object without replicas is what kube-apiserver answers for a custom resource.
func (b *Reader) getScale(q *rest.Request) (*rest.Answer, error) {
	live, err := b.MustLoad(q)
	if err != nil {
		return nil, err
	}
	scale, wanted, err := q.Version.Scale.Of(live.Content)
	if err == nil && !wanted {
		err = errors.NewInternalError(fmt.Errorf("the spec replicas field %q does not exist", q.Version.Scale.Spec))
	}
	if err != nil {
		return nil, err
	}
	return rest.NewDocument(http.StatusOK, scale), nil
}

// Load returns the stored object of a request, a zero Live if there is none. The error is a 400 if no object can have the name.
//
// The object is shared with the cache and with other requests: callers must not modify it.
func (b *Reader) Load(q *rest.Request) (*Live, error) {
	if err := q.CheckKey(); err != nil {
		return nil, err
	}
	record, err := b.Store.Get(q.Context(), q.Key(), 0)
	if stderrors.Is(err, store.ErrNotFound) {
		return &Live{}, nil
	}
	if err != nil {
		return nil, err
	}
	o, err := b.View(q.Version).read(record)
	if err != nil {
		return nil, err
	}
	return &o.Live, nil
}

// MustLoad returns the stored object of a request. The error is a 404 if there is none.
func (b *Reader) MustLoad(q *rest.Request) (*Live, error) {
	live, err := b.Load(q)
	if err == nil && !live.Exists() {
		err = q.NotFound()
	}
	return live, err
}
