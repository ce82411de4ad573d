package policy

import (
	"strings"

	"k8s.io/apiserver/pkg/admission/plugin/cel"
)

// usage is what the expressions of a policy use of a request. The zero value is nothing.
//
// The texts of the expressions decide. A text may name a variable in a string or for something else, so that usage can be more than what is
// read.
type usage struct {
	object, old, namespace, request, authorizer bool
	entries                                     bool // managed fields of an object, which are encoded for them
}

// note adds what an expression uses.
func (u *usage) note(text string) {
	u.object = u.object || strings.Contains(text, cel.ObjectVarName)
	u.old = u.old || strings.Contains(text, cel.OldObjectVarName)
	u.namespace = u.namespace || strings.Contains(text, cel.NamespaceVarName)
	u.request = u.request || strings.Contains(text, cel.RequestVarName)
	u.authorizer = u.authorizer || strings.Contains(text, cel.AuthorizerVarName)
	u.entries = u.entries || readsEntries(text, cel.ObjectVarName) || readsEntries(text, cel.OldObjectVarName)
}

// readsEntries reports whether an expression may read the managed fields of a variable. It does not if each path that begins with the
// variable leads elsewhere:
//
//	object.spec.replicas <= 5 && object.metadata.labels.all(k, k != 'x')     no
//	has(object.metadata.managedFields)                                      yes
//	object.metadata.size() < 9 || object == oldObject                       yes
//
// In a text that may have a comment, which could stand inside of a path, the variable is read as a whole.
func readsEntries(text, variable string) bool {
	commented := strings.Contains(text, "//")
	for i := 0; ; {
		at := strings.Index(text[i:], variable)
		if at < 0 {
			return false
		}
		start := i + at
		i = start + len(variable)
		if start > 0 && isName(text[start-1]) || i < len(text) && isName(text[i]) {
			continue // part of another name
		}
		path := membersIn(text[i:])
		if commented || len(path) == 0 || path[0] == "metadata" && (len(path) == 1 || path[1] == "managedFields") {
			return true
		}
	}
}

// membersIn returns the names in ".a.b.c" at the start of text, before whatever is no member by its plain name: a call, an index, an operator,
// an escaped name.
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
