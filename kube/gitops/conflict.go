package gitops

import (
	"fmt"
	"strings"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
)

// Conflict is a field that the apply would change although another manager owns it.
type Conflict struct {
	merge.Conflict
	// Remedy describes how to resolve the conflict. It quotes no value of an object.
	Remedy string
}

// conflictsOf returns conflicts of an apply by manager, with remedies.
func conflictsOf(conflicts merge.Conflicts, manager string) []Conflict {
	var out []Conflict
	for _, c := range conflicts {
		out = append(out, Conflict{c, remedy(c, manager)})
	}
	return out
}

// remedy describes how to resolve a conflict, by the owner of the field:
//
//  1. An autoscaler, or a user that scales, writes the number of replicas repeatedly: the applier gives up the field.
//  2. A controller writes a status through its subresource: the applier gives up the field.
//  3. The owner before-first-apply has no writer: the applier takes the field.
//  4. An updater that wrote for the applier, or with kubectl, is migrated. Otherwise it would own its fields forever, even if the
//     manifest drops them.
//  5. Any other owner may be overruled, joined or left alone.
func remedy(c merge.Conflict, manager string) string {
	owner := c.Owner.Manager
	giveUp := fmt.Sprintf("remove %s from the desired object", c.Path.Text())
	switch {
	case owner.Subresource == "scale" || strings.HasSuffix(c.Path.String(), ".spec.replicas") && owner.Name == "kube-controller-manager":
		return giveUp + ": a scaler writes it"
	case owner.Subresource != "":
		return fmt.Sprintf("%s: its owner writes it through the subresource %s", giveUp, owner.Subresource)
	case owner.Name == managedfields.BeforeFirstApply:
		return "apply with force once: the owner stands for all who wrote before the first apply"
	case owner.Operation == merge.Update && (owner.Name == manager || strings.HasPrefix(owner.Name, "kubectl")):
		return fmt.Sprintf("migrate what %q owns by updates to %q (package csa), or apply with force", owner.Name, manager)
	}
	return fmt.Sprintf("apply with force to take it, set it to the live value to share it, or %s to leave it to its owner", giveUp)
}
