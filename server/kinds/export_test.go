package kinds

import (
	"maps"
	"slices"
	"strings"
)

// All returns the table.
func All() []Traits { return table() }

// Added returns what a server may add to objects of the kind.
func (t *Traits) Added() []Allocated { return t.adds }

// Facts is what the table says of a kind, as text for docs/builtin.md.
type Facts struct {
	Names                            string
	Rules, Updates, Selectors, Added []string
	Warns                            string
}

// Facts returns the row as text.
func (t *Traits) Facts() Facts {
	f := Facts{Names: "DNS subdomain", Selectors: slices.Sorted(maps.Keys(t.Derived))}
	if t.name != nil {
		switch {
		case len(t.name("A ", false)) == 0:
			f.Names = "path segment"
		case len(t.name("A_", false)) == 0:
			f.Names = "key of a ConfigMap"
		case len(t.name("10.0.0.1", false)) == 0 && len(t.name("a", false)) > 0:
			f.Names = "IP address"
		case len(t.name("a", false)) > 0:
			f.Names = "group and resource"
		case len(t.name("a.b", false)) > 0:
			f.Names = "DNS label"
		}
	}
	if t.validate != nil {
		f.Rules = append(f.Rules, "object")
	}
	f.Rules = slices.AppendSeq(f.Rules, slices.Values(slices.Sorted(maps.Keys(t.parts))))
	if t.bySchema {
		f.Rules = append(f.Rules, "schema")
	}
	if t.pods != "" {
		f.Warns = "pods"
	}
	if t.CreateOnUpdate {
		f.Updates = append(f.Updates, "create")
	}
	if t.conditional {
		f.Updates = append(f.Updates, "conditional")
	}
	f.Selectors = slices.Sorted(slices.Values(append(f.Selectors, t.Fields...)))
	for _, a := range t.adds {
		for _, path := range a.Paths {
			f.Added = append(f.Added, strings.ReplaceAll(path, " ", "."))
		}
	}
	return f
}
