package difftest

import (
	"bytes"

	smdpath "sigs.k8s.io/structured-merge-diff/v4/fieldpath"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/testing/gen"
	"github.com/deed-project/deed/merge"
)

func deedFilters(filters map[string]gen.Filter) map[string]merge.Filter {
	out := map[string]merge.Filter{}
	for version, f := range filters {
		pattern := fieldpath.PatternOf(f.Include...)
		out[version] = merge.Filter{Exclude: fieldpath.SetOf(f.Exclude...), Include: &pattern}
	}
	return out
}

// smdFilters returns filters in the reference's form, which allows one of two kinds.
func smdFilters(filters map[string]gen.Filter) (exclude map[smdpath.APIVersion]*smdpath.Set, include map[smdpath.APIVersion]smdpath.Filter) {
	for version, f := range filters {
		if f.Include == nil {
			if exclude == nil {
				exclude = map[smdpath.APIVersion]*smdpath.Set{}
			}
			exclude[smdpath.APIVersion(version)] = smdSet(fieldpath.SetOf(f.Exclude...))
			continue
		}
		if include == nil {
			include = map[smdpath.APIVersion]smdpath.Filter{}
		}
		include[smdpath.APIVersion(version)] = includeFilter(f.Include)
	}
	return exclude, include
}

func includeFilter(prefixes []fieldpath.Path) smdpath.Filter {
	var matchers []*smdpath.SetMatcher
	for _, prefix := range prefixes {
		var parts []any
		for _, e := range prefix {
			if e == fieldpath.Any() {
				parts = append(parts, smdpath.MatchAnyPathElement())
			} else {
				parts = append(parts, smdElement(e))
			}
		}
		matchers = append(matchers, smdpath.MakePrefixMatcherOrDie(parts...))
	}
	return smdpath.NewIncludeMatcherFilter(matchers...)
}

func smdElement(e fieldpath.Element) smdpath.PathElement {
	out, err := smdpath.DeserializePathElement(e.Wire())
	if err != nil {
		panic(err)
	}
	return out
}

// smdSet returns s in the reference's form.
func smdSet(s fieldpath.Set) *smdpath.Set {
	out := smdpath.NewSet()
	if err := out.FromJSON(bytes.NewReader(s.AppendJSON(nil))); err != nil {
		panic(err)
	}
	return out
}
