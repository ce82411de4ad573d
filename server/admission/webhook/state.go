package webhook

import (
	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/value"
)

// state is the objects of a request as the hooks see them: at the endpoint that the last of them is for.
type state struct {
	at          admission.Endpoint
	object, old value.Value
	seen        bool // object and old are those of the request, or later
	dirty       bool // a hook patched the object

	now, before labels.Labels // of object and old, once somebody asked for them
}

// labels returns the labels of the object as it is by now, nil if there is no object.
func (s *state) labels(q *admission.Request) labels.Labels {
	if s.now == nil {
		s.now = labelsOf(s.content(q))
	}
	return s.now
}

// oldLabels returns the labels of the object as it was before the request, nil if there was none.
func (s *state) oldLabels(q *admission.Request) labels.Labels {
	if s.before == nil {
		s.before = labelsOf(q.Old.Content())
	}
	return s.before
}

// content returns the object as it is by now, wherever.
func (s *state) content(q *admission.Request) value.Value {
	if s.seen {
		return s.object
	}
	return q.Object.Content()
}

// show brings the objects of the request to an endpoint. What hooks made of the object at another goes back to the request first.
func (s *state) show(q *admission.Request, at admission.Endpoint) error {
	if s.seen && s.at == at {
		return nil
	}
	if err := s.giveBack(q); err != nil {
		return unconverted(err)
	}
	var err error
	if s.object, err = shown(q, &q.Object, at); err == nil {
		s.old, err = shown(q, &q.Old, at)
	}
	if err != nil {
		return unconverted(err)
	}
	s.at, s.seen, s.now = at, true, nil
	return nil
}

// giveBack gives an object that a hook patched back to the request, as its endpoint has it.
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

// shown returns an object of the request as an endpoint has it.
func shown(q *admission.Request, o *admission.Object, at admission.Endpoint) (value.Value, error) {
	document, err := o.Document()
	if err != nil || document.IsAbsent() {
		return document, err
	}
	document, err = q.Scope.Convert(document, q.Endpoint, at)
	gvk := at.Kind
	return document.With("apiVersion", value.String(gvk.GroupVersion().String())).With("kind", value.String(gvk.Kind)), err
}

// unconverted is the error that an object cannot be shown, which kube-apiserver says twice.
func unconverted(err error) error { return errors.NewInternalError(errors.NewInternalError(err)) }
