// Command inside writes the table of Go types that kube-apiserver validates, which package server/kinds embeds. Refusals of kube-apiserver
// print parts of objects as JSON of these internal types, which have the names and the order of their Go fields.
//
//	go run ./inside -o ../server/kinds/walk/inside.txt
//
// It reads the sources of k8s.io/kubernetes as text, and the versioned types of k8s.io/api beside them, which have the names that clients
// know. Nothing of k8s.io/kubernetes is linked. The table has a type on each line without a tab, and its fields below it:
//
//	core.PodSpec
//		volumes []core.Volume
//		serviceAccount DeprecatedServiceAccount text
//
// A field has its name in the versioned type, its name in the JSON of the internal type, and its type. The second name is missing if only the
// case of its first letter differs. The first name is . if the members are those of the object itself, and - if no version has the field. A second name
// that ends with ? is left out when the value is empty. An embedded struct, whose members are printed as those of the struct around it, has
// the type in parentheses. Types are text, name for a string type, number, bool, quantity and time, any for what is null when it is absent,
// and the name of a struct; * is a pointer, [] a list and {} a map.
package main

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"log"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
)

// modules are the sources that are read.
var modules = []string{"k8s.io/kubernetes@v1.37.1", "k8s.io/api@v0.37.1", "k8s.io/apimachinery@v0.37.1"}

func main() {
	out := flag.String("o", "../server/kinds/walk/inside.txt", "the `file` to write")
	flag.Parse()
	text, err := table()
	if err == nil {
		err = os.WriteFile(*out, []byte(text), 0o644)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// table returns the table of all types that the stored kinds of the internal packages reach.
func table() (string, error) {
	dirs, err := download()
	if err != nil {
		return "", err
	}
	t := types{
		internal: filepath.Join(dirs[0], "pkg", "apis"), versioned: dirs[1], meta: filepath.Join(dirs[2], "pkg", "apis", "meta", "v1"),
		packages: map[string]*source{}, out: map[string][]string{},
	}
	names, err := os.ReadDir(t.internal)
	if err != nil {
		return "", err
	}
	for _, name := range names {
		if err := t.kinds(name.Name()); err != nil {
			return "", err
		}
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(t.out)) {
		b.WriteString(name + "\n")
		for _, field := range t.out[name] {
			b.WriteString("\t" + field + "\n")
		}
	}
	return b.String(), nil
}

// download returns the folders of the modules.
func download() ([]string, error) {
	var dirs []string
	for _, m := range modules {
		text, err := exec.Command("go", "mod", "download", "-json", m).Output()
		if err != nil {
			return nil, fmt.Errorf("%s: %w: %s", m, err, text)
		}
		var found struct{ Dir string }
		if err := json.Unmarshal(text, &found); err != nil {
			return nil, err
		}
		dirs = append(dirs, found.Dir)
	}
	return dirs, nil
}

// types makes the table.
type types struct {
	internal, versioned, meta string // folders

	packages map[string]*source  // by their folders
	out      map[string][]string // the fields of each type
}

// source is a package.
type source struct {
	name   string
	tagged bool // the package has names for clients itself
	types  map[string]ast.Expr
	from   map[string]map[string]string // the imports of the file of each type: paths by names
}

// kinds adds the kinds of an internal package: types with ObjectMeta that are served in some version.
func (t types) kinds(name string) error {
	if _, err := os.Stat(filepath.Join(t.versioned, name)); os.IsNotExist(err) {
		return nil // no versioned types
	}
	p, err := t.read(filepath.Join(t.internal, name))
	if err != nil {
		return err
	}
	for typ, of := range p.types {
		s, ok := of.(*ast.StructType)
		if !ok || !ast.IsExported(typ) || !slices.ContainsFunc(s.Fields.List, isObjectMeta) {
			continue
		}
		if err := t.add(p, typ); err != nil {
			return err
		}
	}
	return nil
}

func isObjectMeta(f *ast.Field) bool {
	s, ok := f.Type.(*ast.SelectorExpr)
	return ok && len(f.Names) == 0 && s.Sel.Name == "ObjectMeta"
}

// read parses a package.
func (t types) read(dir string) (*source, error) {
	if p := t.packages[dir]; p != nil {
		return p, nil
	}
	p := &source{name: filepath.Base(dir), types: map[string]ast.Expr{}, from: map[string]map[string]string{}}
	if dir == t.meta {
		p.name, p.tagged = "meta", true
	} else if below, err := filepath.Rel(t.versioned, dir); err == nil && filepath.IsLocal(below) {
		p.name, p.tagged = below, true
	}
	t.packages[dir] = p
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		p.addFile(f)
	}
	return p, nil
}

func (p *source) addFile(f *ast.File) {
	imports := map[string]string{}
	for _, i := range f.Imports {
		path := strings.Trim(i.Path.Value, `"`)
		name := filepath.Base(path)
		if i.Name != nil {
			name = i.Name.Name
		}
		imports[name] = path
	}
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, s := range g.Specs {
			if s, ok := s.(*ast.TypeSpec); ok {
				p.types[s.Name.Name], p.from[s.Name.Name] = s.Type, imports
			}
		}
	}
}

