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
	unread  []byte // the text, if it may say something twice
}

// DecodeApply reads the configuration of an apply. Every text is read as YAML 1.1, JSON too, and only the first document
// counts: 1.0 is an integer, and a number that no float64 holds is a string. Of names that stand twice the last counts, see
// [Applied.Strict]. An empty text is an empty object. The error is a 400.
func DecodeApply(body []byte) (Applied, error) {
	if alikeInYAML(body) {
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
	return Applied{Content: v, unread: body}, err
}

// DecodeApplyCBOR reads the configuration of an apply that is CBOR, in which no name stands twice. The error is a 400.
func DecodeApplyCBOR(body []byte) (Applied, error) {
	content, err := decodeCBOR(body)
	if err != nil {
		return Applied{}, errors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
	}
	return Applied{Content: content}, nil
}

// Strict returns what strict decoding says about the text: that a name stands twice in one object. It is empty if there is
// nothing to say.
func (a Applied) Strict() string {
	if a.unread == nil {
		return ""
	}
	if err := yaml.UnmarshalStrict(a.unread, &map[string]any{}); err != nil {
		return err.Error()
	}
	return ""
}

// longName is the length from which a name in YAML may not be a name any more.
const longName = 1000

// alikeInYAML reports whether body, if it is JSON, surely means the same read as YAML. It says no to what the two read
// differently, and to some that they do not: numbers with a fraction or exponent, or of many digits; escapes by number; merge
// keys; tabs and other characters that break lines or are refused; long names, and those that do not stand on a line with their colon.
//
// The cost is one pass over body.
func alikeInYAML(body []byte) bool {
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

// endOfString returns where the string that begins at start ends, behind its quote, and -1 if it holds characters that YAML
// treats in its own way: controls, and those that break lines there.
func endOfString(body []byte, start int) int {
	for i := start + 1; i < len(body); i++ {
		switch c := body[i]; {
		case c == '"':
			return i + 1
		case c == '\\' && i+1 < len(body) && body[i+1] == '/':
			return -1 // no escape of YAML 1.1
		case c == '\\':
			i++
		case c < ' ' || c == 0x7f || c == 0xc2 || c == 0xe2 || c == 0xef:
			return -1 // the last three begin U+0085, U+2028, U+FEFF and others
		}
	}
	return -1
}

// isName reports whether what follows a string shows that it is the name of a member, and whether a line ends in between, which YAML refuses.
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
