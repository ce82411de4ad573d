package server

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/deed-project/deed/internal/testing/recording"
	"github.com/deed-project/deed/value"
)

const divergences = "../docs/divergences.md"

// knownDifferences are the tables of docs/divergences.md about what a kube-apiserver does with objects of built-in kinds and this
// server does not. Whatever is not in them is a failure, and so is what is in them and never met.
type knownDifferences struct {
	exceptions []recording.Exception
	rules      map[string]int // how often each rule was met: kind, reason, field
	otherwise  map[string]int // likewise each other difference: kind, what
	count      int            // of requests that a rule would have refused
}

func readKnownDifferences(t *testing.T) *knownDifferences {
	t.Helper()
	k := &knownDifferences{rules: map[string]int{}, otherwise: map[string]int{}}
	var err error
	if k.exceptions, err = recording.Exceptions(divergences); err != nil {
		t.Fatal(err)
	}
	k.exceptions = slices.DeleteFunc(k.exceptions, func(e recording.Exception) bool {
		return e.Kind == "Pod" // whose admission this server has
	})
	rows := func(heading string, add func(kind string, row []string)) {
		table, err := recording.Rows(divergences, heading)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range table {
			for kind := range strings.SplitSeq(row[0], ",") {
				add(strings.TrimSpace(kind), row)
			}
		}
	}
	rows("## What deed-apiserver does not refuse", func(kind string, row []string) {
		for _, field := range recording.Quoted(row[2]) {
			k.rules[kind+" "+row[1]+" "+field] = 0
		}
	})
	rows("## What deed-apiserver does otherwise", func(kind string, row []string) {
		for _, what := range recording.Quoted(row[1]) {
			k.otherwise[kind+" "+what] = 0
		}
	})
	return k
}

// differs reports whether a difference is a known one that is neither a refusal nor a warning.
func (k *knownDifferences) differs(kind string, x recording.Exchange, difference string) bool {
	what := ""
	switch {
	case difference == movedOnly:
		what = "a write that changes nothing"
	case strings.HasPrefix(x.Response.Get("message").Str(), "duplicate nodePort"):
		what = "duplicate nodePort"
	case strings.Contains(x.Response.Get("message").Str(), "Invalid value: {}: `selector` does not match template `labels`"):
		what = "empty labels"
	case x.Code == http.StatusUnprocessableEntity && isAboutEmptyLists(difference):
		what = "empty lists in refusals"
	case strings.HasPrefix(difference, ".metadata.managedFields:\n") && strings.Count(difference, "\n") == 3 &&
		strings.Contains(x.Live.String(), `"opaque"`):
		what = "JSON that is kept as text"
	}
	name := kind + " " + what
	if _, known := k.otherwise[name]; !known {
		return false
	}
	k.otherwise[name]++
	return true
}

// What an empty list that is shown as null changes in a refusal: itself, and everything in a list of changes.
var (
	shownLists   = regexp.MustCompile(`\[\]|\{\}`)
	shownChanges = regexp.MustCompile(`\\n@@([^"\\]|\\.)*`)
	bothAnswers  = regexp.MustCompile(`(?m)^ *want (.*)\n *got (.*)$`)
)

// isAboutEmptyLists reports whether answers differ in lists and maps alone that are empty in one and null in the other.
func isAboutEmptyLists(difference string) bool {
	pairs := bothAnswers.FindAllStringSubmatch(difference, -1)
	plain := func(text string) string {
		return shownLists.ReplaceAllString(shownChanges.ReplaceAllString(text, ""), "null")
	}
	for _, p := range pairs {
		if plain(p[1]) != plain(p[2]) || !shownLists.MatchString(p[1]) {
			return false
		}
	}
	return len(pairs) > 0
}

// indices are the places of items in the path of a field, and the names of members in brackets.
var indices = regexp.MustCompile(`\[[^\]]*\]`)

// ruleOf returns the name of the rule that a cause of a refusal is about.
func ruleOf(kind string, cause value.Value) string {
	reason := strings.TrimPrefix(cause.Get("reason").Str(), "FieldValue")
	return kind + " " + reason + " " + indices.ReplaceAllString(cause.Get("field").Str(), "")
}

// accepts reports whether a request was accepted, or refused for fewer reasons than a kube-apiserver has, and which of the reasons
// that are not given here are no known rules.
func (k *knownDifferences) accepts(kind string, want recording.Step, got recording.Answer) (accepted bool, unknown string) {
	if want.Code != http.StatusUnprocessableEntity || got.Code >= 300 && got.Code != want.Code {
		return false, ""
	}
	given := slices.Collect(got.Body.Get("details", "causes").Items())
	wanted := slices.Collect(want.Response.Get("details", "causes").Items())
	for _, cause := range given {
		if !slices.ContainsFunc(wanted, cause.Equal) {
			return false, ""
		}
	}
	for _, cause := range wanted {
		if slices.ContainsFunc(given, cause.Equal) {
			continue
		}
		name := ruleOf(kind, cause)
		if _, known := k.rules[name]; known {
			k.rules[name]++
			accepted = true
		} else {
			unknown += "accepted, although: " + name + "\n"
		}
	}
	if accepted {
		k.count++
	}
	return accepted || unknown != "", unknown
}

// apart returns both without what is known to differ.
func (k *knownDifferences) apart(kind string, want recording.Step, got recording.Answer) (recording.Step, recording.Answer) {
	for _, e := range k.exceptions {
		if e.Of(kind) && want.Code < 300 && want.Response.Get("kind").Str() == kind {
			want.Response, got.Body = keepIdentity(e.Without, want.Response), keepIdentity(e.Without, got.Body)
		}
	}
	return want, got
}

// keepIdentity returns what f makes of object, with what it has of the members that identity looks at.
func keepIdentity(f func(value.Value) value.Value, object value.Value) value.Value {
	out := f(object)
	metadata := out.Get("metadata")
	for _, name := range []string{"uid", "resourceVersion"} {
		metadata = metadata.With(name, object.Get("metadata", name))
	}
	return out.With("metadata", metadata)
}

// report fails for rules that were never met, if all recordings were played.
func (k *knownDifferences) report(t *testing.T, all bool) {
	t.Helper()
	for _, table := range []map[string]int{k.rules, k.otherwise} {
		for name, n := range table {
			if n == 0 && all {
				t.Errorf("%s lists what no recording meets: %s", divergences, name)
			}
		}
	}
	t.Logf("%5d requests that the validation of a kind would refuse are accepted", k.count)
}
