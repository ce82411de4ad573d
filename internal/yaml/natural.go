package yaml

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// compareNatural orders names as kubectl prints them: it returns -1, 0 or 1 as a sorts before, with or after b. It is 0 only
// for equal names. Where two names first differ,
//
//  1. the name that ends there sorts first;
//  2. letters sort by their code, and behind everything else;
//  3. numbers sort by what they are: item2 before item10, and a1 before a01;
//  4. all others sort by their code, and before digits.
//
// By these rules 9x < 10 < 91 < 9x: it is no order of all names, as it is none in kubectl. Names that are sorted bytewise
// and then stably by it have one order all the same.
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

// commonPrefix returns how many bytes of whole characters a and b have in common.
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

// digits returns the digits that s begins with.
func digits(s string) string { return s[:len(s)-len(strings.TrimLeft(s, "0123456789"))] }

// isInNumber reports whether s ends with a number other than 0, so that zeros behind it count.
func isInNumber(s string) bool {
	last := s[len(strings.TrimRight(s, "0123456789")):]
	return strings.Trim(last, "0") != ""
}

// compareNumbers compares two runs of digits by their number and then by their length. Both are the end of one longer number
// if inNumber is set.
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
