// Package policytest reads tests of admission policies from files, and judges what came of them. docs/cli/policy.md has the format.
//
// A file is a [Suite]. Each [Case] is one request and what is expected of it: see [Case.Judge].
package policytest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/deed-project/deed/cmd/internal/finding"
	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/internal/yaml"
	"github.com/deed-project/deed/value"
)

// Suite is the tests of one file.
type Suite struct {
	Name string // of the file
	// The files with objects that all cases share. Their names are relative to the file of the suite.
	Policies, Params, Namespaces, Definitions []string
	Cases                                     []*Case
}

// Case is one request, and what is expected of it.
type Case struct {
	Name    string
	Where   notice.Position
	Request finding.Request

	denied   bool
	message  string
	warnings []string // nil if it does not matter whether there are any
	mutated  value.Value
}

// reader reads one suite.
type reader struct {
	*manifest.Loader
	name string
	doc  yaml.Document
	path []any
}

// Read reads the suite in a text. Folder returns the name of a file that the suite names. Read reports what is wrong, and then returns nil.
func Read(c *manifest.Loader, t *manifest.Text, folder func(name string) string) *Suite {
	docs, err := yaml.Parse(t.Name, t.Data)
	if err != nil {
		c.ParseProblem(err)
		return nil
	}
	before := c.Problems
	if len(docs) != 1 || docs[0].Value.Kind() != value.KindObject {
		c.Problem(notice.InFile(t.Name), "a file of policy tests is one object with policies and cases")
		return nil
	}
	r := reader{c, t.Name, docs[0], nil}
	root := docs[0].Value
	r.known(root, "policies", "params", "namespaces", "crds", "cases")
	s := &Suite{Name: t.Name}
	for name, into := range map[string]*[]string{"policies": &s.Policies, "params": &s.Params, "namespaces": &s.Namespaces, "crds": &s.Definitions} {
		for i, file := range r.texts(root, name) {
			if file == "" {
				r.in(name, i).problem("must be the name of a file")
			}
			*into = append(*into, folder(file))
		}
	}
	cases := root.Get("cases")
	if cases.Len() == 0 {
		r.problem("there are no cases")
	}
	for i := range cases.Len() {
		if k := r.in("cases", i).test(cases.Item(i), folder); k != nil {
			s.Cases = append(s.Cases, k)
		}
	}
	if c.Problems > before {
		return nil
	}
	return s
}

// in returns the reader of a place below that of r.
func (r reader) in(steps ...any) reader {
	r.path = append(slices.Clone(r.path), steps...)
	return r
}

// where returns the place of r.
func (r reader) where() notice.Position {
	line, column := r.doc.Position(r.path...)
	return notice.Position{File: r.name, Line: line, Column: column}
}

func (r reader) problem(format string, args ...any) { r.Problem(r.where(), format, args...) }

// known reports members of v that are not among names.
func (r reader) known(v value.Value, names ...string) {
	for name := range v.Members() {
		if !slices.Contains(names, name) {
			r.in(name).problem("unknown: known are %s", strings.Join(names, ", "))
		}
	}
}

// text returns the text of a member, and "" if there is none.
func (r reader) text(v value.Value, name string) string {
	member := v.Get(name)
	if !member.IsAbsent() && member.Kind() != value.KindString {
		r.in(name).problem("must be a text")
		return ""
	}
	return member.Str()
}

// texts returns the texts of a list. It returns nil if there is no list.
func (r reader) texts(v value.Value, name string) []string {
	list := v.Get(name)
	if list.IsAbsent() {
		return nil
	}
	if list.Kind() != value.KindList {
		r.in(name).problem("must be a list of texts")
	}
	out := []string{}
	for i := range list.Len() {
		if list.Item(i).Kind() != value.KindString {
			r.in(name, i).problem("must be a text")
		}
		out = append(out, list.Item(i).Str())
	}
	return out
}

// operations are the operations of requests that policies see.
var operations = []string{"CREATE", "UPDATE", "DELETE"}

