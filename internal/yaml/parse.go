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
	Line  int // one-based line at which the content begins

	// Repeated has the duplicate names in the order of the text, if [ParseRepeating] parsed the document.
	Repeated []Repetition

	source source
}

// Parse parses all documents of a stream of YAML documents, or of JSON texts. It omits documents without content, but keeps a document
// with the text null. The file name is for messages and may be empty.
//
// A text that begins with { or [ and is JSON is parsed by the rules of [value.Parse]: 1.0 is a float, and 1e400 is an error. Parse repairs
// it, see [value.Decoder], as a server repairs the JSON that kubectl sends. Any other text is parsed by the rules of the package comment.
// Parse accepts a byte order mark and every kind of line end. The error is always an [*Error].
func Parse(name string, data []byte) ([]Document, error) { return parseFile(name, data, false) }

// parseFile implements Parse and ParseRepeating.
func parseFile(name string, data []byte, repeating bool) ([]Document, error) {
	text := bytes.TrimPrefix(data, []byte("\ufeff"))
	docs, err := parse(text, repeating)
	if err != nil {
		err.File = name
		err.Reason += templateHint(text, err)
		return nil, err
	}
	return docs, nil
}

// templateHint says that err is in a line of a template, such as one of Helm, if that is so. A key that is there twice is no fault of templates.
func templateHint(text []byte, err *Error) string {
	if err.Line == 0 || strings.HasPrefix(err.Reason, "key ") || !strings.Contains(lineOf(text, err.Line), "{{") {
		return ""
	}
	return "; {{ begins a template: render it first, as with helm template"
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
		return nil, jsonErr // its reason is not about the end of a text
	}
	if err != nil && looksLikeJSON(begin) {
		return nil, jsonErr
	}
	return docs, err
}

// looksLikeJSON reports whether text was meant to be JSON: in JSON, the character after its first bracket could follow that bracket. text
// is neither valid JSON nor valid YAML.
func looksLikeJSON(text []byte) bool {
	follow := `"}`
	if text[0] == '[' {
		follow = `"{[]`
	}
	rest := bytes.TrimLeft(text[1:], " \t\r\n")
	return len(rest) == 0 || strings.IndexByte(follow, rest[0]) >= 0
}

// parseJSON parses a sequence of JSON texts. It reports whether it found the end of each text. If so, the texts are meant to be JSON and
// the error is about their content; otherwise they may not be JSON.
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

// parseValidJSON does the work of parseJSON for texts without errors, and returns false for other texts. It finds the end of a text first
// and then parses it. Both functions accept the same texts.
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

// jsonDocument returns the document with the value v whose text begins at start.
func jsonDocument(text []byte, start int, at position, v value.Value) Document {
	return Document{Value: v, Line: at.line, source: &jsonSource{text: text, start: start, at: at}}
}

// nextText returns the start of the first JSON text after offset.
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
	if mark := []byte("\n\ufeff"); bytes.Contains(text, mark) { // concatenated files with byte order marks
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

// parseNodes does the work of parseYAML for every text. It builds nodes.
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

// isEmpty reports whether n is the content of an empty document.
func isEmpty(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Value == "" && n.Style == 0 && n.Anchor == ""
}

var errScanner = errors.New("the scanner failed")

// scan returns the document nodes of a stream up to the first error. [syntaxError] completes the errors of the scanner.
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

// checkText finds bytes that are invalid in every YAML text. The scanner does not tell their position.
func checkText(text []byte) *Error {
	if bytes.HasPrefix(text, []byte("\xfe\xff")) || bytes.HasPrefix(text, []byte("\xff\xfe")) {
		return nil // UTF-16, which the scanner supports
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
