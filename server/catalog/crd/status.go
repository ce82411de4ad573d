package crd

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/deed-project/deed/value"
)

// Name is a name in a group. Resources are called by some, kinds by others.
type Name struct {
	Kind bool
	Text string
}

// NamesOf returns the names in the names of a spec or a status: plural, singular, short names, kind and list kind, as far as there are any.
func NamesOf(names value.Value) []Name {
	out := []Name{
		{false, names.Get("plural").Str()}, {false, names.Get("singular").Str()},
		{true, names.Get("kind").Str()}, {true, names.Get("listKind").Str()},
	}
	for short := range names.Get("shortNames").Items() {
		out = append(out, Name{false, short.Str()})
	}
	return slices.DeleteFunc(out, func(name Name) bool { return name.Text == "" })
}

// Names counts the definitions of a group that have each name. Several may have the same one.
type Names map[Name]int

// Take adds the names that a definition has. The cost grows with their number.
func (n Names) Take(crd value.Value) {
	for _, name := range NamesOf(crd.Get("status", "acceptedNames")) {
		n[name]++
	}
}

// Release takes away the names of a definition that was taken, and is as it was then.
func (n Names) Release(crd value.Value) {
	for _, name := range NamesOf(crd.Get("status", "acceptedNames")) {
		if n[name]--; n[name] == 0 {
			delete(n, name)
		}
	}
}

// Accept returns the status that crd has beside the other definitions of its group, which have others: which of its names are accepted,
// and what its conditions are. A name is accepted that nobody else has. It is crd's own status if nothing changes.
func Accept(crd value.Value, others Names, now time.Time) value.Value {
	status := crd.Get("status")
	names, reason, problem := accepted(crd.Get("spec", "names"), status.Get("acceptedNames"), others)
	naming := condition{"NamesAccepted", "True", "NoConflicts", "no conflicts found"}
	if reason != "" {
		naming = condition{"NamesAccepted", "False", reason, problem}
	}
	out := naming.in(status, now)
	established := status
	switch {
	case isTrue(established, "Established"):
	case reason == "":
		out = condition{"Established", "True", "InitialNamesAccepted", "the initial names have been accepted"}.in(out, now)
	default:
		out = condition{"Established", "False", "NotAccepted", "not all names are accepted"}.in(out, now)
	}
	if !crd.Get("metadata", "deletionTimestamp").IsAbsent() && isHeld(crd) {
		out = condition{"Terminating", "True", "InstanceDeletionInProgress", "CustomResource deletion is in progress"}.in(out, now)
	}
	if !names.Equal(out.Get("acceptedNames")) {
		out = out.With("acceptedNames", names)
	}
	return out
}

// Content reports whether a definition with a status of [Accept] has all the names that it wants. Whatever others do, it keeps them.
func Content(status value.Value) bool { return isTrue(status, "NamesAccepted") }

// Served reports whether a definition's resource is served: its names were accepted once.
func Served(crd value.Value) bool {
	return isTrue(crd.Get("status"), "Established") || isTrue(crd.Get("status"), "NamesAccepted")
}

// Finished returns crd without the finalizer that waits for its objects, and whether it had it. Its status says that they are gone, or that
// there could be none.
func Finished(crd value.Value, now time.Time) (value.Value, bool) {
	if !isHeld(crd) {
		return crd, false
	}
	left := slices.DeleteFunc(slices.Collect(crd.Get("metadata", "finalizers").Items()), value.String(finalizer).Equal)
	done := condition{"Terminating", "False", "InstanceDeletionCompleted", "removed all instances"}
	if !isTrue(crd.Get("status"), "Established") {
		done.reason, done.message = "NeverEstablished", "resource was never established"
	}
	return crd.With("metadata", crd.Get("metadata").With("finalizers", value.List(left...))).With("status", done.in(crd.Get("status"), now)), true
}

// isHeld reports whether a definition waits for its objects, or will when it is deleted.
func isHeld(crd value.Value) bool {
	for f := range crd.Get("metadata", "finalizers").Items() {
		if f.Str() == finalizer {
			return true
		}
	}
	return false
}

// accepted returns the names that are accepted of those wanted, where had are accepted already, and which conflict keeps others
// from being so: the last one, in the order of plural, singular, short names, kind and list kind.
func accepted(wanted, had value.Value, others Names) (names value.Value, reason, problem string) {
	names = had
	for _, n := range []struct {
		name, reason string
		kind         bool
	}{
		{"plural", "PluralConflict", false}, {"singular", "SingularConflict", false}, {"shortNames", "ShortNamesConflict", false},
		{"kind", "KindConflict", true}, {"listKind", "ListKindConflict", true},
	} {
		taken := func(name string) bool { return others[Name{n.kind, name}] > 0 }
		if problems := conflicts(wanted.Get(n.name), had.Get(n.name), taken); len(problems) > 0 {
			reason, problem = n.reason, aggregate(problems)
			continue
		}
		names = names.With(n.name, wanted.Get(n.name))
	}
	return names.With("categories", wanted.Get("categories")), reason, problem
}

// conflicts returns what is said of names in wanted, a name or a list of them, that are taken and were not accepted before.
func conflicts(wanted, had value.Value, taken func(string) bool) []string {
	if wanted.Kind() == value.KindString {
		wanted, had = value.List(wanted), value.List(had)
	}
	before := slices.Collect(had.Items())
	var out []string
	for name := range wanted.Items() {
		if taken(name.Str()) && !slices.ContainsFunc(before, name.Equal) {
			out = append(out, fmt.Sprintf("%q is already in use", name.Str()))
		}
	}
	return out
}

// aggregate joins problems as one error says several.
func aggregate(problems []string) string {
	if len(problems) == 1 {
		return problems[0]
	}
	return "[" + strings.Join(problems, ", ") + "]"
}

// condition is an entry of status.conditions.
type condition struct{ typ, status, reason, message string }

func isTrue(status value.Value, typ string) bool {
	for c := range status.Get("conditions").Items() {
		if c.Get("type").Str() == typ {
			return c.Get("status").Str() == "True"
		}
	}
	return false
}

// in returns status with the condition. One that says the same stays as it is, and the time is that of the last change of
// its status.
func (c condition) in(status value.Value, now time.Time) value.Value {
	conditions := slices.Collect(status.Get("conditions").Items())
	changed := value.String(now.UTC().Format(time.RFC3339))
	at := slices.IndexFunc(conditions, func(v value.Value) bool { return v.Get("type").Str() == c.typ })
	if at >= 0 {
		was := conditions[at]
		if was.Get("status").Str() == c.status {
			changed = was.Get("lastTransitionTime")
		}
		if was.Get("status").Str() == c.status && was.Get("reason").Str() == c.reason && was.Get("message").Str() == c.message {
			return status
		}
	}
	entry := value.Object(
		value.Member{Name: "lastTransitionTime", Value: changed},
		value.Member{Name: "message", Value: value.String(c.message)},
		value.Member{Name: "reason", Value: value.String(c.reason)},
		value.Member{Name: "status", Value: value.String(c.status)},
		value.Member{Name: "type", Value: value.String(c.typ)},
	)
	if at < 0 {
		conditions = append(conditions, entry)
	} else {
		conditions[at] = entry
	}
	return status.With("conditions", value.List(conditions...))
}
