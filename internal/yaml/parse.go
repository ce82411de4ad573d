package yaml

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/deed-project/deed/internal/jsontext"
	"github.com/deed-project/deed/value"
	"gopkg.in/yaml.v3"
)

// Document is one document of a stream.
type Document struct {
	Value value.Value
	Line  int // where the content begins, counted from 1

	// Repeated are the names that objects have already, in the order of the text, where [ParseRepeating] puts up with them.
	Repeated []Repetition

	source source
}

// Parse reads all documents of a stream, of YAML or of JSON texts one after the other. Documents without any content are
// left out; a document that says null is not. The name of the file is for messages, and may be empty.
//
// A text that begins with { or [ and is JSON is read by the rules of [value.Parse], so that 1.0 is a float there and 1e400
// an error, but repaired, see [value.Decoder]: a server that kubectl sends it to reads it so. Any other text is read by the
// rules of the package comment. Parse accepts a byte order mark and every kind of line end. The error is always an [*Error].
func Parse(name string, data []byte) ([]Document, error) { return parseFile(name, data, false) }

// parseFile is Parse, or ParseRepeating.
func parseFile(name string, data []byte, repeating bool) ([]Document, error) {
	text := bytes.TrimPrefix(data, []byte("\ufeff"))
	docs, err := parse(text, repeating)
	if err != nil {
		err.File = name
		return nil, err
	}
	return docs, nil
}

func parse(text []byte, repeating bool) ([]Document, *Error) {
	begin := bytes.TrimLeft(text, " \t\r\n")
	if len(begin) == 0 || begin[0] != '{' && begin[0] != '[' {
		return parseYAML(text, repeating)
	}
	docs, ended, jsonErr := parseJSON(text)
	if jsonErr == nil || ended && !repeating {
		return docs, jsonErr
	}
	docs, err := parseYAML(text, repeating)
	if ended && (err != nil || !slices.ContainsFunc(docs, func(d Document) bool { return len(d.Repeated) > 0 })) {
		return nil, jsonErr // which is about something else
	}
	if err != nil && looksLikeJSON(begin) {
		return nil, jsonErr
	}
	return docs, err
}

// looksLikeJSON tells whether text, which neither JSON nor YAML can be read from, was meant to be JSON: whether what follows
// its first bracket could follow in JSON.
func looksLikeJSON(text []byte) bool {
	follow := `"}`
	if text[0] == '[' {
		follow = `"{[]`
	}
	rest := bytes.TrimLeft(text[1:], " \t\r\n")
	return len(rest) == 0 || strings.IndexByte(follow, rest[0]) >= 0
}

