package gitops

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/deed-project/deed/value"
)

// Path expressions in a subset of jq: they select values in a document.
//
//	query  = stage {"|" stage}
//	stage  = term {"," term}
//	term   = path | "select(" cond ")" [path]
//	path   = "." | ("." name | [ "." ] "[" string | number | nothing "]") ["?"] …
//	cond   = and {"or" and} {"|" function}
//	and    = is {"and" is}
//	is     = path ["==" | "!=" literal] | "(" cond ")"

// query is a parsed expression: stages that are joined by pipes. Each stage continues from the values that the stage before selects.
type query []stage

// stage is a list of terms that are joined by commas. It selects the values of all of them.
type stage []pipe

// pipe is a term: steps and conditions, each of which continues from the values that the one before selects.
type pipe []term

// term is either a step of a path or a condition.
type term struct {
	step step
	cond *condition
}

// step leads from a value to its parts.
type step struct {
	name     string // of a member, if isName
	index    int    // of an item, if isIndex
	isName   bool
	isIndex  bool // neither of the two: all members or items
	optional bool // a value of the wrong kind selects nothing, and is no error
}

// condition is a condition of select. It follows jq: null and false are false.
type condition struct {
	any   []*condition // if not nil, one of them holds
	all   []*condition // if not nil, all hold
	not   *condition   // if not nil, it does not hold
	inner *condition   // if not nil, the condition in parentheses
	// Otherwise one of the values that path selects passes the test. The test compares the value, calls a function, or checks that the
	// value is true. compared is false for the last of these.
	path     pipe
	test     func(value.Value) (bool, error)
	compared bool
}

// place is the path to a value: the names (string), the numbers of items (int) and of characters from the document on.
type place []any

// character is the step to a character of a text. It is read, and cannot be removed.
type character int

// found is a value that an expression selects, and its place.
type found struct {
	at    place
	value value.Value
}

// errKind is a step into a value of the wrong kind.
var errKind = errors.New("a step does not fit the value")

// paths returns the places in document that q selects, in their order and each once. A value that document lacks has no place: its removal
// has no effect. Each stage takes a value once, and all missing values as one, so the cost grows with the length of q times the size of
// document.
func (q query) paths(document value.Value) ([]place, error) {
	selected := []found{{value: document}}
	for _, s := range q {
		var next []found
		missing := false
		for _, from := range selected {
			for _, p := range s {
				err := p.walk(from.value, from.at, func(at place, v value.Value) error {
					text := slices.IndexFunc(at, func(step any) bool { _, is := step.(character); return is })
					switch {
					case !v.IsAbsent():
						next = append(next, found{slices.Clone(at), v})
					case text >= 0: // in a character that the text lacks
						next = append(next, found{slices.Clone(at[:text+1]), value.Null()})
					default:
						missing = true
					}
					return nil
				})
				if err != nil {
					return nil, err
				}
			}
		}
		slices.SortFunc(next, func(a, b found) int { return comparePlaces(a.at, b.at) })
		selected = slices.CompactFunc(next, func(a, b found) bool { return comparePlaces(a.at, b.at) == 0 })
		if missing {
			selected = append(selected, found{})
		}
	}
	var out []place
	for _, f := range selected {
		if !f.value.IsAbsent() {
			out = append(out, f.at)
		}
	}
	return out, nil
}

// walk calls visit for each value that p selects in v. at is the place of v.
func (p pipe) walk(v value.Value, at place, visit func(place, value.Value) error) error {
	if len(p) == 0 {
		return visit(at, v)
	}
	if c := p[0].cond; c != nil {
		outcomes, err := c.outcomes(v)
		if err != nil || !outcomes.yes {
			return err
		}
		return p[1:].walk(v, at, visit)
	}
	return p[0].step.walk(v, at, func(at place, v value.Value) error { return p[1:].walk(v, at, visit) })
}

