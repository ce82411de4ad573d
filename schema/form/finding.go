package form

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/value"
)

// Finding is a value that its type can hold, but that violates a schema. Reason is in the words of kube-apiserver.
type Finding struct {
	Path   fieldpath.Path // it names items of lists by their index
	Reason string
	Text   string   // the text at Path
	Values []string // the allowed texts; nil if Text is empty and required
}

// Findings returns the schema violations of v, in the order of v. t must have printed v. Violations are empty texts
// of required members, and texts that are not among the allowed ones.
//
// Cost: linear in the size of v.
func (t *Type) Findings(v value.Value) []Finding {
	var w finder
	w.visit(t.known(), v)
	return w.found
}

type finder struct {
	path  fieldpath.Path
	found []Finding
}

func (w *finder) visit(t *Type, v value.Value) {
	switch t.kind {
	case kindPointer:
		w.visit(t.elem, v)
	case kindList:
		for i := range v.Len() {
			w.below(fieldpath.Index(i), t.elem, v.Item(i))
		}
	case kindMap:
		for name, member := range v.Members() {
			w.below(fieldpath.Field(name), t.elem, member)
		}
	case kindStruct:
		for name, member := range v.Members() {
			if f := t.lookup(name); f != nil {
				w.field(f, member)
				w.below(fieldpath.Field(name), f.typ, member)
			}
		}
	}
}

func (w *finder) below(step fieldpath.Element, t *Type, v value.Value) {
	w.path = append(w.path, step)
	w.visit(t, v)
	w.path = w.path[:len(w.path)-1]
}

// field checks a member. It ignores required members that are not texts, because 0 and an empty list are mostly
// valid.
func (w *finder) field(f *field, v value.Value) {
	if v.Kind() != value.KindString {
		return
	}
	text := v.Str()
	switch {
	case text == "" && f.required && f.typ.kind == kindString:
		w.add(f.name, Finding{Reason: "Required value"})
	case text != "" && f.enum != nil && !slices.Contains(f.enum, text):
		quoted := make([]string, len(f.enum))
		for i, one := range f.enum {
			quoted[i] = strconv.Quote(one)
		}
		reason := fmt.Sprintf("Unsupported value: %q: supported values: %s", text, strings.Join(quoted, ", "))
		w.add(f.name, Finding{Reason: reason, Text: text, Values: slices.Clone(f.enum)})
	}
}

func (w *finder) add(name string, f Finding) {
	f.Path = append(slices.Clone(w.path), fieldpath.Field(name))
	w.found = append(w.found, f)
}