// add adds a struct type and all that it reaches.
func (t types) add(p *source, name string) error {
	full := p.name + "." + name
	if _, done := t.out[full]; done {
		return nil
	}
	t.out[full] = nil
	names, err := t.versionedNames(p, name)
	if err != nil {
		return err
	}
	var fields []string
	for _, f := range p.types[name].(*ast.StructType).Fields.List {
		lines, err := t.field(p, name, f, names)
		if err != nil {
			return fmt.Errorf("%s: %w", full, err)
		}
		fields = append(fields, lines...)
	}
	t.out[full] = fields
	return nil
}

// field returns the lines of a declaration of fields.
func (t types) field(p *source, in string, f *ast.Field, names map[string]string) ([]string, error) {
	typ, err := t.typeOf(p, in, f.Type)
	if err != nil || typ == "meta.TypeMeta" { // which is empty in objects that are validated
		return nil, err
	}
	shown, omitted := tagOf(f)
	if len(f.Names) == 0 && shown == "" {
		goName := typ[strings.LastIndexByte(typ, '.')+1:]
		return []string{fmt.Sprintf("%s %s (%s)", cmp.Or(names[goName], "."), goName, typ)}, nil
	}
	var out []string
	for _, n := range f.Names {
		if !n.IsExported() || shown == "-" {
			continue
		}
		name := nameOf(names, n.Name)
		if name == "" {
			if name = "-"; strings.Contains(typ, ".") { // inline in versions
				name = "."
			}
		}
		if shown = cmp.Or(shown, n.Name) + omitted; shown == strings.ToUpper(name[:1])+name[1:] {
			out = append(out, name+" "+typ)
		} else {
			out = append(out, name+" "+shown+" "+typ)
		}
	}
	return out, nil
}

// nameOf returns the name of a Go field, whose case may differ between versions.
func nameOf(names map[string]string, goName string) string {
	for name, tag := range names {
		if strings.EqualFold(name, goName) {
			return tag
		}
	}
	return ""
}

// tagOf returns the name in the JSON tag of a field, and ? if an empty value is left out.
func tagOf(f *ast.Field) (name, omitted string) {
	if f.Tag == nil {
		return "", ""
	}
	tag := reflect.StructTag(strings.Trim(f.Tag.Value, "`")).Get("json")
	name, options, _ := strings.Cut(tag, ",")
	if strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero") {
		omitted = "?"
	}
	return name, omitted
}

// versionedNames returns the names that clients know of the fields of a type, by their Go names: those of v1, or else of the newest version
// that has the type.
func (t types) versionedNames(p *source, name string) (map[string]string, error) {
	out := map[string]string{}
	if p.tagged {
		return namesOf(p, name, out), nil
	}
	dirs, err := filepath.Glob(filepath.Join(t.versioned, p.name, "v*"))
	if err != nil {
		return nil, err
	}
	slices.SortFunc(dirs, func(a, b string) int { return rank(b) - rank(a) })
	for _, dir := range dirs {
		v, err := t.read(dir)
		if err != nil {
			return nil, err
		}
		out = namesOf(v, name, out)
	}
	return out, nil
}

