package yaml

import (
	"bytes"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// syntaxError returns an error of the scanner with its place. The scanner gives no column. Its line is often the line of the enclosing
// object, one too small, or missing. syntaxError finds both by scanning again; see [locate] and [columnOf].
func syntaxError(text []byte, err error) *Error {
	reason, line := splitLine(err)
	budget := maxRescan
	if found := locate(text, reason, &budget); found > 0 {
		line = found
	}
	line = min(max(line, 1), bytes.Count(text, []byte("\n"))+1)
	return &Error{
		Line: line, Column: columnOf(text, line, reason, &budget), Reason: plainReason(reason, lineOf(text, line)),
	}
}

// splitLine splits the scanner's line, or 0, from the text of its error.
func splitLine(err error) (reason string, line int) {
	reason = strings.TrimPrefix(strings.ReplaceAll(err.Error(), "\n", " "), "yaml: ")
	if rest, ok := strings.CutPrefix(reason, "line "); ok {
		number, rest, found := strings.Cut(rest, ": ")
		if n, err := strconv.Atoi(number); found && err == nil {
			return rest, n
		}
	}
	return reason, 0
}

// missingValue is the scanner's reason if a value is missing or something else stands in its place.
const missingValue = "did not find expected node content"

// plainReasons translates reasons of the scanner that are about its own state.
var plainReasons = map[string]string{
	"found character that cannot start any token":    "a value cannot begin with this character; quote the value",
	"did not find expected key":                      "expected another key of the object above; check indentation and quotes",
	"did not find expected '-' indicator":            `expected another item of the list above, which begins with "- "; check the indentation`,
	"did not find expected ',' or '}'":               "missing comma, or missing } at the end of an object",
	"did not find expected ',' or ']'":               "missing comma, or missing ] at the end of a list",
	missingValue:                                     "a value is missing",
	"did not find expected <document start>":         "unexpected text after the end of the document",
	"found unexpected end of stream":                 "the quote that opens here is never closed",
	"could not find expected ':'":                    "missing colon after a key",
	"mapping values are not allowed in this context": "a colon cannot begin a value here; check the indentation, or quote the text",
}

// plainReason returns the scanner's reason for an error in line, in plain words.
func plainReason(reason, line string) string {
	indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
	if reason == "found character that cannot start any token" && strings.Contains(indent, "\t") {
		return "a tab cannot indent YAML; use spaces"
	}
	if strings.HasPrefix(reason, "unknown anchor '") {
		return noAnchor
	}
	if plain, ok := plainReasons[reason]; ok {
		return plain
	}
	return reason
}

func lineOf(text []byte, line int) string {
	start, end := lineBounds(text, line)
	return string(text[start:end])
}

// lineBounds returns the start and end of a one-based line of text.
func lineBounds(text []byte, line int) (start, end int) {
	for range line - 1 {
		start += bytes.IndexByte(text[start:], '\n') + 1
	}
	if n := bytes.IndexByte(text[start:], '\n'); n >= 0 {
		return start, start + n
	}
	return start, len(text)
}

// locate returns the line of the error at which scanning text ends, or 0 if finding it would take too long.
//
// The scanner gets the text line by line, so the error is not after the last line that it reads. From there backwards, locate cuts the text
// before a line and scans it. If the error is gone, or changes because the cut is inside a construct, the error was on that line. For an
// unclosed quote or bracket, this is the line that opens it.
func locate(text []byte, reason string, budget *int) int {
	feed := &lineReader{rest: text}
	if _, err := scan(feed); err == nil {
		return 0
	}
	end := len(text) - len(feed.rest)
	for line := feed.lines; line > 0; line-- {
		end = bytes.LastIndexByte(text[:max(end-1, 0)], '\n') + 1
		if *budget -= end; *budget < 0 {
			return 0
		}
		if !fails(text[:end], reason) {
			return line
		}
	}
	return 1
}

// maxRescan bounds the bytes that locate and columnOf scan.
const maxRescan = 4 << 20

// fails reports whether scanning text ends with an error for reason.
func fails(text []byte, reason string) bool {
	_, err := scan(bytes.NewReader(text))
	if err == nil {
		return false
	}
	other, _ := splitLine(err)
	return other == reason
}

// columnOf returns the one-based column, in characters, of the error in the line that locate found. It returns 0 if finding it would take
// too long, as in lines longer than maxLine.
//
// It works like locate: it cuts the line before its last character, before the one before, and so on, until the error is gone or changes.
//
//	b: "x       the line
//	b: "        the same error: the quote is never closed
//	b:          no error: so it was in column 4
func columnOf(text []byte, line int, reason string, budget *int) int {
	start, end := lineBounds(text, line)
	end = start + len(bytes.TrimRight(text[start:end], " \t\r"))
	if end-start > maxLine {
		return 0
	}
	filler := ""
	if reason == missingValue {
		filler = "0" // so that a value is only missing before its replacement, and not at every cut
	}
	for cut := end; cut > start; {
		_, size := utf8.DecodeLastRune(text[start:cut])
		if *budget -= cut - size; *budget < 0 {
			return 0
		}
		if !fails(slices.Concat(text[:cut-size], []byte(filler)), reason) {
			at := beginning(string(text[start:end]), cut-start-size, reason)
			return utf8.RuneCount(text[start:start+at]) + 1
		}
		cut -= size
	}
	return 1
}

// maxLine bounds the lines, in bytes, that columnOf examines, because it scans once per character.
const maxLine = 1000

// beginning returns the start, in line, of the construct that caused the scanner's error after the character at last.
func beginning(line string, last int, reason string) int {
	switch before := line[:last]; {
	case strings.HasPrefix(reason, "unknown anchor"): // its name is only complete here
		return max(strings.LastIndexByte(before, '*'), 0)
	case strings.HasSuffix(reason, "',' or ']'") && strings.Contains(before, "["): // the enclosing list
		return strings.LastIndexByte(before, '[')
	case strings.HasSuffix(reason, "',' or '}'") && strings.Contains(before, "{"):
		return strings.LastIndexByte(before, '{')
	case line[last] == ':' && plainReasons[reason] != "" && reason != missingValue && strings.HasPrefix(reason, "did not"):
		last = 0 // the key that the colon ends
	}
	return last + len(line[last:]) - len(strings.TrimLeft(line[last:], " "))
}

// lineReader reads rest one line at a time and counts the lines that it has begun.
type lineReader struct {
	rest   []byte
	lines  int
	inside bool // a part of the current line has been read
}

// Read returns at most one line, or a part of it.
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
