package wording

import (
	"strings"
)

// Nearest returns the candidate that name probably misspells, or "" if there is none. It is the candidate with the fewest edits, at most a
// third of the length of name. Case does not count.
func Nearest(name string, candidates []string) string {
	best, meant := max(1, len(name)/3)+1, ""
	for _, candidate := range candidates {
		if n := edits(strings.ToLower(name), strings.ToLower(candidate)); n < best {
			best, meant = n, candidate
		}
	}
	return meant
}

// edits returns the number of bytes to insert, remove, replace, or swap with the next one to turn a into b.
func edits(a, b string) int {
	before, last := make([]int, len(b)+1), make([]int, len(b)+1) // rows of the table of prefixes
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			replaced := last[j-1]
			if a[i-1] != b[j-1] {
				replaced++
			}
			row[j] = min(replaced, last[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
