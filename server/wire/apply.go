package wire

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/deed-project/deed/value"
)

// Applied is the configuration of an apply as a client sent it.
type Applied struct {
	Content value.Value
	text    []byte // YAML text for Strict; nil if the text cannot have duplicate names
}

// DecodeApply reads the configuration of an apply. It reads only the first document, as YAML 1.1 even if the text is JSON. Therefore 1.0 is
// an integer, and a number outside the range of float64 is a string. The last of several members with the same name counts, see
// [Applied.Strict]. An empty text is an empty object. The error is a 400.
func DecodeApply(body []byte) (Applied, error) {
	if sameAsYAML(body) {
		if content, err := value.Parse(body); err == nil && content.Kind() == value.KindObject {
			return Applied{Content: content}, nil
		}
	}
	if _, err := yaml.ToJSON(body); err != nil {
		return Applied{}, errors.NewBadRequest(fmt.Sprintf("error encoding patch: %v", err))
	}
	content := map[string]any{}
	if err := yaml.Unmarshal(body, &content); err != nil {
		return Applied{}, errors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
	}
	v, err := value.FromAny(content)
	return Applied{Content: v, text: body}, err
}

// DecodeApplyCBOR reads the configuration of an apply from CBOR. A duplicate name in a map is an error. All errors are 400s.
func DecodeApplyCBOR(body []byte) (Applied, error) {
	content, err := decodeCBOR(body)
	if err != nil {
		return Applied{}, errors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
	}
	return Applied{Content: content}, nil
}

// Strict returns the strict decoding error of the text: a duplicate name in one object. It returns "" if there is no such error.
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
// The cost is one pass over body.
func sameAsYAML(body []byte) bool {
	if !utf8.Valid(body) || bytes.Contains(body, []byte(`\u`)) || bytes.Contains(body, []byte(`"<<"`)) {
		return false
	}
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case c == '"':
			end := endOfString(body, i)
			if end < 0 {
				return false
			}
			if is, broken := isName(body[end:]); is && (broken || end-i > longName) {
				return false
			}
			i = end - 1
		case c == '-' || '0' <= c && c <= '9':
			end := i + 1
			for end < len(body) && '0' <= body[end] && body[end] <= '9' {
				end++
			}
			if end-i > 18 || end < len(body) && bytes.IndexByte([]byte(".eE"), body[end]) >= 0 {
				return false
			}
			i = end - 1
		case c < ' ' && c != '\n' && c != '\r':
			return false
		}
	}
	return true
}

// endOfString returns the offset behind the closing quote of the string that begins at start. It returns -1 if the string holds control
// characters or YAML line breaks, which YAML treats differently.
func endOfString(body []byte, start int) int {
	for i := start + 1; i < len(body); i++ {
		switch c := body[i]; {
		case c == '"':
			return i + 1
		case c == '\\' && i+1 < len(body) && body[i+1] == '/':
			return -1 // YAML 1.1 lacks this escape
		case c == '\\':
			i++
		case c < ' ' || c == 0x7f || c == 0xc2 || c == 0xe2 || c == 0xef:
			return -1 // the last three begin U+0085, U+2028, U+FEFF and others
		}
	}
	return -1
}

// isName reports whether rest, the text behind a string, makes the string a member name. It also reports whether a line break precedes the
// colon, which YAML refuses.
func isName(rest []byte) (is, broken bool) {
	for _, c := range rest {
		switch c {
		case ' ':
		case '\r', '\n':
			broken = true
		default:
			return c == ':', broken
		}
	}
	return false, broken
}
