package yaml

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// compareNatural compares names in kubectl's order: it returns -1, 0 or 1 if a sorts before, with or after b. It is 0 only for equal names.
// At the first difference of two names:
//
//  1. the name that ends there sorts first;
//  2. letters sort by code, and after everything else;
//  3. numbers sort by value: item2 before item10, and a1 before a01;
//  4. other characters sort by code, and before digits.
//
// As in kubectl, these rules are not a total order: 9x < 10 < 91 < 9x. A stable sort by them after a bytewise sort is still deterministic.
func compareNatural(a, b string) int {
	same := commonPrefix(a, b)
	restA, restB := a[same:], b[same:]
	if restA == "" || restB == "" {
		return cmp.Compare(len(restA), len(restB))
	}
	charA, _ := utf8.DecodeRuneInString(restA)
	charB, _ := utf8.DecodeRuneInString(restB)
	letterA, letterB := unicode.IsLetter(charA), unicode.IsLetter(charB)
	if letterA != letterB {
		if letterA {
			return 1
		}
		return -1
	}
	if !letterA {
		if c := compareNumbers(digits(restA), digits(restB), isInNumber(a[:same])); c != 0 {
			return c
		}
	}
	return strings.Compare(restA, restB)
}

// commonPrefix returns the length in bytes of the longest common prefix of whole characters.
func commonPrefix(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	for n > 0 && (n < len(a) && !utf8.RuneStart(a[n]) || n < len(b) && !utf8.RuneStart(b[n])) {
		n--
	}
	return n
}

// digits returns the digits at the start of s.
func digits(s string) string { return s[:len(s)-len(strings.TrimLeft(s, "0123456789"))] }

// isInNumber reports whether s ends with a number other than 0, so that following zeros count.
func isInNumber(s string) bool {
	last := s[len(strings.TrimRight(s, "0123456789")):]
	return strings.Trim(last, "0") != ""
}

// compareNumbers compares two runs of digits by value and then by length. With inNumber set, both are the end of a longer number.
func compareNumbers(a, b string, inNumber bool) int {
	numberA, numberB := a, b
	if !inNumber {
		numberA, numberB = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	}
	return cmp.Or(
		cmp.Compare(len(numberA), len(numberB)),
		strings.Compare(numberA, numberB),
		cmp.Compare(len(a), len(b)),
	)
}
