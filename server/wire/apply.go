package wire

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/deed-project/deed/internal/jsontext"
	"github.com/deed-project/deed/value"
)

// The configuration of an apply is YAML, whatever the client sends. Nearly all clients send JSON, which the fast parser reads. It may do so
// only if YAML would read the same text in the same way:
//
//	{"a": 1}              same
//	{"a": 1.0}            YAML reads the integer 1
//	{"a": 1, "a": 2}      the parser fails: the slow way reads 2, and Strict reports the name
//	{"a": "\u0041"}       may be the same, but is left to the slow way

// Applied is the configuration of an apply as a client sent it.
//
// Content is what the last of several equal names says.
type Applied struct {
	Content value.Value
	// Refusal is a 400 if the text is no object. kube-apiserver finds that out when it has read the stored object.
	Refusal error
	// text is shared with the body.
	text []byte // YAML text for Strict; nil if the text cannot have duplicate names
}

// DecodeApply reads the configuration of an apply. It reads only the first document, as YAML 1.1 even if the text is JSON. Therefore 1.0 is
// an integer, and a number outside the range of float64 is a string. The last of several members with the same name counts, see
// [Applied.Strict]. An empty text is an empty object. The error is a 400: the text is neither YAML nor begins like JSON.
func DecodeApply(body []byte) (Applied, error) {
	if sameAsYAML(body) {
		if content, err := value.Parse(body); err == nil && content.Kind() == value.KindObject {
			return Applied{Content: content}, nil
		}
	}
	// kube-apiserver first converts the text to JSON and then decodes the text itself. The two steps have different errors.
	if _, err := yaml.ToJSON(body); err != nil {
		return Applied{}, errors.NewBadRequest(fmt.Sprintf("error encoding patch: %v", err))
	}
	content := map[string]any{}
	if err := yaml.Unmarshal(body, &content); err != nil {
		return Applied{Refusal: undecodablePatch(err)}, nil
	}
	v, err := value.FromAny(content)
	return Applied{Content: v, text: body}, err
}

// undecodablePatch returns the refusal of a configuration that cannot be decoded.
func undecodablePatch(err error) error {
	return errors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
}

// Strict returns the strict decoding error of the text: a duplicate name in one object. It returns "" if there is no such error.
//
// It parses the text once more, so only callers that need the error pay for that.
func (a Applied) Strict() string {
	if a.text == nil {
		return ""
	}
	if err := yaml.UnmarshalStrict(a.text, &map[string]any{}); err != nil {
		return err.Error()
	}
	return ""
}

// longName is a length limit for names. The YAML parser may reject a longer name as a mapping key.
const longName = 1000

// sameAsYAML reports whether body, if it is JSON, surely means the same when it is read as YAML. It returns false for some texts that mean
// the same in both: numbers with a fraction, with an exponent or with many digits; numeric escapes; merge keys; tabs and other characters
// that break lines or are refused; long names; names with a line break before their colon.
//
// The cost is one pass over body for each part of differs, and one for the tokens.
func sameAsYAML(body []byte) bool {
	for _, text := range differs {
		if bytes.Contains(body, text) {
			return false
		}
	}
	s := jsontext.Skim(body)
	for {
		switch c, start := s.Token(); {
		// The text ends, or is no JSON, which the caller finds out.
		case c == 0:
			return utf8.Valid(body)
		case c == '"' && !isSameString(&s, start), (c == '-' || '0' <= c && c <= '9') && !isSmallInteger(body[start:s.Pos]):
			return false
		}
	}
}

// differs has texts in JSON that YAML may read differently, wherever they are: numeric escapes, an escape that YAML 1.1 lacks, merge keys,
// tabs, DEL, and the first bytes of U+0085, U+2028, U+FEFF and others.
var differs = [][]byte{[]byte(`\u`), []byte(`\/`), []byte(`"<<"`), {'\t'}, {0x7f}, {0xc2}, {0xe2}, {0xef}}

// isSameString reports whether the string from start to the position may be a mapping key of YAML, if it is the name of a member: the name
// is short, and no line break precedes the colon. It passes the white space after the string.
func isSameString(s *jsontext.Scanner, start int) bool {
	end := s.Pos
	s.Space()
	if s.Peek() != ':' {
		return true
	}
	return end-start <= longName && (end == s.Pos || !strings.ContainsAny(s.Text[end:s.Pos], "\r\n"))
}

// isSmallInteger reports whether a number has neither fraction nor exponent, and at most 18 characters.
func isSmallInteger(number []byte) bool {
	for _, c := range number {
		if c == '.' || c|0x20 == 'e' {
			return false
		}
	}
	return len(number) <= 18
}
