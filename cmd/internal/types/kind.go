package types

import (
	"fmt"
	"strings"

	"github.com/deed-project/deed/cmd/internal/wording"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
)

// ParseKind reads APIVERSION/KIND, or the name of a built-in kind, which stands for its only stable
// version. No text is no kind.
func ParseKind(text string) (schema.GVK, error) {
	if text == "" {
		return schema.GVK{}, nil
	}
	if i := strings.LastIndex(text, "/"); i >= 0 {
		if gvk := schema.ParseGVK(text[:i], text[i+1:]); gvk.Version != "" && gvk.Kind != "" {
			return gvk, nil
		}
		return schema.GVK{}, fmt.Errorf("%q is no kind: write apps/v1/Deployment or v1/Pod", text)
	}
	return builtinKind(text)
}

// builtinKind returns the kind called name, whatever its case.
func builtinKind(text string) (schema.GVK, error) {
	var found, names []string
	var stable []schema.GVK
	var gvk schema.GVK
	for known, t := range builtin.Catalog().Kinds() {
		if isObjects(known, t) {
			names = append(names, known.Kind)
		}
		if strings.EqualFold(known.Kind, text) {
			gvk, found = known, append(found, known.APIVersion()+"/"+known.Kind)
			if !strings.ContainsAny(known.Version, "ab") { // alpha, beta
				stable = append(stable, known)
			}
		}
	}
	switch {
	case len(found) == 1:
		return gvk, nil
	case len(stable) == 1:
		return stable[0], nil
	case len(found) > 1:
		return gvk, fmt.Errorf("%s is in several versions: say which of %s", text, strings.Join(found, ", "))
	}
	hint := ""
	if meant := wording.Nearest(text, names); meant != "" {
		hint = fmt.Sprintf("; did you mean %q?", meant)
	}
	return gvk, fmt.Errorf("no kind called %q is built in: name others as APIVERSION/KIND%s", text, hint)
}
