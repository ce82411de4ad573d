package merge

import "math"

// ConflictsBothWays returns the conflicts of p, found loss by loss and found with all losses of a version together.
func ConflictsBothWays(p *Plan) (few, many Conflicts) {
	all := 0
	for _, l := range p.losses {
		all += l.taken.Len()
	}
	many, _ = p.manyConflictsOn(p.contested, all, math.MaxInt)
	return p.fewConflictsOn(p.contested), many
}
