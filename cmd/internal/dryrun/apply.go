package dryrun

import (
	"errors"
	"slices"

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
	// Unmigrated has the managers whose fields kubectl would migrate if it applied as this manager: see [KubectlAlone].
	Unmigrated []string
	Err        error
	// Unmade is the reason why even a forced apply would be refused, if there are conflicts. A server reports the conflicts first. Outcome
	// is then the merged configuration.
	Unmade error
	// Validated is what a server's validation, which is not part of merging, finds in the outcome of the first request. kubectl sends no other
	// if there are findings.
	types.Validated

	applier merge.Manager
	config  managedfields.Object // the applied configuration
	stored  managedfields.Object // the stored object after the first request
}

// Migration describes how kubectl apply --server-side migrates an object of its client-side apply: see [ownership.ApplyAsKubectl].
type Migration struct {
	From     []string // the managers whose fields become the applier's; none if kubectl only saves its record
	To       string   // the applier
	Requests []string // the names of the requests that succeed, in the order in which they are sent
	Saved    bool     // whether kubectl's record of its client-side apply gets an owner of its own
	// Again is the plan of the last request, the same apply once more.
	Again *managedfields.Plan
	// Failing is the name of a request that fails, and Failed the reason. kubectl only warns about it, and sends no other.
	Failing string
	Failed  error
}

// Reason names the failing request and the reason, which view masks. It is empty if no request fails.
func (m *Migration) Reason(view secret.View) string {
	if m.Failed == nil {
		return ""
	}
	return m.Failing + ": " + view.Error(m.Failed)
}

// Apply holds the options of an apply.
type Apply struct {
	Manager string
	Force   *Force
	Migrate Migrators // which managers migrate the fields of client-side apply, as kubectl does
	Upgrade bool      // whether the updates by Manager become applies first, as Helm does with a release of client-side apply
}

// Migrators says which managers migrate the fields of client-side apply when they apply.
type Migrators uint8

// The migrators. kubectl migrates as any manager that its --field-manager names. Most other names are those of programs that do not.
const (
	NoManager    Migrators = iota
	KubectlAlone           // the manager kubectl; for others, Applied.Unmigrated says what kubectl would migrate
	AnyManager
)

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
	if out.Outcome, out.Err = t.whole(out.Outcome); out.Err != nil {
		return out
	}
	out.Validated = t.Endpoint.Validate(t.Stored, t.Written(out))
	if t.scale == nil && len(out.Refused) == 0 && len(out.Findings) == 0 { // a Scale shows no record of client-side apply
		a.migrate(t, &out)
	}
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

// migrate carries out the further requests of kubectl.
func (a Apply) migrate(t *Task, out *Applied) {
	if a.Migrate == NoManager {
		return
	}
	from := ownership.ClientSideAppliers(out.Outcome.Entries)
	if a.Migrate == KubectlAlone && a.Manager != kubectlName {
		out.Unmigrated = from
		return
	}
	sent, failing, err := owning.AfterApply(t.Endpoint.Manager, out.Outcome, out.config, a.Manager, t.store)
	if len(sent) == 0 && err == nil {
		return
	}
	m := Migration{To: a.Manager, Requests: []string{"apply"}, Failing: failing, Failed: err}
	for _, r := range sent {
		m.Requests = append(m.Requests, r.Name)
		if r.Name == "apply again" {
			m.Again, out.Err = t.Endpoint.Manager.Plan(sent[len(sent)-2].Object, out.config, a.Manager)
		}
	}
	if out.Migration = &m; len(sent) > 0 {
		out.Outcome = sent[len(sent)-1].Object
	}
	m.Saved = slices.Contains(m.Requests, "save record") && len(owning.FindOwners(out.Outcome.Entries, merge.Apply, fieldpath.SetOf(Record))) > 0
	remain := ownership.ClientSideAppliers(out.Outcome.Entries) // a status keeps them
	m.From = slices.DeleteFunc(from, func(name string) bool { return slices.Contains(remain, name) })
}

// store returns what a server stores for outcome, a write to before, or the reasons why its validation refuses it.
func (t *Task) store(before, outcome managedfields.Object) (managedfields.Object, error) {
	outcome = managing.KeepTimes(t.Endpoint.Restore(before, outcome), before)
	if findings := t.Endpoint.Validate(before, outcome).Findings; len(findings) > 0 {
		return outcome, types.Findings(findings)
	}
	return outcome, nil
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
