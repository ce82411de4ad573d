package builtin

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// Refusal is something that the validation of a kind's own fields refuses of an object.
type Refusal struct {
	Path   fieldpath.Path // items of lists are named by their index
	Key    string         // of a map that Path leads to, if the refusal is about what is there by that name; usually empty
	Reason Reason
	Value  value.Value // what is wrong; absent means null. Of Required and Forbidden, it is not told
	Detail string      // in the words of kube-apiserver; of Unsupported, what may be there is in Values
	Values []string
	// Change tells that it is the change that is refused: the value would do for a new object.
	Change bool
	// Unshown tells that kube-apiserver shows the value as it has it inside, in a form that is not known here.
	Unshown bool

	below string // a member of what the path of the rule leads to, if it is that
}

// String returns what is wrong, in the words of kube-apiserver but for the value.
func (r Refusal) String() string {
	switch r.Reason {
	case Required:
		return withDetail("Required value", r.Detail)
	case Forbidden:
		return withDetail("Forbidden", r.Detail)
	case Duplicate:
		return "Duplicate value"
	case Unsupported:
		quoted := make([]string, len(r.Values))
		for i, v := range r.Values {
			quoted[i] = strconv.Quote(v)
		}
		return fmt.Sprintf("Unsupported value: %s: supported values: %s", r.Value, strings.Join(quoted, ", "))
	}
	return withDetail("Invalid value", r.Detail)
}

func withDetail(text, detail string) string {
	if detail == "" {
		return text
	}
	return text + ": " + detail
}

// Reason says what is wrong with a field.
type Reason uint8

const (
	Required    Reason = iota + 1 // it must be there
	Invalid                       // it has a wrong value
	Unsupported                   // it has none of the values that it may have
	Forbidden                     // it must not be there, or must not change
	Duplicate                     // another item has it already
)

// Refusals returns what is refused of object, which is to be stored in place of live through a subresource, or itself if that is empty;
// an absent live is an object that does not exist yet. These are the rules of rules.go: validation knows more, and an object without
// refusals may be refused all the same. The cost grows with the number of rules of the kind and with the items of the lists that they
// are about.
func (k *Kind) Refusals(live, object value.Value, subresource string) []Refusal {
	k = k.known()
	kind := schema.GVK{Group: k.GVK.Group, Kind: k.GVK.Kind}
	all := partRules[part{kind, subresource}]
	if subresource == "" || subresource == "scale" {
		all = rules()[kind]
	}
	var out []Refusal
	for _, r := range all {
		w := ruleWalk{rule: r, live: live, object: object}
		w.visit(r.path, object)
		out = append(out, w.found...)
	}
	return out
}

// rule is a check of what a path leads to; a step "[]" leads to each item of a list.
type rule struct {
	path  []string
	check func(at place) (Refusal, bool)
}

// place is what a rule looks at: a value, which may be absent, that is in parent, a part of object, which replaces live.
type place struct {
	value, parent, object, live value.Value
	path                        []string
	names                       map[string]bool // that checks have noted of the items in front, if parent is a list
}

// was returns what is in the place of the value in live.
func (p place) was() value.Value { return p.live.Get(p.path...) }

type ruleWalk struct {
	rule
	live, object value.Value
	at           fieldpath.Path
	found        []Refusal
}

// visit follows the rest of the path from v. It ends where there is nothing; the check is asked about a last member that is absent.
func (w *ruleWalk) visit(rest []string, v value.Value) {
	if rest[0] == "[]" {
		if v.Kind() != value.KindList {
			return
		}
		names := map[string]bool{}
		for i := range v.Len() {
			w.at = append(w.at, fieldpath.Index(i))
			w.step(rest[1:], v.Item(i), v, names)
			w.at = w.at[:len(w.at)-1]
		}
		return
	}
	if v.Kind() != value.KindObject {
		return
	}
	w.at = append(w.at, fieldpath.Field(rest[0]))
	w.step(rest[1:], v.Get(rest[0]), v, nil)
	w.at = w.at[:len(w.at)-1]
}

// step asks the check about v, which is in parent, if the path ends there, and goes on otherwise.
func (w *ruleWalk) step(rest []string, v, parent value.Value, names map[string]bool) {
	if len(rest) > 0 {
		w.visit(rest, v)
		return
	}
	if r, refused := w.check(place{v, parent, w.object, w.live, w.path, names}); refused {
		if r.Path = slices.Clone(w.at); r.below != "" {
			r.Path = append(r.Path, fieldpath.Field(r.below))
		}
		w.found = append(w.found, r)
	}
}
