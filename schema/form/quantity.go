package form

import (
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

// MaxQuantity limits the length of a quantity, and the size of its exponent in both directions. Digits below a
// billionth are dropped anyway, and the time to compute grows with the square of the number of digits.
const MaxQuantity = 1024

// The reasons why a text is not a quantity. All but the last two are in the words of kube-apiserver.
var (
	ErrQuantityFormat  = errors.New("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")
	ErrQuantityNumber  = errors.New("unable to parse numeric part of quantity")
	ErrQuantitySuffix  = errors.New("unable to parse quantity's suffix")
	ErrQuantityLength  = fmt.Errorf("quantities must have no more than %d characters", MaxQuantity)     // kube-apiserver computes for hours on those
	ErrQuantityPower   = fmt.Errorf("quantities must have exponents from -%[1]d to %[1]d", MaxQuantity) // likewise
	decimalSuffixes    = []string{"n", "u", "m", "", "k", "M", "G", "T", "P", "E"}                      // powers of 1000, from -3
	binarySuffixes     = []string{"Ki", "Mi", "Gi", "Ti", "Pi", "Ei"}                                   // powers of 1024, from 1
	smallestDecimal    = -9                                                                             // as a power of ten
	one                = big.NewInt(1)
	ten                = big.NewInt(10)
	kibi               = big.NewInt(1024)
	largestBinary      = new(big.Int).SetInt64(1<<63 - 1)
	quantitySuffixRune = "eEinumkKMGTP"
)

// notation is the format of a quantity, in the input and in print.
type notation uint8

const (
	decimalSI notation = iota
	decimalExponent
	binarySI
)

// quantity is the number mantissa * 10^exponent.
type quantity struct {
	mantissa *big.Int
	exponent int
	notation notation
	text     string // the input text, if the quantity prints unchanged
}

// Quantity returns the canonical spelling of a quantity: 1000m becomes 1, 1024Mi becomes 1Gi, and 0.1 becomes 100m.
// It rounds up to a billionth. The error is one of those above.
func Quantity(text string) (string, error) {
	if isCanonical(text) {
		return text, nil
	}
	q, err := parseQuantity(text)
	if err != nil {
		return "", err
	}
	return q.String(), nil
}

// isCanonical reports whether text surely is a canonical quantity. It recognizes most of them: short whole numbers
// with a decimal suffix, and numbers below a thousand with a binary suffix. The latter are less than the next unit.
func isCanonical(text string) bool {
	number, suffix := digits(text)
	if number == "" || len(number) > 15 || number[0] == '0' || strings.HasSuffix(number, "000") {
		return text == "0"
	}
	if len(suffix) == 2 && suffix[1] == 'i' {
		return len(number) <= 3 && strings.Contains("KMGTP", suffix[:1]) // Ei is missing, because the number may exceed the maximum
	}
	return suffix == "" || len(suffix) == 1 && strings.Contains("numkMGTPE", suffix)
}

// RoundQuantity rounds a quantity up, away from zero, to a thousandth. It returns an invalid quantity unchanged.
func RoundQuantity(text string) string {
	if !strings.ContainsAny(text, "nu.eE") { // the text has no digits below a thousandth
		return text
	}
	q, err := parseQuantity(strings.TrimSpace(text))
	if err != nil || q.exponent >= -3 {
		return text
	}
	q.roundUp(-3)
	q.text = ""
	return q.String()
}

// AddQuantities returns the sum of two quantities, in the notation of the first one that is not zero. An invalid
// quantity counts as zero.
func AddQuantities(a, b string) string {
	x, y := quantityOrZero(a), quantityOrZero(b)
	if x.mantissa.Sign() == 0 {
		x.notation = y.notation
	}
	exponent := min(x.exponent, y.exponent)
	x.mantissa, x.exponent, x.text = new(big.Int).Add(x.scaled(exponent), y.scaled(exponent)), exponent, ""
	return x.String()
}

// CompareQuantities returns -1 if a is less than b, 0 if they are equal, and 1 otherwise. An invalid quantity
// counts as zero.
func CompareQuantities(a, b string) int {
	x, y := quantityOrZero(a), quantityOrZero(b)
	exponent := min(x.exponent, y.exponent)
	return x.scaled(exponent).Cmp(y.scaled(exponent))
}

func quantityOrZero(text string) quantity {
	q, err := parseQuantity(text)
	if err != nil {
		return quantity{mantissa: new(big.Int)}
	}
	return q
}

// quantityParts are the sign, the number without leading zeros, and the suffix of a quantity.
type quantityParts struct {
	negative        bool
	whole, fraction string
	suffix          string
	sign            bool // whether a sign was written
}

func splitQuantity(text string) (quantityParts, error) {
	var p quantityParts
	rest := text
	if strings.HasPrefix(rest, "-") || strings.HasPrefix(rest, "+") {
		p.negative, p.sign, rest = rest[0] == '-', true, rest[1:]
	}
	rest = strings.TrimLeft(rest, "0")
	if rest == "" {
		p.whole = "0"
		return p, nil
	}
	p.whole, rest = digits(rest)
	if p.whole == "" {
		p.whole = "0"
	}
	if strings.HasPrefix(rest, ".") {
		p.fraction, rest = digits(rest[1:])
	}
	p.suffix = rest
	rest = strings.TrimLeft(rest, quantitySuffixRune)
	if strings.HasPrefix(rest, "-") || strings.HasPrefix(rest, "+") {
		rest = rest[1:]
	}
	if _, rest = digits(rest); rest != "" {
		return p, ErrQuantityFormat
	}
	return p, nil
}

// digits returns the digits that text starts with, and the rest.
func digits(text string) (string, string) {
	n := 0
	for n < len(text) && '0' <= text[n] && text[n] <= '9' {
		n++
	}
	return text[:n], text[n:]
}

// suffixed returns the base, 2 or 10, and the exponent that a suffix stands for.
func suffixed(suffix string) (base, exponent int, n notation, ok bool) {
	for i, s := range decimalSuffixes {
		if suffix == s {
			return 10, 3 * (i - 3), decimalSI, true
		}
	}
	for i, s := range binarySuffixes {
		if suffix == s {
			return 2, 10 * (i + 1), binarySI, true
		}
	}
	if len(suffix) > 1 && (suffix[0] == 'e' || suffix[0] == 'E') {
		if e, err := strconv.ParseInt(suffix[1:], 10, 32); err == nil {
			return 10, int(e), decimalExponent, true
		}
	}
	return 0, 0, 0, false
}

func parseQuantity(text string) (quantity, error) {
	if len(text) > MaxQuantity {
		return quantity{}, ErrQuantityLength
	}
	if text == "" {
		return quantity{}, ErrQuantityFormat
	}
	p, err := splitQuantity(text)
	if err != nil {
		return quantity{}, err
	}
	base, exponent, n, ok := suffixed(p.suffix)
	switch {
	case !ok:
		return quantity{}, ErrQuantitySuffix
	case exponent < -MaxQuantity || exponent > MaxQuantity:
		return quantity{}, ErrQuantityPower
	}
	q := quantity{mantissa: new(big.Int), exponent: -len(p.fraction), notation: n}
	if _, ok := q.mantissa.SetString(p.whole+p.fraction, 10); !ok {
		return quantity{}, ErrQuantityNumber
	}
	if text == "0" || p.keepsText(exponent, n, q.mantissa) {
		q.text = text
	}
	if base == 10 {
		q.exponent += exponent
	} else {
		q.mantissa.Lsh(q.mantissa, uint(exponent))
	}
	q.bound()
	if p.negative {
		q.mantissa.Neg(q.mantissa)
	}
	return q, nil
}

// keepsText reports whether the quantity prints as it was written: its text is short and already canonical.
func (p quantityParts) keepsText(exponent int, n notation, mantissa *big.Int) bool {
	length := len(p.whole) + len(p.fraction)
	scale := exponent - len(p.fraction)
	if n == binarySI {
		room := 15 - len(p.whole) - int(float32(exponent)*3/10) - 1
		return p.fraction == "" && room >= 0 && mantissa.Int64()&7 != 0
	}
	shifted := p.whole + p.fraction
	return length <= 18 && scale >= smallestDecimal && scale%3 == 0 && !strings.HasSuffix(shifted, "000") && shifted[0] != '0'
}

// bound rounds a quantity to a billionth, and caps a binary one at the maximum. The quantity must not be negative.
func (q *quantity) bound() {
	q.roundUp(smallestDecimal)
	if q.notation != binarySI {
		return
	}
	if q.scaled(0).Cmp(largestBinary) > 0 {
		q.mantissa, q.exponent = new(big.Int).Set(largestBinary), 0
	}
	if q.scaled(0).Sign() == 0 && q.mantissa.Sign() > 0 { // below one
		q.notation = decimalSI
	}
}

// scaled returns the quantity in units of 10^exponent, truncated.
func (q *quantity) scaled(exponent int) *big.Int {
	power := new(big.Int)
	if d := q.exponent - exponent; d >= 0 {
		return power.Mul(q.mantissa, power.Exp(ten, big.NewInt(int64(d)), nil))
	}
	return power.Quo(q.mantissa, new(big.Int).Exp(ten, big.NewInt(int64(exponent-q.exponent)), nil))
}

// roundUp rounds away from zero to a multiple of 10^exponent.
func (q *quantity) roundUp(exponent int) {
	if q.exponent >= exponent {
		return
	}
	divisor := new(big.Int).Exp(ten, big.NewInt(int64(exponent-q.exponent)), nil)
	rounded, rest := new(big.Int).QuoRem(q.mantissa, divisor, new(big.Int))
	switch rest.Sign() {
	case 1:
		rounded.Add(rounded, one)
	case -1:
		rounded.Sub(rounded, one)
	}
	q.mantissa, q.exponent = rounded, exponent
}

// String returns the canonical spelling of the quantity.
func (q *quantity) String() string {
	switch {
	case q.text != "":
		return q.text
	case q.mantissa.Sign() == 0:
		return "0"
	}
	if q.notation == binarySI {
		if text, ok := q.binary(); ok {
			return text
		}
	}
	return q.decimal()
}

// binary prints a whole number with the largest binary suffix that leaves it whole. It reports false for fractions,
// and for numbers below 1024.
func (q *quantity) binary() (string, bool) {
	number := q.scaled(0)
	whole := quantity{mantissa: number}
	if number.CmpAbs(kibi) < 0 || whole.scaled(q.exponent).Cmp(q.mantissa) != 0 && q.exponent < 0 {
		return "", false
	}
	suffix := ""
	for _, s := range binarySuffixes {
		quotient, rest := new(big.Int).QuoRem(number, kibi, new(big.Int))
		if rest.Sign() != 0 {
			break
		}
		number, suffix = quotient, s
	}
	return number.String() + suffix, true
}

// decimal prints the number without trailing zeros, with a suffix for a power of 1000.
func (q *quantity) decimal() string {
	number, exponent := new(big.Int).Set(q.mantissa), q.exponent
	for {
		quotient, rest := new(big.Int).QuoRem(number, ten, new(big.Int))
		if rest.Sign() != 0 {
			break
		}
		number, exponent = quotient, exponent+1
	}
	for exponent%3 != 0 {
		number.Mul(number, ten)
		exponent--
	}
	i := exponent/3 + 3
	switch {
	case q.notation == decimalExponent && exponent != 0:
		return number.String() + "e" + strconv.Itoa(exponent)
	case i >= 0 && i < len(decimalSuffixes):
		return number.String() + decimalSuffixes[i]
	}
	return number.String() // no suffix is large enough, and kube-apiserver prints none either
}
