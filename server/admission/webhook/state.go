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

// show brings the objects to an endpoint: those of the request the first time, and then those that the hooks before left.
func (s *state) show(q *admission.Request, at admission.Endpoint) error {
	if s.seen && s.at == at {
		return nil
	}
	object, old := s.object, s.old
	if !s.seen {
		var err error
		if object, err = q.Object.Document(); err != nil {
			return errors.NewInternalError(err)
		}
		if old, err = q.Old.Document(); err != nil {
			return errors.NewInternalError(err)
		}
	}
	for _, v := range []*value.Value{&object, &old} {
		if v.IsAbsent() {
			continue
		}
		converted, err := q.Scope.Convert(*v, at)
		if err != nil {
			return errors.NewInternalError(err)
		}
		gvk := at.Kind
		*v = converted.With("apiVersion", value.String(gvk.GroupVersion().String())).With("kind", value.String(gvk.Kind))
	}
	s.object, s.old, s.at, s.seen, s.now = object, old, at, true, nil
	return nil
}
