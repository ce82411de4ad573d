package history

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/deed-project/deed/cmd/internal/dryrun"
	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/types"
	"github.com/deed-project/deed/cmd/internal/wording"
	"github.com/deed-project/deed/internal/mergepatch"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/ownership"
	"github.com/deed-project/deed/schema"
)

// Replayer replays one history.
type Replayer struct {
	*types.Library
	until   int // the last step to replay; 0 means all steps
	history *History
	types   *types.Types
	now     time.Time
	stored  map[manifest.ID]managedfields.Object
	last    *manifest.Object // the object of the previous step
}

// NewReplayer returns a replayer of h up to the step until, or of all steps if until is 0. s adds schemas to those of h. It returns nil if
// the schemas have defects.
func NewReplayer(c *types.Library, h *History, s types.Flags, until int, now func() time.Time) *Replayer {
	s.Crds = slices.Concat(s.Crds, h.schemas.Crds)
	s.OpenAPI = slices.Concat(s.OpenAPI, h.schemas.OpenAPI)
	s.Schemaless = s.Schemaless || h.schemas.Schemaless
	if s.Schema == "" {
		s.Schema, s.TypeName = h.schemas.Schema, h.schemas.TypeName
	}
	if s.Check() != nil {
		c.Problem(h.At(), "schema and type need each other: the file, and the name of a type in it")
		return nil
	}
	var objects []*manifest.Object
	for _, step := range h.steps {
		if step.given != nil {
			objects = append(objects, step.given)
		}
	}
	types := c.NewTypes(s, objects...)
	if types == nil {
		return nil
	}
	return &Replayer{
		Library: c, until: until, history: h, types: types, now: now(), stored: map[manifest.ID]managedfields.Object{},
	}
}

// Types returns the types of the kinds in the history, apart from those that write.
func (r *Replayer) Types() *types.Types { return r.types.Apart() }

// Each calls use for each step, and stops at the first step that fails.
func (r *Replayer) Each(use func(*StepResult)) {
	for i, step := range r.history.steps {
		if r.until > 0 && i >= r.until {
			return
		}
		result := r.step(step)
		if result == nil {
			return
		}
		result.Step = i + 1
		use(result)
	}
}

// step executes one step. It returns nil if that fails.
func (r *Replayer) step(s *historyStep) *StepResult {
	given := s.given
	if s.operation == stepExtract {
		given = r.last
	}
	switch {
	case given != nil:
	case s.operation == stepExtract:
		r.nothingToExtract(s)
		return nil
	default:
		if given = r.patched(s); given == nil {
			return nil
		}
	}
	r.last = given
	result := &StepResult{
		step: s, timed: r.history.timed, File: s.File, Line: s.At().Line, Manager: s.manager, Operation: s.operation, Subresource: s.subresource,
		Force: s.force, Note: s.note, Kind: given.Id.Kind, Namespace: given.Id.Namespace, Name: given.Id.Name,
		Conflicts: []*conflictResult{}, Owners: []*ownerResult{},
	}
	if s.operation == stepDelete {
		delete(r.stored, given.Id)
		result.Result = "deleted"
		return result
	}
	endpoint := r.endpoint(s, given)
	if endpoint == nil {
		return nil
	}
	t := &dryrun.Task{Given: given, Stored: r.stored[given.Id], Endpoint: endpoint}
	switch s.operation {
	case stepUpdate:
		return r.update(t, s, result)
	case stepExtract:
		return r.extract(t, s, result)
	}
	return r.apply(t, s, result)
}

// endpoint sets the time of s, and returns the endpoint for s and given. It returns nil, with the reason reported, if there is none.
func (r *Replayer) endpoint(s *historyStep, given *manifest.Object) *types.Endpoint {
	if !s.time.IsZero() {
		r.now = s.time
	}
	gvk := given.GVK()
	if s.endpoint != "" {
		gvk = schema.ParseGVK(s.endpoint, gvk.Kind)
	}
	config := managedfields.Config{Subresource: s.subresource, Now: func() time.Time { return r.now }}
	reset := merge.Filter{Exclude: r.history.resets[s.subresource]}
	config.ResetFields = map[string]merge.Filter{}
	for known := range r.types.VersionsOf(gvk) {
		config.ResetFields[known] = reset
	}
	out, err := r.types.Of(gvk, config)
	if err != nil {
		r.Untyped(given, err)
		return nil
	}
	return out
}

