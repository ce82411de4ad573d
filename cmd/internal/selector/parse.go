package selector

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/deed-project/deed/fieldpath"
)

// Parse reads a selector. The error says what is wrong with the text.
func Parse(text string) (Selector, error) {
	s := Selector{text: text, anywhere: text != "" && text[0] != '.' && text[0] != '['}
	rest := text
	if rest == "." {
		rest = ""
	}
	for first := true; rest != ""; first = false {
		var next step
		var err error
		switch {
		case rest[0] == '[':
			next, rest, err = bracket(rest)
		case rest[0] == '.' || first:
			next, rest, err = name(strings.TrimPrefix(rest, "."))
		default:
			err = fmt.Errorf("expected a dot or '[' in front of %q", rest)
		}
		if err != nil {
			return s, fmt.Errorf("%q: %w", text, err)
		}
		s.steps = append(s.steps, next)
	}
	if len(s.steps) == 0 {
		return s, fmt.Errorf("%q: the path is empty: say which field, such as .spec.replicas", text)
	}
	return s, nil
}

// name reads a name, and returns what follows it.
func name(text string) (step, string, error) {
	if strings.HasPrefix(text, `"`) {
		return quoted(text)
	}
	end := strings.IndexAny(text, ".[")
	if end < 0 {
		end = len(text)
	}
	switch word := text[:end]; word {
	case "":
		return step{}, "", fmt.Errorf("a name is missing in front of %q", text)
	case "*":
		return step{name: "*", wildcard: true}, text[end:], nil
	default:
		return step{name: word}, text[end:], nil
	}
}

// quoted reads a name in double quotes.
func quoted(text string) (step, string, error) {
	prefix, err := strconv.QuotedPrefix(text)
	if err != nil {
		return step{}, "", fmt.Errorf("%s is no name in quotes", text)
	}
	word, err := strconv.Unquote(prefix)
	return step{name: word, element: fieldpath.Field(word)}, text[len(prefix):], err
}

// bracket reads what stands in brackets.
func bracket(text string) (step, string, error) {
	end := closing(text)
	if end < 0 {
		return step{}, "", fmt.Errorf("%s has no closing bracket", text)
	}
	inside, rest := text[1:end], text[end+1:]
	switch {
	case inside == "*":
		return step{wildcard: true}, rest, nil
	case strings.HasPrefix(inside, `"`):
		next, more, err := quoted(inside)
		if err == nil && more == "" {
			return next, rest, nil
		}
	}
	path, err := fieldpath.ParsePath(text[:end+1])
	if err != nil || len(path) != 1 {
		return step{}, "", fmt.Errorf("%s is no item: write [name=\"web\"], [=\"value\"], [0] or [*]", text[:end+1])
	}
	return step{element: path[0]}, rest, nil
}

// closing returns where the bracket closes that text begins with, -1 if it does not.
func closing(text string) int {
	inQuotes := false
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case inQuotes && c == '\\':
			i++
		case c == '"':
			inQuotes = !inQuotes
		case c == ']' && !inQuotes:
			return i
		}
	}
	return -1
}
