package cli

import (
	"bufio"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/ownership"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// replayFlags are those of deed replay.
type replayFlags struct {
	input       inputFlags
	until       int
	format      choice
	showSecrets bool
	color       colorFlags
	schemas     schemaFlags
}

func (c *cli) replayCommand() *cobra.Command {
	var f replayFlags
	cmd := &cobra.Command{
		Use:   "replay -f HISTORY",
		Short: "Replay writes of several managers, and show who wins",
		Long: `Replay a history, that is, writes of several managers one after the other, and
show the object, its owners and the conflicts after each.

A history is a YAML file:

  crds: [widget-crd.yaml]   # or openapi: FILES, schema: FILE and type: NAME, or
                            # schemaless: true; the built-in kinds need none
  steps:
  - manager: ci             # who writes
    operation: apply        # or update, delete, or extract, which shows what the
                            # manager applied; apply when it is not said
    object: {...}           # or file: FILE, with one object
    force: true             # take fields from others
    subresource: status     # what is written through
    endpoint: apps/v1       # the version that is asked, if not that of the object
    time: "2026-01-01T09:00:00Z"
    note: The first release.
  - manager: autoscaler
    operation: update
    patch: {spec: {replicas: 5}}   # of the object of the step before
  - manager: ci
    conflicts: 1            # as many are expected
    file: web.yaml
  - manager: ci
    error: not declared     # a part of what is said when the step is refused
    object: {...}
  resetFields: {status: [.spec]}   # by subresource: what it does not write

Files are relative to the history. They can also be in it, if it is a txtar
archive, FILE.txtar, of which the history is the comment.

A step that ends in conflict changes nothing. Conflicts are a finding, exit code
1, unless the step says how many it expects; then any other number is one. A step
that is refused ends the history, unless it expects the error; then it is a
finding when there is none. If any step says when it is, owners are shown with
the time of their last change.`,
		Example: `  # Who owns the replicas in the end?
  deed replay -f who-scales.yaml

  # What was there after the second step, for a program to read
  deed replay -f who-scales.yaml --until 2 -o json`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error { return c.replay(f) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringArrayVarP(&f.input.files, "filename", "f", nil,
		"`file` with a history, or - for standard input, which is also read when there is no -f; repeatable")
	flags.IntVar(&f.until, "until", 0, "stop after step `n`")
	f.format = choice{formatText, []string{formatText, formatJSON}}
	flags.VarP(&f.format, "output", "o", "output format")
	flags.BoolVar(&f.showSecrets, "show-secrets", false, "show the values of Secrets")
	f.color.register(flags)
	registerSchemas(flags, &f.schemas)
	return cmd
}

// replay is deed replay.
func (c *cli) replay(f replayFlags) error {
	names, err := c.inputs(f.input)
	if f.until < 0 {
		err = errors.Join(err, errors.New("--until must not be negative"))
	}
	now, clockErr := clock()
	if err := errors.Join(err, checkStdin(names), f.schemas.check(), clockErr); err != nil {
		return err
	}
	out, paint := bufio.NewWriter(c.out), f.color.painter(c.out)
	results := []*stepResult{}
	for _, t := range c.read(names, false) {
		for _, h := range histories(c.library, t) {
			r := newReplayer(c.library, h, f.schemas, f.until, f.showSecrets, now)
			if r == nil {
				continue
			}
			r.each(func(s *stepResult) {
				if f.format.value == formatText {
					s.write(out, paint)
				} else {
					results = append(results, s)
				}
			})
		}
	}
	if f.format.value == formatJSON {
		writeJSON(out, map[string]any{"steps": results})
	}
	if err := out.Flush(); err != nil {
		c.failed(err)
	}
	return nil
}

// replayer replays one history.
type replayer struct {
	*library
	until       int // stop after this step; 0 is none
	showSecrets bool
	history     *history
	types       *types
	now         time.Time
	stored      map[objectID]managedfields.Object
	last        *object // of the step before
}

// newReplayer returns what replays h up to a step, 0 for all of them, and with s for schemas besides its own. It is nil if the
// schemas have defects.
func newReplayer(c *library, h *history, s schemaFlags, until int, showSecrets bool, now func() time.Time) *replayer {
	s.crds = slices.Concat(s.crds, h.schemas.crds)
	s.openAPI = slices.Concat(s.openAPI, h.schemas.openAPI)
	s.schemaless = s.schemaless || h.schemas.schemaless
	if s.schema == "" {
		s.schema, s.typeName = h.schemas.schema, h.schemas.typeName
	}
	if s.check() != nil {
		c.problem(h.at(), "schema and type need each other: the file, and the name of a type in it")
		return nil
	}
	var objects []*object
	for _, step := range h.steps {
		if step.given != nil {
			objects = append(objects, step.given)
		}
	}
	types := c.newTypes(s, objects...)
	if types == nil {
		return nil
	}
	return &replayer{
		library: c, until: until, showSecrets: showSecrets, history: h, types: types, now: now(), stored: map[objectID]managedfields.Object{},
	}
}

// each calls use for each step, until the first that fails.
func (r *replayer) each(use func(*stepResult)) {
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

// step does one step, and returns nil if that fails.
func (r *replayer) step(s *historyStep) *stepResult {
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
	result := &stepResult{
		step: s, timed: r.history.timed, File: s.file, Line: s.at().line, Manager: s.manager, Operation: s.operation, Subresource: s.subresource,
		Force: s.force, Note: s.note, Kind: given.id.kind, Namespace: given.id.namespace, Name: given.id.name,
		Conflicts: []*conflictResult{}, Owners: []*ownerResult{},
	}
	if s.operation == stepDelete {
		delete(r.stored, given.id)
		result.Result = "deleted"
		return result
	}
	endpoint := r.endpoint(s, given)
	if endpoint == nil {
		return nil
	}
	t := &task{given: given, stored: r.stored[given.id], endpoint: endpoint}
	switch s.operation {
	case stepUpdate:
		return r.update(t, s, result)
	case stepExtract:
		return r.extract(t, s, result)
	}
	return r.apply(t, s, result)
}

// endpoint returns what serves s, which writes given, at its time. It returns nil, and reports why, if there is no such thing.
func (r *replayer) endpoint(s *historyStep, given *object) *endpoint {
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
	for known := range r.types.versionsOf(gvk) {
		config.ResetFields[known] = reset
	}
	out, err := r.types.of(gvk, config)
	if err != nil {
		r.problem(given.at("kind"), "%v: %v", given, err)
		return nil
	}
	return out
}

// patched returns the object of the step before with the patch of s, nil if there is none.
func (r *replayer) patched(s *historyStep) *object {
	if r.last == nil || r.stored[r.last.id].Content.IsAbsent() {
		r.problem(s.key("patch"), "there is nothing to patch: the step before has left no object")
		return nil
	}
	live, err := r.stored[r.last.id].Value()
	if err != nil {
		r.problem(s.key("patch"), "%v: %v", r.last, err)
		return nil
	}
	out := *r.last
	out.origin = s.in("patch")
	if out.Object, err = managedfields.ObjectOf(mergePatch(live, s.patch)); err != nil {
		r.problem(s.key("patch"), "%v: %v", r.last, err)
		return nil
	}
	return &out
}

// mergePatch returns v with a JSON merge patch, RFC 7386, applied to it.
func mergePatch(v, patch value.Value) value.Value {
	if patch.Kind() != value.KindObject {
		return patch
	}
	if v.Kind() != value.KindObject {
		v = value.Object()
	}
	for name, member := range patch.Members() {
		if member.IsNull() {
			v = v.With(name, value.Value{})
		} else {
			v = v.With(name, mergePatch(v.Get(name), member))
		}
	}
	return v
}

func (r *replayer) apply(t *task, s *historyStep, result *stepResult) *stepResult {
	plan, err := t.endpoint.manager.Plan(t.stored, t.given.Object, s.manager)
	if err != nil || s.refusal != "" {
		return r.refuse(t, s, result, applyRole, err)
	}
	conflicts := plan.Conflicts()
	r.expect(s, conflicts)
	result.conflicts(t.given, conflicts, r.showSecrets)
	outcome := t.stored
	if len(conflicts) > 0 && !s.force {
		result.Result = "conflict"
	} else if outcome, err = plan.Force(); err != nil {
		refused(r.library, t, applyRole, err)
		return nil
	}
	return r.settle(t, result, outcome)
}

func (r *replayer) update(t *task, s *historyStep, result *stepResult) *stepResult {
	x := updateOne(t, s.manager)
	if x.err != nil || s.refusal != "" {
		return r.refuse(t, s, result, updateRole, x.err)
	}
	result.conflicts(t.given, x.lost, r.showSecrets)
	return r.settle(t, result, x.outcome)
}

// refuse completes the result of a step that was refused with err, or should have been. It returns nil if that ends the
// history.
func (r *replayer) refuse(t *task, s *historyStep, result *stepResult, role string, err error) *stepResult {
	switch {
	case err == nil:
		r.raise(exitFinding)
		fmt.Fprintf(r.log, "%v: expected an error with %q, got none\n", s.at("error"), s.refusal)
		return nil
	case s.refusal == "" || !strings.Contains(err.Error(), s.refusal):
		refused(r.library, t, role, err)
		return nil
	}
	result.Result, result.Error = "refused", oneLine(err.Error())
	return r.settle(t, result, t.stored)
}

func (r *replayer) nothingToExtract(s *historyStep) {
	r.problem(s.at(), "there is nothing to extract from: the step before has left no object")
}

// extract shows what the manager applied.
func (r *replayer) extract(t *task, s *historyStep, result *stepResult) *stepResult {
	if t.stored.Content.IsAbsent() {
		r.nothingToExtract(s)
		return nil
	}
	config, err := ownership.Extract(t.stored, t.endpoint.typ, s.manager, s.subresource)
	if err != nil {
		r.problem(s.at(), "%v: %v", t.given, err)
		return nil
	}
	result.Result = "nothing"
	if !config.IsAbsent() {
		result.Result = "extracted"
		result.content, result.Object = config, config
	}
	return result
}

// expect raises the exit code if s has other conflicts than expected.
func (r *replayer) expect(s *historyStep, conflicts merge.Conflicts) {
	switch {
	case s.conflicts >= 0 && s.conflicts != int64(len(conflicts)):
		r.raise(exitFinding)
		fmt.Fprintf(r.log, "%v: expected %s, got %d\n", s.at("conflicts"), plural(int(s.conflicts), "conflict"), len(conflicts))
	case s.conflicts < 0 && len(conflicts) > 0 && !s.force:
		r.raise(exitFinding)
	}
}

// settle stores the outcome of a step, and completes its result. There is no object if nothing is stored.
func (r *replayer) settle(t *task, result *stepResult, outcome managedfields.Object) *stepResult {
	if result.Result == "" {
		switch {
		case t.stored.Content.IsAbsent():
			result.Result = "created"
		case t.stored.Content.Equal(outcome.Content):
			result.Result = "unchanged"
		default:
			result.Result = "changed"
		}
		r.stored[t.given.id] = outcome
	}
	if outcome.Content.IsAbsent() {
		return result
	}
	if err := result.show(outcome, r.showSecrets); err != nil {
		r.problem(t.given.at(), "%v: %v", t.given, err)
		return nil
	}
	return result
}
