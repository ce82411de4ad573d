package managedfields

import (
	"fmt"
	"time"

	"github.com/deed-project/deed/typed"
	"github.com/deed-project/deed/value"
)

// The steps after ownership is decided: Strip, Stamp, Read, Hold, Default and Store.

// strip removes managed fields from the content of the outcome. The outcome has managers beside it.
func (r *request) strip(out outcome) outcome {
	out.content = withoutEntries(out.content)
	return out
}

// stampApply sets the time of the applier's entry:
//
//	S8  An applier's entry gets the current time when the apply changes the object. An updater's
//	    entry gets it when the update changes a field that the updater then owns. A manager that
//	    only loses fields keeps its time.
//
// An applier's entry therefore has no time until one of its applies changes the object.
func (r *request) stampApply(out outcome) outcome {
	if own, ok := out.managers.Get(r.manager); ok && out.changed {
		own.Time = r.now()
		out.managers = merging.With(out.managers, own)
	}
	return out
}

// now returns the current time by the configured clock.
func (m *FieldManager) now() time.Time { return m.config.Now().UTC() }

// read converts the new object of an update by Config.Read. The error is a [*BadRequestError].
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

// hold converts the outcome of an apply by Config.Hold. Added values have no owner.
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

// store converts the outcome by Config.Store. sent and held are the object before and after
// Config.Hold or Config.Read.
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

// fillDefaults lets the endpoint fill in defaults, which have no owner. The error is a [*TypeError]
// if the defaulted object does not conform to the type.
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
