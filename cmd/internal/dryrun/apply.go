package dryrun

import (
	"errors"

	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/cmd/internal/types"
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/custom"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/ownership"
)

// Applied is the outcome of an apply. Reports, output and exit codes take conflicts from here: there is one plan for each object, and
// Refused holds its conflicts.
type Applied struct {
	// Plan is the plan of the first request.
	Plan *managedfields.Plan
	// Taken holds the conflicts that are decided for the applier, Refused the others. If Refused is not empty, nothing is stored.
	Taken, Refused merge.Conflicts
	// Left holds the conflicts over fields that rules leave to their owners. These fields are not applied.
	Left merge.Conflicts
	// TakenOver holds the fields that kubectl takes from its own client-side apply without a conflict: rule S5.
	TakenOver merge.Conflicts
	// Outcome is the stored object, with all conflicts decided for the applier.
	Outcome managedfields.Object
	// Migration describes the further requests of kubectl; nil if there are none.
	Migration *Migration
	Err       error
	// Unmade is the reason why even a forced apply would be refused, if there are conflicts. A server reports the conflicts first. Outcome
	// is then the merged configuration.
	Unmade error
	// Findings holds the reasons why a server's validation, which is not part of merging, refuses the outcome of the first request.
	Findings []types.Finding

	applier merge.Manager
	config  managedfields.Object // the applied configuration
	stored  managedfields.Object // the stored object after the first request
}

// Migration describes how kubectl apply --server-side migrates an object of its client-side apply: see [ownership.ApplyAsKubectl].
type Migration struct {
	From     []string // the managers whose fields become kubectl's
	Requests []string // the names of the requests, in the order in which they are sent
	// Again is the plan of the last request, the same apply once more.
	Again *managedfields.Plan
	// Failed is the reason why some requests were not sent. kubectl only warns about it.
	Failed error
}

// Apply holds the options of an apply.
type Apply struct {
	Manager string
	Force   *Force
	Migrate bool // whether to migrate the fields of client-side apply, as kubectl does
	Upgrade bool // whether the updates by Manager become applies first, as Helm does with a release of client-side apply
}

// One applies the configuration of t.
func (a Apply) One(t *Task) Applied {
	out := Applied{config: t.Given.Object, applier: merge.Manager{
		Name: a.Manager, Operation: merge.Apply, Subresource: managing.Config(t.Endpoint.Manager).Subresource,
	}}
	if out.Err = a.upgrade(t); out.Err != nil {
		return out
	}
	if t.scalesCustom() && len(t.Stored.Entries) == 0 {
		out.Err = unscalable(custom.UnownedScale)
		return out
	}
	conflicts := a.plan(t, &out)
	if out.Err != nil {
		return out
	}
	out.TakenOver = out.Plan.TakenOver()
	if out.Taken, out.Refused, out.Err = a.Force.split(t, conflicts); out.Err != nil {
		return out
	}
	if len(out.Refused) == 0 {
		if out.Err = t.checkIdentity(merge.Apply); t.scalesCustom() && out.Plan.Changed() {
			out.Err = unscalable(custom.ChangedScale(t.Given.GVK(), t.Given.Id.Namespace, t.Given.Id.Name))
		}
	}
	if out.Err == nil {
		out.Outcome, out.Err = out.Plan.Force()
	}
	if out.Err != nil && len(out.Refused) > 0 {
		out.Unmade, out.Err = out.Err, nil
		out.Outcome.Content = managing.Merge(out.Plan).Force().Object.Content()
	}
	if out.Err != nil {
		return out
	}
	out.stored = t.Endpoint.Restore(t.Stored, out.Outcome)
	if a.migrates(t) && len(out.Refused) == 0 {
		a.migrate(t, &out)
	}
	out.Outcome, out.Err = t.whole(out.Outcome)
	out.Findings = t.Endpoint.Findings(t.Stored.Content, t.Written(out))
	return out
}

// unscalable returns the refusal of an apply to the Scale of a custom resource, for the reason that a server gives.
func unscalable(reason string) error {
	return secret.Errorf("a server cannot apply the replicas of a custom resource, only update or patch them: %s", reason)
}

// plan plans the apply and returns its conflicts. Fields that rules leave to their owners are first removed from the configuration, and the
// plan is the one without them.
func (a Apply) plan(t *Task, out *Applied) merge.Conflicts {
	if out.Plan, out.Err = t.Endpoint.Manager.Plan(t.Stored, out.config, a.Manager); out.Err != nil {
		return nil
	}
	conflicts := out.Plan.Conflicts()
	if out.Left = a.Force.rules.left(t.Given, conflicts); len(out.Left) == 0 {
		return conflicts
	}
	var left fieldpath.Builder
	for _, c := range out.Left {
		left.Add(c.Path)
	}
	out.config.Content = merging.Config(managing.Merge(out.Plan)).Remove(left.Set()).Content()
	if out.Plan, out.Err = t.Endpoint.Manager.Plan(t.Stored, out.config, a.Manager); out.Err != nil {
		return nil
	}
	return out.Plan.Conflicts()
}

// upgrade makes the updates of the stored object of t by the manager applies, if a says so.
func (a Apply) upgrade(t *Task) error {
	if !a.Upgrade || t.Live == nil {
		return nil
	}
	entries, err := ownership.Migrate(t.Stored, VersionsOf(t.Endpoint), []string{a.Manager}, a.Manager, "")
	switch {
	case errors.Is(err, ownership.ErrNoManager):
		return nil
	case err == nil:
		t.Stored.Entries = entries
	}
	return err
}

// kubectlName is the default field manager of kubectl.
const kubectlName = "kubectl"

// migrates reports whether kubectl sends more than one request.
func (a Apply) migrates(t *Task) bool {
	return t.scale == nil && a.Migrate && a.Manager == kubectlName && len(ownership.ClientSideAppliers(t.Stored.Entries)) > 0
}

// migrate carries out the further requests of kubectl.
func (a Apply) migrate(t *Task, out *Applied) {
	m := Migration{From: ownership.ClientSideAppliers(t.Stored.Entries)}
	sent, err := ownership.ApplyAsKubectl(t.Endpoint.Manager, t.Stored, out.config, a.Manager, true)
	m.Failed = err
	for i, r := range sent {
		m.Requests = append(m.Requests, r.Name)
		if i > 0 && i == len(sent)-1 && err == nil {
			m.Again, out.Err = t.Endpoint.Manager.Plan(sent[i-1].Object, out.config, a.Manager)
		}
	}
	if len(sent) > 1 || err != nil {
		out.Migration = &m
	}
	if len(sent) > 0 {
		out.Outcome = sent[len(sent)-1].Object
	}
}

// Change returns the changes of the first request of x, an apply of t.
func (t *Task) Change(x Applied) ownership.Change {
	given, merged := x.config, managing.Merge(x.Plan).Force().Object.Content()
	if t.Endpoint.Restores != types.RestoreNothing {
		given.Content = t.Endpoint.Restore(t.Stored, given).Content
		merged = t.Endpoint.Restore(t.Stored, managedfields.Object{Content: merged}).Content
	}
	return owning.ChangeOf(x.Plan, t.Stored, given, merged)
}

// Allocated returns the values that a server would add to outcome, an apply of t, and that deed does not make up.
func (t *Task) Allocated(outcome managedfields.Object) []types.Allocated {
	if t.Scales() {
		return nil
	}
	return t.Endpoint.Allocates(t.Stored.Content, outcome.Content)
}