// patched returns the object of the previous step with the patch of s, or nil with the reason reported.
func (r *Replayer) patched(s *historyStep) *manifest.Object {
	if r.last == nil || r.stored[r.last.Id].Content.IsAbsent() {
		r.Problem(s.Key("patch"), "there is nothing to patch: the step before has left no object")
		return nil
	}
	live, err := r.stored[r.last.Id].Value()
	if err != nil {
		r.Problem(s.Key("patch"), "%v: %s", r.last, r.last.View().Error(err))
		return nil
	}
	out := *r.last
	out.Origin = s.In("patch")
	if out.Object, err = managedfields.ObjectOf(mergepatch.Apply(live, s.patch)); err != nil {
		r.Problem(s.Key("patch"), "%v: %s", r.last, r.last.View().Error(err))
		return nil
	}
	return &out
}

func (r *Replayer) apply(t *dryrun.Task, s *historyStep, result *StepResult) *StepResult {
	plan, err := t.Endpoint.Manager.Plan(t.Stored, t.Given.Object, s.manager)
	if err != nil || s.refusal != "" {
		return r.refuse(t, s, result, dryrun.ApplyRole, err)
	}
	conflicts := plan.Conflicts()
	r.expect(s, conflicts)
	result.conflicts(t.Given, conflicts)
	outcome := t.Stored
	if len(conflicts) > 0 && !s.force {
		result.Result = "conflict"
	} else if outcome, err = plan.Force(); err != nil {
		dryrun.Refused(r.Library, t, dryrun.ApplyRole, err)
		return nil
	}
	return r.settle(t, result, outcome)
}

func (r *Replayer) update(t *dryrun.Task, s *historyStep, result *StepResult) *StepResult {
	x := dryrun.Update{Manager: s.manager}.One(t)
	if x.Err != nil || s.refusal != "" {
		return r.refuse(t, s, result, dryrun.UpdateRole, x.Err)
	}
	if x.Kept != nil {
		r.Warn(s.At(), "the managed fields stay as they are, because they cannot be brought up to date: %s", t.Given.View().Error(x.Kept))
	}
	result.conflicts(t.Given, x.Lost)
	return r.settle(t, result, x.Outcome)
}

// refuse completes the result of a step that was refused with err, or was expected to be refused. It returns nil if that ends the history.
func (r *Replayer) refuse(t *dryrun.Task, s *historyStep, result *StepResult, role string, err error) *StepResult {
	switch {
	case err == nil:
		r.Raise(notice.ExitFinding)
		fmt.Fprintf(r.Log, "%v: expected an error with %q, got none\n", s.At("error"), s.refusal)
		return nil
	case s.refusal == "" || !strings.Contains(err.Error(), s.refusal):
		dryrun.Refused(r.Library, t, role, err)
		return nil
	}
	result.Result, result.Error = "refused", notice.OneLine(t.Given.View().Error(err))
	return r.settle(t, result, t.Stored)
}

func (r *Replayer) nothingToExtract(s *historyStep) {
	r.Problem(s.At(), "there is nothing to extract from: the step before has left no object")
}

// extract returns the configuration that the manager applied.
func (r *Replayer) extract(t *dryrun.Task, s *historyStep, result *StepResult) *StepResult {
	if t.Stored.Content.IsAbsent() {
		r.nothingToExtract(s)
		return nil
	}
	config, err := ownership.Extract(t.Stored, t.Endpoint.Typ, s.manager, s.subresource)
	if err != nil {
		r.Problem(s.At(), "%v: %s", t.Given, t.Given.View().Error(err))
		return nil
	}
	result.Result = "nothing"
	if !config.IsAbsent() {
		result.Result = "extracted"
		result.content = t.Given.View().Value(nil, config)
		result.Object = result.content
	}
	return result
}

// expect raises the exit code if the conflicts of s are not the expected ones.
func (r *Replayer) expect(s *historyStep, conflicts merge.Conflicts) {
	switch {
	case s.conflicts >= 0 && s.conflicts != int64(len(conflicts)):
		r.Raise(notice.ExitFinding)
		fmt.Fprintf(r.Log, "%v: expected %s, got %d\n", s.At("conflicts"), wording.Plural(int(s.conflicts), "conflict"), len(conflicts))
	case s.conflicts < 0 && len(conflicts) > 0 && !s.force:
		r.Raise(notice.ExitFinding)
	}
}

// settle stores the outcome of a step, and completes its result. Nothing stored means no object.
func (r *Replayer) settle(t *dryrun.Task, result *StepResult, outcome managedfields.Object) *StepResult {
	if result.Result == "" {
		switch {
		case t.Stored.Content.IsAbsent():
			result.Result = "created"
		case t.Stored.Content.Equal(outcome.Content):
			result.Result = "unchanged"
		default:
			result.Result = "changed"
		}
		r.stored[t.Given.Id] = outcome
	}
	if outcome.Content.IsAbsent() {
		return result
	}
	if err := result.show(t.Given.View(), outcome); err != nil {
		r.Problem(t.Given.At(), "%v: %s", t.Given, t.Given.View().Error(err))
		return nil
	}
	return result
}
