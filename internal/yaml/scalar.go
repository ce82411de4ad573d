package yaml

import (
	"encoding/base64"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/deed-project/deed/value"
	"gopkg.in/yaml.v3"
)

// words maps the unquoted texts that are neither strings nor finite numbers.
var words = func() map[string]any {
	m := map[string]any{"": nil, "~": nil}
	for word, x := range map[string]any{
		"null": nil,
		"y":    true, "yes": true, "on": true, "true": true,
		"n": false, "no": false, "off": false, "false": false,
		".inf": math.Inf(1), "+.inf": math.Inf(1), "-.inf": math.Inf(-1), ".nan": math.NaN(),
	} {
		m[word], m[strings.ToUpper(word)] = x, x
		i := strings.IndexFunc(word, func(r rune) bool { return 'a' <= r && r <= 'z' })
		m[word[:i]+strings.ToUpper(word[i:i+1])+word[i+1:]] = x
	}
	delete(m, ".Nan")
	m[".NaN"] = math.NaN()
	return m
}()

// decimal matches floats that begin with a sign or digit, without underscores.
var decimal = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?$`) })

// resolve returns the value of an unquoted text without a tag: nil, a bool, an int64, a uint64 above the largest int64, a float64 or a
// string.
func resolve(text string) any {
	if x, ok := words[text]; ok {
		return x
	}
	switch c := text[0]; {
	case c == '.':
		if f, err := strconv.ParseFloat(text, 64); err == nil {
			return f
		}
	case c == '+' || c == '-' || '0' <= c && c <= '9':
		if x := number(strings.ReplaceAll(text, "_", "")); x != nil {
			return x
		}
	}
	return text
}

// number returns the number of text, which has no underscores. It returns nil if text is not a number that a float64 can hold.
func number(text string) any {
	if i, err := strconv.ParseInt(text, 0, 64); err == nil {
		return i
	}
	if u, err := strconv.ParseUint(text, 0, 64); err == nil {
		return u
	}
	if rest, ok := strings.CutPrefix(text, "0b"); ok { // Kubernetes accepts 0b-1 too
		if i, err := strconv.ParseInt(rest, 2, 64); err == nil {
			return i
		}
	}
	if decimal().MatchString(text) {
		if f, err := strconv.ParseFloat(text, 64); err == nil {
			return f
		}
	}
	return nil
}

var timestampLayouts = []string{
	"2006-1-2",
	"2006-1-2 15:4:5.999999999",
	"2006-1-2T15:4:5.999999999Z07:00",
	"2006-1-2t15:4:5.999999999Z07:00",
}

// isTimestamp reports whether text is a timestamp of YAML 1.1.
func isTimestamp(text string) bool {
	if len(text) < len("2006-1-2") || text[4] != '-' || strings.Trim(text[:4], "0123456789") != "" {
		return false
	}
	for _, layout := range timestampLayouts {
		if _, err := time.Parse(layout, text); err == nil {
			return true
		}
	}
	return false
}

const quotedStyle = yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle

// scalar returns the value of n in the types of resolve. The reason is empty if n is valid.
func scalar(n *yaml.Node) (x any, reason string) {
	text := n.Value
	if n.Style&yaml.TaggedStyle == 0 {
		if n.Style&quotedStyle != 0 {
			return text, ""
		}
		return resolve(text), ""
	}
	ok := false
	switch n.Tag {
	default: // !!str, and every tag without a meaning here
		return text, ""
	case "!!binary":
		return binary(text)
	case "!!timestamp":
		x, ok = text, isTimestamp(text)
	case "!!null":
		x = resolve(text)
		ok = x == nil
	case "!!bool":
		x, ok = resolve(text).(bool)
	case "!!int":
		x = resolve(text)
		ok = isInteger(x)
	case "!!float":
		x, ok = toFloat(resolve(text))
	}
	if !ok {
		return nil, "the value does not match its tag " + n.Tag
	}
	return x, ""
}

// toFloat returns x as a float64. Like Kubernetes it refuses integers beyond int64.
func toFloat(x any) (f float64, ok bool) {
	switch x := x.(type) {
	case int64:
		return float64(x), true
	case float64:
		return x, true
	}
	return 0, false
}

func isInteger(x any) bool {
	switch x.(type) {
	case int64, uint64:
		return true
	}
	return false
}

func binary(text string) (x any, reason string) {
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, "!!binary is not valid base64"
	}
	if !utf8.Valid(b) {
		return nil, "!!binary that is not UTF-8 text has no place in JSON"
	}
	return string(b), ""
}

// toValue converts a result of resolve or scalar to a value. The reason is empty if x has a value.
func toValue(x any) (v value.Value, reason string) {
	switch x := x.(type) {
	case bool:
		return value.Bool(x), ""
	case int64:
		return value.Int(x), ""
	case uint64:
		return value.Float(float64(x)), ""
	case float64:
		if math.IsInf(x, 0) || math.IsNaN(x) {
			return v, fmt.Sprintf("JSON has no number %s; quote it if it is text", floatName(x))
		}
		return fromFloat(x), ""
	case string:
		return value.String(x), ""
	}
	return value.Null(), ""
}

// fromFloat returns the value of f. A float that prints as an integer becomes an integer, because Kubernetes passes numbers on as JSON
// text.
func fromFloat(f float64) value.Value {
	if i, err := strconv.ParseInt(strconv.FormatFloat(f, 'f', -1, 64), 10, 64); err == nil {
		return value.Int(i)
	}
	return value.Float(f)
}

// toName converts a result of resolve or scalar to the name of a member. The reason is empty if the name is valid.
func toName(x any) (name, reason string) {
	switch x := x.(type) {
	case bool:
		return strconv.FormatBool(x), ""
	case int64:
		return strconv.FormatInt(x, 10), ""
	case uint64:
		return "", fmt.Sprintf("%d cannot be a key unless it is quoted: it is larger than an int64", x)
	case float64:
		return floatName(x), ""
	case string:
		return x, ""
	}
	return "", "null cannot be a key; quote it if it is text"
}

func floatName(f float64) string {
	switch s := strconv.FormatFloat(f, 'g', -1, 32); s {
	case "+Inf":
		return ".inf"
	case "-Inf":
		return "-.inf"
	case "NaN":
		return ".nan"
	default:
		return s
	}
}
