package types

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/cmd/internal/wording"
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/typed"
)

// KeyNames lists the keys with their defaults.
func KeyNames(keys []schema.Key) string {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.Name
		if !k.Default.IsAbsent() {
			names[i] += " (" + secret.Public(k.Default).String() + " by default)"
		}
	}
	return strings.Join(names, " and ")
}

// intOrString is the name of a type that admits any value when objects are merged, as in kube-apiserver. Of these values, only an integer or a
// string is decoded afterwards.
const intOrString = "io.k8s.apimachinery.pkg.util.intstr.IntOrString"

// Admitted describes the values that t admits.
func Admitted(t *schema.Type) string {
	if t.Name() == intOrString {
		return "integer or string"
	}
	if t == schema.Deduced || t.Name() == schema.DeducedName {
		return "any value"
	}
	var out []string
	switch t.Scalar() {
	case schema.Numeric:
		out = append(out, "number")
	case schema.String:
		out = append(out, "string")
	case schema.Boolean:
		out = append(out, "boolean")
	case schema.Untyped:
		out = append(out, "scalar")
	}
	if t.List() != nil {
		out = append(out, "list")
	}
	if t.Map() != nil {
		out = append(out, "object")
	}
	if len(out) == 0 {
		return "nothing but null"
	}
	return strings.Join(out, " or ")
}

// Topology describes how values of type t are merged and owned.
func Topology(t *schema.Type) string {
	const leaf = "leaf: one value"
	if t.Name() == intOrString {
		return leaf
	}
	var out []string
	if l := t.List(); l != nil {
		out = append(out, map[schema.Topology]string{
			schema.AtomicList: "atomic list: one value, owned and replaced as a whole",
			schema.SetList:    "set: items are told apart by their value and owned one by one",
			schema.KeyedList: "keyed list: items are told apart by " + KeyNames(l.Keys()) +
				" and owned one by one",
			schema.IncompleteList: "list without a topology: it cannot be merged",
		}[l.Topology()])
	}
	if m := t.Map(); m != nil {
		if m.Atomic() {
			out = append(out, "atomic object: one value, owned and replaced as a whole")
		} else {
			out = append(out, "object: its fields are owned one by one")
		}
	}
	if t.Scalar() != schema.None && len(out) == 0 {
		out = append(out, leaf)
	}
	return strings.Join(out, "; ")
}

// TypeText returns the values that t admits, and its name if it has one.
func TypeText(t *schema.Type) string {
	text := Admitted(t)
	if l := t.List(); l != nil && text == "list" {
		text += " of " + Admitted(l.Element())
	}
	if name := t.Name(); name != "" && !strings.HasPrefix(name, "__untyped") {
		text += ", " + QuoteUnlessPlain(name)
	}
	return text
}

// QuoteUnlessPlain quotes the name of a type if it has spaces or quotes.
func QuoteUnlessPlain(name string) string {
	if strings.ContainsAny(name, " \t\n\"") {
		return strconv.Quote(name)
	}
	return name
}

// TypeAt returns the type of the value at path in a value of type t, or nil if t has no such path.
func TypeAt(t *schema.Type, path fieldpath.Path) *schema.Type {
	for _, e := range path {
		switch {
		case t == nil:
			return nil
		case e.Kind() == fieldpath.KindField && t.Map() != nil:
			t, _ = t.Map().Lookup(e.Name())
		case e.Kind() != fieldpath.KindField && t.List() != nil:
			t = t.List().Element()
		default:
			return nil
		}
	}
	return t
}

// Explain describes the defect e of o, whose type is t. It suggests the likely intended field, or quotes around a word that YAML does not
// read as text. In YAML 1.1, which Kubernetes reads, yes is a boolean and 010 is the number 8.
func Explain(o *manifest.Object, e *typed.Error, t *schema.Type) string {
	view := o.View()
	wrong := view.Defect(e)
	if word := booleanWord(o, e); word != "" {
		if e.Reason != typed.Undeclared && view.HidesAt(e.Path) {
			word = "this"
		}
		return fmt.Sprintf("%s; %s is a boolean in YAML 1.1, which Kubernetes reads: quote it if it is text", wrong, word)
	}
	if word := plainWord(o, e, t); word != "" {
		if isSpelled(o, e, word) || view.HidesAt(e.Path) {
			return wrong + "; quote it if it is text"
		}
		return fmt.Sprintf("%s; %s is a number in YAML: quote it if it is text", wrong, word)
	}
	if e.Reason != typed.Undeclared || len(e.Path) == 0 {
		return wrong
	}
	fields := TypeAt(t, e.Path[:len(e.Path)-1]).Map().Fields()
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	if meant := wording.Nearest(e.Path[len(e.Path)-1].Name(), names); meant != "" {
		return fmt.Sprintf("%s; did you mean %q?", wrong, meant)
	}
	return wrong
}

// booleanWord returns the word of e if it is a boolean that looks like text.
func booleanWord(o *manifest.Object, e *typed.Error) string {
	way := o.Find().Steps(e.Path)
	switch {
	case len(way) < len(e.Path):
	case e.Reason == typed.WrongKind:
		return o.Doc.BooleanWord(o.In(way...).Within...)
	case e.Reason == typed.Undeclared:
		return o.Doc.BooleanName(o.In(way...).Within...)
	}
	return ""
}

// plainWord returns the word of e if it stands without quotes where the type t wants text.
func plainWord(o *manifest.Object, e *typed.Error, t *schema.Type) string {
	at := TypeAt(t, e.Path)
	way := o.Find().Steps(e.Path)
	if e.Reason != typed.WrongKind || at == nil || at.Scalar() != schema.String || len(way) < len(e.Path) {
		return ""
	}
	return o.Doc.PlainWord(o.In(way...).Within...)
}

// isSpelled reports whether JSON spells the value that e is about like word.
func isSpelled(o *manifest.Object, e *typed.Error, word string) bool {
	return o.Find().Lookup(e.Path).String() == word
}

// IsAtomic reports whether lists or objects of type t are owned as a whole.
func IsAtomic(t *schema.Type) bool {
	l, m := t.List(), t.Map()
	return l != nil && l.Topology() == schema.AtomicList || m != nil && m.Atomic()
}

// IsDeduced reports whether t admits every value and merges objects field by field.
func IsDeduced(t *schema.Type) bool { return t == schema.Deduced || t.Name() == schema.DeducedName }
