package blame

import (
	"iter"
	"slices"

	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/ownership"
)

// Parts yields all parts of the lines in order.
func Parts(lines []Line) iter.Seq[Part] {
	return func(yield func(Part) bool) {
		for _, line := range lines {
			for _, p := range line.Parts {
				if !yield(p) {
					return
				}
			}
		}
	}
}

// OwnedBy returns the lines in which a value begins that the managers own, and the lines around them.
func OwnedBy(lines []Line, managers []string) []Line {
	wanted := map[secret.Key]bool{}
	for p := range Parts(lines) {
		if slices.ContainsFunc(p.Owners, func(o ownership.Owner) bool { return slices.Contains(managers, o.Manager.Name) }) {
			for i := range p.Path {
				wanted[secret.KeyOf(p.Path[:i+1])] = true
			}
		}
	}
	var out []Line
	keep := false
	for _, line := range lines {
		if line.Continues == 0 {
			keep = slices.ContainsFunc(line.Parts, func(p Part) bool { return wanted[secret.KeyOf(p.Path)] })
		}
		if keep {
			out = append(out, line)
		}
	}
	return out
}

// Share is the number of values of an owner.
type Share struct {
	Manager merge.Manager // without its version
	Nobodys bool          // the values have no owner
	Values  int
}

// Shares returns the number of values below path in lines for each owner, largest first. A value is a part without parts inside: a leaf or
// an item of a set. A value with several managers counts for each.
func Shares(lines []Line, path fieldpath.Path) []Share {
	var out []Share
	count := func(owner Share) {
		same := func(s Share) bool { return s.Manager == owner.Manager && s.Nobodys == owner.Nobodys }
		i := slices.IndexFunc(out, same)
		if i < 0 {
			i, out = len(out), append(out, owner)
		}
		out[i].Values++
	}
	parts := slices.Collect(Parts(lines))
	for i, p := range parts {
		holds := i+1 < len(parts) && len(parts[i+1].Path) > len(p.Path)
		if holds || len(p.Path) <= len(path) || !p.Path.HasPrefix(path) {
			continue
		}
		for _, o := range p.Owners {
			m := o.Manager
			m.APIVersion = ""
			count(Share{Manager: m})
		}
		if len(p.Owners) == 0 {
			count(Share{Nobodys: true})
		}
	}
	slices.SortStableFunc(out, func(a, b Share) int { return b.Values - a.Values })
	return out
}
