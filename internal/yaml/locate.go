package yaml

import (
	"bytes"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// syntaxError returns an error of the scanner with the line it is in. What the scanner says of lines is often the line in
// which the enclosing object begins, one line too few, or nothing: the line is found by scanning again, see [locate].
func syntaxError(text []byte, err error) *Error {
	reason, line := splitLine(err)
	if found := locate(text, reason); found > 0 {
		line = found
	}
	line = min(max(line, 1), bytes.Count(text, []byte("\n"))+1)
	return &Error{Line: line, Reason: plainReason(reason, lineOf(text, line))}
}

var linePrefix = regexp.MustCompile(`^line (\d+): `)

// splitLine takes the scanner's own line, 0 when it has none, from the text of its error.
func splitLine(err error) (reason string, line int) {
	reason = strings.TrimPrefix(strings.ReplaceAll(err.Error(), "\n", " "), "yaml: ")
	if m := linePrefix.FindStringSubmatch(reason); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil {
			return reason[len(m[0]):], n
		}
	}
	return reason, 0
}

// plainReasons says what the scanner means where its own words are about itself.
var plainReasons = map[string]string{
	"found character that cannot start any token":    "a value cannot begin like this; quote it",
	"did not find expected key":                      "not a key as in the lines above; check indentation and quotes",
	"did not find expected '-' indicator":            `not an item as in the lines above, which begin with "- "; check the indentation`,
	"did not find expected ',' or '}'":               "a comma is missing, or the } of an object",
	"did not find expected ',' or ']'":               "a comma is missing, or the ] of a list",
	"did not find expected node content":             "a value is missing",
	"did not find expected <document start>":         "text behind the end of the document",
	"found unexpected end of stream":                 "the quote that opens here is never closed",
	"could not find expected ':'":                    "a key without a colon",
	"mapping values are not allowed in this context": "a colon cannot begin a value here; check the indentation, or quote the text",
}

// plainReason returns the scanner's reason for an error in line, in plain words.
func plainReason(reason, line string) string {
	indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
	if reason == "found character that cannot start any token" && strings.Contains(indent, "\t") {
		return "a tab cannot indent YAML; use spaces"
	}
	if rest, ok := strings.CutPrefix(reason, "unknown anchor '"); ok {
		return "no anchor &" + strings.TrimSuffix(rest, "' referenced") + " in this document"
	}
	if plain, ok := plainReasons[reason]; ok {
		return plain
	}
	return reason
}

func lineOf(text []byte, line int) string {
	for range line - 1 {
		text = text[bytes.IndexByte(text, '\n')+1:]
	}
	if end := bytes.IndexByte(text, '\n'); end >= 0 {
		text = text[:end]
	}
	return string(text)
}

// locate returns the line of the error that scanning text ends with, or 0 when it would take too long to find.
//
// The scanner is given the text line by line: the error is not behind the last line that it asks for. From there backwards,
// the text is cut off in front of a line and scanned: where the error is gone, or is another one because the cut is in the
// middle of something, it was in that line. For a quote or bracket that is never closed this is the line that opens it.
func locate(text []byte, reason string) int {
	feed := &lineReader{rest: text}
	if _, err := scan(feed); err == nil {
		return 0
	}
	end := len(text) - len(feed.rest)
	for line, budget := feed.lines, maxRescan; line > 0; line-- {
		end = bytes.LastIndexByte(text[:max(end-1, 0)], '\n') + 1
		if budget -= end; budget < 0 {
			return 0
		}
		_, err := scan(bytes.NewReader(text[:end]))
		if err == nil {
			return line
		}
		if other, _ := splitLine(err); other != reason {
			return line
		}
	}
	return 1
}

// maxRescan bounds the bytes that locate scans again.
const maxRescan = 4 << 20

// lineReader reads rest one line at a time, and counts the lines it has begun.
type lineReader struct {
	rest   []byte
	lines  int
	inside bool // of a line: a part of it is read
}

// Read gives at most one line, or a part of it.
func (r *lineReader) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		return 0, io.EOF
	}
	n := bytes.IndexByte(r.rest, '\n') + 1
	if n == 0 {
		n = len(r.rest)
	}
	if !r.inside {
		r.lines++
	}
	n = copy(p, r.rest[:n])
	r.inside = r.rest[n-1] != '\n'
	r.rest = r.rest[n:]
	return n, nil
}
