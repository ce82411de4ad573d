package playground

import (
	"slices"
	"strings"
)

// changed returns the indexes of the lines of after that are not in before: those outside a longest common subsequence. The cost is the
// product of the numbers of lines that are left after their common beginning and end.
func changed(before, after string) []int {
	a, b := slices.Collect(strings.Lines(before)), slices.Collect(strings.Lines(after))
	first := 0
	for first < len(a) && first < len(b) && a[first] == b[first] {
		first++
	}
	for len(a) > first && len(b) > first && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	a, b = a[first:], b[first:]
	out := []int{}
	if len(a)*len(b) > maxCompared {
		for j := range b {
			out = append(out, first+j)
		}
		return out
	}
	// common[i][j] is the length of a longest common subsequence of a[i:] and b[j:].
	common := make([][]int, len(a)+1)
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			common[i][j] = max(common[i+1][j], common[i][j+1])
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			}
		}
	}
	for i, j := 0, 0; j < len(b); {
		switch {
		case i < len(a) && a[i] == b[j]:
			i, j = i+1, j+1
		case i < len(a) && common[i+1][j] >= common[i][j+1]:
			i++
		default:
			out = append(out, first+j)
			j++
		}
	}
	return out
}

// maxCompared is the maximum number of pairs of lines that are compared. Beyond it, all lines count as changed.
const maxCompared = 1 << 20
