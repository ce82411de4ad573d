package yaml

import (
	"encoding/base64"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/deed-project/deed/value"
	"gopkg.in/yaml.v3"
)

// words are the unquoted texts that mean something else than a string or a finite number.
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

// decimal is the grammar of floats that begin with a sign or digit, without underscores.
var decimal = regexp.MustCompile(`^[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?$`)

// resolve returns what text means where it stands unquoted and without a tag: nil, a bool, int64, uint64 (above the int64s
// only), float64 or string.
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

// number returns the number that text is, which has no underscores, and nil when it is none that a float64 holds.
func number(text string) any {
	if i, err := strconv.ParseInt(text, 0, 64); err == nil {
		return i
	}
	if u, err := strconv.ParseUint(text, 0, 64); err == nil {
		return u
	}
	if rest, ok := strings.CutPrefix(text, "0b"); ok { // Kubernetes takes 0b-1 too
		if i, err := strconv.ParseInt(rest, 2, 64); err == nil {
			return i
		}
	}
	if decimal.MatchString(text) {
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

// isTimestamp reports whether text is a point in time as YAML 1.1 writes it.
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

// scalar returns what n means, in the types that resolve uses. The reason is empty when it means something.
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

// toFloat returns x as a float64. Like Kubernetes it refuses integers that are larger than an int64.
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

// toValue returns what resolve or scalar returned as a value. The reason is empty when there is such a value.
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

// fromFloat returns f as Kubernetes has it, which passes numbers on as JSON text: what looks like an integer there is one.
func fromFloat(f float64) value.Value {
	if i, err := strconv.ParseInt(strconv.FormatFloat(f, 'f', -1, 64), 10, 64); err == nil {
		return value.Int(i)
	}
	return value.Float(f)
}

// toName returns what resolve or scalar returned as the name of a member. The reason is empty when it can be one.
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
