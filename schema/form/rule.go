package form

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/deed-project/deed/value"
)

// Functions are what rules may call: Fill by the name after @, and Is, the words that conditions may use of a
// value. Print is not called by rules: it has, by the name of a struct type, what becomes of its printed values
// because they are held as yet another type.
type Functions struct {
	Fill  map[string]func(value.Value) value.Value
	Is    map[string]func(value.Value) bool
	Print map[string]func(value.Value) value.Value
}

// SetRules reads default values: a line with the names of struct types, and below it an indented line for each
// rule, from top to bottom:
//
//	PATH = VALUE [if CONDITION [and CONDITION]...]
//	PATH := VALUE [if CONDITION [and CONDITION]...]
//	@FUNCTION
//
// Instead of a struct type, P:N names the type N, of the fields that structs of package P have; it has functions
// only. A rule gives what PATH leads to the VALUE if it is unset; with := an empty list or map is not unset. VALUE
// is JSON, $PATH for the value of another member, if it has any, or now. A condition is PATH is set, PATH is unset,
// PATH is one of the texts A|B, or PATH is a word of f.Is; the path . is the struct itself. [] at the end of a name
// steps into every item of a list. Lines that start with # and empty lines say nothing.
//
// The error names the line that cannot be read. Rules for the nil or zero Types are an error.
func (ts *Types) SetRules(text string, f Functions) error {
	if ts == nil || ts.structs == nil {
		return errNoTypes
	}
	ts.prints = f.Print
	var names []string
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "#") || line == "" {
			continue
		}
		if !strings.HasPrefix(line, "\t") {
			names = strings.Fields(line)
			continue
		}
		for _, name := range names {
			if err := ts.addRule(name, line[1:], f); err != nil {
				return fmt.Errorf("line %d: %w", n, err)
			}
		}
	}
	return nil
}

// errNoTypes is the error of rules for no types.
var errNoTypes = errors.New("there are no types to set rules for")

// Rules returns how many rules a value of the struct type called name may follow, in all types that it holds.
func (ts *Types) Rules(name string) int {
	if ts == nil {
		return 0
	}
	seen := map[*Type]bool{}
	var visit func(t *Type) int
	visit = func(t *Type) int {
		if t == nil || seen[t] {
			return 0
		}
		seen[t] = true
		n := visit(t.elem)
		if t.kind == kindStruct {
			n += ts.counts[t.name]
			for _, f := range t.all() {
				n += visit(f.typ)
			}
		}
		return n
	}
	return visit(ts.structs[name])
}

// addRule has values of the type called name follow a rule after those that they follow already.
func (ts *Types) addRule(name, line string, f Functions) error {
	fill, err := ts.rule(name, line, f)
	if err != nil {
		return err
	}
	ts.counts[name]++
	ts.defaults[name] = append(ts.defaults[name], fill)
	return nil
}

func (ts *Types) rule(name, line string, f Functions) (filler, error) {
	if called, ok := strings.CutPrefix(line, "@"); ok {
		fill := f.Fill[called]
		if fill == nil {
			return nil, fmt.Errorf("no function is called %s", called)
		}
		return func(v value.Value, _ env) value.Value { return fill(v) }, nil
	}
	owner, ok := ts.structs[name]
	if !ok {
		return nil, fmt.Errorf("no struct type is called %s", name)
	}
	path, rest, ok := strings.Cut(line, "= ")
	if !ok {
		return nil, fmt.Errorf("%q is no rule", line)
	}
	path, strict := strings.CutSuffix(path, ":")
	text, conditions, _ := strings.Cut(rest, " if ")
	r := &rule{typ: owner, path: strings.Split(strings.TrimSpace(path), "."), strict: strict}
	if text == "now" {
		r.now = true
	} else if from, ok := strings.CutPrefix(text, "$"); ok {
		r.from = strings.Split(from, ".")
	} else if v, err := value.Parse([]byte(text)); err == nil {
		r.to = v
	} else {
		return nil, err
	}
	for text := range strings.SplitSeq(conditions, " and ") {
		if c, ok := owner.condition(text, f); ok {
			r.when = append(r.when, c)
		} else if text != "" {
			return nil, fmt.Errorf("%q is no condition", text)
		}
	}
	return r.fill, nil
}