// walk calls visit for each part of v that s selects. A missing member or item is null.
func (s step) walk(v value.Value, at place, visit func(place, value.Value) error) error {
	isNull := v.IsNull() || v.IsAbsent()
	switch {
	case s.isName && (isNull || v.Kind() == value.KindObject):
		return visit(append(at, s.name), v.Get(s.name))
	case s.isIndex && (isNull || v.Kind() == value.KindList):
		i := s.index
		if i < 0 {
			i += v.Len()
		}
		if i < 0 {
			return visit(append(at, s.index), value.Value{})
		}
		return visit(append(at, i), v.Item(i))
	case s.isIndex && v.Kind() == value.KindString:
		return visit(append(at, character(s.index)), character(s.index).of(v.Str()))
	case !s.isName && !s.isIndex && v.Kind() == value.KindObject:
		for name, member := range v.Members() {
			if err := visit(append(at, name), member); err != nil {
				return err
			}
		}
		return nil
	case !s.isName && !s.isIndex && v.Kind() == value.KindList:
		for i := range v.Len() {
			if err := visit(append(at, i), v.Item(i)); err != nil {
				return err
			}
		}
		return nil
	case s.optional:
		return nil
	}
	return errKind
}

// of returns the character of text, as a text, and null if there is none. A negative number counts from the end.
func (c character) of(text string) value.Value {
	characters, i := []rune(text), int(c)
	if i < 0 {
		i += len(characters)
	}
	if i < 0 || i >= len(characters) {
		return value.Null()
	}
	return value.String(string(characters[i]))
}

// outcomes are the results of a condition. Like every filter of jq, a condition may have several results or none.
type outcomes struct{ yes, no bool }

// outcomes returns the results of the condition for v.
func (c *condition) outcomes(v value.Value) (out outcomes, err error) {
	switch {
	case c.any != nil:
		return joined(c.any, v, true)
	case c.all != nil:
		return joined(c.all, v, false)
	case c.inner != nil:
		return c.inner.outcomes(v)
	case c.not != nil:
		out, err = c.not.outcomes(v)
		return outcomes{yes: out.no, no: out.yes}, err
	}
	err = c.path.walk(v, nil, func(_ place, v value.Value) error {
		holds, err := c.test(v)
		out = outcomes{yes: out.yes || holds, no: out.no || !holds}
		return err
	})
	return out, err
}

// joined returns the results of conditions that are joined by or, if isOr is true, and by and otherwise. A true result decides an or, and
// a false one an and: the conditions after it are skipped.
func joined(parts []*condition, v value.Value, isOr bool) (out outcomes, err error) {
	for i, part := range parts {
		results, err := part.outcomes(v)
		if err != nil {
			return out, err
		}
		isLast, goesOn := i == len(parts)-1, results.yes
		if isOr {
			goesOn = results.no
		}
		out.yes = out.yes || results.yes && (isOr || isLast)
		out.no = out.no || results.no && (!isOr || isLast)
		if !goesOn {
			break
		}
	}
	return out, nil
}

// isTrue reports whether jq treats v as true.
func isTrue(v value.Value) (bool, error) {
	return !v.IsAbsent() && !v.IsNull() && (v.Kind() != value.KindBool || v.Bool()), nil
}

// removedAll returns document without the values at places, which are in order. A character in one of them is an error.
func removedAll(document value.Value, places []place) (value.Value, error) {
	switch {
	case len(places) == 0:
		return document, nil
	case len(places[0]) == 0:
		return value.Object(), nil
	}
	return removedBelow(document, places, 0)
}

// removedBelow returns v without the values at places. All are below v: their first depth steps lead to v.
func removedBelow(v value.Value, places []place, depth int) (value.Value, error) {
	// left returns a part of v without the values at the next places, and an absent value if the part itself is one of them.
	left := func(step any, part value.Value) (value.Value, error) {
		n := 0
		for n < len(places) && places[n][depth] == step {
			n++
		}
		below := places[:n]
		places = places[n:]
		switch {
		case n == 0:
			return part, nil
		case len(below[0]) == depth+1:
			return value.Value{}, nil
		}
		return removedBelow(part, below, depth+1)
	}
	switch v.Kind() {
	case value.KindObject:
		var members []value.Member
		for name, member := range v.Members() {
			rest, err := left(name, member)
			if err != nil {
				return v, err
			}
			members = append(members, value.Member{Name: name, Value: rest})
		}
		return value.Object(members...), nil
	case value.KindList:
		var items []value.Value
		for i := range v.Len() {
			rest, err := left(i, v.Item(i))
			if err != nil {
				return v, err
			}
			if !rest.IsAbsent() {
				items = append(items, rest)
			}
		}
		return value.List(items...), nil
	}
	return v, errKind
}

