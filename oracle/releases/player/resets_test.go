package player

import "sigs.k8s.io/structured-merge-diff/v6/fieldpath"

// fields has fields by apiVersion.
type fields = map[fieldpath.APIVersion]fieldpath.Filter

// resets returns the fields that a subresource does not write, as package histories has them.
func resets(versions []string, subresource string) fields {
	out := fields{}
	switch subresource {
	case "":
		out[fieldpath.APIVersion(versions[0])] = fieldpath.NewExcludeSetFilter(fieldpath.NewSet(fieldpath.MakePathOrDie("status")))
	case "status":
		for _, v := range versions {
			out[fieldpath.APIVersion(v)] = fieldpath.NewExcludeSetFilter(fieldpath.NewSet(
				fieldpath.MakePathOrDie("metadata"), fieldpath.MakePathOrDie("spec")))
		}
	case "resize":
		out[fieldpath.APIVersion(versions[0])] = fieldpath.NewIncludeMatcherFilter(
			fieldpath.MakePrefixMatcherOrDie("spec", fieldpath.MatchAnyPathElement(), "a"),
			fieldpath.MakePrefixMatcherOrDie("spec", fieldpath.MatchAnyPathElement(), "b"))
	}
	return out
}
