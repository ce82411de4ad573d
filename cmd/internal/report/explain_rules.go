package report

import (
	"fmt"

	"github.com/deed-project/deed/cmd/internal/explain"
	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/wording"
	"github.com/deed-project/deed/merge"
)

// rulesOf describes the effect of an apply of the field of x.
func rulesOf(x *explain.Explanation) []string {
	switch x.Role {
	case explain.System:
		return []string{"No manager can own it: it is identity or bookkeeping, which kube-apiserver removes from every set."}
	case explain.PartOfValue:
		whole := x.Way[:x.Atomic].Text(x.View)
		return []string{
			"It is a part of " + whole + ", which is one value (F1): a change of the part is a change of the whole.",
			"To take or release it, take or release " + whole + " as a whole.",
		}
	case explain.KeyedItem:
		return []string{
			"Applying any field in it makes the applier an owner of the item, beside the others (A5). Its fields conflict path by path (A6).",
			"It is removed when its last applier leaves it out (A3), and stays while others own it (A4).",
		}
	case explain.Container:
		return []string{
			"It has no value of its own: its contents are owned and conflict path by path (A6).",
			"To take or release it, take or release its contents.",
		}
	}
	var owners []manifest.Holder
	if x.Found != nil {
		owners = x.Found.Owners
	}
	return append(take(owners), release(owners)...)
}

// take describes how to take a value with these owners.
func take(owners []manifest.Holder) []string {
	if len(owners) == 0 {
		return []string{"It has no owner: the first manager that applies it becomes its owner, with any value and without a conflict (A2)."}
	}
	return []string{
		"Applying another value conflicts with its owners (C1, A6); with force they lose it (A7).",
		"Applying its current value makes the applier a co-owner (A5). An update that changes it takes it without a conflict (U1, U2).",
	}
}

// release describes how the owners of a value give it up.
func release(owners []manifest.Holder) []string {
	var out []string
	for _, w := range owners {
		name := wording.Manager(w.Manager.Name)
		switch {
		case w.Manager.Operation != merge.Apply:
			out = append(out, fmt.Sprintf("%s loses it only if it is removed or another manager takes it: updates do not release fields (U3).",
				name))
		case len(owners) == 1:
			out = append(out, fmt.Sprintf("If %s leaves it out of its configuration, its next apply removes it (A3).", name))
		default:
			out = append(out, fmt.Sprintf("If %s leaves it out of its configuration, it stays with its other owners (A4).", name))
		}
	}
	return out
}
