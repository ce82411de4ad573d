package dryrun

import (
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
)

// Applied is the outcome of an apply.
type Applied struct {
	Outcome        managedfields.Object
	Taken, Refused merge.Conflicts // there is no outcome if some are refused
	Err            error           // likewise
}

// ApplyOne has manager apply what is given, with the conflicts decided that force takes.
func ApplyOne(t *Task, manager string, force Force) Applied {
	plan, err := t.Endpoint.Manager.Plan(t.Stored, t.Given.Object, manager)
	if err != nil {
		return Applied{Err: err}
	}
	var out Applied
	if out.Taken, out.Refused = force.split(plan.Conflicts()); len(out.Refused) > 0 {
		return out
	}
	if out.Outcome, out.Err = plan.Force(); out.Err == nil {
		out.Outcome = t.Endpoint.Restore(t.Stored, out.Outcome)
	}
	return out
}
