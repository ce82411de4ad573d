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

// Compare returns the difference between got and the recorded answer of the step, or "". It ignores values that change from run
// to run: uids, resource versions and times. It compares managed fields and causes as sets, because the order of managed fields
// depends on times, and the order of causes is random.
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

// sameTypeErrors reports whether two messages give the same reasons why an object does not conform to its type. The reference
// lists reasons in the random order of members, and omits the members after an undeclared one.
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

// differences prints the places in which want and got differ.
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

// normal returns an answer in a canonical form.
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

// normalStatus sorts the causes, and the list of causes in the message of an invalid object.
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

// normalDocument returns a message about the result of a patch, with the object in its canonical form. The reference prints the
// object with its members in the order of Go structs, except for members that the patch changes.
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
