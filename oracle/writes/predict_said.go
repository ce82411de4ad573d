package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/deed-project/deed/oracle/pair"
)

// The words of the command line beside those of a kube-apiserver: reasons of refusals, and warnings.

// ofValidation ends each message about a reason of the validation.
const ofValidation = " (the server's validation refuses this, not its merging)"

// compareReasons compares the reasons of a refusal with those that the command line said. All of these are there; p counts the causes of the answer
// that the command line lacks.
func (p *predictor) compareReasons(kind string, o outcome, said string, note func(string, ...any)) {
	there, here := inOneLine(o.answer.Message), inOneLine(pair.Masked(said))
	if ofAllocator(there) {
		p.miss(kind+": a reason of an allocator", o, there)
		return
	}
	reasons := reasonsIn(said)
	for _, reason := range reasons {
		if !strings.Contains(there, inOneLine(pair.Masked(reason))) {
			note("refused there because %s, and here because %s", there, reason)
		}
	}
	if len(reasons) == 0 { // the command line refused the object before its validation
		return
	}
	for _, cause := range o.answer.Details.Causes {
		if !strings.Contains(here, inOneLine(cause.Message)) {
			p.miss(fmt.Sprintf("%s: a reason of several, about %s", kind, cause.Field), o, cause.Message)
		}
	}
}

// allocating are parts of the reasons of allocators of addresses and ports, which only a cluster has. A Service gets its addresses and ports
// before it is validated, so that such a refusal has no other reasons.
var allocating = []string{"provided port ", "provided IP ", "failed to allocate ", "not configured on this cluster", "not configured for dual-stack"}

// ofAllocator reports whether a refusal is that of an allocator.
func ofAllocator(message string) bool {
	return slices.ContainsFunc(allocating, func(part string) bool { return strings.Contains(message, part) })
}

// ownWarnings are parts of warnings that no server gives.
var ownWarnings = []string{"has no metadata.managedFields", "servers serve ", "stay as they are", "field not declared in schema"}

// compareWarnings compares the warnings of an answer with those that the command line said.
func compareWarnings(warnings []string, said string, note func(string, ...any)) {
	here := inOneLine(pair.Masked(said))
	for _, there := range warnings {
		if strings.Contains(there, "unknown field") { // the command line says this in its own words
			continue
		}
		text := inOneLine(strings.ReplaceAll(there, `\"`, `"`))
		text = strings.TrimSuffix(strings.TrimPrefix(text, `299 - "`), `"`)
		if !strings.Contains(here, text) {
			note("not warned of %q: %s", text, here)
		}
	}
	n := strings.Count(said, ": warning: ")
	for _, own := range ownWarnings {
		n -= strings.Count(said, own)
	}
	if n > len(warnings) {
		note("%d warnings instead of %d: %s, there %q", n, len(warnings), here, warnings)
	}
}

// reasonsIn returns the reasons for which the validation refuses an object, in the words of the server, from messages of the command line.
func reasonsIn(said string) (out []string) {
	for line := range strings.SplitSeq(said, "\n") {
		text, isReason := strings.CutSuffix(line, ofValidation)
		for _, kind := range reasonKinds {
			if at := strings.Index(text, ": "+kind); isReason && at >= 0 {
				out = append(out, text[at+len(": "):])
				break
			}
		}
	}
	return out
}

// inOneLine returns text without line breaks, and with single spaces.
func inOneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// reasonKinds are what reasons begin with. None is part of another.
var reasonKinds = []string{"Invalid value", "Required value", "Duplicate value", "Unsupported value", "Too long", "Too many", "Too few", "Forbidden", "Not found"}
