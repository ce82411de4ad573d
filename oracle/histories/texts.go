package histories

import (
	"bytes"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// sameStatus reports whether two statuses agree. Statuses with a code other than 500 must be equal. Messages with code 500 are the
// reference's internal errors. They agree if they are equal without Go's own texts; see problems.
func sameStatus(reference, deed []byte) bool {
	if bytes.Equal(reference, deed) {
		return true
	}
	var want, got metav1.Status
	if json.Unmarshal(reference, &want) != nil || json.Unmarshal(deed, &got) != nil || want.Code != http.StatusInternalServerError {
		return false
	}
	if goStruct.MatchString(want.Message) {
		want.Message, got.Message = goValue.ReplaceAllString(want.Message, "$1$2"), goValue.ReplaceAllString(got.Message, "$1$2")
	}
	wantHead, wantProblems := problems(want.Message)
	gotHead, gotProblems := problems(got.Message)
	if !sameProblem(wantHead, gotHead) { // a key with a line break makes all of the message its head
		return false
	}
	want.Message, got.Message = "", ""
	left, err := json.Marshal(want)
	right, err2 := json.Marshal(got)
	return err == nil && err2 == nil && bytes.Equal(left, right) && within(wantProblems, gotProblems)
}

// within reports whether some is a part of all, and empty only if all is. The reference stops at the first unknown field of an object, in
// map order; deed lists all.
func within(some, all []string) bool {
	missing := func(s string) bool {
		return !slices.ContainsFunc(all, func(other string) bool { return sameProblem(s, other) })
	}
	return (len(some) == 0) == (len(all) == 0) && !slices.ContainsFunc(some, missing)
}

// sameProblem reports whether two problems are equal. An object that is the key of an item prints its members in any order; see
// docs/reference-faults.md.
func sameProblem(a, b string) bool {
	letters := func(s string) string { return string(slices.Sorted(slices.Values([]byte(s)))) }
	return a == b || objectAsKey.MatchString(a) && letters(a) == letters(b)
}

var (
	// goStruct is the reference's text for a value in a Go struct, mostly addresses; see docs/reference-faults.md.
	goStruct = regexp.MustCompile(`, got &(?:value\.valueReflect)?\{(?:<nil>|0x[0-9a-f]+) (?:<nil>|0x[0-9a-f]+) `)
	// goValue is the rest of a message after the expected kind of value.
	goValue = regexp.MustCompile(`(?s)(expected [^,\n]*), got .*?(\n  \.|$)`)
	// badEntry is the text about an entry whose set cannot be decoded. Deed names its place, and the reference prints it as a Go value.
	badEntry = regexp.MustCompile(`^(.*failed to decode managed fields: )(?:metadata\.managedFields\[\d+\](?:, manager "[^ ]*")?|error decoding versioned set from .*?\}): (error decoding set: )`)
	// badSet is followed by the text of a JSON parser.
	badSet = regexp.MustCompile(`(error decoding set: ).*`)
	// objectAsKey matches a path with an item whose key is an object.
	objectAsKey = regexp.MustCompile(`(?s)\[.*=.*=`)
	// where is the place of a problem in an object.
	where = regexp.MustCompile(`^((?:.*?: )??)((?:\.[^ ]*?: |element ).*)$`)
)

// problems splits a message into the text before its list of problems, and the problems.
func problems(message string) (head string, list []string) {
	message = badSet.ReplaceAllString(badEntry.ReplaceAllString(message, "$1$2"), "$1")
	if head, lines, ok := strings.Cut(message, "errors:\n  "); ok {
		return head, strings.Split(lines, "\n  ")
	}
	if m := where.FindStringSubmatch(message); m != nil {
		return m[1], []string{m[2]}
	}
	return message, nil
}

// canonical returns text as encoding/json prints it, with numbers in their spelling. With values set, it also normalizes numbers.
func canonical(text []byte, values bool) []byte {
	d := json.NewDecoder(bytes.NewReader(text))
	if !values {
		d.UseNumber()
	}
	var v any
	if err := d.Decode(&v); err != nil {
		return []byte(err.Error())
	}
	out, err := json.Marshal(v)
	if err != nil {
		return []byte(err.Error())
	}
	return out
}