// rule is a default value.
type rule struct {
	typ  *Type
	path []string
	to   value.Value
	from []string // instead of to: where the value is
	when []func(value.Value) bool

	strict bool // whether an empty value counts
	now    bool // instead of to: the current time
}

func (t *Type) condition(text string, f Functions) (func(value.Value) bool, bool) {
	path, want, ok := strings.Cut(text, " is ")
	if !ok {
		return nil, false
	}
	var names []string
	if path != "." {
		names = strings.Split(path, ".")
	}
	switch is := f.Is[want]; {
	case is != nil:
		return func(v value.Value) bool { return is(v.Get(names...)) }, true
	case want == "set":
		return func(v value.Value) bool { return !t.unset(v, names) }, true
	case want == "unset":
		return func(v value.Value) bool { return t.unset(v, names) }, true
	}
	texts := strings.Split(want, "|")
	return func(v value.Value) bool {
		for _, text := range texts {
			if v.Get(names...).Str() == text {
				return true
			}
		}
		return false
	}, true
}

// unset reports whether what names lead to from v, a value of t, is nothing or, where t does not tell it apart from
// nothing, empty.
func (t *Type) unset(v value.Value, names []string) bool {
	for _, name := range names {
		if t = t.to(name); t == nil {
			return true
		}
		v = v.Get(name)
	}
	return isNothing(v) || t.kind != kindPointer && t.kind != kindStruct && t.isEmpty(v)
}

// to returns the type of the field called name, which may be reached by way of a pointer or a list.
func (t *Type) to(name string) *Type {
	for t.kind == kindPointer || t.kind == kindList {
		t = t.elem
	}
	if t.kind != kindStruct {
		return nil
	}
	if f := t.lookup(name); f != nil {
		return f.typ
	}
	return nil
}

func (r *rule) fill(v value.Value, e env) value.Value {
	if isSomething(v.Get(r.path...)) { // as mostly; the rest asks for types
		return v
	}
	for _, holds := range r.when {
		if !holds(v) {
			return v
		}
	}
	to := r.to
	if r.from != nil {
		if to = v.Get(r.from...); isNothing(to) {
			return v
		}
	}
	if r.now {
		to = value.String(e.now().UTC().Format(time.RFC3339))
	}
	if r.strict && !e.stored && !isNothing(v.Get(r.path...)) {
		return v
	}
	return r.typ.set(v, r.path, to)
}

// isSomething reports whether v is set whatever its type is.
func isSomething(v value.Value) bool {
	switch v.Kind() {
	case value.KindString:
		return v.Str() != ""
	case value.KindBool:
		return v.Bool()
	case value.KindInt, value.KindFloat:
		return v.Float() != 0
	}
	return v.Len() > 0
}

// set gives what path leads to from v, a value of t, the value to if it is unset.
func (t *Type) set(v value.Value, path []string, to value.Value) value.Value {
	name, each := strings.CutSuffix(path[0], "[]")
	field := t.to(name)
	if field == nil || v.Kind() != value.KindObject && !isNothing(v) {
		return v
	}
	member := v.Get(name)
	switch {
	case each:
		if member.Kind() != value.KindList {
			return v
		}
		items := make([]value.Value, 0, member.Len())
		for item := range member.Items() {
			items = append(items, field.set(item, path[1:], to))
		}
		return v.With(name, value.List(items...))
	case len(path) > 1:
		if !isNothing(member) && member.Kind() != value.KindObject {
			return v
		}
		if inner := field.set(member, path[1:], to); !inner.Same(member) {
			return v.With(name, inner)
		}
		return v
	case t.unset(v, path):
		return v.With(name, to)
	}
	return v
}
