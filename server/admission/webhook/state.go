package webhook

import (
	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/server/admission/expressions"
	"github.com/deed-project/deed/server/admission/match"
	"github.com/deed-project/deed/value"
)

// state holds the objects of a request, converted to the endpoint of the last hook.
//
// Invariant: if seen, object is the latest object at the endpoint at. If not dirty, the request has the same object at its own endpoint.
type state struct {
	at          admission.Endpoint
	object, old value.Value
	seen        bool // object and old are loaded from the request
	dirty       bool // a hook patched the object, and the request does not have the patch yet

	now, before labels.Labels // of object and old; nil until they are needed
}

// labels returns the labels of the object after earlier hooks, or nil if there is no object.
//
// They are looked up once for all hooks, until a patch or a conversion changes the object.
func (s *state) labels(q *admission.Request) labels.Labels {
	if s.now == nil {
		s.now = match.LabelsOf(s.content(q))
	}
	return s.now
}

// oldLabels returns the labels of the stored object, or nil if there was none.
func (s *state) oldLabels(q *admission.Request) labels.Labels {
	if s.before == nil {
		s.before = match.LabelsOf(q.Old.Content())
	}
	return s.before
}

// content returns the object after earlier hooks, at any endpoint.
func (s *state) content(q *admission.Request) value.Value {
	if s.seen {
		return s.object
	}
	return q.Object.Content()
}

// show converts the objects of the request to an endpoint. Before it changes the endpoint, it writes patches of earlier hooks back to the
// request, so that none is lost. The error says why an object cannot be converted.
//
// It costs nothing if the endpoint stays the same, which is the usual case: all hooks see the version that the client wrote.
func (s *state) show(q *admission.Request, at admission.Endpoint) error {
	if s.seen && s.at == at {
		return nil
	}
	if err := s.giveBack(q); err != nil {
		return err
	}
	var err error
	if s.object, err = expressions.Shown(q, &q.Object, at); err == nil {
		s.old, err = expressions.Shown(q, &q.Old, at)
	}
	if err != nil {
		return err
	}
	s.at, s.seen, s.now = at, true, nil
	return nil
}

// giveBack writes a patched object back to the request, converted to the request's endpoint.
//
// The object goes to the request as a whole document, since a hook may have changed its managed fields.
func (s *state) giveBack(q *admission.Request) error {
	if !s.dirty {
		return nil
	}
	object, err := q.Scope.Convert(s.object, s.at, q.Endpoint)
	if err != nil {
		return err
	}
	q.Object, s.dirty = admission.DocumentOf(object), false
	return nil
}

// unconverted returns the answer to a request whose object cannot be converted for a hook. kube-apiserver wraps the error twice for a mutating
// hook, and the text shows it.
func (h *Hook) unconverted(err error) error {
	if h.mutating {
		err = errors.NewInternalError(err)
	}
	return errors.NewInternalError(err)
}