// comparePlaces orders places by their steps. The steps that two values have next to each other are of one kind.
func comparePlaces(a, b place) int {
	return slices.CompareFunc(a, b, func(x, y any) int {
		switch x := x.(type) {
		case int:
			return cmp.Compare(x, y.(int))
		case character:
			return cmp.Compare(x, y.(character))
		default:
			return strings.Compare(x.(string), y.(string))
		}
	})
}

// maxQuery bounds the bytes of an expression. Each step and each parenthesis takes a few frames of the stack.
const maxQuery = 64 << 10

// parseQuery parses an expression.
func parseQuery(text string) (q query, err error) {
	if len(text) > maxQuery {
		return nil, fmt.Errorf("a path expression of %d bytes is longer than %d", len(text), maxQuery)
	}
	p := &parser{text: text}
	defer func() {
		switch r := recover().(type) {
		case nil:
		case syntaxError:
			q, err = nil, fmt.Errorf("%q is no path expression that is supported: %s at byte %d", text, string(r), p.at)
		default:
			panic(r)
		}
	}()
	for {
		q = append(q, p.stage())
		if !p.take("|") {
			break
		}
	}
	p.space()
	if p.at < len(text) {
		p.fail("unexpected %q", text[p.at:])
	}
	return q, nil
}

// syntaxError is the panic value that stops a parser.
type syntaxError string

type parser struct {
	text string
	at   int
}

func (p *parser) fail(format string, args ...any) { panic(syntaxError(fmt.Sprintf(format, args...))) }

func (p *parser) space() {
	for p.at < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.at]) >= 0 {
		p.at++
	}
}

// take skips token if it comes next after white space.
func (p *parser) take(token string) bool {
	p.space()
	if !strings.HasPrefix(p.text[p.at:], token) {
		return false
	}
	p.at += len(token)
	return true
}

// word skips a word if it comes next after white space.
func (p *parser) word(word string) bool {
	p.space()
	rest, ok := strings.CutPrefix(p.text[p.at:], word)
	if !ok || rest != "" && isNameByte(rest[0]) {
		return false
	}
	p.at += len(word)
	return true
}

func (p *parser) want(token string) {
	if !p.take(token) {
		p.fail("no %q", token)
	}
}

