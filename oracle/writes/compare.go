package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/deed-project/deed/oracle/pair"
)

// outcome is a write with what came of it.
type outcome struct {
	op      string
	request pair.Request
	answer  pair.Answer
	before  map[string]any // the stored object in the version of the request, or nil
	after   map[string]any
	shown   any            // the object in another form, or nil
	calls   map[string]any // of webhooks, with their reviews; nil without webhooks
	quotas  map[string]any // the status of each quota of the namespace; nil without quotas
}

// moved reports whether the write has changed the resource version.
func (o outcome) moved() bool { return versionOf(o.before) != versionOf(o.after) }

func versionOf(object map[string]any) any { return pair.Get(object, "metadata", "resourceVersion") }

// quotedObject is in the message about a patch whose outcome cannot be decoded. It shows the object with its members in another order.
const quotedObject = `patch: Invalid value: "{`

// define is the write that creates a definition of a custom resource.
const define = "define"

// compare returns the differences between what came of a write on both servers. Four are none, but only reordered: conflicts with several
// managers and faults of a definition, which a kube-apiserver puts in random order, the members of a quoted object, and type errors of which it
// names only some.
func compare(there, here outcome) (differences []string, reordered bool) {
	note := func(format string, a ...any) { differences = append(differences, fmt.Sprintf(format, a...)) }
	if there.op != here.op {
		note("the requests differ: %s there, %s here", there.op, here.op)
		return differences, false
	}
	t, h := there.answer, here.answer
	if t.Code != h.Code || t.Reason != h.Reason {
		note("%d %s there, %d %s here", t.Code, t.Reason, h.Code, h.Reason)
	}
	if t.Message != h.Message {
		isRandom := sorted(t.Message) == sorted(h.Message) && (t.Reason == "Conflict" || there.op == define || strings.Contains(t.Message, quotedObject))
		if reordered = isRandom || pair.NamesAll(t.Message, h.Message); !reordered {
			note("the messages differ")
		}
	}
	byText := func(a, b pair.Cause) int {
		return cmp.Or(strings.Compare(a.Field, b.Field), strings.Compare(a.Reason, b.Reason), strings.Compare(a.Message, b.Message))
	}
	slices.SortFunc(t.Details.Causes, byText)
	slices.SortFunc(h.Details.Causes, byText)
	if d, e := pair.Text(t.Details), pair.Text(h.Details); sorted(d) != sorted(e) {
		note("details: %s there, %s here", d, e)
	}
	if there.op == define || slices.ContainsFunc(t.Warnings, isOfRule) { // in random order, too
		slices.Sort(t.Warnings)
		slices.Sort(h.Warnings)
	}
	if !slices.Equal(t.Warnings, h.Warnings) {
		note("warnings: %q there, %q here", t.Warnings, h.Warnings)
	}
	if there.moved() != here.moved() {
		note("the write moved the resource version: %v there, %v here", there.moved(), here.moved())
	}
	pair.Differ(any(there.calls), any(here.calls), "calls", note)
	pair.Differ(any(there.quotas), any(here.quotas), "quotas", note)
	pair.Differ(pair.MaskedValue(t.Object), pair.MaskedValue(h.Object), "answer", note)
	if len(differences) == 0 {
		pair.Differ(pair.MaskedValue(there.after), pair.MaskedValue(here.after), "stored", note)
	}
	if len(differences) == 0 {
		pair.Differ(pair.MaskedValue(there.shown), pair.MaskedValue(here.shown), "shown", note)
	}
	return differences, reordered
}

// isOfRule reports whether a warning is about a CEL rule that the stored object breaks already. Those of the members of a map come in random order.
func isOfRule(warning string) bool { return strings.Contains(warning, ": Invalid value: ") }

// sorted returns the bytes of a text in order.
func sorted(s string) string {
	b := []byte(s)
	slices.Sort(b)
	return string(b)
}
