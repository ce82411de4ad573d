package form

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/deed-project/deed/value"
)

// Functions are the functions that rules may call. Fill has functions by the name after @. Is has functions by the
// word that conditions use. Rules do not call Print. It has functions by the name of a struct type. Each converts a
// printed value of a type that servers hold as another type.
type Functions struct {
	Fill  map[string]func(value.Value) value.Value
	Is    map[string]func(value.Value) bool
	Print map[string]func(value.Value) value.Value
}

// SetRules reads the rules for default values. A line has the names of struct types. The indented lines below it
// are the rules for these types, in the order of their application:
//
//	PATH = VALUE [if CONDITION [and CONDITION]...]
//	PATH := VALUE [if CONDITION [and CONDITION]...]
//	@FUNCTION
//
// P:N in place of a struct type names the type N in the fields of structs of package P. Such a type has functions
// only.
//
// A rule sets the member at PATH to VALUE if the member is unset. With :=, an empty list or map is not unset. VALUE
// is JSON, now, or $PATH. The last is the value of another member; the rule does nothing if that is absent. A
// condition is one of: PATH is set, PATH is unset, PATH is A|B (one of these texts), and PATH is a word of f.Is.
// The path . is the struct itself. A name with [] at its end stands for every item of a list. Lines that start with
// # and empty lines are ignored.
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

// errNoTypes is the error of SetRules for the nil and the zero Types.
var errNoTypes = errors.New("there are no types to set rules for")

// Rules returns the number of rules for the struct type called name and all types that it contains.
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

// addRule adds a rule for the type called name, after its other rules.
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
	from []string // instead of to: the path of the value
	when []func(value.Value) bool

	strict bool // an empty value is not unset
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

// unset reports whether the member of v at the path names is unset. v is a value of t. A member is unset if it is
// absent or null, or if it is empty and its type does not distinguish that from absent. A value of another kind than
// its type is set: no default value hides it, and reading it fails.
func (t *Type) unset(v value.Value, names []string) bool {
	for _, name := range names {
		if t = t.to(name); t == nil {
			return true
		}
		v = v.Get(name)
	}
	return isNothing(v) || t.kind != kindPointer && t.kind != kindStruct && t.isEmpty(v)
}

// to returns the type of the field called name. It steps through pointers and lists.
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
	if isSomething(v.Get(r.path...)) { // the most common case; the rest needs types
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

// isSomething reports whether v is set, whatever its type is.
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

// set sets the member of v at path to the value to, if the member is unset. v is a value of t.
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
