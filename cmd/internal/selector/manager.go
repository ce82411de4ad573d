package selector

import (
	"fmt"
	"slices"
	"strings"

	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/cmd/internal/wording"
	"github.com/deed-project/deed/merge"
)

// Manager is the notation of managers in flags: NAME, NAME:OPERATION or NAME:OPERATION:SUBRESOURCE. Omitted parts match everything.
type Manager struct {
	Name           string
	Operation      merge.Operation
	Subresource    string
	anySubresource bool
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
		return Manager{strings.Join(words[:n-1], ":"), merge.Operation(words[n-1]), "", true}
	case n > 2 && isOperation(words[n-2]):
		return Manager{strings.Join(words[:n-2], ":"), merge.Operation(words[n-2]), words[n-1], false}
	}
	return Manager{Name: text, anySubresource: true}
}

func isOperation(word string) bool {
	return word == string(merge.Apply) || word == string(merge.Update)
}

// Matches reports whether s matches m.
func (s Manager) Matches(m merge.Manager) bool {
	return m.Name == s.Name && (s.Operation == "" || s.Operation == m.Operation) &&
		(s.anySubresource || s.Subresource == m.Subresource)
}

// String returns s in its notation.
func (s Manager) String() string {
	text := s.Name
	if s.Operation != "" {
		text += ":" + string(s.Operation)
	}
	if !s.anySubresource {
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
			all = append(all, exactly(m).String())
		}
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), " and ")
}

// exactly returns the notation that matches m and as few other managers as possible.
func exactly(m merge.Manager) Manager {
	return Manager{m.Name, m.Operation, m.Subresource, m.Subresource == ""}
}
