package manifest

import (
	"bytes"
	"regexp"
	"strings"
	"sync"

	"github.com/deed-project/deed/internal/jsontext"
	"github.com/deed-project/deed/schema"
)

// quickID returns the identity of the object in p from its lines alone, if they are conclusive. They are if p is a mapping in block style,
// each line in the column of its keys is a plain key, no key occurs twice, and the four relevant values are plain words. Otherwise quickID
// returns false, and p must be parsed.
//
// Objects in a large file are identified so, because parsing each of them would take most of the time and memory of a command that needs one.
//
// Invariant: the result equals the result of parsing p. A line of a quoted text may stand in the column of the keys and look like one of
// them. The real key stands there too, so that the key occurs twice.
func (p *part) quickID() (id ID, ok bool) {
	switch {
	case p.Text.repeating:
		return id, false
	case isBracket(p.data):
		return quickJSON(p.data)
	}
	found := map[string]string{}
	q := quickReader{column: -1, parent: -1, found: found}
	for line := range bytes.Lines(p.data) {
		if !q.line(bytes.TrimRight(line, " \t\r\n"), p.frame != nil) {
			return id, false
		}
	}
	return foundID(found)
}

// quickJSON is quickID for JSON. It demands that no name in the object and its metadata occurs twice or has an escape, and that the four
// values are strings without escapes.
func quickJSON(text []byte) (id ID, ok bool) {
	r := jsontext.Skim(text)
	found := map[string]string{}
	var member func(prefix string) func(start, end int) bool
	member = func(prefix string) func(start, end int) bool {
		return func(start, end int) bool {
			name := prefix + r.Text[start+1:end-1]
			if _, twice := found[name]; twice || !jsontext.IsPlain(name) {
				return false
			}
			found[name] = ""
			if name == "metadata" {
				return r.Members(member("metadata."))
			}
			if r.Peek() == '"' {
				if s, ok := r.PlainString(); ok {
					found[name] = strings.Clone(s)
					return true
				}
			}
			return r.Skip() == nil
		}
	}
	if !r.Members(member("")) {
		return id, false
	}
	return foundID(found)
}

// foundID returns the ID of the four values, if they are known.
func foundID(found map[string]string) (id ID, ok bool) {
	version, kind := found["apiVersion"], found["kind"]
	if version == "" || kind == "" || found["metadata.name"] == "" {
		return id, false
	}
	if _, given := found["metadata.namespace"]; given && found["metadata.namespace"] == "" {
		return id, false
	}
	return ID{schema.ParseGVK(version, kind).Group, kind, found["metadata.namespace"], found["metadata.name"]}, true
}

// quickReader reads the lines of one mapping.
type quickReader struct {
	column int               // the column of the keys of the mapping; -1 before the first
	parent int               // the column of the keys of its metadata; -1 outside, 0 before the first
	found  map[string]string // the values of keys; empty for values that are not plain words
}

var (
	quickKey = pattern(`^([A-Za-z][A-Za-z0-9]*):(?: +(.*))?$`)
	// quickWord matches values that every reader takes for strings, except those that notWords matches.
	quickWord = pattern(`^[A-Za-z][-A-Za-z0-9./]*$`)
	notWords  = pattern(`^(?i:y|n|yes|no|on|off|true|false|null)$`)
)

// pattern returns a function that compiles an expression once, when it is needed.
func pattern(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

// line reads a line. It returns false if the meaning of the line is unclear.
func (q *quickReader) line(text []byte, inList bool) bool {
	rest := bytes.TrimLeft(text, " ")
	column := len(text) - len(rest)
	if len(rest) == 0 || rest[0] == '#' {
		return true
	}
	if q.column < 0 {
		if bytes.HasPrefix(rest, []byte("---")) {
			return len(rest) == 3
		}
		if inList {
			after := bytes.TrimLeft(rest[1:], " ")
			column += len(rest) - len(after)
			rest = after
		}
		q.column = column
	}
	switch {
	case column < q.column:
		return false
	case column == q.column && rest[0] == '-' && q.parent < 0:
		return true // an item of a list that is a member
	case column == q.column:
		return q.key(rest, "")
	case q.parent == 0:
		q.parent = column
	case column < q.parent:
		return false
	}
	if q.parent == column {
		return rest[0] == '-' || q.key(rest, "metadata.")
	}
	return true
}

// key reads the key of a mapping. prefix is put in front of its name.
func (q *quickReader) key(text []byte, prefix string) bool {
	m := quickKey().FindSubmatch(text)
	if m == nil {
		return false
	}
	name, text := prefix+string(m[1]), m[2]
	if prefix == "" {
		q.parent = -1
		if name == "metadata" {
			q.parent = 0
			if len(text) > 0 {
				return false
			}
		}
	}
	if _, twice := q.found[name]; twice {
		return false
	}
	q.found[name] = ""
	if quickWord().Match(text) && !notWords().Match(text) {
		q.found[name] = string(text)
	}
	return true
}
