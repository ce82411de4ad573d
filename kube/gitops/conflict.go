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
	// Remedy says what to do about it, in words. It quotes no value of an object.
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

// remedy says what to do about a conflict, by its owner:
//
//  1. An autoscaler, or someone who scales, writes the number of replicas again and again: the field is given up.
//  2. A controller writes a status through its subresource, likewise.
//  3. The stand-in for writers before the first apply has no writer: the field is taken.
//  4. An updater that wrote for the applier, or with kubectl, is migrated. Its fields would stay for ever after they left the manifest.
//  5. Every other owner may be overruled, joined or left alone.
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