func isNameByte(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// stage parses terms that are joined by commas.
func (p *parser) stage() stage {
	var out stage
	for {
		out = append(out, p.pipe())
		if !p.take(",") {
			return out
		}
	}
}

// pipe parses a term.
func (p *parser) pipe() pipe {
	if !p.word("select") {
		return p.path()
	}
	p.want("(")
	out := pipe{{cond: p.condition()}}
	p.want(")")
	if p.at < len(p.text) && p.text[p.at] == '.' {
		out = append(out, p.path()...)
	}
	return out
}

// path parses a path, which begins with a dot.
func (p *parser) path() pipe {
	p.want(".")
	var out pipe
	for first := true; ; first = false {
		var s step
		switch {
		case p.at >= len(p.text):
			return out
		case p.text[p.at] == '[':
			p.at++
			s = p.bracket()
		case !first && p.text[p.at] != '.':
			return out
		default:
			if !first {
				p.at++
			}
			var ok bool
			if s, ok = p.name(); !ok {
				if first {
					return out
				}
				if p.at < len(p.text) && p.text[p.at] == '[' {
					continue
				}
				p.fail("no name")
			}
		}
		if p.at < len(p.text) && p.text[p.at] == '?' {
			p.at++
			s.optional = true
		}
		out = append(out, term{step: s})
	}
}

// name parses the name of a member, if one comes next.
func (p *parser) name() (step, bool) {
	start := p.at
	if start < len(p.text) && p.text[start] == '"' {
		return step{isName: true, name: p.quoted()}, true
	}
	for p.at < len(p.text) && isNameByte(p.text[p.at]) && (p.at > start || p.text[p.at] < '0' || p.text[p.at] > '9') {
		p.at++
	}
	return step{isName: true, name: p.text[start:p.at]}, p.at > start
}

// bracket parses the content of brackets.
func (p *parser) bracket() step {
	p.space()
	var s step
	switch start := p.at; {
	case p.take("]"):
		return s
	case p.at < len(p.text) && p.text[p.at] == '"':
		s = step{isName: true, name: p.quoted()}
	default:
		p.take("-")
		for p.at < len(p.text) && p.text[p.at] >= '0' && p.text[p.at] <= '9' {
			p.at++
		}
		i, err := strconv.Atoi(p.text[start:p.at])
		if err != nil {
			p.fail("no name or number in brackets")
		}
		s = step{isIndex: true, index: i}
	}
	p.want("]")
	return s
}

// quoted parses a JSON string.
func (p *parser) quoted() string {
	end := p.at + 1
	for ; end < len(p.text) && p.text[end] != '"'; end++ {
		if p.text[end] == '\\' {
			end++
		}
	}
	if end >= len(p.text) {
		p.fail("no end of the text")
	}
	v, err := value.Parse([]byte(p.text[p.at : end+1]))
	if err != nil || strings.Contains(p.text[p.at:end], `\(`) {
		p.fail("no plain text")
	}
	p.at = end + 1
	return v.Str()
}

// condition parses joined conditions and the functions of their outcome after them. A pipe binds least.
func (p *parser) condition() *condition {
	c := &condition{any: []*condition{p.conjunction()}}
	for p.word("or") {
		c.any = append(c.any, p.conjunction())
	}
	for p.take("|") {
		if p.word("not") {
			c = &condition{not: c}
			continue
		}
		path := c.isPath()
		if path == nil {
			p.fail("a function of a condition")
		}
		c = &condition{path: path.path, test: p.function(), compared: true}
		if p.word("and") || p.word("or") {
			p.fail("a function without parentheses around it and its path")
		}
	}
	return c
}

// isPath returns the only part of c if it is a path without a comparison, and nil otherwise.
func (c *condition) isPath() *condition {
	for len(c.any) == 1 || len(c.all) == 1 {
		c = append(c.any, c.all...)[0]
	}
	if c.test != nil && !c.compared {
		return c
	}
	return nil
}

func (p *parser) conjunction() *condition {
	c := &condition{all: []*condition{p.comparison()}}
	for p.word("and") {
		c.all = append(c.all, p.comparison())
	}
	return c
}

// comparison parses a path, which may be compared, or a condition in parentheses.
func (p *parser) comparison() *condition {
	if p.take("(") {
		c := &condition{inner: p.condition()}
		p.want(")")
		return c
	}
	c := &condition{path: p.path(), test: isTrue}
	equal := p.take("==")
	if !equal && !p.take("!=") {
		return c
	}
	wanted := p.literal()
	c.compared = true
	c.test = func(v value.Value) (bool, error) {
		if v.IsAbsent() {
			v = value.Null()
		}
		return v.Equal(wanted) == equal, nil
	}
	return c
}

// literal parses a text, a number, true, false or null.
func (p *parser) literal() value.Value {
	p.space()
	if p.at < len(p.text) && p.text[p.at] == '"' {
		return value.String(p.quoted())
	}
	start := p.at
	for p.at < len(p.text) && (isNameByte(p.text[p.at]) || strings.IndexByte("+-.", p.text[p.at]) >= 0) {
		p.at++
	}
	v, err := value.Parse([]byte(p.text[start:p.at]))
	if err != nil {
		p.fail("no text, number, true, false or null")
	}
	return v
}

// function parses a function of texts with one argument.
func (p *parser) function() func(value.Value) (bool, error) {
	for name, make := range map[string]func(arg string) func(string) bool{
		"startswith": func(arg string) func(string) bool { return func(s string) bool { return strings.HasPrefix(s, arg) } },
		"endswith":   func(arg string) func(string) bool { return func(s string) bool { return strings.HasSuffix(s, arg) } },
		"contains":   func(arg string) func(string) bool { return func(s string) bool { return strings.Contains(s, arg) } },
		"test": func(arg string) func(string) bool {
			re, err := regexp.Compile(arg)
			if err != nil {
				p.fail("%v", err)
			}
			return re.MatchString
		},
	} {
		if !p.word(name) {
			continue
		}
		p.want("(")
		p.space()
		if p.at >= len(p.text) || p.text[p.at] != '"' {
			p.fail("no text in the function %s", name)
		}
		is := make(p.quoted())
		p.want(")")
		return func(v value.Value) (bool, error) {
			if v.Kind() != value.KindString {
				return false, errKind
			}
			return is(v.Str()), nil
		}
	}
	p.fail("unexpected %q", p.text[p.at:])
	return nil
}
