package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/deed-project/deed/merge"
)

// managerRef is how the command line names managers: NAME, NAME:OPERATION or NAME:OPERATION:SUBRESOURCE. What it does not say
// does not matter.
type managerRef struct {
	name           string
	operation      merge.Operation
	subresource    string
	anySubresource bool
}

// managerRefUsage explains managerRef in the help of commands.
const managerRefUsage = `A manager is named by NAME, or, where it matters how it wrote, by NAME:Apply,
NAME:Update or NAME:Update:SUBRESOURCE.`

func parseManagerRef(text string) managerRef {
	words := strings.Split(text, ":")
	n := len(words)
	switch {
	case n > 1 && isOperation(words[n-1]):
		return managerRef{strings.Join(words[:n-1], ":"), merge.Operation(words[n-1]), "", true}
	case n > 2 && isOperation(words[n-2]):
		return managerRef{strings.Join(words[:n-2], ":"), merge.Operation(words[n-2]), words[n-1], false}
	}
	return managerRef{name: text, anySubresource: true}
}

func isOperation(word string) bool {
	return word == string(merge.Apply) || word == string(merge.Update)
}

// matches reports whether r names m.
func (r managerRef) matches(m merge.Manager) bool {
	return m.Name == r.name && (r.operation == "" || r.operation == m.Operation) &&
		(r.anySubresource || r.subresource == m.Subresource)
}

// String returns r as the command line has it.
func (r managerRef) String() string {
	text := r.name
	if r.operation != "" {
		text += ":" + string(r.operation)
	}
	if !r.anySubresource {
		text += ":" + r.subresource
	}
	return text
}

// managerRefs reads the values of a flag, each of which must name a manager in one of the objects.
func managerRefs(flag string, texts []string, objects []*object) ([]managerRef, error) {
	var refs []managerRef
	for _, text := range texts {
		r := parseManagerRef(text)
		known := managerNames(objects)
		if !slices.Contains(known, r.name) {
			return nil, unknownName(flag, "manager", r.name, known)
		}
		if !slices.ContainsFunc(objects, func(o *object) bool {
			return slices.ContainsFunc(ownersOf(o), func(w holder) bool { return r.matches(w.Manager) })
		}) {
			return nil, fmt.Errorf("%s: no manager in the objects is %v, only %s", flag, r, identities(r.name, objects))
		}
		refs = append(refs, r)
	}
	return refs, nil
}

// identities lists the managers of one name.
func identities(name string, objects []*object) string {
	var all []string
	for _, o := range objects {
		for _, w := range ownersOf(o) {
			if w.Manager.Name == name {
				all = append(all, refTo(w.Manager))
			}
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
