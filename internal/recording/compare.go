package recording

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/deed-project/deed/value"
)

// Answer is the answer to a request.
type Answer struct {
	Code     int
	Body     value.Value // an object or a Status
	Warnings []string    // as in Warning headers
}

// Compare returns in which way got is not the answer that the step recorded, and "" when it is.
// What differs from run to run does not count: uids, resource versions and times. Managed fields
// and causes are compared as sets, because their order depends on times in the one case, and is
// random in the other.
func Compare(want Step, got Answer) string {
	var out strings.Builder
	if want.Code != got.Code {
		fmt.Fprintf(&out, "code: want %d, got %d\n", want.Code, got.Code)
	}
	a, b := normal(want.Response), normal(got.Body)
	if sameTypeErrors(a.Get("message").Str(), b.Get("message").Str()) {
		a = a.With("message", b.Get("message"))
	}
	if !a.Equal(b) {
		differences(&out, "", a, b)
	}
	if !slices.Equal(want.Warnings, got.Warnings) {
		fmt.Fprintf(&out, "warnings: want %q, got %q\n", want.Warnings, got.Warnings)
	}
	return out.String()
}

// sameTypeErrors reports whether two messages say the same about why an object does not conform to
// its type. The reference lists reasons in the random order of the members of objects, and forgets
// the members behind one that is not declared.
func sameTypeErrors(want, got string) bool {
	const heading = "errors:\n  "
	before, list, found := strings.Cut(got, heading)
	if !found {
		return false
	}
	reasons := strings.Split(list, "\n  ")
	wanted := []string{strings.TrimPrefix(want, before)}
	if _, list, found := strings.Cut(want, heading); found {
		wanted = strings.Split(list, "\n  ")
	}
	forgetful := strings.Contains(want, "field not declared in schema")
	return strings.HasPrefix(want, before) && (forgetful || len(wanted) == len(reasons)) &&
		!slices.ContainsFunc(wanted, func(reason string) bool { return !slices.Contains(reasons, reason) })
}

// differences prints the places where want and got differ.
func differences(out *strings.Builder, path string, want, got value.Value) {
	if want.Kind() != value.KindObject || got.Kind() != value.KindObject {
		if !want.Equal(got) {
			fmt.Fprintf(out, "%s:\n want %v\n  got %v\n", path, want, got)
		}
		return
	}
	for name, member := range want.Members() {
		differences(out, path+"."+name, member, got.Get(name))
	}
	for name, member := range got.Members() {
		if want.Get(name).IsAbsent() {
			differences(out, path+"."+name, value.Value{}, member)
		}
	}
}

// normal returns an answer in the form in which equal answers are equal.
func normal(v value.Value) value.Value {
	if v.Get("kind").Str() == "Status" {
		return normalStatus(v)
	}
	metadata := v.Get("metadata")
	for _, name := range []string{"uid", "resourceVersion", "creationTimestamp"} {
		metadata = metadata.With(name, value.Value{})
	}
	if entries := metadata.Get("managedFields"); !entries.IsAbsent() {
		var items []value.Value
		for entry := range entries.Items() {
			items = append(items, entry.With("time", value.Value{}))
		}
		metadata = metadata.With("managedFields", sorted(items))
	}
	return v.With("metadata", metadata)
}

// normalStatus sorts the causes and where the message lists several of an invalid object, sorts
// these too.
func normalStatus(v value.Value) value.Value {
	details := v.Get("details").With("uid", value.Value{})
	var causes []value.Value
	for cause := range details.Get("causes").Items() {
		if text := cause.Get("message"); !text.IsAbsent() {
			cause = cause.With("message", value.String(normalDocument(text.Str())))
		}
		causes = append(causes, cause)
	}
	if causes != nil {
		details = details.With("causes", sorted(causes))
	}
	if details.Len() > 0 {
		v = v.With("details", details)
	}
	if text := v.Get("message"); !text.IsAbsent() {
		v = v.With("message", value.String(normalDocument(text.Str())))
	}
	before, list, found := strings.Cut(v.Get("message").Str(), " is invalid: [")
	if found {
		texts := strings.Split(strings.TrimSuffix(list, "]"), ", ")
		slices.Sort(texts)
		v = v.With("message", value.String(before+" is invalid: "+strings.Join(texts, "\n")))
	}
	return v
}

// normalDocument returns a message about what a patch makes of an object with that object in its
// normal form: the reference prints it with its members in the order of Go structs as far as the
// patch does not touch them.
func normalDocument(message string) string {
	const label = "Invalid value: "
	before, after, found := strings.Cut(message, label)
	if !found {
		return message
	}
	quoted, err := strconv.QuotedPrefix(after)
	if err != nil {
		return message
	}
	text, err := strconv.Unquote(quoted)
	if err != nil || !strings.HasPrefix(text, "{") {
		return message
	}
	document, err := value.Parse([]byte(text))
	if err != nil || document.Get("metadata").IsAbsent() {
		return message
	}
	return before + label + strconv.Quote(normal(document).String()) + strings.TrimPrefix(after, quoted)
}

func sorted(items []value.Value) value.Value {
	slices.SortFunc(items, value.Compare)
	return value.List(items...)
}