// test returns the case v.
func (r reader) test(v value.Value, folder func(string) string) *Case {
	before := r.Problems
	r.known(v, "name", "operation", "object", "old", "user", "expect", "message", "warnings", "mutated")
	k := &Case{Name: r.text(v, "name"), Where: r.where(), message: r.text(v, "message"), warnings: r.texts(v, "warnings")}
	k.Request.Object, k.Request.Old = r.object(v, "object", folder), r.object(v, "old", folder)
	k.Request.Operation = r.text(v, "operation")
	user := v.Get("user")
	r.in("user").known(user, "name", "groups")
	k.Request.User, k.Request.Groups = r.in("user").text(user, "name"), r.in("user").texts(user, "groups")
	if k.mutated = v.Get("mutated"); k.mutated.Kind() == value.KindString {
		k.mutated = value.Value{}
		if o := r.object(v, "mutated", folder); o != nil {
			k.mutated = o.Content
		}
	} else if !k.mutated.IsAbsent() && k.mutated.Kind() != value.KindObject {
		r.in("mutated").problem("must be a part of an object, or the name of a file with an object")
	}
	if k.Request.Operation == "" {
		k.Request.Operation = "CREATE"
		if k.Request.Old != nil {
			k.Request.Operation = "UPDATE"
		}
	}
	switch expect := r.text(v, "expect"); expect {
	case "denied":
		k.denied = true
	case "allowed":
	default:
		r.in("expect").problem("must be allowed or denied")
	}
	hasObject, hasOld := k.Request.Object != nil, k.Request.Old != nil
	switch op := k.Request.Operation; {
	case k.Name == "":
		r.problem("a case needs a name")
	case !slices.Contains(operations, op):
		r.in("operation").problem("must be one of %s", strings.Join(operations, ", "))
	case r.Problems == before && (op != "DELETE") != hasObject, r.Problems == before && (op != "CREATE") != hasOld:
		r.problem("%s", map[string]string{
			"CREATE": "a CREATE has an object, and no old one", "UPDATE": "an UPDATE has an object and an old one", "DELETE": "a DELETE has an old object alone",
		}[op])
	case k.denied && !k.mutated.IsAbsent():
		r.in("mutated").problem("a request that is denied stores nothing")
	case !k.denied && k.message != "":
		r.in("message").problem("only a request that is denied has a message")
	}
	if r.Problems > before {
		return nil
	}
	return k
}

// object returns the object of a member: the name of a file, or the object itself. It returns nil if there is none.
func (r reader) object(v value.Value, name string, folder func(string) string) *manifest.Object {
	member := v.Get(name)
	var texts []*manifest.Text
	switch member.Kind() {
	case value.KindString:
		texts = r.Read([]string{folder(member.Str())}, false)
	case value.KindObject:
		texts = []*manifest.Text{manifest.TextOf(fmt.Sprintf("%v: %s", r.where(), name), member)}
	default:
		if !member.IsAbsent() {
			r.in(name).problem("must be an object, or the name of a file with one")
		}
		return nil
	}
	before := r.Problems
	isNew := name == "object" && v.Get("old").IsAbsent() // a server may generate the name
	objects := r.ObjectsBy(manifest.Reader{Want: func(value.Value) bool { return true }, Unnamed: isNew}, texts)
	if len(objects) != 1 {
		if r.Problems == before {
			r.in(name).problem("must be one object, and there are %d", len(objects))
		}
		return nil
	}
	return objects[0]
}

// Judge returns why d is not what is expected; nothing if it is.
func (k *Case) Judge(d finding.Decision) []string {
	var out []string
	switch {
	case d.Allowed && k.denied:
		out = append(out, "allowed, and expected to be denied")
	case !d.Allowed && !k.denied:
		out = append(out, "denied, and expected to be allowed: "+d.Message)
	case !d.Allowed && !strings.Contains(d.Message, k.message):
		out = append(out, fmt.Sprintf("denied, and the message lacks %q: %s", k.message, d.Message))
	}
	if k.warnings != nil && !matchAll(k.warnings, d.Warnings) {
		out = append(out, fmt.Sprintf("the warnings are %q, and expected is one with each of %q", d.Warnings, k.warnings))
	}
	if d.Allowed && !k.mutated.IsAbsent() {
		out = append(out, differences(k.mutated, d.Object, k.Request.Object.View())...)
	}
	return out
}

// matchAll reports whether there are as many texts as parts, and each has the part in its place.
func matchAll(parts, texts []string) bool {
	return slices.EqualFunc(parts, texts, func(part, text string) bool { return strings.Contains(text, part) })
}

// differences returns where want, which may have a part of the members, is not in got. A null says that there is no such member.
func differences(want, got value.Value, view secret.View) []string {
	var out []string
	var walk func(want, got value.Value, steps []string)
	walk = func(want, got value.Value, steps []string) {
		switch {
		case want.Kind() == value.KindObject && got.Kind() == value.KindObject:
			for name, v := range want.Members() {
				walk(v, got.Get(name), append(slices.Clone(steps), name))
			}
		case want.IsNull() && got.IsAbsent(), want.Equal(got):
		case want.Kind() == value.KindList && got.Kind() == value.KindList && want.Len() == got.Len():
			for i := range want.Len() {
				walk(want.Item(i), got.Item(i), append(slices.Clone(steps), fmt.Sprint(i)))
			}
		default:
			path := manifest.PathOf(steps...)
			x, y := view.Pair(path, got, want)
			out = append(out, fmt.Sprintf("mutated: %s is %v, and expected is %v", view.Path(path), x, y))
		}
	}
	walk(want, got, nil)
	return out
}
