package managedfields

import (
	"time"

	"github.com/deed-project/deed/typed"
)

// strip takes managed fields out of the outcome: its entries are kept beside it.
func (w *write) strip() error {
	w.outcome = withoutEntries(w.outcome)
	return nil
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
