package history

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/deed-project/deed/cmd/internal/dryrun"
	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/report"
	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/cmd/internal/types"
	"github.com/deed-project/deed/cmd/internal/wording"
	"github.com/deed-project/deed/internal/mergepatch"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/value"
)

// Replayer replays one history.
type Replayer struct {
	*types.Library
	until   int
	history *History
	types   *types.Types
	now     time.Time
	stored  map[manifest.ID]managedfields.Object
	last    *manifest.Object // the object of the previous step
	unknown report.Unknowns
}

// Options are those of a [Replayer].
type Options struct {
	Schemas types.Flags // further schemas
	Until   int         // the last step to replay; 0 means all steps
	Bare    bool        // whether to leave out default values and normal forms
	Now     func() time.Time
}

// NewReplayer returns a replayer of h. It returns nil if the schemas have defects.
func NewReplayer(c *types.Library, h *History, o Options) *Replayer {
	s := o.Schemas
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
	types.Served, types.Bare = true, o.Bare
	return &Replayer{
		Library: c, until: o.Until, history: h, types: types, now: o.Now(), stored: map[manifest.ID]managedfields.Object{},
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
	if !s.time.IsZero() {
		r.now = s.time
	}
	given := s.given
	if given == nil {
		given = r.lastStored(s)
	}
	if given != nil && !s.patch.IsAbsent() {
		given = r.patched(s, given)
	}
	if given == nil {
		return nil
	}
	r.last = given
	result := &StepResult{
		step: s, timed: r.history.timed, File: s.File, Line: s.At().Line, Manager: s.manager, Operation: s.operation, Subresource: s.subresource,
		Force: s.force, Note: s.note, Kind: given.Id.Kind, Namespace: given.Id.Namespace, Name: given.Id.Name,
		Conflicts: []*conflictResult{}, Owners: []*ownerResult{},
	}
	t := &dryrun.Task{Given: given, Stored: r.stored[given.Id]}
	if s.operation == stepDelete {
		return r.delete(t, s, result)
	}
	if id := manifest.IDOf(given.Object); id != given.Id {
		return r.refuse(t, s, result, dryrun.UpdateRole, secret.Errorf("400 Bad Request: the patch makes it %v", id))
	}
	if types.IsScale(given.GVK()) {
		r.Problem(given.At("kind"), "%v: write the replicas of the object itself through scale, such as those of a Deployment", given)
		return nil
	}
	config := r.config(s, given)
	if t.Endpoint = r.endpoint(s, given, config); t.Endpoint == nil {
		return nil
	}
	if s.operation == stepExtract {
		return r.extract(t, s, result)
	}
	if t.Stored.Content.IsAbsent() && !t.Endpoint.Creates(s.operation == stepApply) {
		err := secret.Errorf("404 Not Found: its %s cannot be written before the object is stored", s.subresource)
		return r.refuse(t, s, result, dryrun.ApplyRole, err)
	}
	if s.subresource == types.ScaleName && t.Endpoint.HasSubresource(s.subresource) {
		live := *given
		live.Object = t.Stored
		if t = dryrun.NewScaleTask(r.Library, r.types, config, given, &live); t == nil {
			return nil
		}
	}
	if s.operation == stepUpdate {
		return r.update(t, s, result)
	}
	return r.apply(t, s, result)
}

// config returns the configuration of the field manager for s and given.
func (r *Replayer) config(s *historyStep, given *manifest.Object) managedfields.Config {
	out := managedfields.Config{Subresource: s.subresource, Now: func() time.Time { return r.now }}
	if fields := r.history.resets[s.subresource]; !fields.IsEmpty() {
		out.ResetFields = map[string]merge.Filter{}
		for known := range r.types.VersionsOf(s.endpointOf(given)) {
			out.ResetFields[known] = merge.Filter{Exclude: fields}
		}
	}
	return out
}

// endpoint returns the endpoint for s and given, or nil, with the reason reported, if the kind has no schema or lacks the subresource.
func (r *Replayer) endpoint(s *historyStep, given *manifest.Object, config managedfields.Config) *types.Endpoint {
	out, err := r.types.Of(s.endpointOf(given), config)
	if err != nil {
		r.Untyped(given, err)
		return nil
	}
	if !dryrun.CheckSubresource(r.Library, given, out, s.subresource) {
		return nil
	}
	return out
}

// lastStored returns the stored object of the previous step, or nil with the reason reported.
func (r *Replayer) lastStored(s *historyStep) *manifest.Object {
	if r.last != nil {
		out := *r.last
		if out.Object = r.stored[out.Id]; !out.Content.IsAbsent() {
			return &out
		}
	}
	where, purpose := s.At(), "to "+s.operation
	switch s.operation {
	case stepUpdate:
		where, purpose = s.Key("patch"), "to patch"
	case stepExtract:
		purpose = "to extract from"
	}
	r.Problem(where, "there is nothing %s: the step before has left no object", purpose)
	return nil
}

// patched returns last with the patch of s, or nil with the reason reported.
func (r *Replayer) patched(s *historyStep, last *manifest.Object) *manifest.Object {
	out := *last
	out.Origin = s.In("patch")
	live, err := last.Value()
	if err == nil {
		out.Object, err = managedfields.ObjectOf(mergepatch.Apply(live, s.patch))
	}
	if err != nil {
		r.Problem(s.Key("patch"), "%v: %s", last, last.View().Error(err))
		return nil
	}
	return &out
}

func (r *Replayer) delete(t *dryrun.Task, s *historyStep, result *StepResult) *StepResult {
	var err error
	if t.Stored.Content.IsAbsent() {
		err = secret.Errorf("404 Not Found: nothing is stored")
	}
	if err != nil || s.refusal != "" {
		return r.refuse(t, s, result, dryrun.ApplyRole, err)
	}
	delete(r.stored, t.Given.Id)
	result.Result = "deleted"
	return result
}

func (r *Replayer) apply(t *dryrun.Task, s *historyStep, result *StepResult) *StepResult {
	force, err := dryrun.ForceFlags{All: s.force}.Force()
	if err != nil {
		return r.refuse(t, s, result, dryrun.ApplyRole, err)
	}
	x := dryrun.Apply{Manager: s.manager, Force: force}.One(t)
	if x.Err != nil {
		return r.refuse(t, s, result, dryrun.ApplyRole, x.Err)
	}
	conflicts := slices.Concat(x.Taken, x.Refused)
	r.expect(s, conflicts)
	result.conflicts(t.Given, conflicts)
	switch {
	case len(x.Refused) == 0:
		return r.validate(t, s, result, x.Outcome, x.Validated)
	case s.refusal != "":
		_, err := x.Plan.Commit()
		return r.refuse(t, s, result, dryrun.ApplyRole, err)
	}
	result.Result = "conflict"
	return r.settle(t, result, t.Before())
}

func (r *Replayer) update(t *dryrun.Task, s *historyStep, result *StepResult) *StepResult {
	x := dryrun.Update{Manager: s.manager}.One(t)
	if x.Err != nil {
		return r.refuse(t, s, result, dryrun.UpdateRole, x.Err)
	}
	if x.Kept != nil {
		r.Warn(s.At(), "the managed fields stay as they are, because they cannot be brought up to date: %s", t.Given.View().Error(x.Kept))
	}
	result.conflicts(t.Given, x.Lost)
	return r.validate(t, s, result, x.Outcome, x.Validated)
}

// validate settles a step with outcome, in which a server's validation may find something. Such a step is a finding, and the history goes on
// with the outcome, unless s expects the refusal.
func (r *Replayer) validate(
	t *dryrun.Task, s *historyStep, result *StepResult, outcome managedfields.Object, found types.Validated,
) *StepResult {
	report.Warned(r.Log, t.Given, found.Warnings)
	r.unknown.Unchecked(r.Log, t, found)
	if s.refusal == "" {
		report.Refused(r.Log, t, found.Findings)
		return r.settle(t, result, outcome)
	}
	var err error
	if reasons := types.Findings(found.Findings).Reasons(t.Given.View()); len(reasons) > 0 {
		err = secret.Errorf("%s", strings.Join(reasons, ", "))
	}
	return r.refuse(t, s, result, dryrun.UpdateRole, err)
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
	return r.settle(t, result, t.Before())
}

// extract returns the configuration that the manager applied.
func (r *Replayer) extract(t *dryrun.Task, s *historyStep, result *StepResult) *StepResult {
	config, err := dryrun.Extract(t.Stored, t.Endpoint, s.manager, s.subresource)
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
		case t.Before().Content.IsAbsent():
			result.Result = "created"
		case t.Before().Content.Equal(outcome.Content):
			result.Result = "unchanged"
		default:
			result.Result = "changed"
		}
		outcome = identified(outcome, t.Given.Content.Get("metadata", "uid"))
		r.stored[t.Given.Id] = outcome
	}
	if outcome.Content.IsAbsent() {
		return result
	}
	shown := *t.Given
	shown.Object = withoutMadeUp(outcome) // which says what is secret
	if err := result.show(shown.View(), shown.Object); err != nil {
		r.Problem(t.Given.At(), "%v: %s", t.Given, shown.View().Error(err))
		return nil
	}
	return result
}

// madeUpUID is the uid of stored objects that are created without one. It tells them apart from new objects (rule S4), and is not shown.
const madeUpUID = "made-up"

// identified returns o with a uid if it has none: that of the object that creates it, or a made-up one.
func identified(o managedfields.Object, given value.Value) managedfields.Object {
	if given.IsAbsent() {
		given = value.String(madeUpUID)
	}
	if metadata := o.Content.Get("metadata"); metadata.Get("uid").IsAbsent() {
		o.Content = o.Content.With("metadata", metadata.With("uid", given))
	}
	return o
}

// withoutMadeUp returns o without the uid that is made up.
func withoutMadeUp(o managedfields.Object) managedfields.Object {
	if metadata := o.Content.Get("metadata"); metadata.Get("uid").Str() == madeUpUID {
		o.Content = o.Content.With("metadata", metadata.With("uid", value.Value{}))
	}
	return o
}
