package managedfields

import (
	"fmt"
	"time"

	"github.com/deed-project/deed/typed"
	"github.com/deed-project/deed/value"
)

// The steps that come once it is decided who owns what: Strip, Stamp, Read, Hold, Default and
// Store.

// strip takes managed fields out of the outcome: its entries are kept beside it.
func (r *request) strip(out outcome) outcome {
	out.content = withoutEntries(out.content)
	return out
}

// stampApply gives the applier's entry its time:
//
//	S8  An applier's entry gets the current time when the apply changes the object, an updater's
//	    when the update changes anything that it then owns. Who loses fields keeps its time.
//
// So an applier's entry has no time as long as its applies have found in the object all that they
// apply.
func (r *request) stampApply(out outcome) outcome {
	if own, ok := out.managers.Get(r.manager); ok && out.changed {
		own.Time = r.now()
		out.managers = merging.With(out.managers, own)
	}
	return out
}

// now returns the current time, by the clock of the configuration.
func (m *FieldManager) now() time.Time { return m.config.Now().UTC() }

// read makes the new object of an update what the endpoint holds of it. The error is a
// [*BadRequestError].
func (m *FieldManager) read(object Object) (Object, error) {
	if m.config.Read == nil {
		return object, nil
	}
	content, err := m.config.Read(object.Content)
	if err != nil {
		return Object{}, &BadRequestError{Reason: err.Error(), Err: err}
	}
	if !content.Same(object.Content) {
		object.Content, object.source = content, source{}
	}
	return object, nil
}

// hold makes the outcome of an apply what the endpoint holds of it. What is added has no owner.
func (r *request) hold(out outcome) (outcome, error) {
	if r.config.Hold == nil || !out.changed {
		return out, nil
	}
	held, err := r.config.Hold(out.content)
	if err != nil {
		return out, fmt.Errorf("failed to convert new object (%s) to proper version: %w", describe(r.object.Content), err)
	}
	out.content = held
	return out, nil
}

// store makes the outcome what the endpoint stores. sent and held are what it was before and after
// it was held.
func (r *request) store(out outcome, sent, held value.Value) (outcome, error) {
	if r.config.Store == nil || !out.changed {
		return out, nil
	}
	change := Change{Operation: r.manager.Operation, Live: r.live.Content, Sent: sent, Held: held, Object: out.content}
	if r.creates {
		change.Live = value.Value{}
	}
	stored, err := r.config.Store(change)
	if err != nil {
		return out, fmt.Errorf("failed to store the new object (%s): %w", describe(out.content), err)
	}
	out.content = stored
	return out, nil
}

// fillDefaults lets the endpoint fill in defaults, which are owned by nobody. The error is a
// [*TypeError] if they do not conform to the type.
func (r *request) fillDefaults(out outcome) (outcome, error) {
	if r.config.Default == nil || !out.changed {
		return out, nil
	}
	out.content = r.config.Default(out.content)
	if _, err := typing.Revise(out.checked, out.content, typed.AllowDuplicates); err != nil {
		return out, &TypeError{Operation: r.manager.Operation, Role: "defaulted", Object: describe(out.content), Err: err}
	}
	return out, nil
}
