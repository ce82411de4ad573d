package dryrun

import (
	"github.com/deed-project/deed/cmd/internal/types"
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/ownership"
	"github.com/deed-project/deed/schema/builtin"
)

// Applied is the outcome of an apply. Whatever counts, prints or exits on conflicts takes them from
// here: there is one plan of an object, and Refused are its conflicts.
type Applied struct {
	// Plan is what the first request does.
	Plan *managedfields.Plan
	// Taken are the conflicts that are decided for the applier, and Refused the others: if there
	// are any, nothing is stored.
	Taken, Refused merge.Conflicts
	// Left are conflicts over fields that rules leave to their owners: they are not applied.
	Left merge.Conflicts
	// TakenOver is what kubectl takes from its own client-side apply without a conflict: rule S5.
	TakenOver merge.Conflicts
	// Outcome is what is stored, with all conflicts decided for the applier.
	Outcome managedfields.Object
	// Migration is what kubectl does besides; nil if that is nothing.
	Migration *Migration
	Err       error
	// Unmade is why even an apply that is forced would be refused, where there are conflicts, which
	// a server names first. The outcome is then what the configuration is merged to.
	Unmade error
	// Findings are why a server's validation, which is no part of merging, refuses what the first
	// request stores.
	Findings []types.Finding

	applier merge.Manager
	config  managedfields.Object // what is applied
	stored  managedfields.Object // what the first request stores
}

// Migration is what kubectl apply --server-side does by itself with an object of its client-side
// apply: see [ownership.ApplyAsKubectl].
type Migration struct {
	From     []string // whose fields become kubectl's
	Requests []string // that are sent, in order
	// Again is what the last of them does, the same apply once more.
	Again *managedfields.Plan
	// Failed says why not all requests were carried out, which kubectl only warns about.
	Failed error
}

// Apply says how configurations are applied.
type Apply struct {
	Manager string
	Force   *Force
	Migrate bool // whether kubectl migrates what its client-side apply owns
}

// One applies what t gives.
func (a Apply) One(t *Task) Applied {
	out := Applied{config: t.Given.Object, applier: merge.Manager{
		Name: a.Manager, Operation: merge.Apply, Subresource: managing.Config(t.Endpoint.Manager).Subresource,
	}}
	conflicts := a.plan(t, &out)
	if out.Err != nil {
		return out
	}
	out.TakenOver = out.Plan.TakenOver()
	if out.Taken, out.Refused, out.Err = a.Force.split(t, conflicts); out.Err != nil {
		return out
	}
	if len(out.Refused) == 0 {
		out.Err = t.checkIdentity(merge.Apply)
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
	out.Findings = t.Endpoint.Findings(t.Stored.Content, t.Written(out).Content)
	return out
}

// plan plans the apply, and returns its conflicts. What rules leave to its owners is taken out of
// the configuration before; then the plan is one without it.
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

// kubectlName is the manager that kubectl is by default.
const kubectlName = "kubectl"

// migrates reports whether kubectl sends more than one request.
func (a Apply) migrates(t *Task) bool {
	return t.scale == nil && a.Migrate && a.Manager == kubectlName && len(ownership.ClientSideAppliers(t.Stored.Entries)) > 0
}

// migrate carries out the other requests of kubectl.
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

// Change returns what the first request of x, an apply of t, changes.
func (t *Task) Change(x Applied) ownership.Change {
	given, merged := x.config, managing.Merge(x.Plan).Force().Object.Content()
	if t.Endpoint.Restores != types.RestoreNothing {
		given.Content = t.Endpoint.Restore(t.Stored, given).Content
		merged = t.Endpoint.Restore(t.Stored, managedfields.Object{Content: merged}).Content
	}
	return owning.ChangeOf(x.Plan, t.Stored, given, merged)
}

// Allocated returns what a server adds to outcome, an apply of t, and is not made up here.
func (t *Task) Allocated(outcome managedfields.Object) []builtin.Allocated {
	if t.Scales() {
		return nil
	}
	return t.Endpoint.Allocates(t.Stored.Content, outcome.Content)
}