// rank orders versions: stable ones are above betas, and betas above alphas.
func rank(dir string) int {
	version := filepath.Base(dir)
	n := int(version[1]-'0') * 10
	switch {
	case strings.Contains(version, "alpha"):
		return n + int(version[len(version)-1]-'0')
	case strings.Contains(version, "beta"):
		return n + 100 + int(version[len(version)-1]-'0')
	}
	return n + 1000
}

// namesOf adds the names of a version that newer ones do not have.
func namesOf(p *source, name string, to map[string]string) map[string]string {
	s, ok := p.types[name].(*ast.StructType)
	if !ok {
		return to
	}
	for _, f := range s.Fields.List {
		tag, _ := tagOf(f)
		for _, n := range f.Names {
			to[n.Name] = cmp.Or(to[n.Name], tag)
		}
		if len(f.Names) == 0 && tag != "" {
			if e, ok := f.Type.(*ast.SelectorExpr); ok {
				to[e.Sel.Name] = cmp.Or(to[e.Sel.Name], tag)
			}
		}
	}
	return to
}

// known are types that marshal themselves.
var known = map[string]string{
	"Quantity": "quantity", "IntOrString": "number", "Time": "time", "MicroTime": "any", "Duration": "text", "RawExtension": "any", "UID": "name", "NodeName": "name",
	"Object": "any", "Unknown": "any", "FieldsV1": "any", "NamespacedName": "any",
}

var basic = map[string]string{
	"string": "text", "bool": "bool", "int": "number", "int32": "number", "int64": "number", "uint16": "number", "uint32": "number",
	"float64": "number", "any": "any",
}

// typeOf returns a type as the table has it.
func (t types) typeOf(p *source, in string, e ast.Expr) (string, error) {
	switch e := e.(type) {
	case *ast.StarExpr:
		inner, err := t.typeOf(p, in, e.X)
		return "*" + inner, err
	case *ast.ArrayType:
		if i, ok := e.Elt.(*ast.Ident); ok && i.Name == "byte" {
			return "any", nil // which is text
		}
		inner, err := t.typeOf(p, in, e.Elt)
		return "[]" + inner, err
	case *ast.MapType:
		inner, err := t.typeOf(p, in, e.Value)
		return "{}" + inner, err
	case *ast.InterfaceType:
		return "any", nil
	case *ast.SelectorExpr:
		if k := known[e.Sel.Name]; k != "" {
			return k, nil
		}
		q, err := t.imported(p.from[in][e.X.(*ast.Ident).Name])
		if err != nil {
			return "", err
		}
		return t.named(q, e.Sel.Name)
	case *ast.Ident:
		if b := basic[e.Name]; b != "" {
			return b, nil
		}
		if k := known[e.Name]; p.tagged && k != "" {
			return k, nil
		}
		return t.named(p, e.Name)
	}
	return "", fmt.Errorf("a type %T", e)
}

// named returns a type that has a name: a struct, or what it is made of.
func (t types) named(p *source, name string) (string, error) {
	of := p.types[name]
	if of == nil {
		return "", fmt.Errorf("no type %s.%s", p.name, name)
	}
	if _, ok := of.(*ast.StructType); !ok {
		typ, err := t.typeOf(p, name, of)
		if typ == "text" {
			typ = "name"
		}
		return typ, err
	}
	return p.name + "." + name, t.add(p, name)
}

// imported returns the package of an import.
func (t types) imported(path string) (*source, error) {
	if path == "k8s.io/apimachinery/pkg/apis/meta/v1" {
		return t.read(t.meta)
	}
	if name, ok := strings.CutPrefix(path, "k8s.io/kubernetes/pkg/apis/"); ok {
		return t.read(filepath.Join(t.internal, name))
	}
	if name, ok := strings.CutPrefix(path, "k8s.io/api/"); ok {
		return t.read(filepath.Join(t.versioned, name))
	}
	return nil, fmt.Errorf("package %q is not known", path)
}
