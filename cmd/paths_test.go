package cmd_test

import (
	"go/ast"
	"go/types"
	"testing"

	"golang.org/x/tools/go/packages"

	"github.com/deed-project/deed/internal/testing/layers"
)

// TestPathsAreSpelledOneWay checks that the command prints paths only with [fieldpath.Path.Text], whose output can be parsed, and never in
// the notation of API servers. No call uses String of a path or an element, or passes one to a function that takes any value, such as a
// printing function.
func TestPathsAreSpelledOneWay(t *testing.T) {
	config := &packages.Config{Mode: packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo |
		packages.NeedImports | packages.NeedExportFile}
	all, err := packages.Load(config, "./...")
	if err != nil || packages.PrintErrors(all) > 0 {
		t.Fatalf("the packages cannot be loaded: %v", err)
	}
	calls := 0
	for _, p := range all {
		for _, file := range p.Syntax {
			ast.Inspect(file, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				calls++
				for _, reason := range spelled(p.TypesInfo, call) {
					t.Errorf("%v: %s", p.Fset.Position(call.Pos()), reason)
				}
				return true
			})
		}
	}
	if calls < 5000 {
		t.Errorf("only %d calls were seen", calls)
	}
}

// spelled returns the reasons why call prints paths in the notation of API servers.
func spelled(info *types.Info, call *ast.CallExpr) (reasons []string) {
	if f, ok := call.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "String" && isPath(info.TypeOf(f.X)) {
		reasons = append(reasons, "String of a path: Text is what is read back")
	}
	signature, ok := info.TypeOf(call.Fun).(*types.Signature)
	if !ok || !signature.Variadic() {
		return reasons
	}
	last := signature.Params().Len() - 1
	many, ok := signature.Params().At(last).Type().(*types.Slice)
	if ok && types.IsInterface(many.Elem()) && !call.Ellipsis.IsValid() {
		for _, arg := range call.Args[last:] {
			if isPath(info.TypeOf(arg)) {
				reasons = append(reasons, "a path is printed as it is: print its Text")
			}
		}
	}
	return reasons
}

// isPath reports whether t is the type of paths, or of elements.
func isPath(t types.Type) bool {
	named, ok := t.(*types.Named)
	return ok && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == layers.Root+"/fieldpath" &&
		(named.Obj().Name() == "Path" || named.Obj().Name() == "Element")
}
