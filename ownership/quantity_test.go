package ownership

import (
	"strings"
	"testing"

	"github.com/deed-project/deed/value"
)

func TestQuantities(t *testing.T) {
	for _, same := range [][]string{
		{`"1"`, `1`, `1.0`, `"1000m"`, `"1.0"`, `"1."`, `"01"`, `"+1"`, `"1e0"`, `"1000000u"`, `"1000000000n"`, `"1E0"`},
		{`"0.5"`, `0.5`, `"500m"`, `".5"`, `"5e-1"`, `"0.50"`},
		{`"1Ki"`, `1024`, `"1.024k"`, `"1024"`},
		{`"1Gi"`, `"1024Mi"`, `1073741824`},
		{`"1E"`, `"1e18"`, `"1000P"`, `1e18`},
		{`"-2"`, `-2`, `"-2000m"`},
		{`"2Ti"`}, {`"2T"`}, {`"3Pi"`}, {`"1Ei"`}, {`"1M"`}, {`"1G"`}, {`"10"`, `"010"`},
		{`"1e64"`},
	} {
		first, ok := quantityOf(parseJSON(t, same[0]))
		if !ok {
			t.Errorf("%s is no quantity", same[0])
			continue
		}
		for _, text := range same {
			if got, ok := quantityOf(parseJSON(t, text)); !ok || got.Cmp(first) != 0 {
				t.Errorf("%s is %v, %v", text, got, ok)
			}
		}
	}
	for _, text := range []string{
		`"` + strings.Repeat("7", 1<<20) + `"`, // would take seconds
		`""`, `"."`, `"-"`, `"--1"`, `"+-1"`, `"1..2"`, `"1.2.3"`, `"m"`, `"1i"`, `"1ki"`, `"1K"`, `"1e"`, `"1ee1"`, `"1e65"`, `"1e999999999"`,
		`"1 "`, `" 1"`, `"0x1"`, `"1_0"`, `"1/2"`, `"x"`, `"1mm"`, `"Inf"`, `null`, `true`, `[]`, `{}`, `"1é"`, `"1e1.5"`,
	} {
		if got, ok := quantityOf(parseJSON(t, text)); ok {
			t.Errorf("%.100s is a quantity: %.100v", text, got)
		}
	}
}

func parseJSON(t testing.TB, text string) value.Value {
	t.Helper()
	v, err := value.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// A quantity that is read means the same however its suffix is spelled out.
func FuzzParseQuantity(f *testing.F) {
	for _, seed := range []string{"1", "1000m", "-0.5Gi", "1e3", "+.5", "1E", "e", "9223372036854775808", "1e-64"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, ok := parseQuantity(text)
		if !ok {
			return
		}
		again, ok := parseQuantity(got.FloatString(80))
		if !ok && len(text) < 800 || ok && again.Cmp(got) != 0 && len(text) < 16 {
			t.Errorf("%q is %v, which reads as %v", text, got, again)
		}
		if milli, ok := parseQuantity(text + "m"); ok && milli.Cmp(got) > 0 == (got.Sign() > 0) && got.Sign() != 0 {
			t.Errorf("%qm is %v, and without m %v", text, milli, got)
		}
	})
}
