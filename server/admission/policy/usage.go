package policy

import (
	"strings"

	"k8s.io/apiserver/pkg/admission/plugin/cel"

	"github.com/deed-project/deed/value"
)

// What expressions read of a request. To show an object to the library costs more than to evaluate most expressions, so policies that validate
// get the parts that their texts name:
//
//	object.spec.replicas <= 5 && object.metadata.labels.all(k, k != 'x')     spec.replicas, metadata.labels
//	has(object.spec)                                                        spec
//	object == oldObject                                                     both as a whole
//
// Invariant: an expression gives the same outcome for the parts as for the whole object. The parts may be more than what it reads.

// usage is what the expressions of a policy use of a request: variables, and of objects also which fields. The zero value is nothing.
type usage struct {
	object, old                    fields
	namespace, request, authorizer bool
}

// note adds what an expression uses.
func (u *usage) note(text string) {
	u.object.note(text, cel.ObjectVarName)
	u.old.note(text, cel.OldObjectVarName)
	u.namespace = u.namespace || strings.Contains(text, cel.NamespaceVarName)
	u.request = u.request || strings.Contains(text, cel.RequestVarName)
	u.authorizer = u.authorizer || strings.Contains(text, cel.AuthorizerVarName)
}

// entries reports whether managed fields are read.
func (u *usage) entries() bool { return u.object.entries() || u.old.entries() }

// fields are paths of members, as a tree. The zero value has none.
type fields struct {
	whole bool // with everything below; then below is nil
	below map[string]*fields
}

// none reports whether f has no paths.
func (f *fields) none() bool { return !f.whole && f.below == nil }

// entries reports whether f has the managed fields of an object.
func (f *fields) entries() bool {
	metadata := f.below["metadata"]
	return f.whole || metadata != nil && (metadata.whole || metadata.below["managedFields"] != nil)
}

// covers reports whether f has all paths of other.
func (f *fields) covers(other *fields) bool {
	if f.whole || other.none() {
		return true
	}
	for name, below := range other.below {
		if mine := f.below[name]; mine == nil || !mine.covers(below) {
			return false
		}
	}
	return !other.whole
}

// add adds a path, with everything below it.
func (f *fields) add(path []string) {
	switch {
	case f.whole:
	case len(path) == 0:
		*f = fields{whole: true}
	default:
		if f.below == nil {
			f.below = map[string]*fields{}
		}
		next := f.below[path[0]]
		if next == nil {
			next = &fields{}
			f.below[path[0]] = next
		}
		next.add(path[1:])
	}
}

// note adds the paths below a variable in the text of an expression.
//
// A path ends before whatever is no member by its plain name: a call, an index, an operator. The text may have the name of the variable in a
// string or for something else, which adds a path that nothing reads. In a text that may have a comment, the variable is read as a whole.
func (f *fields) note(text, variable string) {
	commented := strings.Contains(text, "//")
	for i := 0; ; {
		at := strings.Index(text[i:], variable)
		if at < 0 {
			return
		}
		start := i + at
		i = start + len(variable)
		if start > 0 && isName(text[start-1]) || i < len(text) && isName(text[i]) {
			continue // part of another name
		}
		if commented {
			f.add(nil)
		} else {
			f.add(membersIn(text[i:]))
		}
	}
}

// membersIn returns the names in ".a.b.c" at the start of text. Escaped names end the path.
func membersIn(text string) (path []string) {
	for strings.HasPrefix(text, ".") {
		end := 1
		for end < len(text) && isName(text[end]) {
			end++
		}
		name := text[1:end]
		if text = text[end:]; name == "" || strings.Contains(name, "__") || strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), "(") {
			return path
		}
		path = append(path, name)
	}
	return path
}

// isName reports whether a byte can be part of a name.
func isName(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// in returns the parts of v at the paths.
func (f *fields) in(v value.Value) value.Value {
	if f.whole || v.Kind() != value.KindObject {
		return v
	}
	members := make([]value.Member, 0, len(f.below))
	for name, member := range v.Members() {
		if below := f.below[name]; below != nil {
			members = append(members, value.Member{Name: name, Value: below.in(member)})
		}
	}
	return value.Object(members...)
}
