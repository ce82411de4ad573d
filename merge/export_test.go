package merge

import "math"

// ConflictsBothWays returns the conflicts of p, found loss by loss and found with all losses of a version together.
func ConflictsBothWays(p *Plan) (few, many Conflicts) {
	many, _ = FirstConflicts(p, math.MaxInt)
	return p.fewConflictsOn(p.contested), many
}

// FirstConflicts returns conflicts of p whose paths have at most so many elements, and the number of other conflicts.
func FirstConflicts(p *Plan, elements int) (_ Conflicts, more int) {
	all := 0
	for _, l := range p.losses {
		all += l.taken.Len()
	}
	return p.manyConflictsOn(p.contested, all, elements)
}
