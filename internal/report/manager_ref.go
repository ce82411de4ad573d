package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/deed-project/deed/internal/wording"
	"github.com/deed-project/deed/merge"
)

// UnknownName says that name, the value of a flag, is none of the known names of what it should be.
func UnknownName(flag, what, name string, known []string) error {
	hint := ""
	if meant := wording.Nearest(name, known); meant != "" {
		hint = fmt.Sprintf("; did you mean %q?", meant)
	} else if len(known) > 0 {
		hint = ", only " + wording.QuotedList(known)
	}
	return fmt.Errorf("%s: there is no %s %q in the objects%s", flag, what, name, hint)
}

// ManagerRef is how the command line names managers: NAME, NAME:OPERATION or NAME:OPERATION:SUBRESOURCE. What it does not say
// does not matter.
type ManagerRef struct {
	Name           string
	Operation      merge.Operation
	Subresource    string
	anySubresource bool
}

// ManagerRefUsage explains managerRef in the help of commands.
const ManagerRefUsage = `A manager is named by NAME, or, where it matters how it wrote, by NAME:Apply,
NAME:Update or NAME:Update:SUBRESOURCE.`

// ParseManagerRef reads what names managers on the command line.
func ParseManagerRef(text string) ManagerRef {
	words := strings.Split(text, ":")
	n := len(words)
	switch {
	case n > 1 && isOperation(words[n-1]):
		return ManagerRef{strings.Join(words[:n-1], ":"), merge.Operation(words[n-1]), "", true}
	case n > 2 && isOperation(words[n-2]):
		return ManagerRef{strings.Join(words[:n-2], ":"), merge.Operation(words[n-2]), words[n-1], false}
	}
	return ManagerRef{Name: text, anySubresource: true}
}

func isOperation(word string) bool {
	return word == string(merge.Apply) || word == string(merge.Update)
}

// Matches reports whether r names m.
func (r ManagerRef) Matches(m merge.Manager) bool {
	return m.Name == r.Name && (r.Operation == "" || r.Operation == m.Operation) &&
		(r.anySubresource || r.Subresource == m.Subresource)
}

// String returns r as the command line has it.
func (r ManagerRef) String() string {
	text := r.Name
	if r.Operation != "" {
		text += ":" + string(r.Operation)
	}
	if !r.anySubresource {
		text += ":" + r.Subresource
	}
	return text
}

// ManagerRefs reads the values of a flag, each of which must name one of the managers that there are.
func ManagerRefs(flag string, texts []string, there []merge.Manager) ([]ManagerRef, error) {
	var refs []ManagerRef
	for _, text := range texts {
		r := ParseManagerRef(text)
		if known := NamesOf(there); !slices.Contains(known, r.Name) {
			return nil, UnknownName(flag, "manager", r.Name, known)
		}
		if !slices.ContainsFunc(there, r.Matches) {
			return nil, fmt.Errorf("%s: no manager in the objects is %v, only %s", flag, r, Identities(r.Name, there))
		}
		refs = append(refs, r)
	}
	return refs, nil
}

// NamesOf returns the names of managers, each once, sorted.
func NamesOf(managers []merge.Manager) []string {
	var names []string
	for _, m := range managers {
		names = append(names, m.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Identities lists the managers of one name.
func Identities(name string, managers []merge.Manager) string {
	var all []string
	for _, m := range managers {
		if m.Name == name {
			all = append(all, refTo(m))
		}
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), " and ")
}

// refTo returns how the command line names m.
func refTo(m merge.Manager) string {
	text := m.Name + ":" + string(m.Operation)
	if m.Subresource != "" {
		text += ":" + m.Subresource
	}
	return text
}
