package yaml

import "github.com/deed-project/deed/value"

// matchItems returns for each item of old the index of the item of new that it becomes, or -1. Indexes ascend. It first matches equal items
// at both ends. Between them it chooses the matching with the highest total score; see [common].
func matchItems(old, new value.Value) []int {
	match := make([]int, old.Len())
	for i := range match {
		match[i] = -1
	}
	from, to := 0, 0
	for from < old.Len() && from < new.Len() && old.Item(from).Equal(new.Item(from)) {
		match[from] = from
		from++
	}
	for to < old.Len()-from && to < new.Len()-from && old.Item(old.Len()-1-to).Equal(new.Item(new.Len()-1-to)) {
		match[old.Len()-1-to] = new.Len() - 1 - to
		to++
	}
	oldEnd, newEnd := old.Len()-to, new.Len()-to
	if (oldEnd-from+1)*(newEnd-from+1) > maxTable {
		matchByIndex(match, old, new, from, min(oldEnd, newEnd))
		return match
	}
	best := commonScores(old, new, from, oldEnd, newEnd)
	for i, j := from, from; i < oldEnd && j < newEnd; {
		here, down, right := best[i-from][j-from], best[i-from+1][j-from], best[i-from][j-from+1]
		switch {
		case here == down:
			i++
		case here == right:
			j++
		default:
			match[i] = j
			i, j = i+1, j+1
		}
	}
	return match
}

// maxTable bounds the table of commonScores.
const maxTable = 1 << 20

// matchByIndex matches items with the same index in [from, end) if they have anything in common. It is for lists that are too long for the
// table.
func matchByIndex(match []int, old, new value.Value, from, end int) {
	for i := from; i < end; i++ {
		if common(old.Item(i), new.Item(i)) > 0 {
			match[i] = i
		}
	}
}

// commonScores returns a table. Its entry [i-from][j-from] is the total score of the best matching between the items of old from i on and
// the items of new from j on.
func commonScores(old, new value.Value, from, oldEnd, newEnd int) [][]int {
	best := make([][]int, oldEnd-from+1)
	for i := range best {
		best[i] = make([]int, newEnd-from+1)
	}
	for i := oldEnd - 1; i >= from; i-- {
		for j := newEnd - 1; j >= from; j-- {
			row, below := best[i-from], best[i-from+1]
			row[j-from] = max(below[j-from], row[j-from+1])
			if score := common(old.Item(i), new.Item(j)); score > 0 {
				row[j-from] = max(row[j-from], below[j-from+1]+score)
			}
		}
	}
	return best
}

// common returns the score of two items: how much they have in common. Equal items score highest, and items without an equal member at any
// depth score 0.
func common(old, new value.Value) int {
	if old.Equal(new) {
		return 1000
	}
	if old.Kind() != value.KindObject || new.Kind() != value.KindObject {
		return 0
	}
	same := 0
	for name, member := range old.Members() {
		switch other := new.Get(name); {
		case other.IsAbsent():
		case member.Equal(other):
			same += 10
		case member.Kind() == value.KindObject:
			same += min(common(member, other), 9)
		}
	}
	return min(same, 900)
}
