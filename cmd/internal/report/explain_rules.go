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
		return []string{"Nobody ever owns it: it is identity or bookkeeping, which kube-apiserver takes out of every set."}
	case explain.PartOfValue:
		whole := x.Way[:x.Atomic].Text(x.View)
		return []string{
			"It is a part of " + whole + ", which is one value (F1): to change it is to change all of that.",
			"To take or release it, take or release " + whole + " as a whole.",
		}
	case explain.KeyedItem:
		return []string{
			"To apply anything in it is to own the item, with others (A5). What is in it conflicts, path by path (A6).",
			"It is removed when its last applier leaves it out (A3), and stays while others own it (A4).",
		}
	case explain.Container:
		return []string{
			"It is no value of its own: what is in it is owned and conflicts, path by path (A6).",
			"To take or release it, take or release what is in it.",
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
		return []string{"Nobody owns it: whoever applies it, with any value, owns it then (A2). There is no conflict."}
	}
	return []string{
		"Applying another value conflicts with its owners (C1, A6); by force they lose it (A7).",
		"Applying the value that it has makes the applier a co-owner (A5). A plain update that changes it takes it without a conflict (U1, U2).",
	}
}

// release describes how the owners of a value give it up.
func release(owners []manifest.Holder) []string {
	var out []string
	for _, w := range owners {
		name := wording.Manager(w.Manager.Name)
		switch {
		case w.Manager.Operation != merge.Apply:
			out = append(out, fmt.Sprintf("%s gives it up only when it is removed, or when somebody else takes it: updates do not release (U3).",
				name))
		case len(owners) == 1:
			out = append(out, fmt.Sprintf("If %s leaves it out of its configuration, its next apply removes it (A3).", name))
		default:
			out = append(out, fmt.Sprintf("If %s leaves it out of its configuration, it stays with its other owners (A4).", name))
		}
	}
	return out
}
