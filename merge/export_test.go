package merge

// ConflictsBothWays returns the conflicts of p, found loss by loss and found with all losses of a version together.
func ConflictsBothWays(p *Plan) (few, many Conflicts) {
	all := 0
	for _, l := range p.losses {
		all += l.taken.Len()
	}
	return p.fewConflictsOn(p.contested), p.manyConflictsOn(p.contested, all)
}
