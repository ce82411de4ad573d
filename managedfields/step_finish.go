package managedfields

import (
	"time"

	"github.com/deed-project/deed/typed"
)

// strip takes managed fields out of the outcome: its entries are kept beside it.
func (r *request) strip(out outcome) outcome {
	out.content = withoutEntries(out.content)
	return out
}

// stampApply gives the applier's entry its time:
//
//	S8  An applier's entry gets the current time when the apply changes the object, an updater's when the update changes
//	    anything that it then owns. Who loses fields keeps its time.
//
// So an applier's entry has no time as long as its applies have found in the object all that they apply.
func (r *request) stampApply(out outcome) outcome {
	if own, ok := out.managers.Get(r.manager); ok && out.changed {
		own.Time = r.now()
		out.managers = out.managers.With(own)
	}
	return out
}

func (m *FieldManager) now() time.Time { return m.config.Now().UTC() }

// fillDefaults lets the endpoint fill in defaults, which are owned by nobody. The error is a [*TypeError] if they do not conform
// to the type.
func (r *request) fillDefaults(out outcome) (outcome, error) {
	if r.config.Default == nil || !out.changed {
		return out, nil
	}
	out.content = r.config.Default(out.content)
	if _, err := out.checked.Revise(out.content, typed.AllowDuplicates); err != nil {
		return out, &TypeError{Operation: r.manager.Operation, Role: "defaulted", Object: describe(out.content), Err: err}
	}
	return out, nil
}
