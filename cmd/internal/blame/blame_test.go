package blame

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/testobjects"
	"github.com/deed-project/deed/cmd/internal/types"
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/ownership"
	"github.com/deed-project/deed/schema/builtin"
)

// linesOf returns the lines of o.
func linesOf(t *testing.T, o *manifest.Object) []Line {
	t.Helper()
	c := types.NewLibrary(&manifest.Loader{Log: notice.NewLog(os.Stderr, nil)})
	e, ok := c.TypeOf(o, c.NewTypes(types.Flags{}), managedfields.Config{})
	if !ok {
		t.Fatalf("%v has no type", o.Id)
	}
	lines, err := Annotate(o, e)
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

// TestAnnotate checks that the parts of the lines are exactly the values of the object, with the owners of ownership.Owners.
func TestAnnotate(t *testing.T) {
	for _, o := range testobjects.Owned(t) {
		typ, _ := builtin.Catalog().Lookup(o.GVK())
		owned, err := ownership.Owners(o.Object, typ, nil)
		if err != nil {
			t.Fatal(err)
		}
		var want, got []string
		for p := range owned {
			want = append(want, fmt.Sprintf("%s %v %v %v", p.Path.Text(), p.Part, p.Owners, p.Through))
		}
		for p := range Parts(linesOf(t, o)) {
			if !p.IsContainer() {
				got = append(got, fmt.Sprintf("%s %v %v %v", p.Path.Text(), p.Kind, p.Owners, p.Through))
			}
		}
		slices.Sort(want) // YAML orders names differently
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%v: got parts\n%s\nwant\n%s", o.Id, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// TestShares compares the counts with the leaf values that ownership.Owners yields, largest counts first.
func TestShares(t *testing.T) {
	for _, o := range testobjects.Owned(t) {
		lines := linesOf(t, o)
		typ, _ := builtin.Catalog().Lookup(o.GVK())
		for _, path := range []fieldpath.Path{nil, {fieldpath.Field("metadata")}, {fieldpath.Field("none")}} {
			owned, err := ownership.Owners(o.Object, typ, nil)
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]int{}
			for p := range owned {
				if p.Value.Len() > 0 || len(p.Path) == len(path) || !p.Path.HasPrefix(path) {
					continue
				}
				for _, o := range p.Owners {
					want[fmt.Sprint(o.Manager.Name, o.Manager.Operation, o.Manager.Subresource)]++
				}
				if len(p.Owners) == 0 {
					want["nobody"]++
				}
			}
			got := map[string]int{}
			shares := Shares(lines, path)
			for _, s := range shares {
				name := fmt.Sprint(s.Manager.Name, s.Manager.Operation, s.Manager.Subresource)
				if s.Nobodys {
					name = "nobody"
				}
				got[name] += s.Values
			}
			if fmt.Sprint(got) != fmt.Sprint(want) || len(got) != len(shares) {
				t.Errorf("%v: below %v are %v, want %v", o.Id, path, shares, want)
			}
			if !slices.IsSortedFunc(shares, func(a, b Share) int { return b.Values - a.Values }) {
				t.Errorf("%v: %v are not sorted", o.Id, shares)
			}
		}
	}
}
