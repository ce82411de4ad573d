// Package layers checks the dependency policy of a module: a table that lists each package with the packages that it may
// import. It is for tests only.
package layers

import (
	"go/parser"
	"go/token"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

// Root is the path of the module that holds the libraries.
const Root = "github.com/deed-project/deed"

// Layer is a package and the packages that it may import, as four columns. The first is the package. The others are packages
// of its own module, packages of the other modules of this repository, and path prefixes of all other packages. The first two
// columns leave out the module's path, and the third leaves out Root; "." is the package that has its module's own path. The
// last three columns are lists, separated by spaces. Every package may import the standard library.
type Layer [4]string

// Check reports each import in module that table does not allow, each importing package that is not in table, and each entry
// of table without a package. It also reports each file that imports two packages of this repository with the same last name.
// The test must run in the module's root folder.
func Check(t *testing.T, module string, table []Layer) {
	t.Helper()
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		pkg, _ := nameIn(module, words[0])
		found[pkg] = true
		i := slices.IndexFunc(table, func(l Layer) bool { return l[0] == pkg })
		if i < 0 {
			if len(words) > 1 {
				t.Errorf("package %s is not in the table of layers", pkg)
			}
			continue
		}
		for _, imported := range words[1:] {
			if !table[i].allows(module, imported) {
				t.Errorf("package %s must not import %s", pkg, imported)
			}
		}
	}
	for _, l := range table {
		if !found[l[0]] {
			t.Errorf("the table of layers has package %s, which does not exist", l[0])
		}
	}
	checkNames(t)
}

// checkNames reports each file of the module that imports two packages of this repository with the same last name.
func checkNames(t *testing.T) {
	t.Helper()
	const files = `{{$dir := .Dir}}{{range .GoFiles}}{{$dir}}/{{.}}{{"\n"}}{{end}}` +
		`{{range .TestGoFiles}}{{$dir}}/{{.}}{{"\n"}}{{end}}{{range .XTestGoFiles}}{{$dir}}/{{.}}{{"\n"}}{{end}}`
	out, err := exec.Command("go", "list", "-f", files, "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	for file := range strings.FieldsSeq(string(out)) {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]string{}
		for _, spec := range parsed.Imports {
			imported := strings.Trim(spec.Path.Value, `"`)
			if _, own := nameIn(Root, imported); !own {
				continue
			}
			last := path.Base(imported)
			if other := seen[last]; other != "" {
				t.Errorf("%s imports both %s and %s", file, other, imported)
			}
			seen[last] = imported
		}
	}
}

// allows reports whether a package of module with the entry l may import pkg.
func (l Layer) allows(module, pkg string) bool {
	own, others, thirdParty := l[1], l[2], l[3]
	if name, ok := nameIn(module, pkg); ok && (module != Root || !inNestedModule(name)) {
		return slices.Contains(strings.Fields(own), name)
	}
	if name, ok := nameIn(Root, pkg); ok {
		return slices.Contains(strings.Fields(others), name)
	}
	if first, _, _ := strings.Cut(pkg, "/"); !strings.Contains(first, ".") {
		return true // the standard library
	}
	return slices.ContainsFunc(strings.Fields(thirdParty), func(prefix string) bool {
		return pkg == prefix || strings.HasPrefix(pkg, prefix+"/")
	})
}

// inNestedModule reports whether the package called name, without Root, belongs to another module of this repository.
func inNestedModule(name string) bool {
	first, _, _ := strings.Cut(name, "/")
	return slices.Contains([]string{"cmd", "server", "oracle"}, first)
}

// nameIn returns the name of pkg in module, and whether pkg lies below the module's path.
func nameIn(module, pkg string) (string, bool) {
	if pkg == module {
		return ".", true
	}
	name, ok := strings.CutPrefix(pkg, module+"/")
	return name, ok
}
