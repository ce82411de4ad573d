package gitops

import (
	"fmt"
	"strings"

	"github.com/deed-project/deed/value"
)

// String returns the result as text. The first line describes the object. Each change, conflict, unknown field and ignored field follows
// on its own line.
//
//	Deployment web: 2 changes, 1 conflict
//	  + .metadata.labels.tier: "front"
//	  ~ .spec.replicas: 2 -> 3
//	  ! .spec.replicas: conflict with "scaler": remove .spec.replicas from the desired object: a scaler writes it
//
// The values of a Secret are hidden. The text is for people and may change.
func (r *Result) String() string {
	var b strings.Builder
	kind, metadata := r.desired.Get("kind").Str(), r.desired.Get("metadata")
	name := metadata.Get("name").Str()
	if namespace := metadata.Get("namespace").Str(); namespace != "" {
		name = namespace + "/" + name
	}
	fmt.Fprintf(&b, "%s %s: %s\n", kind, name, r.summary())
	show := func(v value.Value, path string) string {
		if r.isSecret(path) {
			return "(hidden)"
		}
		return v.String()
	}
	line := func(mark string, c Change, note string) {
		path := c.Path.Text()
		switch {
		case c.Before.IsAbsent():
			fmt.Fprintf(&b, "  %s %s: %s%s\n", mark, path, show(c.After, path), note)
		case c.After.IsAbsent():
			fmt.Fprintf(&b, "  %s %s: %s%s\n", mark, path, show(c.Before, path), note)
		default:
			fmt.Fprintf(&b, "  %s %s: %s -> %s%s\n", mark, path, show(c.Before, path), show(c.After, path), note)
		}
	}
	for _, c := range r.Changes {
		line(mark(c), c, "")
	}
	for _, c := range r.Ignored {
		line(mark(c), c, " (ignored)")
	}
	for _, u := range r.Unknown {
		fmt.Fprintf(&b, "  ? %s: not in the schema, kept\n", u.Path.Text())
	}
	for _, c := range r.Conflicts {
		fmt.Fprintf(&b, "  ! %s: conflict with %v: %s\n", c.Path.Text(), c.Owner.Manager, c.Remedy)
	}
	if r.Refused != nil && !r.isSecret(".data") {
		fmt.Fprintf(&b, "  refused: %v\n", r.Refused)
	} else if r.Refused != nil {
		b.WriteString("  refused by the schema\n")
	}
	return b.String()
}

// mark returns the sign of a change.
func mark(c Change) string {
	switch {
	case c.Before.IsAbsent():
		return "+"
	case c.After.IsAbsent():
		return "-"
	}
	return "~"
}

// summary counts the contents of the result.
func (r *Result) summary() string {
	var parts []string
	switch {
	case r.Excluded:
		parts = append(parts, "excluded")
	case r.Creates:
		parts = append(parts, "created")
	case len(r.Changes) == 0 && r.Ownership:
		parts = append(parts, "no change but ownership")
	case len(r.Changes) == 0:
		parts = append(parts, "no change")
	}
	count := func(n int, noun, plural string) {
		switch {
		case n == 1:
			parts = append(parts, "1 "+noun)
		case n > 1:
			parts = append(parts, fmt.Sprintf("%d %s", n, plural))
		}
	}
	count(len(r.Changes), "change", "changes")
	count(len(r.Ignored), "ignored", "ignored")
	count(len(r.Conflicts), "conflict", "conflicts")
	count(len(r.Unknown), "unknown field", "unknown fields")
	if r.Untyped {
		parts = append(parts, "no schema")
	}
	return strings.Join(parts, ", ")
}

// isSecret reports whether the value at path must not be shown.
func (r *Result) isSecret(path string) bool {
	if r.desired.Get("kind").Str() != "Secret" || r.desired.Get("apiVersion").Str() != "v1" {
		return false
	}
	return strings.HasPrefix(path, ".data") || strings.HasPrefix(path, ".stringData") || strings.HasPrefix(path, ".metadata.annotations")
}
