package fieldpath_test

import (
	"testing"

	"github.com/deed-project/deed/fieldpath"
)

// TestNumbersInMessages shows the three forms that large integers have in messages and texts.
func TestNumbersInMessages(t *testing.T) {
	p, err := fieldpath.ParsePath(`.spec.l[k=1099511627776,p="a b"]."x y"[=1.5]`)
	if err != nil {
		t.Fatal(err)
	}
	check(t, "String", p.String(), `.spec.l[k=1.099511627776e+12,p="a b"].x y[=1.5]`)
	check(t, "Decimal", paths.Decimal(p), `.spec.l[k=1099511627776,p="a b"].x y[=1.5]`)
	check(t, "Decimal of an element", paths.Decimal(fieldpath.Path{p[2]}), `[k=1099511627776,p="a b"]`)
	check(t, "Text", p.Text(), `.spec.l[k=1099511627776,p="a b"]."x y"[=1.5]`)
}
