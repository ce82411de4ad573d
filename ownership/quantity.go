package ownership

import (
	"math/big"
	"strconv"
	"strings"

	"github.com/deed-project/deed/value"
)

// Quantities of Kubernetes are read as exact numbers, so that two of them can be compared:
//
//	text   1.5   500m     2Gi           1e3
//	means  3/2   1/2      2147483648    1000
//
// Cost: quadratic in the text, whose length is limited. Exponents are limited, so that no short text means a huge number.

// maxQuantity limits the length of a text, as deed-apiserver does.
const maxQuantity = 1024

// maxExponent limits the powers of ten. Quantities of Kubernetes stay far below it.
const maxExponent = 64

// quantityOf returns the number that v means as a Kubernetes quantity: a number, or a string such
// as 1.5, 500m, 2Gi or 1e3. It returns false if v is no quantity.
func quantityOf(v value.Value) (*big.Rat, bool) {
	switch v.Kind() {
	case value.KindInt:
		return new(big.Rat).SetInt64(v.Int()), true
	case value.KindFloat:
		return parseQuantity(strconv.FormatFloat(v.Float(), 'f', -1, 64))
	case value.KindString:
		return parseQuantity(v.Str())
	}
	return nil, false
}

// parseQuantity reads a sign, digits with at most one dot among them, and a suffix.
func parseQuantity(text string) (*big.Rat, bool) {
	if len(text) > maxQuantity {
		return nil, false
	}
	number := strings.TrimLeft(text, "+-")
	if len(text)-len(number) > 1 {
		return nil, false
	}
	end := strings.IndexFunc(number, func(r rune) bool { return r != '.' && (r < '0' || '9' < r) })
	if end < 0 {
		end = len(number)
	}
	digits, suffix := number[:end], number[end:]
	if strings.Trim(digits, ".") == "" || strings.Count(digits, ".") > 1 {
		return nil, false
	}
	factor, ok := suffixFactor(suffix)
	if !ok {
		return nil, false
	}
	out, ok := new(big.Rat).SetString(strings.TrimSuffix("0"+digits, "."))
	if !ok {
		return nil, false
	}
	if text[0] == '-' {
		out.Neg(out)
	}
	return out.Mul(out, factor), true
}

// suffixFactor returns the factor that a suffix stands for.
func suffixFactor(suffix string) (*big.Rat, bool) {
	if len(suffix) == 2 && suffix[1] == 'i' {
		if i := strings.IndexByte("KMGTPE", suffix[0]); i >= 0 {
			return new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(10*(i+1)))), true
		}
	}
	if exponent, ok := decimalSuffixes[suffix]; ok {
		return powerOfTen(exponent), true
	}
	if suffix[0] != 'e' && suffix[0] != 'E' {
		return nil, false
	}
	exponent, err := strconv.Atoi(suffix[1:])
	if err != nil || exponent < -maxExponent || exponent > maxExponent {
		return nil, false
	}
	return powerOfTen(exponent), true
}

// decimalSuffixes has the power of ten that each suffix stands for.
var decimalSuffixes = map[string]int{
	"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18,
}

// powerOfTen returns ten to the power of exponent, which may be negative.
func powerOfTen(exponent int) *big.Rat {
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(exponent, -exponent))), nil)
	if exponent < 0 {
		return new(big.Rat).SetFrac(big.NewInt(1), power)
	}
	return new(big.Rat).SetInt(power)
}