// parseJSON reads a sequence of JSON texts. It reports whether it found the end of each of them: if so, an error is about
// what JSON they are, and otherwise they may not be JSON at all.
func parseJSON(text []byte) (docs []Document, ended bool, err *Error) {
	if docs, ok := parseValidJSON(text); ok {
		return docs, true, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	for {
		var one json.RawMessage
		e := decoder.Decode(&one)
		if e == io.EOF {
			return docs, true, err
		}
		start := int(decoder.InputOffset()) - len(one)
		if e != nil {
			start = nextText(text, int(decoder.InputOffset()))
			one = text[start:]
		}
		v, valueErr := (&value.Decoder{Repair: true}).Parse(one)
		if err == nil && valueErr != nil {
			err = jsonError(text, start, valueErr)
		}
		if e != nil {
			return nil, false, err
		}
		docs = append(docs, jsonDocument(text, start, placeOf(text, start), v))
	}
}

// parseValidJSON is parseJSON for texts without a defect, and false for others. Where a text ends is found first, and what is
// found is parsed: both ways take the same texts.
func parseValidJSON(text []byte) (docs []Document, ok bool) {
	r := jsontext.Skim(text)
	x := jsonIndexer{Scanner: r, place: position{1, 1}}
	for r.Space(); r.Pos < len(text); r.Space() {
		start := r.Pos
		if r.Skip() != nil {
			return nil, false
		}
		v, err := (&value.Decoder{Repair: true}).Parse(text[start:r.Pos])
		if err != nil {
			return nil, false
		}
		docs = append(docs, jsonDocument(text, start, x.here(start), v))
	}
	return docs, true
}

// jsonDocument returns the document whose text begins at start, which is at a place, and means v.
func jsonDocument(text []byte, start int, at position, v value.Value) Document {
	return Document{Value: v, Line: at.line, source: &jsonSource{text: text, start: start, at: at}}
}

// nextText returns where in text the first JSON text after offset begins.
func nextText(text []byte, offset int) int {
	rest := text[offset:]
	return len(text) - len(bytes.TrimLeft(rest, " \t\r\n"))
}

func jsonError(text []byte, start int, err error) *Error {
	var syntax *value.SyntaxError
	if !errors.As(err, &syntax) {
		return &Error{Reason: err.Error()}
	}
	at := placeOf(text, start+syntax.Offset)
	reason := syntax.Reason
	if syntax.Path != "" {
		reason = syntax.Path + ": " + reason
	}
	return &Error{Line: at.line, Column: at.column, Reason: reason}
}

func parseYAML(text []byte, repeating bool) ([]Document, *Error) {
	if mark := []byte("\n\ufeff"); bytes.Contains(text, mark) { // files with byte order marks, one after the other
		text = bytes.ReplaceAll(text, mark, mark[:1])
	}
	if err := checkText(text); err != nil {
		return nil, err
	}
	if doc, ok := readPlain(text); ok {
		return []Document{doc}, nil
	}
	return parseNodes(text, repeating)
}

// parseNodes is parseYAML for all texts, by way of nodes.
func parseNodes(text []byte, repeating bool) ([]Document, *Error) {
	nodes, err := scan(bytes.NewReader(text))
	var docs []Document
	for _, n := range nodes {
		root := n.Content[0]
		if isEmpty(root) {
			continue
		}
		c := converter{first: n.Line, anchors: map[*yaml.Node]*anchor{}, repeating: repeating}
		v, err := c.node(root)
		if err != nil {
			return nil, err
		}
		docs = append(docs, Document{Value: v, Line: root.Line, Repeated: c.repetitions, source: &nodeSource{at: positionOf(root), root: root}})
	}
	if err != nil {
		return nil, syntaxError(text, err)
	}
	return docs, nil
}

// isEmpty reports whether n is what an empty document has for its content.
func isEmpty(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Value == "" && n.Style == 0 && n.Anchor == ""
}

var errScanner = errors.New("the scanner failed")

// scan returns the document nodes of a stream, up to the first error. The errors of the scanner are for [syntaxError].
func scan(r io.Reader) (nodes []*yaml.Node, err error) {
	defer func() {
		if recover() != nil {
			err = errScanner
		}
	}()
	decoder := yaml.NewDecoder(r)
	for {
		n := new(yaml.Node)
		if err := decoder.Decode(n); err == io.EOF {
			return nodes, nil
		} else if err != nil {
			return nodes, err
		}
		nodes = append(nodes, n)
	}
}

// checkText finds the bytes that no YAML text has, because the scanner does not say where they are.
func checkText(text []byte) *Error {
	if bytes.HasPrefix(text, []byte("\xfe\xff")) || bytes.HasPrefix(text, []byte("\xff\xfe")) {
		return nil // UTF-16, which the scanner knows
	}
	for i := 0; i < len(text); {
		if b := text[i]; ' ' <= b && b <= '~' || b == '\n' {
			i++
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		if reason := unfit(r, size, text[i]); reason != "" {
			at := placeOf(text, i)
			return &Error{Line: at.line, Column: at.column, Reason: reason}
		}
		i += size
	}
	return nil
}

func unfit(r rune, size int, first byte) string {
	switch {
	case r == utf8.RuneError && size == 1:
		return fmt.Sprintf("byte 0x%02x is not UTF-8", first)
	case r < ' ' && r != '\t' && r != '\n' && r != '\r', 0x7f <= r && r < 0xa0 && r != 0x85, r == 0xfffe, r == 0xffff:
		return fmt.Sprintf("character %U is not allowed; write it as an escape in double quotes", r)
	}
	return ""
}
