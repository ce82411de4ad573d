package server

import (
	"slices"
	"strings"
	"testing"

	"github.com/deed-project/deed/internal/testing/recording"
	"github.com/deed-project/deed/value"
)

const (
	divergences  = "../docs/divergences.md"
	serverFields = "../docs/server-fields.md"
)

// knownDifferences are the tables of the documentation about what a kube-apiserver does with objects of built-in kinds and this server does
// not. Whatever is not in them is a failure, and so is what is in them and never met.
type knownDifferences struct {
	exceptions []recording.Exception
	otherwise  map[string]int // how often each difference was met: kind, what
}

func readKnownDifferences(t *testing.T) *knownDifferences {
	t.Helper()
	k := &knownDifferences{otherwise: map[string]int{}}
	var err error
	if k.exceptions, err = recording.Exceptions(serverFields); err != nil {
		t.Fatal(err)
	}
	k.exceptions = slices.DeleteFunc(k.exceptions, func(e recording.Exception) bool {
		return e.Kind == "Pod" // whose admission this server has
	})
	table, err := recording.Rows(divergences, "## What deed-apiserver does otherwise")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range table {
		for kind := range strings.SplitSeq(row[0], ",") {
			for _, what := range recording.Quoted(row[1]) {
				k.otherwise[strings.TrimSpace(kind)+" "+what] = 0
			}
		}
	}
	return k
}

// differs reports whether a difference is a known one that is neither a refusal nor a warning.
func (k *knownDifferences) differs(kind string, x recording.Exchange, difference string) bool {
	what := ""
	switch {
	case difference == movedOnly && (kind == "PersistentVolumeClaim" || kind == "Deployment"):
		// The recorded object has the defaults that reading adds. What was stored lacked them, and the first write stores them.
		return true
	case strings.HasPrefix(x.Response.Get("message").Str(), "duplicate nodePort"):
		what = "duplicate nodePort"
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

// report fails for differences that were never met, if all recordings were played.
func (k *knownDifferences) report(t *testing.T, all bool) {
	t.Helper()
	for name, n := range k.otherwise {
		if n == 0 && all {
			t.Errorf("%s lists what no recording meets: %s", divergences, name)
		}
	}
}
