package selector

import (
	"fmt"
	"strings"

	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/fieldpath"
)

// Parse parses a selector. The error says why text is malformed.
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
			err = secret.Errorf("expected a dot or '[' in front of %q", rest)
		}
		if err != nil {
			return s, fmt.Errorf("%q: %w", text, err)
		}
		s.steps = append(s.steps, next)
	}
	if len(s.steps) == 0 {
		return s, secret.Errorf("%q: the path is empty: say which field, such as .spec.replicas", text)
	}
	return s, nil
}

// name parses a name, and returns the text behind it.
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
		return step{}, "", secret.Errorf("a name is missing in front of %q", text)
	case "*":
		return step{kind: anyField}, text[end:], nil
	default:
		return step{kind: bare, element: fieldpath.Field(word)}, text[end:], nil
	}
}

// quoted parses a name in double quotes.
func quoted(text string) (step, string, error) {
	end := afterQuotes(text)
	path, err := fieldpath.ParsePath("." + text[:end])
	if err != nil || len(path) != 1 {
		return step{}, "", secret.Errorf("%s is no name in quotes", text)
	}
	return step{element: path[0]}, text[end:], nil
}

// afterQuotes returns the position behind the closing quotes of a text in double quotes.
func afterQuotes(text string) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

// bracket parses a step in brackets.
func bracket(text string) (step, string, error) {
	end, err := afterBracket(text)
	if err != nil {
		return step{}, "", err
	}
	inside, rest := text[1:end-1], text[end:]
	switch {
	case inside == "*":
		return step{kind: anyItem}, rest, nil
	case strings.HasPrefix(inside, `"`) && afterQuotes(inside) == len(inside):
		next, _, err := quoted(inside)
		return next, rest, err
	}
	path, err := fieldpath.ParsePath(text[:end])
	if err != nil || len(path) != 1 {
		return step{}, "", secret.Errorf("%s is no item: write [name=\"web\"], [=\"value\"], [0] or [*]", text[:end])
	}
	return step{element: path[0]}, rest, nil
}

// afterBracket returns the position behind the bracket that closes the first one of text. Lists and objects may stand inside.
func afterBracket(text string) (int, error) {
	for i, depth := 0, 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i = max(i, afterQuotes(text[i:])+i-1)
		case '[', '{':
			depth++
		case ']', '}':
			if depth--; depth == 0 {
				return i + 1, nil
			}
		}
	}
	return 0, secret.Errorf("%s has no closing bracket", text)
}
