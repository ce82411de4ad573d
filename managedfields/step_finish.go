package managedfields

import (
	"time"

	"github.com/deed-project/deed/typed"
)

// strip takes the fields that nobody owns out of the applier's entry.
func (w *write) strip() error {
	own, ok := w.result.Managers.Get(w.manager)
	if !ok {
		return nil
	}
	if own.Fields = own.Fields.Minus(systemFields); own.Fields.IsEmpty() {
		w.result.Managers = w.result.Managers.Without(w.manager)
	} else {
		w.result.Managers = w.result.Managers.With(own)
	}
	return nil
}

// stampApply gives the applier's entry the current time if the apply changes the object. Otherwise it keeps its time, or
// has none if this is the manager's first apply.
func (w *write) stampApply() error {
	if own, ok := w.result.Managers.Get(w.manager); ok && w.result.Changed {
		own.Time = w.now()
		w.result.Managers = w.result.Managers.With(own)
	}
	return nil
}

func (w *write) now() time.Time { return w.config.Now().UTC() }

// fillDefaults lets the endpoint fill in defaults, which are owned by nobody.
func (w *write) fillDefaults() error {
	if w.config.Default == nil || !w.result.Changed {
		return nil
	}
	defaulted := w.config.Default(w.result.Object.Content())
	if defaulted.Same(w.result.Object.Content()) {
		return nil
	}
	object, err := typed.New(defaulted, w.typ, typed.AllowDuplicates)
	if err != nil {
		return &TypeError{Role: roleNew, Object: describe(defaulted), Err: err}
	}
	w.result.Object = object
	return nil
}
