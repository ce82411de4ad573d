package selector

import (
	"fmt"
	"slices"
	"strings"

	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/cmd/internal/wording"
	"github.com/deed-project/deed/merge"
)

// Manager is the notation of managers in flags. NAME means everything that the name wrote, NAME:OPERATION what it wrote to the object
// itself, and NAME:OPERATION:SUBRESOURCE what it wrote through a subresource. Each of them means all versions.
type Manager struct {
	Name        string
	Operation   merge.Operation // or "" for NAME
	Subresource string
}

// ManagerUsage explains [Manager] in the help of commands.
const ManagerUsage = `A manager is named by NAME, or, where it matters how it wrote, by NAME:Apply,
NAME:Update or NAME:Update:SUBRESOURCE.`

// ParseManager parses the notation of managers. Every text is valid, because a name may contain colons.
func ParseManager(text string) Manager {
	words := strings.Split(text, ":")
	n := len(words)
	switch {
	case n > 1 && isOperation(words[n-1]):
		return Manager{strings.Join(words[:n-1], ":"), merge.Operation(words[n-1]), ""}
	case n > 2 && isOperation(words[n-2]):
		return Manager{strings.Join(words[:n-2], ":"), merge.Operation(words[n-2]), words[n-1]}
	}
	return Manager{Name: text}
}

func isOperation(word string) bool {
	return word == string(merge.Apply) || word == string(merge.Update)
}

// Matches reports whether s matches m.
func (s Manager) Matches(m merge.Manager) bool {
	return m.Name == s.Name && (s.Operation == "" || s.Operation == m.Operation && s.Subresource == m.Subresource)
}

// String returns s in its notation.
func (s Manager) String() string {
	text := s.Name
	if s.Operation != "" {
		text += ":" + string(s.Operation)
	}
	if s.Subresource != "" {
		text += ":" + s.Subresource
	}
	return text
}

// Managers parses the values of a flag, each of which must match one of the managers in there.
func Managers(flag string, texts []string, there []merge.Manager) ([]Manager, error) {
	var out []Manager
	for _, text := range texts {
		s := ParseManager(text)
		if err := KnownNames(flag, []string{s.Name}, there); err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(there, s.Matches) {
			return nil, secret.Errorf("%s: no manager in the objects is %v, only %s", flag, s, Identities(s.Name, there))
		}
		out = append(out, s)
	}
	return out, nil
}

// KnownNames returns an error for names, the values of a flag, that none of the managers in there has.
func KnownNames(flag string, names []string, there []merge.Manager) error {
	known := namesOf(there)
	for _, name := range names {
		if slices.Contains(known, name) {
			continue
		}
		hint := ""
		if meant := wording.Nearest(name, known); meant != "" {
			hint = fmt.Sprintf("; did you mean %q?", meant)
		} else if len(known) > 0 {
			hint = ", only " + wording.QuotedList(known)
		}
		return secret.Errorf("%s: there is no manager %q in the objects%s", flag, name, hint)
	}
	return nil
}

// namesOf returns the names of managers, sorted and without duplicates.
func namesOf(managers []merge.Manager) []string {
	var names []string
	for _, m := range managers {
		names = append(names, m.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Identities lists the managers with a name.
func Identities(name string, managers []merge.Manager) string {
	var all []string
	for _, m := range managers {
		if m.Name == name {
			all = append(all, Manager{m.Name, m.Operation, m.Subresource}.String())
		}
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), " and ")
}
