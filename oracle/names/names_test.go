package names

import (
	"go/ast"
	"go/types"
	"maps"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

const module = "github.com/deed-project/deed/"

// most bounds the functions, methods and types that each core package exports: all of them, and without the methods that only implement
// standard interfaces. docs/decisions/0025 has these figures.
var most = map[string]struct{ names, ideas int }{
	"value": {43, 36}, "fieldpath": {45, 41}, "schema": {42, 39}, "typed": {21, 18}, "merge": {31, 26},
	"managedfields": {59, 51}, "ownership": {25, 24},
}

// standard lists the methods that the standard library calls through its interfaces.
var standard = []string{"Error", "Unwrap", "String", "MarshalJSON", "UnmarshalJSON"}

// TestNamesHaveCallers checks that each exported function, method and type of a core package has a user outside of the package, or an
// example. Tests are not users. Methods of standard interfaces and error types need no user. Neither do types that other exports have, for
// example as a parameter, a result, a field, a constant or a variable.
func TestNamesHaveCallers(t *testing.T) {
	declared, used := map[string]bool{}, map[string]bool{}
	for _, p := range load(t) {
		if _, isCore := most[strings.TrimPrefix(p.PkgPath, module)]; isCore {
			comeAlong(p.Types, used)
		}
		for _, file := range p.Syntax {
			name := p.Fset.File(file.Pos()).Name()
			look(p, file, strings.HasSuffix(name, "_test.go"), declared, used)
		}
	}
	names, ideas := map[string]int{}, map[string]int{}
	for _, name := range slices.Sorted(maps.Keys(declared)) {
		pkg, rest, _ := strings.Cut(name, ".")
		names[pkg]++
		if _, method, isMethod := strings.Cut(rest, "."); isMethod && slices.Contains(standard, method) {
			continue
		}
		ideas[pkg]++
		if !used[name] {
			t.Errorf("%s has no caller outside of its package, and no example", name)
		}
	}
	for pkg, most := range most {
		t.Logf("package %s exports %d functions, methods and types, %d without %s", pkg, names[pkg], ideas[pkg], strings.Join(standard, ", "))
		if names[pkg] > most.names || ideas[pkg] > most.ideas || names[pkg] == 0 {
			t.Errorf("package %s exports %d names (%d ideas), want at most %d (%d)", pkg, names[pkg], ideas[pkg], most.names, most.ideas)
		}
	}
}

// load returns the packages of the published modules and of oracle, and the core packages with their tests, which have the examples.
//
// It omits the recorders, oracle/record and oracle/kube, which are separate modules. Loading them takes all of kube-apiserver, and a name
// should not be public for their sake.
func load(t *testing.T) []*packages.Package {
	t.Helper()
	mode := packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports
	all, err := packages.Load(&packages.Config{Mode: mode, Dir: "../.."}, "./...", "./kube/...", "./server/...", "./cmd/...", "./oracle/...")
	if err != nil {
		t.Fatal(err)
	}
	var core []string
	for pkg := range most {
		core = append(core, "./"+pkg)
	}
	tests, err := packages.Load(&packages.Config{Mode: mode, Dir: "../..", Tests: true}, core...)
	if err != nil {
		t.Fatal(err)
	}
	all = append(all, tests...)
	for _, p := range all {
		for _, e := range p.Errors {
			t.Fatal(e)
		}
	}
	return all
}

// comeAlong marks the types within the types of a package's exports, and error types.
func comeAlong(p *types.Package, used map[string]bool) {
	note := func(t types.Type) { noteTypes(t, used) }
	for _, name := range p.Scope().Names() {
		o := p.Scope().Lookup(name)
		if !o.Exported() {
			continue
		}
		named, isNamed := o.Type().(*types.Named)
		if _, isType := o.(*types.TypeName); !isType || !isNamed {
			note(o.Type())
			continue
		}
		if s, isStruct := named.Underlying().(*types.Struct); isStruct {
			for field := range s.Fields() {
				if field.Exported() {
					note(field.Type())
				}
			}
		}
		for m := range types.NewMethodSet(types.NewPointer(named)).Methods() {
			if m.Obj().Name() == "Error" {
				note(named)
			} else if m.Obj().Exported() {
				note(m.Type())
			}
		}
	}
}

// noteTypes marks the core types in t: parameters, results, elements and type arguments.
func noteTypes(t types.Type, used map[string]bool) {
	switch t := t.(type) {
	case *types.Named:
		if _, name := nameOf(t.Obj()); name != "" {
			used[name] = true
		}
		for arg := range t.TypeArgs().Types() {
			noteTypes(arg, used)
		}
	case *types.Signature:
		noteTypes(t.Params(), used)
		noteTypes(t.Results(), used)
	case *types.Tuple:
		for v := range t.Variables() {
			noteTypes(v.Type(), used)
		}
	case *types.Map:
		noteTypes(t.Key(), used)
		noteTypes(t.Elem(), used)
	case interface{ Elem() types.Type }: // a pointer, a slice, an array or a channel
		noteTypes(t.Elem(), used)
	}
}

// look records the declarations and uses in file.
func look(p *packages.Package, file *ast.File, isTest bool, declared, used map[string]bool) {
	own := strings.TrimSuffix(strings.TrimPrefix(p.PkgPath, module), "_test")
	for _, d := range file.Decls {
		f, isFunc := d.(*ast.FuncDecl)
		if isTest && (!isFunc || !strings.HasPrefix(f.Name.Name, "Example")) {
			continue
		}
		ast.Inspect(d, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			if pkg, name := nameOf(p.TypesInfo.Uses[id]); name != "" && (isTest || pkg != own) {
				used[name] = true
			}
			if pkg, name := nameOf(p.TypesInfo.Defs[id]); name != "" && !isTest && pkg == own {
				declared[name] = true
			}
			return true
		})
	}
}

// nameOf returns the core package and the name of o if it is an exported function, method or type. Doors are excluded, because other
// modules cannot open them.
func nameOf(o types.Object) (pkg, name string) {
	if o == nil || o.Pkg() == nil || !o.Exported() {
		return "", ""
	}
	pkg = strings.TrimPrefix(o.Pkg().Path(), module)
	if _, isCore := most[pkg]; !isCore {
		return "", ""
	}
	switch o := o.(type) {
	case *types.TypeName:
		if o.Parent() == o.Pkg().Scope() && o.Name() != "Internal" {
			return pkg, pkg + "." + o.Name()
		}
	case *types.Func:
		recv := o.Origin().Signature().Recv()
		if recv == nil {
			return pkg, pkg + "." + o.Name()
		}
		t := recv.Type()
		if p, isPointer := t.(*types.Pointer); isPointer {
			t = p.Elem()
		}
		if named, ok := t.(*types.Named); ok && named.Obj().Exported() && !types.IsInterface(named) {
			return pkg, pkg + "." + named.Obj().Name() + "." + o.Name()
		}
	}
	return "", ""
}
