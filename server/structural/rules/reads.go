package rules

import (
	"slices"
	"strings"

	celcommon "github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/parser"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"

	"github.com/deed-project/deed/value"
)

// Which fields a rule reads, found in its text. A rule about an object that changed needs no new evaluation if none of its fields changed.
// It would give the same outcome, since CEL has no other input and no side effects.

// reads are the fields of a value that a rule reads, as paths from self. The outcome of the rule depends on nothing else.
//
//	rule   has(self.a) && self.b.c > 1 && self.list.all(x, x > 0)
//	reads  a, b.c, list
//
// Nil means the whole value.
type reads [][]string

// readsOf returns the fields that a rule reads: each path that the rule selects from self. A variable self of a macro is counted too, which
// only adds fields.
//
// The rule is parsed and not checked: the types do not matter here. A rule that does not parse reads the whole value.
func readsOf(rule string) reads {
	p, err := parser.NewParser(parser.Macros(parser.AllMacros...), parser.EnableOptionalSyntax(true))
	if err != nil {
		return nil
	}
	parsed, errs := p.Parse(celcommon.NewTextSource(rule))
	if len(errs.GetErrors()) > 0 {
		return nil
	}
	found := reads{}
	if !found.addAll(parsed.Expr()) {
		return nil
	}
	return found
}

// addAll adds the fields that an expression reads. It returns false if the expression reads the whole value or is not understood.
func (r *reads) addAll(e ast.Expr) bool {
	// Do not go further down: the chain is the longest one that begins at self.
	if path, ok := pathOf(e); ok {
		*r = append(*r, path)
		return len(path) > 0 && !slices.ContainsFunc(path, isEscaped)
	}
	for _, part := range partsOf(e) {
		if !r.addAll(part) {
			return false
		}
	}
	return true
}

// pathOf returns the names that an expression selects from self in a chain, and whether it is such a chain.
//
// self.a.b gives [a b], self gives nothing, and f(self).a is no such chain.
func pathOf(e ast.Expr) ([]string, bool) {
	switch e.Kind() {
	case ast.IdentKind:
		return nil, strings.TrimPrefix(e.AsIdent(), ".") == cel.ScopedVarName
	case ast.SelectKind:
		path, ok := pathOf(e.AsSelect().Operand())
		return append(path, e.AsSelect().FieldName()), ok
	}
	return nil, false
}

// isEscaped reports whether a name may stand for another name. CEL escapes invalid names with double underscores.
func isEscaped(name string) bool { return strings.Contains(name, "__") }

// partsOf returns the direct subexpressions of an expression.
//
// Literals and variables have none.
func partsOf(e ast.Expr) []ast.Expr {
	switch e.Kind() {
	case ast.SelectKind:
		return []ast.Expr{e.AsSelect().Operand()}
	case ast.CallKind:
		call := e.AsCall()
		if call.IsMemberFunction() {
			return append([]ast.Expr{call.Target()}, call.Args()...)
		}
		return call.Args()
	case ast.ListKind:
		return e.AsList().Elements()
	case ast.MapKind:
		var parts []ast.Expr
		for _, entry := range e.AsMap().Entries() {
			parts = append(parts, entry.AsMapEntry().Key(), entry.AsMapEntry().Value())
		}
		return parts
	case ast.StructKind:
		var parts []ast.Expr
		for _, field := range e.AsStruct().Fields() {
			parts = append(parts, field.AsStructField().Value())
		}
		return parts
	case ast.ComprehensionKind:
		c := e.AsComprehension()
		return []ast.Expr{c.IterRange(), c.AccuInit(), c.LoopCondition(), c.LoopStep(), c.Result()}
	}
	return nil
}

// same reports whether two values are equal in all fields that the rule reads.
func (r reads) same(v, old value.Value) bool {
	return r != nil && !slices.ContainsFunc(r, func(path []string) bool { return !v.Get(path...).Equal(old.Get(path...)) })
}
