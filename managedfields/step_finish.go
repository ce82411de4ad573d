package managedfields

import (
	"time"

	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/typed"
)

// strip takes the fields that nobody owns out of the applier's entry, and managed fields out of the outcome:
//
//	S7  Nobody comes to own what identifies an object, nor the bookkeeping in its metadata: name, uid, generation,
//	    resourceVersion and the like.
func (w *write) strip() error {
	w.outcome = withoutEntries(w.outcome)
	own, ok := w.managers.Get(w.manager)
	if !ok {
		return nil
	}
	own.Fields = own.Fields.Minus(systemFields)
	w.managers = put(w.managers, own)
	return nil
}

// put returns managers with the entry e, or without its manager if that owns nothing.
func put(managers merge.Managers, e merge.Entry) merge.Managers {
	if e.Fields.IsEmpty() {
		return managers.Without(e.Manager)
	}
	return managers.With(e)
}

// stampApply gives the applier's entry its time:
//
//	S8  An applier's entry gets the current time when the apply changes the object, an updater's when the update changes
//	    anything that it then owns. Who loses fields keeps its time.
//
// So an applier's entry has no time as long as its applies have found in the object all that they apply.
func (w *write) stampApply() error {
	if own, ok := w.managers.Get(w.manager); ok && w.changed {
		own.Time = w.now()
		w.managers = w.managers.With(own)
	}
	return nil
}

func (w *write) now() time.Time { return w.config.Now().UTC() }

// fillDefaults lets the endpoint fill in defaults, which are owned by nobody.
func (w *write) fillDefaults() error {
	if w.config.Default == nil || !w.changed {
		return nil
	}
	w.outcome = w.config.Default(w.outcome)
	if _, err := typed.New(w.outcome, w.typ, typed.AllowDuplicates); err != nil {
		return &TypeError{Operation: w.operation, Role: "defaulted", Object: describe(w.outcome), Err: err}
	}
	return nil
}
