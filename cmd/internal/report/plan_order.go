package report

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// inDocumentOrder sorts fields, which are in the order of sets, by their order in the configuration. A field that the configuration lacks
// comes behind the nearest field around it. Without such a field it comes last, and fields that return to a default come at the very end.
// The cost is the cost of sorting.
func inDocumentOrder(fields []*fieldPlan) []*fieldPlan {
	type place struct{ line, column int }
	places := make(map[*fieldPlan]place, len(fields))
	var around []*fieldPlan // the fields around the current one, from the outside in
	for _, f := range fields {
		for len(around) > 0 && !around[len(around)-1].holds(f) {
			around = around[:len(around)-1]
		}
		switch {
		case f.Line > 0:
			places[f] = place{f.Line, f.Column}
		case len(around) > 0:
			places[f] = places[around[len(around)-1]]
		case f.Default.IsAbsent():
			places[f] = place{math.MaxInt, 0}
		default:
			places[f] = place{math.MaxInt, 1}
		}
		around = append(around, f)
	}
	out := slices.Clone(fields)
	slices.SortStableFunc(out, func(a, b *fieldPlan) int {
		p, q := places[a], places[b]
		return cmp.Or(cmp.Compare(p.line, q.line), cmp.Compare(p.column, q.column))
	})
	return out
}

// holds reports whether other is inside f.
func (f *fieldPlan) holds(other *fieldPlan) bool {
	rest, ok := strings.CutPrefix(other.Path, f.Path)
	return ok && rest != "" && (rest[0] == '.' || rest[0] == '[')
}
