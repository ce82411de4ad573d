// Command typecheck type-checks the packages of a module with their tests:
//
//	GOWORK=off go run ./typecheck DIR...
//
// It reads all dependencies from their sources and skips the bodies of their functions. So a module that needs the sources of Kubernetes is
// checked in seconds, and nothing is compiled. Each module is checked with its own versions, and not with those of the workspace.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	wrong := 0
	for _, dir := range os.Args[1:] {
		n, err := check(dir)
		if err != nil {
			fmt.Fprintf(os.Stderr, "typecheck: %s: %v\n", dir, err)
			n++
		}
		wrong += n
	}
	if wrong > 0 {
		os.Exit(1)
	}
}

// check prints what is wrong with the packages of the module in dir, and returns how many errors that are.
func check(dir string) (int, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return 0, err
	}
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.LoadAllSyntax, Dir: dir, Tests: true, Env: append(os.Environ(), "GOWORK=off"),
		ParseFile: func(fset *token.FileSet, name string, source []byte) (*ast.File, error) {
			file, err := parser.ParseFile(fset, name, source, parser.SkipObjectResolution)
			if file != nil && !strings.HasPrefix(name, dir+string(filepath.Separator)) {
				dropBodies(file)
			}
			return file, err
		},
	}, "./...")
	if err != nil {
		return 0, err
	}
	if len(loaded) == 0 {
		return 0, fmt.Errorf("the module has no packages")
	}
	wrong := 0
	for _, p := range loaded {
		if strings.HasSuffix(p.PkgPath, ".test") {
			continue // a program that package testing generates
		}
		for _, e := range p.Errors {
			fmt.Fprintln(os.Stderr, e)
			wrong++
		}
	}
	return wrong, nil
}

// dropBodies removes the bodies of functions, whose types are known without them. An import that only bodies use is then an error of the
// dependency, which check does not report.
func dropBodies(file *ast.File) {
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			f.Body = nil
		}
	}
}
