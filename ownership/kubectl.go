package ownership

import (
	"fmt"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/value"
)

// What kubectl apply --server-side does beside applying: up to three more requests, for people who
// come from client-side apply.

// kubectlLastApplied owns kubectl's record of its client-side apply once the object is migrated, so
// that the record, which no manifest has, is not pruned.
const kubectlLastApplied = "kubectl-last-applied"

// Request is one of the requests that kubectl sends to apply once.
type Request struct {
	Name    string // apply, save record, migrate or apply again
	Manager string
	Object  managedfields.Object // what is stored after it
}

// ApplyAsKubectl does what kubectl apply --server-side does with a manifest, and returns the
// requests that it sends, in order. The object of the last one is the outcome.
//
//  1. apply: config is applied by manager. Through a subresource that is all.
//  2. save record: if manager is kubectl, and the object has kubectl's record of its client-side
//     apply, which no applier owns, then "kubectl-last-applied" applies the record as it is.
//  3. migrate: if an updater owns the record, then [migrateClientSide].
//  4. apply again: after a migration, config is applied once more, which prunes what client-side
//     apply once set and config lacks.
//
// Errors are those of [managedfields.FieldManager.Apply] and [managedfields.FieldManager.Update].
// Along with an error come the requests that succeeded before it: kubectl takes all errors but
// those of request 1 as warnings and leaves it at that.
func ApplyAsKubectl(
	m *managedfields.FieldManager, live, config managedfields.Object, manager string, force bool,
) ([]Request, error) {
	object, err := m.Apply(live, config, manager, force)
	if err != nil {
		return nil, err
	}
	sent := []Request{{"apply", manager, object}}
	if managing.Config(m).Subresource != "" {
		return sent, nil
	}
	if manager == kubectl && recordIsLoose(object) {
		saved, err := m.Apply(object, recordOnly(object), kubectlLastApplied, false)
		if err != nil {
			return sent, fmt.Errorf("save record: %w", err)
		}
		object = saved
		sent = append(sent, Request{"save record", kubectlLastApplied, object})
	}
	entries, err := migrateClientSide(object.Entries, manager)
	if err != nil {
		return sent, fmt.Errorf("migrate: %w", err)
	}
	if sameEntries(entries, object.Entries) {
		return sent, nil
	}
	if object, err = m.Update(object, managedfields.Object{Content: object.Content, Entries: entries}, manager); err != nil {
		return sent, fmt.Errorf("migrate: %w", err)
	}
	sent = append(sent, Request{"migrate", manager, object})
	if object, err = m.Apply(object, config, manager, force); err != nil {
		return sent, fmt.Errorf("apply again: %w", err)
	}
	return append(sent, Request{"apply again", manager, object}), nil
}

// recordIsLoose reports whether o has kubectl's record and no applier owns it.
func recordIsLoose(o managedfields.Object) bool {
	_, found := managing.LastApplied(o.Content)
	return found && len(findOwners(o.Entries, merge.Apply, fieldpath.SetOf(lastAppliedPath))) == 0
}

// recordOnly returns the configuration that has kubectl's record in o and nothing else.
func recordOnly(o managedfields.Object) managedfields.Object {
	record, _ := managing.LastApplied(o.Content)
	annotations := value.Object(value.Member{Name: managedfields.LastAppliedAnnotation, Value: value.String(record)})
	metadata := value.Object(value.Member{Name: "annotations", Value: annotations})
	config := value.Object(value.Member{Name: "metadata", Value: metadata})
	return managedfields.Object{Content: withIdentity(config, o.Content)}
}
