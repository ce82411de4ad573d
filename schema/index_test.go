package schema

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestNameIndex(t *testing.T) {
	for _, n := range []int{0, 1, 2, 7, 100, 5000, maxFields, maxFields + 1} {
		fields := make([]Field, n)
		for i := range fields {
			fields[i].Name = fmt.Sprintf("f%d", 2*i)
		}
		slices.SortFunc(fields, func(a, b Field) int { return strings.Compare(a.Name, b.Name) })
		x := newNameIndex(fields)
		for i, f := range fields {
			if got := x.find(fields, f.Name); got != i {
				t.Fatalf("%d fields: %s is field %d, want %d", n, f.Name, got, i)
			}
		}
		for _, name := range []string{"", "f", "f1", "g", "f99999"} {
			if got := x.find(fields, name); got != -1 {
				t.Fatalf("%d fields: %q is field %d", n, name, got)
			}
		}
	}
}
