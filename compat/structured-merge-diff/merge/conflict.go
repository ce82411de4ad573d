package merge

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// Conflict is a field that an apply would change although another manager owns it.
type Conflict struct {
	Manager string
	Path    fieldpath.Path
}

// Error returns the manager and the path of the conflict as text.
func (c Conflict) Error() string { return fmt.Sprintf("conflict with %q: %v", c.Manager, c.Path) }

// Equals reports whether both conflicts are the same.
func (c Conflict) Equals(c2 Conflict) bool { return c.Manager == c2.Manager && c.Path.Equals(c2.Path) }

// Conflicts are all conflicts of an apply.
type Conflicts []Conflict

// Error returns the text of a single conflict, or a list of several conflicts, sorted by
// manager.
func (conflicts Conflicts) Error() string {
	if len(conflicts) == 1 {
		return conflicts[0].Error()
	}
	byManager := map[string][]fieldpath.Path{}
	for _, c := range conflicts {
		byManager[c.Manager] = append(byManager[c.Manager], c.Path)
	}
	var lines []string
	for _, manager := range slices.Sorted(maps.Keys(byManager)) {
		lines = append(lines, fmt.Sprintf("conflicts with %q:", manager))
		for _, path := range byManager[manager] {
			lines = append(lines, "- "+path.String())
		}
	}
	return strings.Join(lines, "\n")
}

// Equals reports whether both have the same conflicts in the same order.
func (c Conflicts) Equals(c2 Conflicts) bool { return slices.EqualFunc(c, c2, Conflict.Equals) }

// ToSet returns the paths of all conflicts.
func (c Conflicts) ToSet() *fieldpath.Set {
	paths := make([]fieldpath.Path, len(c))
	for i := range c {
		paths[i] = c[i].Path
	}
	return fieldpath.NewSet(paths...)
}

// ConflictsFromManagers returns a conflict for each field of sets, sorted by manager.
func ConflictsFromManagers(sets fieldpath.ManagedFields) Conflicts {
	conflicts := Conflicts{}
	for _, manager := range slices.Sorted(maps.Keys(sets)) {
		for path := range sets[manager].Set().All() {
			conflicts = append(conflicts, Conflict{manager, path})
		}
	}
	return conflicts
}
